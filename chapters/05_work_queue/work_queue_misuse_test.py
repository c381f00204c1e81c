# SPDX-License-Identifier: MIT
"""What the compiler refuses: an item that the work queue cannot hold, and the text's own queue."""

import unittest

from lab_runs import messages_of_refused
from this_build import ROOT

CHAPTER = ROOT / "chapters/05_work_queue"


class WorkQueueMisuseTest(unittest.TestCase):
    def test_item_with_a_constructor(self):
        self.assertIn(
            "an item has a trivial default constructor and copy, a none() and an ==",
            messages_of_refused(CHAPTER / "refused_item.cu"),
        )

    def test_the_queue_of_the_text(self):
        source = CHAPTER / "refused_queue.cu"
        lines = source.read_text(encoding="utf-8").splitlines()
        messages = messages_of_refused(source)
        for wrong in ("atomicAdd(current, 1)", "atomicAdd(&current, 1)"):
            (number,) = (at for at, line in enumerate(lines, 1) if wrong in line)
            self.assertRegex(messages, rf"refused_queue\.cu[:(]{number}\b.*error: ", wrong)
        # g++, clang and nvcc each put their own marks around the semicolon.
        self.assertRegex(messages, r"error: expected (?:a )?\W?;")

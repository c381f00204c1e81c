# SPDX-License-Identifier: MIT
"""What the compiler refuses: an item that the work queue cannot hold, and the text's own queue."""

import re

from lab_runs import messages_of_refused
from this_build import ROOT

CHAPTER = ROOT / "chapters/05_work_queue"


def test_item_with_a_constructor():
    assert (
        "an item has a trivial default constructor and copy, a none() and an =="
        in messages_of_refused(CHAPTER / "refused_item.cu")
    )


def test_the_queue_of_the_text():
    source = CHAPTER / "refused_queue.cu"
    lines = source.read_text(encoding="utf-8").splitlines()
    messages = messages_of_refused(source)
    for wrong in ("atomicAdd(current, 1)", "atomicAdd(&current, 1)"):
        (number,) = (at for at, line in enumerate(lines, 1) if wrong in line)
        assert re.search(rf"refused_queue\.cu[:(]{number}\b.*error: ", messages), wrong
    # g++, clang and nvcc each put their own marks around the semicolon.
    assert re.search(r"error: expected (?:a )?\W?;", messages)

# SPDX-License-Identifier: MIT
"""A program in the sandbox finds the GPU, in each kind of sandbox that works here."""

import os
import unittest

from grading_runs import real_sandboxes

from engine.command.errors import NOTHING_COULD_RUN
from engine.command.processes import output_of
from grader.sandbox.sandbox import NONE, Sandbox
from grader.sandbox.sandboxed_run import Access

PROGRAM = os.environ["CHAPTER_PROGRAM"]


@unittest.skipIf(output_of(["nvidia-smi"]) is None, "there is no GPU to run it on")
class SandboxGpuTest(unittest.TestCase):
    def ended(self, kind, gpu):
        """How a program of the course's own ends, which checks its results."""
        with Sandbox.folder() as folder:
            access = Access(folder, (PROGRAM,), gpu)
            return Sandbox(kind).run([PROGRAM, "--repeat", "1"], access)

    def test_a_program_finds_the_gpu(self):
        for kind in (*real_sandboxes(), NONE):
            with self.subTest(kind):
                run = self.ended(kind, gpu=True)
                self.assertEqual(run.code, 0, run)

    def test_it_does_not_unless_it_may(self):
        for kind in real_sandboxes():
            with self.subTest(kind):
                run = self.ended(kind, gpu=False)
                self.assertEqual(run.code, NOTHING_COULD_RUN, run)

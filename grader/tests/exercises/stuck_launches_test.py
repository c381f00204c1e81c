# SPDX-License-Identifier: MIT
"""Where the threads of a launch are that does not end, out of what the backend prints."""

import unittest

from grader.judging.stuck_launches import places_of_threads

LOOP = """\
kernel launched at /a b/own.cu:29: no thread has returned or passed a barrier for 5 s; this looks
  block (3,0,0):
  thread (25,0,0) and 62 more at the block's barrier, /a b/own.cu:9
  thread (15,0,0) runs
  block 3 thread 15 loops at /a b/own.cu:15, and the loop does not read memory again
      while (*counter < gridDim.x) {
  the loop polls without an atomic, so it need never see what another thread writes: read by it
  block (3,0,0), thread (15,0,0): Stopped at /a b/own.cu:15: it ran there when the time was over
      while (*counter < gridDim.x) {
"""
DEADLOCK = """\
kernel launched at own.cu:29: deadlock: every thread that is left waits for memory that no other
"""
WAITING = """\
  block ({0},0,0):
  thread (0,0,0) for a value in memory, own.cu:15
"""


class StuckLaunchesTest(unittest.TestCase):
    def test_a_loop_that_does_not_read_again(self):
        self.assertEqual(
            places_of_threads(LOOP, 60),
            [
                "block 3 thread 25 and 62 more wait at the block's barrier    line 9",
                "block 3 thread 15 is in a loop    line 15",
                "The compiler reads what it waits for once, before the loop.",
                "Such a loop polls without an atomic, so it need never see",
                "what another thread writes: read by it.",
            ],
        )

    def test_many_blocks(self):
        output = DEADLOCK + "".join(WAITING.format(block) for block in range(3))
        places = [f"block {n} thread 0 waits for a value in memory    line 15" for n in range(3)]
        self.assertEqual(places_of_threads(output, 60), places)
        output += WAITING.format(3) + WAITING.format(4)
        self.assertEqual(places_of_threads(output, 60), [*places, "and 2 more places"])

    def test_other_output(self):
        for output in ("", "thread (1,0,0) for a walk, at noon:5\n", "block (1,0,0):\n"):
            self.assertEqual(places_of_threads(output, 60), [])


if __name__ == "__main__":
    unittest.main()

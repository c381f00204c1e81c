# SPDX-License-Identifier: MIT
"""Where the threads of a launch are that does not end, out of the backend's records."""

import unittest

from engine.command.diagnostics import records_in
from grader.judging.results import places_of_threads

LOOP = b"""\
{"kind":"never_ends","seconds":5,"launched_at":{"file":"/a b/own.cu","line":29}}
{"kind":"waiting","block":[3,0,0],"thread":[25,0,0],"more":62,"awaits":"the_blocks_barrier",\
"at":{"file":"/a b/own.cu","line":9}}
{"kind":"running","block":[3,0,0],"thread":[15,0,0]}
{"kind":"plain_poll","block":[3,0,0],"thread":[15,0,0],"poll":"loops_without_reading",\
"at":{"file":"/a b/own.cu","line":15}}
{"kind":"fault","block":[3,0,0],"thread":[15,0,0],"what":"stopped","why":"time_was_over",\
"at":{"file":"/a b/own.cu","line":15}}
"""
DEADLOCK = b"""\
{"kind":"deadlock","launched_at":{"file":"own.cu","line":29}}
"""
AT_BARRIER = b"""\
{"kind":"waiting","block":[9,0,0],"thread":[1,0,0],"more":30,"awaits":"the_blocks_barrier",\
"at":{"file":"own.cu","line":17}}
"""
WAITING = """\
{"kind":"waiting","block":[%d,0,0],"thread":[0,0,0],"awaits":"a_value_in_memory",\
"at":{"file":"own.cu","line":15}}
"""


def places(content, width=60):
    return places_of_threads(records_in(content), width)


def waiting(*blocks):
    return "".join(WAITING % block for block in blocks).encode()


class StuckLaunchesTest(unittest.TestCase):
    def test_a_loop_that_does_not_read_again(self):
        self.assertEqual(
            places(LOOP),
            [
                "block 3 thread 25 and 62 more wait at the block's barrier    line 9",
                "block 3 thread 15 is in a loop    line 15",
                "The compiler reads what it waits for once, before the loop.",
                "Such a loop polls without an atomic, so it need never see",
                "what another thread writes: read by cuda::atomic_ref, or by",
                "volatile with a fence.",
            ],
        )

    def test_many_blocks(self):
        content = DEADLOCK + waiting(*range(3))
        three = [f"block {n} thread 0 waits for a value in memory    line 15" for n in range(3)]
        self.assertEqual(places(content), three)
        self.assertEqual(places(content + waiting(3)), [*three, "and 1 more place"])
        content += waiting(3, 4)
        self.assertEqual(places(content), [*three, "and 2 more places"])

    def test_of_many_places_those_that_others_wait_for(self):
        at_barrier = "block 9 thread 1 and 30 more wait at the block's barrier    line 17"
        loops = [f"block {n} thread 0 waits for a value in memory    line 15" for n in range(3)]
        few = DEADLOCK + AT_BARRIER + waiting(0)
        self.assertEqual(places(few), [at_barrier, loops[0]])
        many = DEADLOCK + 2 * AT_BARRIER + waiting(*range(3))
        self.assertEqual(places(many), [*loops, "and 2 more places"])

    def test_a_block_that_begins_late(self):
        late = b'{"kind":"late_block","block":[2,0,0]}\n'
        self.assertEqual(
            places(DEADLOCK + waiting(0) + late),
            [
                "block 0 thread 0 waits for a value in memory    line 15",
                "Block 2 has not begun: it begins late, when another block",
                "has come further.",
            ],
        )

    def test_other_records(self):
        for content in (b"", DEADLOCK, b'{"kind":"running","block":[1,0,0],"thread":[0,0,0]}\n'):
            self.assertEqual(places(content), [])

# SPDX-License-Identifier: MIT
"""Of what a program sends as the race checker's report only what the checker writes is believed."""

import json
import os
import unittest

from grading_runs import real_sandboxes

from grader.judging.runner import MOST_REPORT, TIME, Limits, report_in
from grader.sandbox.sandbox import Sandbox, interpreter
from grader.sandbox.sandboxed_run import Access

WRONG = {
    int: (-1, True, None, 1.5, 1 << 64, "1"),
    bool: (0, None, "true"),
    str: (1, None, []),
    list: ({}, None, 1),
    dict: ({}, [], 1, {"total": 1}),
}


def genuine():
    """A report of the checker's, as it is sent."""
    number = {"total": 4, "most_per_block": 2, "most_per_thread": 1}
    of_threads = [
        f"{space}_{what}"
        for space in ("global", "shared")
        for what in ("loads", "stores", "atomics")
    ] + ["fences"]
    of_blocks = (
        "global_bytes_loaded",
        "global_bytes_stored",
        "block_barriers",
        "warp_barriers",
        "grid_barriers",
    )
    launch = {
        "kernel": "add", "file": "a.cu", "line": 7, "blocks": [2, 1, 1], "threads": [2, 1, 1],
        "completed": True, "blocks_begun": 2, "static_shared_bytes": 0, "dynamic_shared_bytes": 0,
        "unseen_bytes_stored": 0,
        **dict.fromkeys(of_threads, number),
        **{name: {"total": 4, "most_per_block": 2} for name in of_blocks},
    }  # fmt: skip
    return {
        "seed": 3, "launches": 1, "failed_launches": 0, "ended_in_kernel": False,
        "ended_by_time": False, "accesses": 12, "forgotten_reads": 0, "why_lines_are_missing": "",
        "findings": [], "launch_counts": [launch], "runtime_calls": ["cudaMalloc", "launch"],
        "number_of_runtime_calls": 2, "unfreed_allocations": 0,
    }  # fmt: skip


def sent(report):
    return json.dumps(report, indent=1).encode() + b"\n"


class ReportTest(unittest.TestCase):
    def test_what_the_checker_writes_is_one(self):
        self.assertEqual(report_in(sent(genuine())), genuine())

    def test_what_it_would_not_write_is_none(self):
        whole = sent(genuine())
        for content in (b"", whole[:-1], whole[:-3] + b"\n", whole + whole, whole + b"\n", b" " + whole,
                        whole + b"x\n", whole.replace(b"a.cu", b"\xff"), b"[" * 99999 + b"]}\n",
                        whole[:-2] + b" " * MOST_REPORT + b"}\n"):  # fmt: skip
            self.assertIsNone(report_in(content), content[:40])

    def test_one_that_a_submission_has_sent_something_before_and_after_is_none(self):
        """Whoever may print can send half a report from a destructor, and the other half after the checker's
        own, which then stands in a value that JSON does not keep, or in one that nobody looks into."""
        own, forged = sent(genuine()), sent(genuine())
        for before, after in (
            (b'{"findings": [', b"], "),
            (b'{\n "seed": 3, "findings": [', b"], "),
            (b'{\n "findings": [{"chain": {}, "other": ', b"}], "),
        ):
            self.assertIsNone(report_in(before + own + after + forged[1:]), before)

    def test_some_runs_have_what_others_have_not(self):
        """With much memory nothing is compared; what was loaded is asked for at the secret size alone."""
        report = genuine()
        launch = report["launch_counts"][0]
        launch["loaded"] = [0, 0, 4, 1, 8, 1 << 62]
        self.assertEqual(report_in(sent(report)), report)
        del launch["unseen_bytes_stored"]
        self.assertEqual(report_in(sent(report)), report)
        for wrong in (None, {}, "1", [-1], [1.5], [True], [1 << 63], [[1]]):
            launch["loaded"] = wrong
            self.assertIsNone(report_in(sent(report)), wrong)

    def test_each_value_is_of_its_kind_and_none_is_missing_or_new(self):
        for place in (genuine(), genuine()["launch_counts"][0]):
            for name, value in place.items():
                for wrong in WRONG[type(value)]:
                    self._is_none(name, wrong)
                if name != "unseen_bytes_stored":
                    self._is_none(name)
        self._is_none("launch_counts", [1, 2])
        self._is_none("runtime_calls", [1])
        self._is_none("runtime_calls", ["launch"] * 1001)
        self._is_none("blocks", [1, 2])
        self._is_none("findings", [1])
        self._is_none("findings", [{"chain": {"events": [0] * 101}}])
        self._is_none("other", 1)

    def _is_none(self, name, *value):
        changed = genuine()
        place = changed if name in changed else changed["launch_counts"][0]
        place.pop(name, None)
        if value:
            place[name] = value[0]
        with self.subTest(name, value=value):
            self.assertIsNone(report_in(sent(changed)))


@unittest.skipUnless(real_sandboxes(), "no sandbox works here")
class ChannelTest(unittest.TestCase):
    def run_python(self, kind, text, given=b"", **options):
        python, readable = interpreter()
        with Sandbox.folder() as work:
            return Sandbox(kind).run([python, "-c", text], Access(work, readable), given=given,
                                     **options)  # fmt: skip

    def test_what_is_given_is_read_once_and_what_is_written_comes_back(self):
        text = "import os; a = os.read(0, 99); b = os.read(0, 99); os.write(0, a + b + b'.')"
        for kind in real_sandboxes():
            with self.subTest(kind):
                self.assertEqual(self.run_python(kind, text, b"A=1\0").report, b"A=1\0.")

    def test_a_long_report_is_read_while_the_program_writes_it(self):
        text = "import os\nfor _ in range(99): os.write(0, b'x' * 10000)"
        for kind in real_sandboxes():
            with self.subTest(kind):
                self.assertEqual(len(self.run_python(kind, text).report), 990000)

    def test_of_a_report_without_end_no_more_is_kept_than_shows_that(self):
        text = "import os\nwhile True: os.write(0, b'x' * 100000)"
        for kind in real_sandboxes():
            with self.subTest(kind):
                run = self.run_python(kind, text, limits=Limits(seconds=1))
                self.assertEqual((run.limit, len(run.report)), (TIME, MOST_REPORT + 1))

    def test_a_descriptor_that_is_handed_back_is_not_taken(self):
        """A socket can carry descriptors: they are closed, and nobody waits for them."""
        text = (
            "import array, socket\n"
            "s = socket.socket(fileno=0)\n"
            "s.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [1]))])"
        )
        before = len(os.listdir("/proc/self/fd"))
        for kind in real_sandboxes():
            with self.subTest(kind):
                self.assertEqual(self.run_python(kind, text).report, b"x")
        self.assertEqual(len(os.listdir("/proc/self/fd")), before)

# SPDX-License-Identifier: MIT
"""Counts test cases, and says what failed."""

import collections
import json
from typing import NamedTuple


class Outcome(NamedTuple):
    """What Meson says about one test."""

    test: str
    binary: str
    result: str  # OK, FAIL, SKIP, TIMEOUT, ...


def count_cases(log_lines, outcomes):
    """Counts test cases: Counter of passed, failed and skipped, and what there is to say about them.

    log_lines are those of LAB_TEST_LOG; outcomes are (test, binary, Meson's result). A binary that
    crashed or was stopped, and so logged no failed case, counts as one failed case.
    """
    counts = collections.Counter()
    by_binary = collections.defaultdict(collections.Counter)
    remarks = []
    for line in log_lines:
        result, binary, case = line.split("\t", 2)
        counts[result] += 1
        by_binary[binary][result] += 1
        if result == "failed":
            remarks.append(f"failed: {binary}: {case}")
    for test, binary, result in outcomes:
        logged = by_binary[binary]
        if result == "TIMEOUT":
            counts["failed"] += 1
            remarks.append(f"failed: {test} did not end in time, which looks like a deadlock")
        elif result == "SKIP":
            if not logged:
                counts["skipped"] += 1
        elif result != "OK" and not logged["failed"]:
            counts["failed"] += 1
            remarks.append(f"failed: {test} ended with {result} outside of its test cases")
        elif result == "OK" and not logged:
            counts["failed"] += 1
            remarks.append(f"failed: {test} reported no test case")
    return counts, remarks


class TestLogs:
    """The two files that a run of the tests leaves in the build folder."""

    def __init__(self, folder):
        self.cases = folder / "meson-logs" / "test_cases.txt"
        self.tests = folder / "meson-logs" / "testlog.json"

    def remove(self):
        for file in (self.cases, self.tests):
            file.unlink(missing_ok=True)

    def case_lines(self):
        return self.cases.read_text(encoding="utf-8").splitlines() if self.cases.is_file() else []

    def results(self):
        """Meson's record of each test that was run, with `name` as in meson.build."""
        results = []
        for line in self.tests.read_text(encoding="utf-8").splitlines():
            result = json.loads(line)
            result["name"] = result["name"].split(" / ")[-1].split(":")[-1]
            results.append(result)
        return results

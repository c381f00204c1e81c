# SPDX-License-Identifier: MIT
"""Meson's tests: which are meant, what has to be built for them, and how many test cases came to what."""

import collections
import json
import os
import pathlib
import re
from typing import NamedTuple

from engine.command.build_folder import introspection
from engine.command.errors import WRONG_USE, CommandError, hint, least_different, listed
from lab_tool.paths import ROOT

COURSE = "course"  # the suite of what `./lab test` runs if nothing else is asked for


class Selection(NamedTuple):
    """Tests as Meson describes them."""

    tests: list[dict]  # all that there are
    chosen: list[dict]
    is_default: bool  # nothing was asked for, and so the suite `course` was chosen

    @property
    def left_out(self):
        return len(self.tests) - len(self.chosen)


def suites_of(test):
    """The names of the test's suites, without the project's that Meson puts before them."""
    return {suite.split(":")[-1] for suite in test["suite"]}


def table_of(name, root=ROOT):
    """One of the tables of suites and marks, such as `test_suites`: {name: what it says}."""
    text = (root / "tests/suites/meson.build").read_text(encoding="utf-8")
    rows = re.search(rf"^{name} = {{\n(.*?)^}}", text, re.M | re.S)[1]
    return dict(re.findall(r"^  '(\w+)': '(.*)',$", rows, re.M))


def select(tests, wanted, of=(), without=()):
    """The tests that the user means.

    Each of wanted is part of a test's name, a suite's name or "all"; without any it is those of the
    suite `course`. of and without are the suites of --suite and --without.
    """
    suites = sorted(set().union(*map(suites_of, tests)))
    for suite in [*of, *without]:
        if suite not in suites:
            otherwise = f"there are {', '.join(suites)}."
            near = hint(suite, suites, otherwise)
            name = suite or "with an empty name"
            raise CommandError(f"there is no suite {name}; {near}", WRONG_USE)
    if not wanted and not of and not without and COURSE in suites:
        return Selection(tests, [test for test in tests if COURSE in suites_of(test)], True)
    within = [
        test
        for test in tests
        if (not of or suites_of(test) & set(of)) and not suites_of(test) & set(without)
    ]
    for name in wanted:
        if not any(_is_meant(test, name) for test in within):
            known = [*suites, *sorted({test["name"] for test in tests})]
            near = hint(name, known, f"the nearest are {listed(least_different(name, known))}.")
            where = f" in the suite {listed(of, 'or')}" if of else ""
            where += f" outside the suite {listed(without, 'or')}" if without else ""
            raise CommandError(
                f"no test{where} has a name that contains {name!r}; {near}", WRONG_USE
            )
    chosen = [
        test for test in within if not wanted or any(_is_meant(test, each) for each in wanted)
    ]
    if not chosen:
        raise CommandError("no test is left: --without leaves out all of them.", WRONG_USE)
    return Selection(tests, chosen, False)


def least_minutes(selection):
    """What the whole suites among the chosen tests take on two cores, as `test_minutes` says."""
    whole = [
        suite
        for suite in table_of("test_minutes")
        if 0 < len(_of(suite, selection.tests)) == len(_of(suite, selection.chosen))
    ]
    return sum(int(table_of("test_minutes")[suite]) for suite in whole)


def _of(suite, tests):
    return [test for test in tests if suite in suites_of(test)]


def _is_meant(test, wanted):
    wanted = wanted.lower()
    return wanted == "all" or wanted in test["name"].lower() or wanted in suites_of(test)


def targets_of(tests, folder):
    """What Ninja has to build for the tests, as it names targets; nothing else is needed."""
    files = {item["id"]: item["filename"] for item in introspection(folder, "targets")}
    root = folder.resolve()
    paths = {path for test in tests for target in test["depends"] for path in files.get(target, ())}
    return sorted(os.path.relpath(path, root) for path in paths)


def is_python(test):
    return any(word.endswith(".py") for word in test["cmd"])


def binary_name(test):
    """The name by which a test signs its lines in LAB_TEST_LOG: the script's, or the program's."""
    script = next((word for word in reversed(test["cmd"]) if word.endswith(".py")), None)
    return pathlib.Path(script).stem if script else pathlib.Path(test["cmd"][0]).name


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

    def counts(self, chosen):
        """count_cases() of the chosen tests; those that did not come to their end have failed."""
        if not self.tests.is_file():
            raise CommandError("the tests could not be run; Meson's own message is above.")
        binaries = {test["name"]: binary_name(test) for test in chosen}
        outcomes = []
        for line in self.tests.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            name = record["name"].split(" / ")[-1].split(":")[-1]
            outcomes.append(Outcome(name, binaries[name], record["result"]))
        lines = self.cases.read_text(encoding="utf-8") if self.cases.is_file() else ""
        counts, remarks = count_cases(lines.splitlines(), outcomes)
        missing = len(chosen) - len(outcomes)
        if missing > 0:
            counts["failed"] += missing
            remarks.append(f"failed: {missing} of {len(chosen)} tests were not run to their end")
        return counts, remarks

# SPDX-License-Identifier: MIT
"""Runs tests that are built, and says what became of them."""

import os
import re
import textwrap

from engine.command.build_folder import word_for
from engine.command.errors import NOTHING_COULD_RUN, CommandError
from engine.command.output import Progress, counted, is_verbose, remark, say, say_command
from engine.command.paths import shown
from engine.command.processes import watch
from lab_tool.setup.packages import JSONSCHEMA, PYTEST, python_with, python_with_installed
from lab_tool.testing.failed_tests import report_of
from lab_tool.testing.test_results import Outcome, TestLogs, count_cases
from lab_tool.testing.test_selection import binary_name, script_of
from lab_tool.testing.test_suites import all_suites, suite_of

# Meson's own variables before the command of a failed test, and its remark about a log.
OF_MESON = re.compile(r"^>>> (?:\w+=\S* )*|^Listing only the last \d+ lines from a long log\.$")


def run_and_report(place, tests, chosen, history, brief, seconds=None):
    """Runs tests that are built, and says what failed.

    Returns the Counter of test cases, whether anything failed, and the tests that were not done after
    these seconds.
    """
    if any(map(script_of, chosen)):
        make_available(packages_of(chosen))
    logs = TestLogs(place.folder)
    code = run_tests(place, chosen, logs, brief, seconds)
    if not logs.tests.is_file():
        raise CommandError("the tests could not be run; Meson's own message is above.")
    results = logs.results()
    unfinished = []
    if code is None:  # ended, and with it some tests
        results = [result for result in results if result["result"] != "INTERRUPT"]
        done = {result["name"] for result in results}
        unfinished = [test for test in chosen if test["name"] not in done]
    history.add(results)
    binaries = {test["name"]: binary_name(test) for test in tests}
    outcomes = [Outcome(item["name"], binaries[item["name"]], item["result"]) for item in results]
    counts, remarks = count_cases(logs.case_lines(), outcomes)
    missing = len(chosen) - len(outcomes) - len(unfinished)
    if missing > 0:
        counts["failed"] += missing
        remarks.append(f"failed: {missing} of {len(chosen)} tests were not run to their end")
    for result in results:
        for line in report_of(result, place.folder):
            say(line)
    for line in remarks:
        say(line)
    return counts, bool(counts["failed"] or (code is not None and code != 0)), unfinished


def packages_of(tests):
    """The Python packages that these tests take; Meson has them in the environment of each."""
    names = {name for test in tests for name in test["env"].get("LAB_TEST_PACKAGES", "").split()}
    return [PYTEST, *([JSONSCHEMA] if JSONSCHEMA.name in names else [])]


def make_available(packages):
    """Without pytest the tests of Python code are skipped, without another package those that need it."""
    try:
        python_with_installed(*packages)
    except CommandError as problem:
        skipped = "Tests that need more" if python_with(PYTEST) else "The tests of Python code"
        remark(f"{skipped} are skipped: {problem}")


def run_tests(place, chosen, logs, brief, seconds=None):
    """Runs the tests, which are built; returns Meson's exit code, None if it was ended after `seconds`.

    brief: with fewer and smaller sizes.
    """
    logs.remove()
    environment = {**os.environ, "LAB_TEST_LOG": str(logs.cases.resolve())}
    if brief:
        environment["LAB_BRIEF_TESTS"] = "1"
    command = [word_for(place.tools["Meson"]), "test", "-C", shown(place.folder), "--no-rebuild"]
    command += ["--num-processes", str(at_once())]
    command += [test["name"] for test in chosen]
    if is_verbose():
        say_command(command)
        return watch(command, lambda line: remark(OF_MESON.sub("", line)), environment, seconds)
    lines = []
    failed = 0
    with Progress("Testing", stays=False) as progress:

        def read(line):
            nonlocal failed
            lines.append(line)
            status = re.match(r" *(\d+)/(\d+) .* (OK|SKIP|[A-Z]+) +[\d.]+s", line)
            if status:
                failed += status[3] not in ("OK", "SKIP", "EXPECTEDFAIL")
                note = f"{failed} failed, " if failed else ""
                progress.step(int(status[1]), int(status[2]), note)

        code = watch(command, read, environment, seconds)
    if not logs.tests.is_file():
        for line in lines:
            remark(line)
    return code


def at_once():
    """How many tests: more than there are processors, since many wait for a limit or for a sandbox."""
    processors = len(os.sched_getaffinity(0))
    return processors + (processors + 1) // 2


def say_counts(counts, failed=False):
    """The last line; returns lab's exit code."""
    if not failed and not counts["passed"]:
        remark("Nothing was tested.")
    say(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    if failed:
        return 1
    return 0 if counts["passed"] else NOTHING_COULD_RUN


def say_by_suite(tests):
    suites = all_suites()
    for place, suite in enumerate(suites):
        names = [test["name"] for test in tests if suite_of(test, suites) == place]
        if names:
            text = f"{suite.name} ({len(names)}): {', '.join(names)}"
            for line in textwrap.wrap(text, 98, initial_indent="  ", subsequent_indent="    "):
                say(line)


def tests_text(number):
    return counted(number, "test")

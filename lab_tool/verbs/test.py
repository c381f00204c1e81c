# SPDX-License-Identifier: MIT
"""./lab test: builds and runs the tests."""

import os
import re

from engine.driver.arguments import WRONG_USE_MEANING, Verb, add_backend, add_build, add_verbose
from engine.driver.build_folder import introspection, word_for
from engine.driver.building import build
from engine.driver.errors import NOTHING_COULD_RUN, LabError
from engine.driver.output import Progress, is_verbose, remark, say, say_command, say_next
from engine.driver.paths import shown
from engine.driver.processes import watch
from lab_tool.builds.build_folders import configured
from lab_tool.setup.python_packages import (
    JSONSCHEMA,
    PYTEST,
    python_with,
    python_with_installed,
)
from lab_tool.testing.failed_tests import report_of
from lab_tool.testing.test_results import Outcome, TestLogs, counted
from lab_tool.testing.test_selection import binary_name, script_of, select, targets_of

# Meson's own variables before the command of a failed test, and its remark about a log.
OF_MESON = re.compile(r"^>>> (?:\w+=\S* )*|^Listing only the last \d+ lines from a long log\.$")


def add_options(parser):
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME|all",
        help="parts of tests' names, or suites' names; all runs every test that there is "
        "(default: the tests of the course)",
    )
    parser.add_argument(
        "--suite",
        type=suites_in,
        default=[],
        metavar="NAMES",
        help="only tests of this suite, such as chapters, or of any of several: chapters,backend",
    )
    parser.add_argument(
        "--without",
        type=suites_in,
        default=[],
        metavar="NAMES",
        help="no tests of this suite, or of any of several (default: none)",
    )
    add_backend(parser)
    add_build(parser)
    add_verbose(parser)


def suites_in(text):
    """The suites' names in the value of an option."""
    return text.split(",")


def act(arguments):
    place = configured(arguments)
    build(place, ["build.ninja"], "the list of tests")  # of today's meson.build
    tests = introspection(place.folder, "tests")
    selection = select(tests, arguments.names, arguments.suite, arguments.without)
    chosen = selection.chosen
    if any(map(script_of, chosen)):
        make_available(packages_of(chosen))
    targets = targets_of(chosen, place.folder)
    if targets:
        build(place, targets, tests_text(len(chosen)))
    logs = TestLogs(place.folder)
    code = run_tests(place, chosen, logs, brief=selection.is_default)
    if not logs.tests.is_file():
        raise LabError("the tests could not be run; Meson's own message is above.")

    results = logs.results()
    binaries = {test["name"]: binary_name(test) for test in tests}
    outcomes = [Outcome(item["name"], binaries[item["name"]], item["result"]) for item in results]
    counts, remarks = counted(logs.case_lines(), outcomes)
    missing = len(chosen) - len(outcomes)
    if missing > 0:
        counts["failed"] += missing
        remarks.append(f"failed: {missing} of {len(chosen)} tests were not run to their end")
    failed = bool(counts["failed"] or code != 0)
    for result in results:
        for line in report_of(result, place.folder):
            say(line)
    for line in remarks:
        say(line)
    if selection.is_default and selection.left_out:
        which = f"{tests_text(selection.left_out)} of the project itself"
        say(f"Not run: {which}, and the largest sizes. ./lab test all runs them.")
    say_next(*next_command(selection, results, failed))
    say(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    if failed:
        return 1
    return 0 if counts["passed"] else NOTHING_COULD_RUN


def packages_of(tests):
    """The Python packages that these tests take; Meson has them in the environment of each."""
    names = {name for test in tests for name in test["env"].get("LAB_TEST_PACKAGES", "").split()}
    return [PYTEST, *([JSONSCHEMA] if JSONSCHEMA.name in names else [])]


def make_available(packages):
    """Without pytest the tests of Python code are skipped, without another package those that need it."""
    try:
        python_with_installed(*packages)
    except LabError as problem:
        skipped = "Tests that need more" if python_with(PYTEST) else "The tests of Python code"
        remark(f"{skipped} are skipped: {problem}")


def run_tests(place, chosen, logs, brief):
    """Runs the tests, which are built; returns Meson's exit code. brief: with fewer and smaller sizes."""
    logs.remove()
    environment = {**os.environ, "LAB_TEST_LOG": str(logs.cases.resolve())}
    if brief:
        environment["LAB_BRIEF_TESTS"] = "1"
    command = [word_for(place.tools["Meson"]), "test", "-C", shown(place.folder), "--no-rebuild"]
    command += ["--num-processes", str(at_once())]
    command += [test["name"] for test in chosen]
    if is_verbose():
        say_command(command)
        return watch(command, lambda line: remark(OF_MESON.sub("", line)), environment)
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

        code = watch(command, read, environment)
    if not logs.tests.is_file():
        for line in lines:
            remark(line)
    return code


def at_once():
    """How many tests: more than there are processors, since many wait for a limit or for a sandbox."""
    processors = len(os.sched_getaffinity(0))
    return processors + (processors + 1) // 2


def next_command(selection, results, failed):
    """The command to recommend, and why."""
    if failed:
        names = [item["name"] for item in results if item["result"] not in ("OK", "SKIP")]
        name = names[0] if names else ""
        return f"./lab test {name}".rstrip(), "this test alone, after a change"
    if selection.left_out == 0:
        return "./lab bench --quick", "how fast the chapters are on this machine's GPU"
    return ("./lab racecheck", "the chapters under the race checker")


def tests_text(number):
    return "1 test" if number == 1 else f"{number} tests"


VERB = Verb(
    summary="builds and runs the tests",
    usage=["test [NAME ...|all] [--suite SUITE] [options]"],
    description="""\
Builds and runs tests, and nothing that they don't need. Without a name it runs what shows that your
clone works: the tests of the course. The last line is `N passed, N failed, N skipped`.""",
    examples=[
        ("./lab test", "the tests of the course"),
        ("./lab test checker", "the suite `checker`, and tests with that in their name"),
        ("./lab test vector dot", "the tests of two chapters"),
        ("./lab test all", "everything that there is"),
    ],
    exit_codes=[
        (0, "no test failed"),
        (1, "a test failed, or could not be built"),
        WRONG_USE_MEANING,
        (NOTHING_COULD_RUN, "every test was skipped, as without a device"),
    ],
    add_options=add_options,
    act=act,
)

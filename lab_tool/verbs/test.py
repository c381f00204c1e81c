# SPDX-License-Identifier: MIT
"""./lab test: builds the tests that are meant, and has Meson run them."""

import os
import re

from engine.command.arguments import WRONG_USE_MEANING, Verb, add_verbose
from engine.command.build_folder import build, introspection, word_for
from engine.command.errors import NOTHING_COULD_RUN, WRONG_USE, CommandError
from engine.command.output import Progress, counted, is_verbose, remark, remark_line, say, say_next
from engine.command.paths import shown
from engine.command.processes import run_program, watch
from lab_tool.builds.build_folders import configured
from lab_tool.options import add_backend, add_build
from lab_tool.setup.packages import JSONSCHEMA, PYTEST, python_with, python_with_installed
from lab_tool.testing import (
    TestLogs,
    is_python,
    least_minutes,
    select,
    suites_of,
    table_of,
    targets_of,
)

ALL = "all"
# What Meson prints of a test that has ended: 12/41 inter_block_communication:fast / name  OK  1.23s
ENDED = re.compile(r" *(\d+)/(\d+) .* (OK|SKIP|[A-Z]+) +[\d.]+s")


def add_test_options(parser):
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME|all",
        help="parts of tests' names, or suites' names; all runs every test that there is (default: the "
        "tests of the course)",
    )
    parser.add_argument("--list", action="store_true", help="list the suites, and run nothing")
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


def test(arguments):
    if ALL in arguments.names and arguments.names != [ALL]:
        raise CommandError(f"{ALL} runs every test: name no others, or leave {ALL} out.", WRONG_USE)
    place = configured(arguments)
    build(place, ["build.ninja"], "the list of tests")  # of today's meson.build
    tests = introspection(place.folder, "tests")
    if arguments.list:
        return list_suites(tests)
    selection = select(tests, arguments.names, arguments.suite, arguments.without)
    chosen = selection.chosen
    targets = targets_of(chosen, place.folder)
    if targets:
        build(place, targets, tests_text(len(chosen)))
    if any(map(is_python, chosen)):
        make_available(packages_of(chosen))
    if minutes := least_minutes(selection):
        remark(f"The tests take {minutes} minutes or more on two cores.")
    logs = TestLogs(place.folder)
    code = run_tests(place, chosen, logs, brief=selection.is_default)
    counts, remarks = logs.counts(chosen)
    for line in remarks:
        say(line)
    if selection.is_default and selection.left_out:
        which = f"{tests_text(selection.left_out)} of the project itself"
        say(f"Not run: {which}, and the largest sizes. ./lab test all runs them.")
    has_failed = bool(counts["failed"] or code)
    if has_failed:
        say_next("./lab test NAME", "this test alone, after a change")
    elif selection.left_out == 0:
        say_next("./lab bench --quick", "how fast the chapters are on this machine's GPU")
    else:
        say_next("./lab racecheck", "the chapters under the race checker")
    if not has_failed and not counts["passed"]:
        remark("Nothing was tested.")
    say(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    if has_failed:
        return 1
    return 0 if counts["passed"] else NOTHING_COULD_RUN


def run_tests(place, chosen, logs, brief):
    """Runs the tests, which are built; returns Meson's exit code. brief: with fewer and smaller sizes."""
    logs.remove()
    os.environ["LAB_TEST_LOG"] = str(logs.cases.resolve())
    if brief:
        os.environ["LAB_BRIEF_TESTS"] = "1"
    command = [word_for(place.tools["Meson"]), "test", "-C", shown(place.folder), "--no-rebuild"]
    command += ["--print-errorlogs", "--num-processes", str(at_once())]
    command += [test["name"] for test in chosen]
    if is_verbose():
        return run_program(command)
    others, failed = [], 0
    with Progress("Testing", stays=False) as progress:

        def read(line):
            nonlocal failed
            ended = ENDED.match(line)
            if not ended:
                others.append(line)
                return
            failed += ended[3] not in ("OK", "SKIP", "EXPECTEDFAIL")
            progress.step(int(ended[1]), int(ended[2]), f"{failed} failed, " if failed else "")

        code = watch(command, read)
    if code != 0:
        for line in others:
            remark_line(line)
    return code


def at_once():
    """How many tests: more than there are processors, since many wait for a limit or for a sandbox."""
    processors = len(os.sched_getaffinity(0))
    return processors + (processors + 1) // 2


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


def list_suites(tests):
    """The table of the suites and marks, with the number of their tests."""
    suites, marks = table_of("test_suites"), table_of("test_marks")
    width = max(map(len, [*marks, *suites]))
    for table, head in (
        (suites, "The suites:"),
        (marks, "A test may have marks as well, which choose tests as suites do:"),
    ):
        say(f"{head}\n")
        for name, what in table.items():
            number = sum(name in suites_of(test) for test in tests)
            say(f"  {name:<{width}} {tests_text(number):>9}  {what}")
        say()
    return 0


def tests_text(number):
    return counted(number, "test")


TEST = Verb(
    summary="builds and runs the tests",
    usage=["test [NAME ...|all] [options]", "test --list"],
    description="""\
Builds and runs tests, and nothing that they don't need. Without a name it runs what shows that your
clone works: the tests of the course. The last line is `N passed, N failed, N skipped`.""",
    examples=[
        ("./lab test", "the tests of the course"),
        ("./lab test fast", "a test of each part and chapter, in a minute"),
        ("./lab test checker", "the suite `checker`, and tests of such a name"),
        ("./lab test vector dot", "the tests of two chapters"),
        ("./lab test all", "everything that there is"),
    ],
    exit_codes=[
        (0, "no test failed"),
        (1, "a test failed, or could not be built"),
        WRONG_USE_MEANING,
        (NOTHING_COULD_RUN, "every test was skipped, as without a device"),
    ],
    add_options=add_test_options,
    act=test,
)

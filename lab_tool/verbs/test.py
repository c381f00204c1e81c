# SPDX-License-Identifier: MIT
"""./lab test: builds and runs the tests."""

import time
from collections import Counter

from engine.command.arguments import WRONG_USE_MEANING, Verb, add_verbose
from engine.command.build_folder import build, introspection
from engine.command.errors import NOTHING_COULD_RUN, WRONG_USE, CommandError
from engine.command.output import counted, say, say_next, seconds_text
from engine.command.paths import shown
from lab_tool.builds.build_folders import configured
from lab_tool.options import add_backend, add_build
from lab_tool.testing.changed_files import changes_of_branch, changes_since, files_of_checkout
from lab_tool.testing.quick_gate import SECONDS, run_quick
from lab_tool.testing.test_history import RunHistory
from lab_tool.testing.test_reach import Reach
from lab_tool.testing.test_runs import at_once, run_and_report, say_by_suite, say_counts, tests_text
from lab_tool.testing.test_selection import select, suites_of, targets_of
from lab_tool.testing.test_suites import all_marks, all_suites, suite_of

QUICK, ALL = "quick", "all"
MOST_FILES = 8  # of a change that are named


def add_test_options(parser):
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME|all|quick",
        help="parts of tests' names, or suites' names; all runs every test that there is, quick what "
        f"your change can reach and {SECONDS} s are enough for (default: the tests of the course)",
    )
    parser.add_argument(
        "--since",
        metavar="COMMIT",
        help="only tests that the changes since this commit can reach, uncommitted ones too (default "
        "of quick: since your branch left the main one)",
    )
    parser.add_argument(
        "--list", action="store_true", help="list the suites, with their times, and run nothing"
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


def test(arguments):
    start = time.monotonic()
    is_quick = arguments.names == [QUICK]
    if QUICK in arguments.names and not is_quick:
        raise CommandError(f"{QUICK} chooses its tests by itself: name no others.", WRONG_USE)
    if ALL in arguments.names and arguments.names != [ALL]:
        raise CommandError(f"{ALL} runs every test: name no others, or leave {ALL} out.", WRONG_USE)
    changes = None
    if arguments.since is not None:
        changes = changes_since(arguments.since)
    elif is_quick:
        changes = changes_of_branch()
    place = configured(arguments)
    build(place, ["build.ninja"], "the list of tests")  # of today's meson.build
    tests = introspection(place.folder, "tests")
    if arguments.list:
        return list_suites(place.folder, tests)
    names = ["all"] if is_quick else arguments.names
    selection = select(tests, names, arguments.suite, arguments.without)
    if changes is None:
        return run_all(place, selection, RunHistory(place.folder, brief=selection.is_default))
    reach = Reach(place.folder, place.tools["Ninja"].path, selection.chosen, files_of_checkout())
    reached = reach.reached_by(changes)
    say_reached(changes, reached, selection)
    if is_quick:
        return run_quick(place, tests, reach, reached, changes, start)
    if not reached.tests:
        return say_counts(Counter())
    say_unreached(selection, reached)
    history = RunHistory(place.folder, brief=False)
    return run_all(place, selection._replace(chosen=reached.tests, is_default=False), history)


def list_suites(folder, tests):
    """The table of the suites, and how long they take."""
    suites, marks = all_suites(), all_marks()
    history = RunHistory(folder, brief=False)
    width = max(map(len, [*marks, *(suite.name for suite in suites)]))
    say(
        "The suites, in the order in which their tests start. The time is what they took together in"
    )
    say(f"{shown(folder)}, with up to {at_once()} at once, when each last ran there:")
    say()
    for place, suite in enumerate(suites):
        names = [test["name"] for test in tests if suite_of(test, suites) == place]
        known = [past.seconds for past in map(history.past_of, names) if past]
        time_text = seconds_text(sum(known) / at_once()) if known else "-"
        if known and len(known) < len(names):
            time_text = f"{time_text} for {len(known)}"
        say(f"  {suite.name:<{width}} {tests_text(len(names)):>9} {time_text:>18}  {suite.what}")
    say()
    say("A test may have marks as well, which choose tests as suites do:")
    say()
    for name, what in marks.items():
        number = sum(name in suites_of(test) for test in tests)
        say(f"  {name:<{width}} {tests_text(number):>9} {'':>18}  {what}")
    return 0


def say_reached(changes, reached, selection):
    changed = counted(len(changes.files), "file")
    few = ", ".join(sorted(changes.files)) if len(changes.files) <= MOST_FILES else changed
    say(f"Changed since {changes.commit}: {few if changes.files else 'nothing'}.")
    if reached.because_of:
        say(f"{reached.because_of} may concern every test: no graph knows which it leaves alone.")
    number, total = len(reached.tests), len(selection.chosen)
    say(f"Reached: {number} of {tests_text(total)}.")
    if reached.without_record:
        say(
            f"{tests_text(len(reached.without_record))} of these only because nothing is known yet of what "
            "they read: they have not passed in this build folder, or are not built."
        )


def say_unreached(selection, reached):
    """The names of the tests that are left out, by suite."""
    names = {test["name"] for test in reached.tests}
    left_out = [test for test in selection.chosen if test["name"] not in names]
    if left_out:
        say(f"Left out, because the change can't reach them: {tests_text(len(left_out))}.")
        say_by_suite(left_out)


def run_all(place, selection, history):
    """Builds and runs the chosen tests; returns lab's exit code."""
    targets = targets_of(selection.chosen, place.folder)
    if targets:
        build(place, targets, tests_text(len(selection.chosen)))
    counts, failed, _ = run_and_report(
        place, selection.tests, selection.chosen, history, selection.is_default
    )
    if selection.is_default and selection.left_out:
        which = f"{tests_text(selection.left_out)} of the project itself"
        say(f"Not run: {which}, and the largest sizes. ./lab test all runs them.")
    say_next(*next_command(selection, history, failed))
    return say_counts(counts, failed)


def next_command(selection, history, failed):
    """The command to recommend, and why."""
    if failed:
        names = (test["name"] for test in selection.chosen)
        name = next((name for name in names if history.has_failed(name)), "")
        return f"./lab test {name}".rstrip(), "this test alone, after a change"
    if selection.left_out == 0:
        return "./lab bench --quick", "how fast the chapters are on this machine's GPU"
    return ("./lab racecheck", "the chapters under the race checker")


TEST = Verb(
    summary="builds and runs the tests",
    usage=["test [NAME ...|all|quick] [--since COMMIT] [options]", "test --list"],
    description="""\
Builds and runs tests, and nothing that they don't need. Without a name it runs what shows that your
clone works: the tests of the course. The last line is `N passed, N failed, N skipped`.""",
    examples=[
        ("./lab test", "the tests of the course"),
        ("./lab test checker", "the suite `checker`, and tests of such a name"),
        ("./lab test vector dot", "the tests of two chapters"),
        ("./lab test quick", "what your change can reach, in a minute"),
        ("./lab test all --since main", "all that the changes since `main` can reach"),
        ("./lab test all", "everything that there is"),
    ],
    exit_codes=[
        (0, "no test failed"),
        (1, "a test failed, or could not be built"),
        WRONG_USE_MEANING,
        (NOTHING_COULD_RUN, "every test was skipped, as without a device, or none was reached"),
    ],
    add_options=add_test_options,
    act=test,
)

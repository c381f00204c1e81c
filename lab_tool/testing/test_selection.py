# SPDX-License-Identifier: MIT
"""Which of Meson's tests are meant, and what has to be built for them."""

import os
import pathlib
from typing import NamedTuple

from engine.command.build_folder import introspection
from engine.command.errors import WRONG_USE, CommandError, hint, least_different, listed

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


def _is_meant(test, wanted):
    wanted = wanted.lower()
    return wanted == "all" or wanted in test["name"].lower() or wanted in suites_of(test)


def targets_of(tests, folder, targets=None):
    """What Ninja has to build for the tests, as it names targets; nothing else is needed.

    `targets` is Meson's list of them, if it has been read already.
    """
    targets = introspection(folder, "targets") if targets is None else targets
    files = {item["id"]: item["filename"] for item in targets}
    root = folder.resolve()
    paths = {path for test in tests for target in test["depends"] for path in files.get(target, ())}
    return sorted(os.path.relpath(path, root) for path in paths)


def script_of(test):
    """The Python file that the test runs; None for a test that is a program."""
    return next((word for word in reversed(test["cmd"]) if word.endswith(".py")), None)


def binary_name(test):
    """The name by which a test signs its lines in LAB_TEST_LOG: the script's, or the program's."""
    script = script_of(test)
    return pathlib.Path(script).stem if script else pathlib.Path(test["cmd"][0]).name

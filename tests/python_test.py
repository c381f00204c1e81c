# SPDX-License-Identifier: MIT
"""What the Python tests share: their main(), and lab as a module.

`./lab test` counts test cases, not files. So, like the C++ test binaries, a Python test appends one
line for each test case to the file that LAB_TEST_LOG names: result, test file and case, with tabs.
"""

import importlib.machinery
import importlib.util
import os
import pathlib
import sys
import unittest

SKIPPED = 77  # the exit code by which Meson knows a test that could not run


class logged_result(unittest.TextTestResult):
    """Notes one result for each test case; a case with failing subtests has failed once."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.logged = {}

    def addSuccess(self, test):
        super().addSuccess(test)
        self.logged.setdefault(test.id(), "passed")

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.logged.setdefault(test.id(), "skipped")

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.logged[test.id()] = "failed"

    def addError(self, test, error):
        super().addError(test, error)
        self.logged[test.id()] = "failed"

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error is not None:
            self.logged[test.id()] = "failed"

    def addExpectedFailure(self, test, error):
        super().addExpectedFailure(test, error)
        self.logged[test.id()] = "passed"

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.logged[test.id()] = "failed"


def load_lab():
    """The `lab` command of the checkout that LAB_SOURCE_ROOT names, as a module."""
    path = pathlib.Path(os.environ["LAB_SOURCE_ROOT"]) / "lab"
    loader = importlib.machinery.SourceFileLoader("lab", str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("lab", loader))
    loader.exec_module(module)
    return module


def main():
    """Runs the unittest cases of the calling script and exits: 0, 1, or 77 where all were skipped."""
    runner = unittest.TextTestRunner(verbosity=2, resultclass=logged_result)
    program = unittest.main(module="__main__", testRunner=runner, exit=False)
    results = program.result.logged

    log = os.environ.get("LAB_TEST_LOG")
    if log and results:
        name = pathlib.Path(sys.argv[0]).stem
        with open(log, "a", encoding="utf-8") as file:
            file.writelines(
                f"{result}\t{name}\t{case.removeprefix('__main__.')}\n"
                for case, result in results.items()
            )

    if not results or "failed" in results.values():
        sys.exit(1)
    sys.exit(SKIPPED if set(results.values()) == {"skipped"} else 0)

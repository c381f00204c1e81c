# SPDX-License-Identifier: MIT
"""Runs one file of Python tests with pytest, as Meson asks for it: python -m run_python_test FILE.

Meson's Python may lack pytest, or one of the LAB_TEST_PACKAGES that the test imports: then the first of
the LAB_TEST_PYTHONS that has them is taken. Without pytest the test is skipped.

The variables of the environment that end in _PROGRAM name programs that the test starts. In a cross
build this machine can start them by PROGRAM_WRAPPER alone: then each is replaced by a script.

It is a plugin of pytest, too. Test cases are counted, not files: like the C++ test binaries, a run appends
one line for each test case to the file that LAB_TEST_LOG names, with tabs: result, test file and case.
"""

import importlib.util
import os
import pathlib
import shlex
import sys

from engine.command.processes import output_of

SKIPPED = 77  # the exit code by which Meson knows a test that could not run


def startable(program, wrapper):
    """The path of a script, next to the program, that runs it by the wrapper."""
    script = pathlib.Path(program + ".sh")
    text = f'#!/bin/sh\nexec {shlex.join([wrapper, program])} "$@"\n'
    if not script.exists() or script.read_text(encoding="utf-8") != text:
        # Tests that run side by side may start the same program.
        unfinished = pathlib.Path(f"{script}.{os.getpid()}")
        unfinished.write_text(text, encoding="utf-8")
        unfinished.chmod(0o755)
        unfinished.replace(script)
    return str(script)


def replace_programs(environment):
    wrapper = environment.get("PROGRAM_WRAPPER")
    if wrapper:
        for name, value in list(environment.items()):
            if name.endswith("_PROGRAM"):
                environment[name] = startable(value, wrapper)


def python_with(packages):
    """The first Python that can import all the packages; None if none is known."""
    if all(importlib.util.find_spec(package) for package in packages):
        return sys.executable
    others = filter(None, os.environ.get("LAB_TEST_PYTHONS", "").split(os.pathsep))
    statement = f"import {', '.join(packages)}"
    return next((each for each in others if output_of([each, "-c", statement]) is not None), None)


def main(words):
    packages = os.environ.get("LAB_TEST_PACKAGES", "").split()
    python = python_with(["pytest", *packages]) or python_with(["pytest"])
    if python is None:
        print("Skipped: pytest is not here.")
        return SKIPPED
    replace_programs(os.environ)
    sys.stdout.flush()
    os.execv(python, [python, "-m", "pytest", "-p", "run_python_test", *words])


results = {}  # of each test case, by pytest's name for it


def pytest_runtest_logreport(report):
    """Called after a case is prepared, after it is run and after it is cleaned up."""
    if report.failed:
        results[report.nodeid] = "failed"
    elif report.skipped:
        results.setdefault(report.nodeid, "passed" if hasattr(report, "wasxfail") else "skipped")
    elif report.when == "call":
        results.setdefault(report.nodeid, "passed")


def pytest_sessionfinish(session, exitstatus):
    log = os.environ.get("LAB_TEST_LOG")
    if log:
        with open(log, "a", encoding="utf-8") as file:
            file.writelines(line_of(nodeid, result) for nodeid, result in results.items())
    if exitstatus == 0 and set(results.values()) == {"skipped"}:
        session.exitstatus = SKIPPED


def line_of(nodeid, result):
    path, *case = nodeid.split("::")
    return f"{result}\t{pathlib.Path(path).stem}\t{'.'.join(case)}\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

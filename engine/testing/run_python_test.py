# SPDX-License-Identifier: MIT
"""Runs one file of Python tests with pytest, as Meson asks for it: python -m run_python_test FILE.

Meson's Python may lack pytest, or one of the LAB_TEST_PACKAGES that the test imports: then the first of
the LAB_TEST_PYTHONS that has them is taken. Without pytest the test is skipped.

The variables of the environment that end in _PROGRAM name programs that the test starts. In a cross
build this machine can start them by PROGRAM_WRAPPER alone: then each is replaced by a script.

What the test reads of the tree is recorded (record_inputs.py): in the build folder's test_inputs, under
the test's name, once it has passed.
"""

import importlib.util
import json
import os
import pathlib
import shlex
import sys

from engine.command.processes import output_of

UNFINISHED = ".unfinished"  # after the name of the record of a test that has not passed yet
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


def name_of_test(folder, script, environment):
    """The name that Meson has for the test that it runs here; None if it isn't Meson that does."""
    try:
        text = (folder / "meson-info/intro-tests.json").read_text(encoding="utf-8")
    except OSError:
        return None
    for test in json.loads(text):
        variables = test["env"].items()
        if test["cmd"][-1] == script and all(environment.get(key) == own for key, own in variables):
            return test["name"]
    return None


def begin_record(folder, script, environment):
    """Has the test's Python processes record what they read, unless a test runs this test."""
    name = name_of_test(folder, script, environment)
    if name is None or environment.get("LAB_TEST_INPUTS"):
        return
    record = folder / "test_inputs" / name
    record.parent.mkdir(exist_ok=True)
    unfinished = pathlib.Path(f"{record}{UNFINISHED}")
    unfinished.unlink(missing_ok=True)
    environment["LAB_TEST_INPUTS"] = str(unfinished)
    environment["LAB_TEST_PROCESS"] = str(os.getpid())  # that of pytest, too


def main(words):
    packages = os.environ.get("LAB_TEST_PACKAGES", "").split()
    python = python_with(["pytest", *packages]) or python_with(["pytest"])
    if python is None:
        print("Skipped: pytest is not here.")
        return SKIPPED
    begin_record(pathlib.Path(os.environ.get("LAB_BUILD_FOLDER", ".")), words[-1], os.environ)
    replace_programs(os.environ)
    sys.stdout.flush()
    os.execv(python, [python, "-m", "pytest", "-p", "case_log", *words])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

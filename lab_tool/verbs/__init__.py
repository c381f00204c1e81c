# SPDX-License-Identifier: MIT
"""The verbs, in the order of `./lab --help`. A new one is a module in this folder and a line here.

A verb's module defines VERB, with its options, help and action. Only the module of the verb that is
used is imported. A copy of the course for students has not all of them.
"""

import importlib
import pathlib

ALL_VERBS = [
    "run",
    "racecheck",
    "prove",
    "learn",
    "predict",
    "exercises",
    "check",
    "hint",
    "reset",
    "solution",
    "test",
    "trace",
    "bench",
    "plot",
    "site",
    "doctor",
    "setup",
    "export",
    "grade",
    "new",
    "check-course",
]


def _module(name):
    """`check-course` is in check_course.py."""
    return name.replace("-", "_")


VERBS = [
    name for name in ALL_VERBS if pathlib.Path(__file__).with_name(f"{_module(name)}.py").is_file()
]


def load(name):
    """The Verb of this name."""
    return importlib.import_module(f"lab_tool.verbs.{_module(name)}").VERB

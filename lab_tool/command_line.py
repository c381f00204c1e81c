# SPDX-License-Identifier: MIT
"""The command line of ./lab: its verbs, and what all of them need."""

import importlib
import pathlib

from engine.command.arguments import Command, run_command
from lab_tool.builds.backends import put_nvcc_on_path
from lab_tool.builds.build_folders import put_own_tools_on_path

OVERVIEW = """\
usage: ./lab VERB [options] [-- program options], or ./lab --version
{verbs}
What a verb takes: ./lab VERB --help, such as ./lab run --help
"""
BEGINNING = """\
usage: ./lab VERB [options] [-- program options]

{verbs}

For a start: ./lab run, then ./lab learn. All verbs: ./lab --help
"""
FIRST = ("run", "learn", "predict", "racecheck", "prove", "exercises", "doctor")
# The verbs in the order of `./lab --help`, each with its module in lab_tool/verbs. The module has a Verb of
# the same name in capitals; only the module of the verb that is used is imported.
GROUPS = {
    "learn": {
        "run": "running",
        "racecheck": "races",
        "prove": "races",
        "trace": "running",
        "predict": "predict",
        "learn": "exercises",
        "exercises": "exercises",
        "check": "exercises",
        "hint": "exercises",
        "reset": "exercises",
        "solution": "exercises",
    },
    "teach": {
        "export": "export",
        "grade": "grade",
        "new": "authoring",
        "check-course": "authoring",
    },
    "build": {
        "doctor": "machine",
        "setup": "machine",
        "test": "test",
        "bench": "benchmarks",
        "plot": "benchmarks",
        "site": "site",
    },
}
MODULES = {name: module for group in GROUPS.values() for name, module in group.items()}
# A copy of the course for students has not all of them.
VERBS = [
    name
    for name, module in MODULES.items()
    if pathlib.Path(__file__).with_name("verbs").joinpath(f"{module}.py").is_file()
]


def load(name):
    """The Verb of this name."""
    module = importlib.import_module(f"lab_tool.verbs.{MODULES[name]}")
    return getattr(module, name.upper().replace("-", "_"))


NAMES_OF_GROUPS = {
    next(name for name in verbs if name in VERBS): group
    for group, verbs in GROUPS.items()
    if set(verbs) & set(VERBS)
}
LAB = Command(OVERVIEW, VERBS, load, NAMES_OF_GROUPS, BEGINNING, FIRST)
overview = LAB.help
parsed = LAB.parsed


def main(words):
    """Runs the verb; returns lab's exit code."""
    put_own_tools_on_path()
    return run_command(LAB, words, _prepare)


def _prepare(arguments):
    if not getattr(arguments, "choice", False):  # Meson itself sees PATH alone
        put_nvcc_on_path()

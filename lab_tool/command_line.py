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

For a start: ./lab run, then ./lab learn. What a verb takes: ./lab VERB --help
"""
# The verbs in the order of `./lab --help`, each with its module in lab_tool/verbs. The module has a Verb of
# the same name in capitals; only the module of the verb that is used is imported.
MODULES = {
    "run": "running",
    "racecheck": "races",
    "prove": "races",
    "learn": "exercises",
    "predict": "predict",
    "exercises": "exercises",
    "check": "exercises",
    "hint": "exercises",
    "reset": "exercises",
    "solution": "exercises",
    "test": "test",
    "trace": "running",
    "bench": "benchmarks",
    "plot": "benchmarks",
    "site": "site",
    "doctor": "machine",
    "setup": "machine",
    "export": "export",
    "grade": "grade",
    "new": "authoring",
    "check-course": "authoring",
}
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


LAB = Command(OVERVIEW, VERBS, load)
overview = LAB.help
parsed = LAB.parsed


def main(words):
    """Runs the verb; returns lab's exit code."""
    put_own_tools_on_path()
    return run_command(LAB, words, _prepare)


def _prepare(arguments):
    if not getattr(arguments, "choice", False):  # Meson itself sees PATH alone
        put_nvcc_on_path()

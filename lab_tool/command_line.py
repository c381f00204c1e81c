# SPDX-License-Identifier: MIT
"""The command line of ./lab: its verbs, and what all of them need."""

from engine.command.arguments import Command, run_command
from lab_tool.builds.backends import put_nvcc_on_path
from lab_tool.builds.build_folders import put_own_tools_on_path
from lab_tool.verbs import VERBS, load

OVERVIEW = """\
usage: ./lab VERB [options] [-- program options], or ./lab --version
{verbs}

For a start: ./lab run, then ./lab learn. What a verb takes: ./lab VERB --help
"""
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

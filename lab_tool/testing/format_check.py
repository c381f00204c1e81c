# SPDX-License-Identifier: MIT
"""The formatters' check of some files, by those formatters that are installed."""

import os
import re
import shutil
from typing import NamedTuple

from engine.command.output import is_verbose, say, say_command
from engine.command.processes import watch
from lab_tool.paths import ROOT

MOST_LINES = 40


class Formatter(NamedTuple):
    program: str
    words: list[str]
    files: str  # a pattern of their paths


CPP = r".*\.(cu|cuh|hpp|cpp|h)|.*/include/cuda/\w+"
FORMATTERS = [
    Formatter("clang-format", ["--dry-run", "-Werror"], CPP),
    Formatter("ruff", ["format", "--check", "--force-exclude"], r".*\.py"),
    Formatter("ruff", ["check", "--force-exclude"], r".*\.py"),
]


def check_format(paths):
    """Has the files' format checked, and says what is wrong with it: ("passed", 2), ("failed", 1), ...

    paths are from the root; files that are gone have no format.
    """
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for formatter in FORMATTERS:
        files = [
            path
            for path in sorted(paths)
            if re.fullmatch(formatter.files, path) and os.path.isfile(ROOT / path)
        ]
        if files:
            counts[_checked(formatter, files)] += 1
    return counts


def _checked(formatter, files):
    what = " ".join([formatter.program, *formatter.words[:1]])
    if shutil.which(formatter.program) is None:
        say(
            f"Not checked, because {formatter.program} is not installed: {what} of {len(files)} files"
        )
        return "skipped"
    command = [formatter.program, *formatter.words, *(str(ROOT / path) for path in files)]
    if is_verbose():
        say_command(command)
    lines = []
    if watch(command, lines.append) == 0:
        return "passed"
    for line in lines[:MOST_LINES]:
        say(line)
    say(f"failed: {what}")
    return "failed"

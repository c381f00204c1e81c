# SPDX-License-Identifier: MIT
"""The hints of an exercise: hints.md, with a heading '## 1' and so on before each."""

import re
import textwrap

from lab_tool.errors import LabError

LEVELS = 3
WIDTH = 76


def hints_of(exercise):
    """The hints, the vaguest first; one that says so if this copy has none.

    Raises LabError if there are neither three nor none.
    """
    file = exercise.folder / "hints.md"
    if not file.is_file():
        return ["This copy of the course has no hints: ask whoever handed it out."]
    text = file.read_text(encoding="utf-8")
    parts = re.split(r"^## (\d+)$\n", text, flags=re.MULTILINE)[1:]
    numbers, hints = parts[::2], [hint.strip() for hint in parts[1::2]]
    if numbers != [str(level + 1) for level in range(LEVELS)] or not all(hints):
        raise LabError(f"{file} must have the hints '## 1' to '## {LEVELS}'.")
    return hints


def hint_lines(hint):
    """The hint as lines of a screen."""
    paragraphs = [textwrap.wrap(" ".join(text.split()), WIDTH) for text in hint.split("\n\n")]
    return [line for lines in paragraphs for line in [*lines, ""]][:-1]

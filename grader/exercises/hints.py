# SPDX-License-Identifier: MIT
"""The hints of an exercise: hints.md, with a heading '## 1' and so on before each."""

import re
import textwrap

from engine.command.errors import CommandError

LEVELS = 3
WIDTH = 76


NO_HINTS = "This copy of the course has no hints: ask whoever handed it out."


def has_hints(exercise):
    """Whether this copy of the course has them: one that was handed out may not."""
    return _file_of(exercise).is_file()


def hints_of(exercise):
    """The hints, the vaguest first; none if this copy has none.

    Raises CommandError if there are neither three nor none.
    """
    file = _file_of(exercise)
    if not file.is_file():
        return []
    text = file.read_text(encoding="utf-8")
    parts = re.split(r"^## (\d+)$\n", text, flags=re.MULTILINE)[1:]
    numbers, hints = parts[::2], [hint.strip() for hint in parts[1::2]]
    if numbers != [str(level + 1) for level in range(LEVELS)] or not all(hints):
        raise CommandError(f"{file} must have the hints '## 1' to '## {LEVELS}'.")
    return hints


def _file_of(exercise):
    return exercise.folder / "hints.md"


def hint_lines(hint):
    """The hint as lines of a screen."""
    paragraphs = [textwrap.wrap(" ".join(text.split()), WIDTH) for text in hint.split("\n\n")]
    return [line for lines in paragraphs for line in [*lines, ""]][:-1]

# SPDX-License-Identifier: MIT
"""The commands that a lesson gives for a file of its chapter."""

import pathlib
import re
import shlex

from lab_tool.paths import ROOT


def options_in_lesson(verb, file):
    """['--', '1'], if the lesson of this file's chapter runs `./lab VERB FILE -- 1`; [] without such a
    command, None if there is no command with this verb and file at all."""
    try:
        path = pathlib.Path(file).resolve().relative_to(ROOT / "chapters")
        text = (ROOT / "chapters" / path.parts[0] / "README.md").read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None
    command = re.search(rf"\./lab {verb} chapters/{re.escape(path.as_posix())}\b([^`\n]*)", text)
    if not command:
        return None
    words = shlex.split(command[1])
    return words[words.index("--") :] if "--" in words else []

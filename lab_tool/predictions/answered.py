# SPDX-License-Identifier: MIT
"""Which predictions somebody has answered right: remembered next to their files."""

import json

from engine.command.output_files import make_own_folder, write_whole


def answered_right(folder):
    """The names of those predictions; `folder` is the one with the student's files."""
    try:
        names = json.loads(_file(folder).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return set()
    return {name for name in names if isinstance(name, str)} if isinstance(names, list) else set()


def remember_right_answer(folder, prediction):
    names = answered_right(folder) | {prediction.name}
    file = _file(folder)
    make_own_folder(file.parent)
    write_whole(file, json.dumps(sorted(names)) + "\n")


def _file(folder):
    return folder / ".checked" / "predictions.json"

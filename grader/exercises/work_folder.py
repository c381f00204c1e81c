# SPDX-License-Identifier: MIT
"""The student's own files: work/04_fullest_bin.cu and the like.

What was found out about a file is remembered next to it, in work/.checked, together with the file's
content: a file that has changed since then has not been checked.
"""

import hashlib
import json
import os
import pathlib
import time
from typing import NamedTuple

from engine.command.errors import WRONG_USE, CommandError
from engine.command.output import invocation
from engine.command.output_files import make_own_folder, write_new, write_whole
from engine.command.paths import shown
from grader.exercises.solutions import starter

NOT_BEGUN, BEGUN, CHECKED, DONE = "not begun", "begun", "checked", "done"


class WorkFolder(NamedTuple):
    """The folder with a student's files. Nothing of theirs is ever overwritten."""

    folder: pathlib.Path
    option: str = ""  # --work FOLDER, as it is typed; nothing for the usual folder

    def command(self, *words):
        """A command of lab's about this folder: './lab hint 04.2 --work mine'."""
        return " ".join([invocation().typed, *words, *([self.option] if self.option else [])])

    def file_of(self, exercise):
        return self.folder / exercise.file_name

    def begin(self, exercise):
        """Writes the starter if there is no file yet; returns whether it did."""
        path = self.file_of(exercise)
        if path.exists():
            return False
        self.make_folder(path)
        _refuse_link(path)
        write_new(path, starter(exercise))
        return True

    def require_place_of(self, exercise):
        """Refuses a folder or a link in which begin() could not write the file."""
        path = self.file_of(exercise)
        self.make_folder(path)
        if not path.exists():
            _refuse_link(path)

    def reset(self, exercise):
        """Replaces the file with the starter; returns the path under which the old one is kept.

        None if there was no file. At no moment is the student's text in no file.
        """
        path = self.file_of(exercise)
        if not path.exists():
            self.begin(exercise)
            return None
        self.make_folder(path)
        _refuse_link(path)
        backup = _backup(path)
        write_whole(path, starter(exercise))
        return backup

    def state(self, exercise):
        """One of NOT_BEGUN, BEGUN, CHECKED and DONE."""
        path = self.file_of(exercise)
        try:
            content = path.read_bytes()
        except OSError:
            return NOT_BEGUN
        note = self._note(exercise)
        if note.get("solved") == _mark(content):
            return DONE
        if note.get("checked") == _mark(content):
            return CHECKED
        return NOT_BEGUN if content.decode(errors="replace") == starter(exercise) else BEGUN

    def was_solved(self, exercise):
        """Whether any content of the file was a solution."""
        return "solved" in self._note(exercise)

    def remember_check(self, exercise, content, is_solved):
        """That this content, bytes, was checked."""
        note = {**self._note(exercise), "checked": _mark(content)}
        if is_solved:
            note["solved"] = _mark(content)
        self._write_note(exercise, note)

    def next_hint(self, exercise, hints):
        """The number of the hint to show now, from 0: one more each time, up to the last."""
        note = self._note(exercise)
        seen = min(int(note.get("hints", 0)), hints - 1)
        self._write_note(exercise, {**note, "hints": seen + 1})
        return seen

    def _note(self, exercise):
        try:
            note = json.loads(self._note_file(exercise).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return note if isinstance(note, dict) else {}

    def _note_file(self, exercise):
        return self.folder / ".checked" / f"{exercise.file_name}.json"

    def _write_note(self, exercise, note):
        file = self._note_file(exercise)
        self.make_folder(file)
        make_own_folder(file.parent)
        write_whole(file, json.dumps(note) + "\n")

    def make_folder(self, file):
        """Makes the folder, if it isn't there, for this file. Raises CommandError if it can't be written."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            why = "" if os.access(self.folder, os.W_OK) else "nothing can be written there"
        except OSError as error:
            why = f"that folder can't be made: {error.strerror}"
        if why:
            raise CommandError(
                f"lab writes {shown(file)}, and {why}; --work FOLDER takes another folder.",
                WRONG_USE,
            )


def _mark(content):
    return hashlib.sha256(content).hexdigest()


def _backup(path):
    """Copies the file to a name of its own, all of it, and returns that."""
    content = path.read_bytes()
    for number in range(1, 10000):
        day = time.strftime("%Y-%m-%d")
        backup = path.with_name(f"{path.stem}.{day}.{number}{path.suffix}")
        if not backup.exists():
            break
    write_new(backup, content)
    return backup


def _refuse_link(path):
    """A link may lead to any file of the user's: none is written through, and none is replaced."""
    if path.is_symlink():
        raise CommandError(
            f"{shown(path)} is a link to {os.readlink(path)}, and lab writes through none: put the file "
            "itself there.",
            WRONG_USE,
        )

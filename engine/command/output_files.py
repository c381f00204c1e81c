# SPDX-License-Identifier: MIT
"""The files that a command writes for its user: each of them goes through here.

What is written goes to a new file, which then takes the place of the old one in one step: half of it
is never read, a full disk leaves what was there, and no link is followed. Where the user has named the
file, or where it lies among files of theirs, it is replaced only if it begins as lab's own files of its
kind do: nothing but that tells a report of last week from a thesis.
"""

import contextlib
import os
import pathlib
import re
import stat
import sys
import tempfile
from typing import NamedTuple

from engine.command.errors import WRONG_USE, CommandError
from engine.command.paths import shown

MOST_OF_BEGINNING = 512  # bytes
MOST_OF_NAME = 50  # letters of a file's name, in that of the new file next to it


class OutputFile(NamedTuple):
    """A file that is to be written when the work is done."""

    path: pathlib.Path
    beginning: bytes  # a pattern of what lab's own files of this kind begin with
    name: str  # in a sentence: "--json out.json"
    remedy: str = "move it away, and run the command again."  # if a file of the user's is there
    force: bool = False
    inputs: tuple = ()  # what the command reads

    def refusal(self):
        """Why this file must not be written, as the end of a sentence; None if it may."""
        try:
            there = os.lstat(self.path)
        except FileNotFoundError:
            there = None
        except OSError as error:
            return f"{error.strerror}."
        with contextlib.suppress(OSError):  # of a link, what it leads to
            if there and not stat.S_ISREG(os.stat(self.path).st_mode):
                return "that is no regular file."
        if there and stat.S_ISLNK(there.st_mode):
            return f"that is a link to {os.readlink(self.path)}, and nothing is written through a link."
        folder = self.path.parent
        if not folder.is_dir():
            return f"there is no folder {folder}."
        if there and any(os.path.samestat(there, each) for each in _states_of(self.inputs)):
            return "this command reads or writes that file itself, so it can't go there."
        if not os.access(folder, os.W_OK) or (there and not os.access(self.path, os.W_OK)):
            return "the file cannot be written."
        if there and there.st_size and not self.force and not self._is_of_kind():
            return f"a file of another kind is there, and would be lost: {self.remedy}"
        return None

    def require_writable(self):
        """Raises CommandError, one sentence, if the file must not be written."""
        why = self.refusal()
        if why:
            raise CommandError(f"{self.name}: {why}", WRONG_USE)

    def write(self, content):
        """Writes text or bytes. Raises CommandError, or OSError, which names the file."""
        self.require_writable()  # once more: a file may have come up meanwhile
        write_whole(self.path, content)

    def remove(self):
        """Removes the file of an earlier command, if there is one; a file of the user's stays.

        Returns why it stays, or None.
        """
        why = self.refusal()
        if why is None:
            self.path.unlink(missing_ok=True)
        return why

    def _is_of_kind(self):
        try:
            with open(self.path, "rb") as file:
                return re.match(self.beginning, file.read(MOST_OF_BEGINNING)) is not None
        except OSError:  # which can't be known for one of lab's own, either
            return False


class NamedOutputs:
    """The files that the options of one command name: none is an input of it, and no two are one."""

    def __init__(self, force=None, inputs=()):
        """`force` is what the option --force says; None if there is no such option."""
        self.force = bool(force)
        self.remedy = f"choose another name{'' if force is None else ', or add --force'}."
        self.inputs = tuple(inputs)
        self.chosen = {}  # {a path without links: the option that names it}

    def add(self, option, path, beginning):
        """The OutputFile; None if the option was not given. Raises CommandError if it must not be written."""
        if path is None:
            return None
        path = pathlib.Path(path)
        name = f"{option} {path}"
        file = OutputFile(path, beginning, name, self.remedy, self.force, self.inputs)
        file.require_writable()
        place = os.path.realpath(path)
        if place in self.chosen:
            raise CommandError(f"{option} and {self.chosen[place]} name the same file.", WRONG_USE)
        self.chosen[place] = option
        return file


def add_force(parser):
    """For a verb whose options name files that it writes."""
    parser.add_argument(
        "--force",
        action="store_true",
        help="let an option that names a file replace one that lab has not written",
    )


def write_whole(path, content, mode=None):
    """Writes text or bytes whole or not at all: next to the old file, and then in its place.

    A link is replaced, and not followed. The file keeps the mode that it had; `mode` is that of a new
    one, by default what the user's umask leaves. Raises OSError, which names the file.
    """
    path = pathlib.Path(path)
    with _written(path, content, mode) as written:
        written.replace(path)


def write_new(path, content):
    """Writes a file that is not there yet: whole, or not at all. Raises FileExistsError if it has come
    up meanwhile, as a link too, and any other OSError, which names the file."""
    path = pathlib.Path(path)
    with _written(path, content) as written:
        os.link(written, path, follow_symlinks=False)


def make_own_folder(folder):
    """Makes a folder of lab's own, in which it replaces files: refuses a link to somewhere else.

    Raises OSError, which names the folder.
    """
    if os.path.islink(folder):
        raise CommandError(
            f"{shown(folder)} is a link to {os.readlink(folder)}, and nothing is written through a link: "
            "move it away, and run the command again."
        )
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)


@contextlib.contextmanager
def _written(path, content, mode=None):
    """A new file next to `path` that has this content; it is gone afterwards."""
    if isinstance(content, str):
        content = content.encode("utf-8", "surrogateescape")
    name = None
    try:
        with _named(path):
            # A name as long as a name may be leaves no room for more letters.
            handle, name = tempfile.mkstemp(prefix=path.name[:MOST_OF_NAME], dir=path.parent)
            with open(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(name, _mode_of(path, mode))
            yield pathlib.Path(name)
    finally:
        if name:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name)


@contextlib.contextmanager
def _named(path):
    """An OSError in the block is about this file: a full disk has no name, and the user has not
    heard of a temporary file."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, shown(path)) from error


def _mode_of(path, mode):
    if mode is not None:
        return mode
    with contextlib.suppress(OSError):
        there = os.lstat(path)
        if stat.S_ISREG(there.st_mode):
            return stat.S_IMODE(there.st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _states_of(inputs):
    """What tells these files, and the standard streams, from others."""
    for each in inputs:
        with contextlib.suppress(OSError, ValueError):
            yield os.stat(each)
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            yield os.fstat(stream.fileno())

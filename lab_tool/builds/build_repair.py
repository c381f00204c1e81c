# SPDX-License-Identifier: MIT
"""What makes a build folder unusable, such as an interruption, another Meson or a wrong clock."""

import json
import os
import pathlib
import re
import shutil
import time

from engine.command.errors import CommandError
from engine.command.output import remark
from engine.command.paths import shown
from lab_tool.paths import ROOT
from lab_tool.setup.requirements import dotted, numbers

INTROSPECTIONS = ("tests", "targets", "dependencies")
SOURCES = (
    "chapters",
    "common",
    "engine",
    "grader",
    "lab_tool",
    "tests",
    "meson.build",
    "meson.options",
)
OF_MESON = ("meson-private", "meson-info", "meson-logs")
SLACK = 10  # seconds that another computer's clock may be ahead, as that of a file server


def defect_of(folder, meson):
    """What is wrong with a build folder, in words; None if nothing is, or if it is not there yet.

    meson is the version of the one that is here.
    """
    if not folder.is_dir() or not os.listdir(folder):
        return None
    try:
        for name in INTROSPECTIONS:
            _json_of(folder / f"meson-info/intro-{name}.json")
        _json_of(folder / "single_file.json")
        by = numbers(_json_of(folder / "meson-info/meson-info.json")["meson_version"]["full"])
        ninja_file = (folder / "build.ninja").read_text(encoding="utf-8", errors="replace")
    except (OSError, ValueError, KeyError, TypeError):
        return "its configuration was interrupted, or parts of it are lost"
    # The last line of every build.ninja that Meson has written to its end.
    if not re.search(r"^default [^\n]*\n\s*\Z", ninja_file, re.M):
        return "its build.ninja is empty or not whole"
    if by[:2] != tuple(meson[:2]):
        return f"Meson {dotted(by[:3])} has configured it, and Meson {dotted(meson)} is here"
    regenerate = re.search(r"^ command = (.*?) --internal regenerate", ninja_file, re.M)
    if regenerate and not _is_there(regenerate[1].split(" ")[-1]):
        return "the Meson that has configured it is no longer there"
    if _newest_in(folder) > time.time() + SLACK:
        return "files in it are dated in the future"
    return None


def make_empty(folder):
    """Removes what is in one of lab's own build folders; refuses one that Meson has not made."""
    if not any((folder / name).is_dir() for name in OF_MESON):
        raise CommandError(
            f"{shown(folder)} is where lab builds, and it has files that are not of a build: "
            "move them away, and run lab again."
        )
    # Meson's own last, so that the folder is known again if this is interrupted.
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name in OF_MESON):
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path)
        else:
            os.unlink(entry.path)


def date_back_future_sources(root=ROOT):
    """Sets the time of sources that are dated in the future to now.

    Ninja would configure again and again, or build them at each run.
    """
    now = time.time()
    found = [path for path in _files(root) if os.stat(path).st_mtime > now + SLACK]
    if not found:
        return
    first = shown(found[0])
    more = "1 more file" if len(found) == 2 else f"{len(found) - 1} more files"
    others = f" and {more}" if len(found) > 1 else ""
    try:
        for path in found:
            os.utime(path, (now, now))
    except OSError as error:
        raise CommandError(
            f"Ninja can't build what is dated in the future: {first}{others}. lab may not change that "
            f"({error.strerror}): set the clock, or `touch` them."
        ) from error
    remark(f"Dated in the future, and now set to today: {first}{others}.")


def _json_of(path):
    return json.loads(path.read_text(encoding="utf-8"))


def _is_there(program):
    return os.path.exists(program) if os.sep in program else shutil.which(program) is not None


def _newest_in(folder):
    """The latest time that Meson or Ninja has noted or left in the folder, in seconds."""
    newest = (folder / "build.ninja").stat().st_mtime
    try:
        log = (folder / ".ninja_log").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return newest
    times = re.findall(r"^\d+\t\d+\t(\d{18,20})\t", log, re.M)  # nanoseconds, of each output
    return max([newest, *(int(text) / 1e9 for text in times)])


def _files(root):
    for name in SOURCES:
        path = pathlib.Path(root, name)
        if path.is_file():
            yield path
        for folder, folders, files in os.walk(path):
            folders[:] = [each for each in folders if each != "__pycache__"]
            yield from (pathlib.Path(folder, file) for file in files)

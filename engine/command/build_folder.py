# SPDX-License-Identifier: MIT
"""A build folder: what Meson wrote about it, how it is configured and built."""

import contextlib
import fcntl
import functools
import json
import os
import pathlib
import re
import shutil
import time
from typing import NamedTuple

from engine.command.errors import WRONG_USE, CommandError
from engine.command.output import Progress, invocation, is_verbose, printable, remark, remark_lines
from engine.command.paths import shown
from engine.command.processes import run_step, watch

CALLERS_PATH = os.environ.get("PATH", os.defpath)


class BuildFolder(NamedTuple):
    folder: pathlib.Path
    tools: dict  # what it is built with: {name: something with a `version` and a `path`}


def word_for(tool):
    """How this program is typed: its name alone if PATH leads to it."""
    name = os.path.basename(tool.path)
    return name if shutil.which(name, path=CALLERS_PATH) == tool.path else shown(tool.path)


def settings_of(folder):
    """What Meson wrote about this build folder; None if it is not (or no longer) configured."""
    try:
        settings = json.loads((folder / "single_file.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return settings if (folder / "build.ninja").is_file() else None


def lines_of(settings, name):
    """A list out of the settings: Meson writes only strings, so it is one item per line."""
    return settings[name].split("\n") if settings.get(name) else []


def introspection(folder, what):
    """One of the lists that Meson keeps about a build folder: tests, targets or dependencies."""
    path = folder / "meson-info" / f"intro-{what}.json"
    return json.loads(path.read_text(encoding="utf-8"))


# (A colon separates the folders of PATH and PYTHONPATH.)
NOT_IN_PATHS = re.compile(r"""[\n\t"'\\&;*|:]""")
SILENT_SECONDS = 5  # a build with nothing to do ends sooner


def require_usable_path(folder):
    """Refuses a folder whose path Meson or Ninja can't take, where all is built anew at each run at best."""
    found = NOT_IN_PATHS.search(str(folder))
    if found:
        what = {"\n": "a line feed", "\t": "a tab"}.get(found[0], found[0])
        raise CommandError(
            f"the path {printable(str(folder))} has a character that Meson and Ninja can't take: {what}; "
            "move the folder to a path without it.",
            WRONG_USE,
        )


def build(place, targets, what):
    """Brings these targets of a BuildFolder up to date; `what` says in words what is built."""
    with alone_in(place.folder):
        _build(place, targets, what)


def configure(command, folder):
    """Runs Meson, which makes the folder or configures it anew; its own messages are shown if it fails."""
    if is_verbose():
        code, lines = run_step(command), []
    else:
        lines = []
        with Progress(f"Configuring {shown(folder)}"):
            code = watch(command, lines.append)
    if code != 0:
        first = next((at for at, line in enumerate(lines) if "ERROR" in line), 0)
        remark_lines(lines[first:])
        raise CommandError("Meson could not configure the build; its own message is above.")


@contextlib.contextmanager
def alone_in(folder, place=None):
    """Waits until no other process builds in this folder: two Ninjas at once would write the same files.

    The lock is in the folder itself, or in `place`.
    """
    with open((place or folder) / ".lab_builds", "ab") as lock:
        silent_until = time.monotonic() + SILENT_SECONDS
        while not _taken(lock):
            if time.monotonic() > silent_until:
                _say_once(
                    f"Another {invocation().name} is building in {shown(folder)}: waiting for it."
                )
                fcntl.flock(lock, fcntl.LOCK_EX)
                break
            time.sleep(0.05)
        yield


@functools.cache
def _say_once(sentence):
    remark(sentence)


def _taken(lock):
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        pass
    return True


def _build(place, targets, what):
    command = [word_for(place.tools["Ninja"]), "-C", shown(place.folder), *targets]
    if is_verbose():
        code = run_step(command)
    else:
        environment = {**os.environ, "NINJA_STATUS": "[%f/%t] "}
        with Progress(f"Building {what}") as progress:
            log = NinjaLog(progress)
            code = watch(command, log.read, environment)
            progress.stays = code == 0
        if code:
            remark_lines(log.messages())
    if code:
        raise CommandError("the build failed; the compiler's own messages are above.")


class NinjaLog:
    """Reads what Ninja prints while it builds."""

    def __init__(self, progress):
        self.progress = progress
        self.failures = []  # of the failed steps, one line after the other
        self.others = []  # what no failed step printed, such as Meson's when it configures anew
        self.step_has_failed = False
        self.command_follows = False

    def read(self, line):
        status = re.match(r"\[(\d+)/(\d+)\] ", line)
        if status:
            self.step_has_failed = False
            self.progress.step(int(status[1]), int(status[2]))
        elif line.startswith("FAILED: "):
            self.step_has_failed = self.command_follows = True
        elif line.startswith("ninja: "):
            self.step_has_failed = False
            if line.startswith("ninja: error: "):
                self.others.append(line)
        elif self.command_follows:
            self.command_follows = False
        elif self.step_has_failed:
            self.failures.append(line)
        else:
            self.others.append(line)

    def messages(self):
        """What explains a failed build, the first failed step first."""
        if self.failures:
            return self.failures
        first = next((at for at, line in enumerate(self.others) if "ERROR" in line), 0)
        return self.others[first:]

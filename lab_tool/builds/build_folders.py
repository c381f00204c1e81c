# SPDX-License-Identifier: MIT
"""The build folder: which one, configured by Meson if need be, and made anew where it is unusable."""

import contextlib
import json
import os
import pathlib
import re
import shlex
import shutil
import time

from engine.command.build_folder import (
    CALLERS_PATH,
    BuildFolder,
    alone_in,
    configure,
    lines_of,
    require_usable_path,
    settings_of,
    word_for,
)
from engine.command.errors import WRONG_USE, CommandError
from engine.command.output import remark
from engine.command.paths import shown
from lab_tool.builds.backends import choose_backend
from lab_tool.paths import ROOT, VENV
from lab_tool.setup.requirements import dotted, numbers
from lab_tool.setup.set_up import STAMP, set_up

LEAST_FREE_SPACE = 300 * 2**20  # bytes; a build of the chapters and their tests takes about as much


def put_own_tools_on_path():
    """Meson looks for Ninja on PATH, and it may be the one from PyPI."""
    os.environ["PATH"] = os.pathsep.join([CALLERS_PATH, str(VENV / "bin")])


def configured(arguments):
    """The BuildFolder that the options --build and --backend ask for, ready to be built in."""
    require_usable_path(ROOT)
    if arguments.build:
        folder = pathlib.Path(arguments.build)
        settings = settings_of(folder)
        if settings is None:
            raise CommandError(
                f"{arguments.build} is not a build folder of this course; make one with meson setup.",
                WRONG_USE,
            )
        if os.path.realpath(settings["source_root"]) != str(ROOT):
            raise CommandError(
                f"--build {arguments.build}: that folder builds the course in {settings['source_root']}, "
                f"and this is {ROOT}; make one of this course with meson setup.",
                WRONG_USE,
            )
        with _alone_with_set_up(folder):
            tools = set_up(settings["backend"])
        defect = defect_of(folder, tools["Meson"].version)
        if defect:
            raise CommandError(
                f"{arguments.build} can't be built in: {defect}; delete it, and make it anew with "
                "meson setup."
            )
        date_back_future_sources()
        return BuildFolder(folder, tools)

    backend = arguments.backend
    if backend == "auto":
        choice = choose_backend(names_architectures=False)
        backend = choice.backend
        remark(f"Backend: {backend} ({choice.reason}).")
    elif backend == "cuda" and not shutil.which("nvcc"):
        raise CommandError(
            "the cuda backend needs nvcc, and there is none on PATH; "
            "--backend cpu needs no CUDA toolkit."
        )

    folder = ROOT / f"build-{backend}"
    require_writable_checkout(folder)
    with _alone_with_set_up(folder):
        return _own_folder(folder, backend)


@contextlib.contextmanager
def _alone_with_set_up(folder):
    """Waits until no other lab installs or configures: two at once would write the same files."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):  # nothing can be written here, nor by another one
            STAMP.parent.mkdir(exist_ok=True)
            stack.enter_context(alone_in(folder, STAMP.parent))
        yield


def _own_folder(folder, backend):
    """The BuildFolder of lab's own, with all that it needs installed, and configured if need be."""
    if not folder.exists():
        require_free_space(ROOT)
    tools = set_up(backend)
    defect = defect_of(folder, tools["Meson"].version)
    if defect:
        make_empty(folder)
        remark(f"{shown(folder)} is made anew: {defect}.")
    date_back_future_sources()
    settings = settings_of(folder)
    if settings is None or not _fits(settings, tools):
        command = [word_for(tools["Meson"]), "setup", shown(folder), shown(ROOT)]
        if settings is not None:  # the checkout was moved, or CXX names another compiler
            command.insert(2, "--wipe")
        configure([*command, f"-Dcompute_backend={backend}"], folder)
    return BuildFolder(folder, tools)


def require_writable_checkout(folder):
    """Refuses what can't be built for want of rights, such as an instructor's copy."""
    if os.access(folder if folder.exists() else ROOT, os.W_OK):
        return
    raise CommandError(
        f"lab builds in the folder {shown(folder)}, and you can't write there: make a clone of your "
        "own, or a build folder elsewhere with meson setup, and name it with --build."
    )


def free_space(folder):
    """The bytes that may still be written there; None if the system does not say."""
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return None


def require_free_space(folder):
    """Refuses a first build on a disk that is almost full, before anything is installed."""
    free = free_space(folder)
    if free is not None and free < LEAST_FREE_SPACE:
        raise CommandError(
            f"the disk of {folder} has {free >> 20} MiB left, and a first build needs "
            f"{LEAST_FREE_SPACE >> 20} MiB: make room, or clone to another disk."
        )


def _fits(settings, tools):
    """Whether the folder was configured for this checkout and this compiler."""
    named = shlex.split(os.environ.get("CXX", ""))
    compiler = _found(named or [tools["C++ compiler"].path])
    configured_with = _found(lines_of(settings, "cxx"))
    return settings["source_root"] == str(ROOT) and configured_with == compiler


def _found(command):
    """The command with the path that PATH has for its program today."""
    return [shutil.which(word) or word for word in command[:1]] + command[1:]


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
    if regenerate and not shutil.which(regenerate[1].split(" ")[-1]):
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

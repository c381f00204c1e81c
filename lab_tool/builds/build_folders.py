# SPDX-License-Identifier: MIT
"""The build folder: which one, configured by Meson if need be, and what Meson wrote about it."""

import contextlib
import os
import pathlib
import shutil

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
from lab_tool.builds.build_repair import date_back_future_sources, defect_of, make_empty
from lab_tool.paths import ROOT, VENV
from lab_tool.setup.probe import cxx_command
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
        choice = choose_backend()
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
    if settings is None or not _fits(settings):
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


def _fits(settings):
    """Whether the folder was configured for this checkout and this compiler."""
    compiler = _found(cxx_command())
    configured_with = _found(lines_of(settings, "cxx"))
    return settings["source_root"] == str(ROOT) and configured_with == compiler


def _found(command):
    """The command with the path that PATH has for its program today."""
    return [shutil.which(word) or word for word in command[:1]] + command[1:]

# SPDX-License-Identifier: MIT
"""Writes an export to the disk: into a new folder, as a zip or as a tar, the same bytes each time."""

import contextlib
import io
import pathlib
import tarfile
import zipfile

from engine.command.errors import WRONG_USE, CommandError
from lab_tool.paths import ROOT

LONG_AGO = (1980, 1, 1, 0, 0, 0)  # of every file in an archive: the earliest that a zip can say
EXECUTABLE = {"lab", "students/lab", "setup.sh", "run_autograder", "course/lab"}


def new_folder(name):
    """The folder: a new or an empty one, and no part of the course. Raises CommandError."""
    folder = pathlib.Path(name)
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise CommandError(f"{name}: that is no folder.", WRONG_USE)
    if folder.is_dir() and any(folder.iterdir()):
        raise CommandError(
            f"{name} is not empty: an export is written into a new folder.", WRONG_USE
        )
    if ROOT in folder.resolve().parents:
        raise CommandError(
            f"{name} is within the course itself: take a folder next to it.", WRONG_USE
        )
    return folder


def write_folder(folder, files):
    """Writes {path: bytes} below a folder that new_folder() has found. All of it, or nothing stays
    there; a folder that was there before stays in any case."""
    made = []  # files and folders, in this order
    try:
        for path, content in files.items():
            file = folder / path
            _make_folders(file.parent, made)
            made.append(file)
            file.write_bytes(content)
            file.chmod(_mode(path))
    except BaseException as error:  # Ctrl-C, too
        _remove(made)
        if not isinstance(error, OSError):
            raise
        raise CommandError(f"{folder}: {error.strerror}; nothing is left of the export.") from error


def _make_folders(folder, made):
    """Makes the folder and those that it is in, where they are missing, and adds them to `made`."""
    for each in [*reversed(folder.parents), folder]:
        if not each.is_dir():
            each.mkdir()
            made.append(each)


def _remove(made):
    for path in reversed(made):
        with contextlib.suppress(OSError):
            path.rmdir() if path.is_dir() else path.unlink()


def zip_of(files):
    """The bytes of a zip with these files."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(files):
            entry = zipfile.ZipInfo(path, LONG_AGO)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100000 | _mode(path)) << 16
            archive.writestr(entry, files[path])
    return content.getvalue()


def tar_of(files):
    """The bytes of a tar with these files."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        for path in sorted(files):
            entry = tarfile.TarInfo(path)
            entry.size, entry.mode = len(files[path]), _mode(path)
            archive.addfile(entry, io.BytesIO(files[path]))
    return content.getvalue()


def _mode(path):
    return 0o755 if path in EXECUTABLE else 0o644

# SPDX-License-Identifier: MIT
"""Where the engine is, how paths are shown to the user, and files that are written whole."""

import os
import pathlib
import tempfile

from engine.driver.errors import WRONG_USE, CommandError

ENGINE = pathlib.Path(__file__).resolve().parent.parent


def shown(path):
    """The path as somebody in the current directory would type it."""
    relative = os.path.relpath(path)
    return str(path) if relative.startswith("../..") else relative


def require_writable(option, path):
    """Refuses a file that can't be written, before the work whose result it is to hold."""
    folder = path.parent
    if path.exists() and not path.is_file():
        raise CommandError(f"{option} {path}: that is no regular file.", WRONG_USE)
    if not folder.is_dir():
        raise CommandError(f"{option} {path}: there is no folder {folder}.", WRONG_USE)
    if not os.access(folder, os.W_OK) or (path.exists() and not os.access(path, os.W_OK)):
        raise CommandError(f"{option} {path}: the file cannot be written.", WRONG_USE)


def write_whole(path, text, mode=0o644):
    """Writes the file whole or not at all: next to the old one, and then in its place.

    Raises OSError, which names the file.
    """
    path = path.resolve()
    handle, name = tempfile.mkstemp(prefix=path.name, dir=path.parent)
    written = pathlib.Path(name)
    try:
        with open(handle, "w", encoding="utf-8") as file:
            file.write(text)
        written.chmod(mode)
        written.replace(path)
    except OSError as error:  # a full disk has no name
        raise OSError(error.errno, error.strerror, shown(path)) from error
    finally:
        written.unlink(missing_ok=True)

# SPDX-License-Identifier: MIT
"""The files in what was handed in, before anything is known of them: a class's folder or zip; and what one
student has handed in on a platform, as the zip of a class of one that `lab grade` takes."""

import functools
import lzma
import os
import pathlib
import stat
import struct
import tarfile
import time
import unicodedata
import zipfile
import zlib
from typing import NamedTuple, Optional

from engine.command.errors import WRONG_USE, CommandError
from engine.command.untrusted_files import opened_file
from grader.submissions.submission_names import EXACT, MISNAMED, exercise_of

MOST_BYTES = 1 << 20  # of one file
MOST_MEMBERS = 200_000  # of a zip
IS_UTF8 = 0x800  # a flag of a zip's member
IS_A_LINK = "it is a link, and not read"
# What programs keep next to a student's work. It is never the work itself, and nothing is said about it.
OF_PROGRAMS = {
    *(".devcontainer", ".git", ".github", ".idea", ".vscode", ".venv", "__MACOSX", "__pycache__"),
    *(".checked", ".lab"),  # lab's own
}
DAMAGED = (
    *(OSError, EOFError, RuntimeError, ValueError, struct.error),
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError),
)
STUDENT = "submission"  # so a student reads that submission/04_x.cu is misnamed
MOST_OF_ALL = 64 << 20  # bytes of all files that may be meant for an exercise
EARLIEST, LATEST = 315_619_200, 4_354_560_000  # 1980 to 2107: the times that a zip can hold


class Found(NamedTuple):
    """A file or a folder, before it is read."""

    path: (
        str  # from the root of what was handed in, as people read it; a folder's has a / at its end
    )
    time: float
    read: object  # returns the content, b"" of a folder; or a sentence that says why there is none
    file: Optional[pathlib.Path]  # where it is, if it is on the disk


def files_of_folder(place):
    """Every Found in the folder. Raises CommandError if there is none."""
    if not place.is_dir():
        raise CommandError(f"there is no folder and no zip {place}.", WRONG_USE)
    failed = []
    for folder, folders, names in os.walk(place, onerror=failed.append):
        inner = pathlib.Path(folder)
        folders[:] = sorted(name for name in folders if name not in OF_PROGRAMS)
        for name in folders:
            path = inner / name
            read = says(IS_A_LINK) if path.is_symlink() else says(b"")
            yield Found(f"{_shown(path, place)}/", 0, read, path)
        for name in sorted(names):
            path = inner / name
            read = functools.partial(_content, path)
            yield Found(_shown(path, place), _time_of(path), read, path)
    for error in failed:
        path = pathlib.Path(error.filename)
        if path == place:
            raise CommandError(f"{place} can't be read: {error.strerror}.", WRONG_USE)
        sentence = f"this folder can't be read: {error.strerror}"
        yield Found(f"{_shown(path, place)}/", 0, says(sentence), path)


def says(what):
    """A Found's `read` if the answer is known already."""
    return lambda: what


def plain_name(text):
    """The name in one spelling, all of it printable: what is no character or can't be seen is written
    as its number, so that two names that differ stay two."""
    text = text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode()
        for each in unicodedata.normalize("NFC", text)
    )


def path_in_archive(name, is_folder):
    """The path of a member of a zip or a tar, as Found has it; "" if it is none of a student's."""
    separator = "/" if "/" in name else "\\"  # as some programs on Windows write it
    parts = [each for each in name.split(separator) if each not in ("", ".", "..")]
    if not parts or OF_PROGRAMS & set(parts if is_folder else parts[:-1]):
        return ""
    return plain_name("/".join(parts)) + ("/" if is_folder else "")


def _shown(path, place):
    return plain_name(path.relative_to(place).as_posix())


def _time_of(path):
    try:
        return path.lstat().st_mtime
    except OSError:
        return 0


def _content(path):
    """Its bytes, or a sentence."""
    try:
        file = opened_file(path)
        if not file:
            return "it is no regular file"
        with file:
            return bounded(file)
    except OSError as error:
        return IS_A_LINK if os.path.islink(path) else f"it can't be read: {error.strerror}"


def bounded(file):
    """The content of the opened file, or a sentence if it is too large."""
    content = file.read(MOST_BYTES + 1)
    return content if len(content) <= MOST_BYTES else "it is larger than 1 MiB"


def files_of_zip(place):
    """The same for a zip. Raises CommandError."""
    try:
        packed = zipfile.ZipFile(place)
        members = packed.infolist()
    except UnicodeDecodeError as error:
        raise CommandError(
            f"{place}: a name in it is not in UTF-8; unpack it, and give the folder.", WRONG_USE
        ) from error
    except DAMAGED as error:
        raise CommandError(f"{place} is no zip that can be read: {error}.", WRONG_USE) from error
    if len(members) > MOST_MEMBERS:
        raise CommandError(f"{place} has more than {MOST_MEMBERS:,} files.", WRONG_USE)
    found = []
    for member in members:
        path = path_in_archive(_name_of(member), member.is_dir())
        if not path:
            continue
        if stat.S_ISLNK(member.external_attr >> 16):
            read = says(IS_A_LINK)
        elif member.is_dir():
            read = says(b"")
        else:
            read = functools.partial(_unpacked, packed, member)
        try:
            when = time.mktime((*member.date_time, 0, 0, -1))
        except (ValueError, OverflowError):
            when = 0
        found.append(Found(path, when, read, None))
    return found


def _name_of(member):
    """macOS writes UTF-8 into a zip without saying so: it is read as an old code page then."""
    if member.flag_bits & IS_UTF8:
        return member.filename
    try:
        return member.filename.encode("cp437").decode("utf-8")
    except UnicodeError:
        return member.filename


def _unpacked(packed, member):
    """Its bytes, or a sentence."""
    try:
        with packed.open(member) as file:
            return bounded(file)
    except DAMAGED as error:
        return f"it can't be unpacked: {error}"


def write_class_of_one(found, exercises, file):
    """Writes the zip; returns a sentence for each file and folder that can't be read.

    Only what may be meant for an exercise has its content in it. Raises CommandError if that is too much.
    """
    problems, total = [], 0
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for each in found:
            content = b""
            name = each.path.rpartition("/")[2]
            if not name or exercise_of(name, exercises)[1] in (EXACT, MISNAMED):
                content = each.read()
            if isinstance(content, str):
                problems.append(f"{STUDENT}/{each.path}: {content}.")
                continue
            total += len(content)
            if total > MOST_OF_ALL:
                raise CommandError(f"the files handed in are more than {MOST_OF_ALL >> 20} MiB.")
            when = time.localtime(min(max(each.time, EARLIEST), LATEST))[:6]
            packed.writestr(zipfile.ZipInfo(f"{STUDENT}/{each.path}", when), content)
    return problems


def files_of_handin(handin, exercises):
    """Every Found in a zip or a tar; a file that is neither is taken for the only exercise's.

    Raises CommandError.
    """
    if zipfile.is_zipfile(handin):
        return files_of_zip(handin)
    if tarfile.is_tarfile(handin):
        return _files_of_tar(handin)
    if len(exercises) != 1:
        raise CommandError("the file that was handed in is neither a zip nor a tar.")
    with open(handin, "rb") as file:
        return [Found(exercises[0].file_name, handin.stat().st_mtime, says(bounded(file)), handin)]


def _files_of_tar(handin):
    """Each is to be read before the next one is asked for."""
    try:
        with tarfile.open(handin) as archive:
            for count, entry in enumerate(archive):
                if count == MOST_MEMBERS:
                    raise CommandError(f"the tar has more than {MOST_MEMBERS:,} files.")
                path = path_in_archive(entry.name, entry.isdir())
                if path:
                    yield Found(path, entry.mtime, functools.partial(_read, archive, entry), None)
    except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError, tarfile.TarError) as error:
        raise CommandError(f"the tar that was handed in can't be read: {error}.") from error


def _read(archive, entry):
    """Its bytes, or a sentence."""
    if entry.isdir():
        return b""
    if not entry.isfile():
        return IS_A_LINK if entry.issym() or entry.islnk() else "it is no regular file"
    return bounded(archive.extractfile(entry))

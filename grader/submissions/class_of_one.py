# SPDX-License-Identifier: MIT
"""What one student has handed in on a platform, as the zip of a class of one that `lab grade` takes."""

import functools
import lzma
import tarfile
import time
import zipfile
import zlib

from engine.command.errors import CommandError
from grader.submissions.handed_files import (
    IS_A_LINK,
    MOST_MEMBERS,
    Found,
    bounded,
    files_of_zip,
    path_in_archive,
    says,
)
from grader.submissions.submission_names import EXACT, MISNAMED, exercise_of

STUDENT = "submission"  # so a student reads that submission/04_x.cu is misnamed
MOST_OF_ALL = 64 << 20  # bytes of all files that may be meant for an exercise
EARLIEST, LATEST = 315_619_200, 4_354_560_000  # 1980 to 2107: the times that a zip can hold


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

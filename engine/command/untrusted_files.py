# SPDX-License-Identifier: MIT
"""Reads what an untrusted program has left: a regular file of a bounded size, or nothing."""

import contextlib
import json
import os
import stat

MOST = (1 << 64) - 1  # of a number


def opened_file(path):
    """The file, opened for reading; None if it is no regular file. Waits for nothing, and follows no
    link. Raises OSError."""
    opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if stat.S_ISREG(os.fstat(opened).st_mode):
        return open(opened, "rb")
    os.close(opened)
    return None


def content_of(path, most):
    """Its first `most` bytes; b"" if it is no regular file, or if there is none of such a name."""
    with contextlib.suppress(OSError, ValueError):
        file = opened_file(path)
        if file:
            with file:
                # read(most) alone would ask for so much memory, and this is called for each case.
                return file.read(min(most, os.fstat(file.fileno()).st_size))
    return b""


def json_in(content):
    """What these bytes of JSON say; None if they are none, or nothing that our programs write: numbers
    that are not whole or beyond 64 bits, letters that no file can hold."""
    try:
        made = json.loads(
            content.decode(), parse_int=_whole_number, parse_float=_refused, parse_constant=_refused
        )
        if b"\\u" in content:  # half of a pair is no letter
            json.dumps(made, ensure_ascii=False).encode()
        return made
    except (ValueError, RecursionError):
        return None


def _whole_number(text):
    number = int(text)
    if not -MOST <= number <= MOST:
        raise ValueError(text)
    return number


def _refused(text):
    raise ValueError(text)

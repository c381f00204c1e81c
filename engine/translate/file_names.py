# SPDX-License-Identifier: MIT
"""Names of files in a preprocessed text, which holds one character for each byte (Latin-1).

In a line marker a name stands in quotes. g++ writes a letter outside ASCII as it is, and clang as
`\\303\\274`, the numbers of its bytes: both become the same name here.
"""

from __future__ import annotations

import functools
import os
import re

QUOTED = r'"((?:[^"\\]|\\.)*)"'
ESCAPE = re.compile(r"\\([0-7]{3}|.)")


def unquoted(quoted: str) -> str:
    """The name that stands between the quotes of a line marker."""
    return ESCAPE.sub(lambda match: chr(int(match[1], 8)) if match[1][1:] else match[1], quoted)


def quoted(name: str) -> str:
    """The name as it stands in a line marker."""
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


def native(name: str) -> str:
    """The name as Python's own functions for files take it."""
    return os.fsdecode(name.encode("latin-1"))


def of_native(path: str) -> str:
    """The name of a file that Python's own functions for files know."""
    return os.fsencode(path).decode("latin-1")


@functools.cache
def is_below(name: str, folder: str) -> bool:
    """Whether the file is in the folder, a native path without links."""
    return os.path.realpath(native(name)).startswith(folder + os.sep)


def in_rule(path: str) -> bytes:
    """The native path as a prerequisite in a Makefile rule."""
    return re.sub(rb"([ #])", rb"\\\1", os.fsencode(path)).replace(b"$", b"$$")

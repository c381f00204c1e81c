# SPDX-License-Identifier: MIT
"""What a compiler says about a student's file, less warnings of the course's own headers."""

import os
import re

from lab_tool.paths import ROOT

OWN_HEADERS = str(ROOT / "common") + os.sep

# Lines that lead to a message or to its note, which comes after them; then the message itself.
LEADING = re.compile(
    "In file included from |\\s+from |\\s+inlined from |(?:\\S.*: )?(?:In|At) .*[\u2019':,]$"
)
MESSAGE = re.compile(r"(\S.*?):\d+:(?:\d+:)? (warning|(?:fatal )?error|sorry, unimplemented): ")
SOURCE = re.compile(r" +\d+ \| ")  # a line of it, and below it what the message points at
MARKS = re.compile(r" +\| ")
ESCAPES = re.compile(r"\x1b\[[0-9;]*[mK]")


def without_own_warnings(lines):
    """The compiler's lines, less each warning that is about a line of the course's own headers.

    The code of a template that is inlined into the student's function is compiled there, with the
    student's values: g++ warns of it even if it was told not to warn of that header.
    """
    groups = [[]]  # of lines: each message with the lines that lead to it, and with its notes
    leading = []
    drops = set()
    for line in lines:
        text = ESCAPES.sub("", line)
        message = MESSAGE.match(text)
        if message:
            if message[2] == "warning" and _is_own(message[1]):
                drops.add(len(groups))
            groups.append([*leading, line])
            leading = []
        elif LEADING.match(text):
            leading.append(line)
        else:
            groups[-1] += [*leading, line]
            leading = []
    groups[-1] += leading
    return [line for number, group in enumerate(groups) if number not in drops for line in group]


def with_true_columns(lines):
    """The compiler's lines, less the columns that are none of the student's.

    A launch becomes a longer text before it is compiled. What g++ points at behind it lies beyond the
    end of the line that it shows.
    """
    found = []
    message = source = None  # of which line of `found` the last one of each kind is
    beyond = False
    for line in lines:
        text = ESCAPES.sub("", line)
        if MESSAGE.match(text):
            message, source, beyond = len(found), None, False
        elif SOURCE.match(text):
            source, beyond = len(found), False
        elif source is not None and MARKS.match(text):
            end = len(ESCAPES.sub("", found[source]))
            beyond = beyond or len(text) - len(text.lstrip(" |")) > end
            if beyond:
                found[message] = re.sub(r"(:\d+):\d+(?=: )", r"\1", found[message], count=1)
                continue
        found.append(line)
    return found


def _is_own(path):
    return os.path.realpath(path).startswith(OWN_HEADERS)

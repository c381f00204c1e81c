# SPDX-License-Identifier: MIT
"""A compiler's errors, each at a line of the student's file: an error in a header that the student did not
write is the consequence of such a line, and is told there."""

import os
import pathlib
import re

from engine.command.compiler_messages import ESCAPES, MARKS, MESSAGE, SOURCE, message_groups
from grader.judging.nvcc_messages import as_gcc_puts_it, numbered_line
from grader.paths import ROOT

PLACE = re.compile(
    r"(?P<includes>(?:In file included|in the kernel,|) *\bfrom )?"
    r"(?P<path>\S[^:]*):(?P<line>\d+)(?=[:,])"
)
INLINED = re.compile(r"^\s+inlined from .* at ")
NOTE = re.compile(r"(\S.*?):\d+:(?:\d+:)? note: ")
# The linker's and the compiler's last words, and those of who runs them.
NOISE = re.compile(r"collect2: |compilation terminated|make\b")


def error_lines(source, lines):
    """What the compiler says of the file `source`, by its name alone: the first error of each line, and
    warnings only if there is no error."""
    return [line for told in errors_by_line(source, lines) for line in told]


def errors_by_line(source, lines):
    """The same, with the lines about each of the file's lines as a list of their own."""
    source = pathlib.Path(source)
    code = source.read_text(encoding="utf-8", errors="replace").splitlines()
    groups = message_groups(as_gcc_puts_it(lines, source, code))
    errors = [group for group in groups if group.message and _kind(group) != "warning"]
    found = {}  # by the line of the file, in the compiler's order
    for group in errors or groups:
        if not group.message:
            told = [line for line in group.lines if not NOISE.match(line)]
        elif _is(source, MESSAGE.match(group.message)[1]):
            told = _own_lines(source, group)
        else:
            told = _at_own_line(source, code, group)
        found.setdefault(_line_of(told), told)
    path = str(source)
    return [[line.replace(path, source.name) for line in told] for told in found.values()]


def _line_of(told):
    place = PLACE.match(ESCAPES.sub("", told[0])) if told else None
    return place["line"] if place else "\n".join(told)


def _kind(group):
    return MESSAGE.match(group.message)[2]


def _is(source, path):
    """In a sandbox the file has been named by its name alone."""
    return path in (str(source), source.name)


def _own_lines(source, group):
    """The message and its notes, less the notes that are about other files."""
    told, is_told = [], True
    for line in group.lines:
        text = ESCAPES.sub("", line)
        note = NOTE.match(text)
        if note:
            is_told = _is(source, note[1])
        elif not (MESSAGE.match(text) or SOURCE.match(text) or MARKS.match(text)):
            is_told = is_told and not NOISE.match(text) and not PLACE.match(text)
        if is_told:
            told.append(line)
    return told


def _at_own_line(source, code, group):
    """The message alone, at the innermost line of the student's file that has led to it."""
    sentence = re.sub(r"^.*?: (?=(?:fatal )?error: |sorry|warning: )", "", group.message)
    lines = [INLINED.sub("", ESCAPES.sub("", line)) for line in (*group.leading, *group.lines)]
    places = [place for place in map(PLACE.match, lines) if place and _is(source, place["path"])]
    # A header is included before any of its templates is used: that line is the last resort.
    places.sort(key=lambda place: bool(place["includes"]))
    if not places:
        return [group.message.replace(f"{ROOT}{os.sep}", "")]
    number = int(places[0]["line"])
    return [f"{source}:{number}: {sentence}", *numbered_line(code, number)]

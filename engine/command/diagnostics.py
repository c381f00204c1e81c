# SPDX-License-Identifier: MIT
"""What the CPU backend and its translator have found wrong, as records: JSON, one object in a line.

A program writes them into the file that the environment variable LAB_DIAGNOSTICS names. A student's
program can write anything into it, so a record that is not whole is left out, and a record explains a
verdict and never makes one.
"""

import json
import math
import re
from typing import NamedTuple, Optional

from engine.command.output import printable
from engine.command.untrusted_files import content_of
from engine.translate.words import filled, rows

VARIABLE = "LAB_DIAGNOSTICS"
REFUSED_SOURCE = "refused_source"  # by the translator

MOST_BYTES = 1 << 20  # of a file of records
MOST_RECORDS = 1000
LONGEST_LINE = 1 << 14
LONGEST_TEXT = 1000
DEEPEST_ROW = 4  # of sentences that name one another

ADDRESS = re.compile(r"0x[0-9a-f]{1,16}")

# What a student is not shown: it is of the course's own files, or another one each time.
NOT_SHOWN = ("accessed", "allocated_at", "command")


class Place(NamedTuple):
    file: str
    line: int
    code: str  # of that line; "" if it is unknown

    def __str__(self):
        return f"line {self.line}" if self.file.endswith(".cu") else f"{self.file}:{self.line}"


class Index(NamedTuple):
    """The index of a block or a thread, or a size of three dimensions."""

    x: int
    y: int
    z: int

    def __str__(self):
        return str(self.x) if self.y == self.z == 0 else f"({self.x},{self.y},{self.z})"


class Diagnostic(NamedTuple):
    kind: str
    fields: dict  # {name: int, float, str, Place or Index}
    sentence: str  # for a student

    def place(self, name="at") -> Optional[Place]:
        return self.fields.get(name)

    @property
    def is_failure_of_block(self):
        """Whether it says why a launch failed, and is about one block."""
        return (
            "block" in self.fields
            and self.kind not in OF_A_LAUNCH_THAT_IS_STUCK
            and not self.is_stop
        )

    @property
    def is_host_access(self):
        """Whether the host's own code has accessed memory of the device."""
        return self.kind == "host_access"

    @property
    def is_stop(self):
        """Whether it says where a thread was when a launch that does not end was stopped."""
        return self.fields.get("what") == "stopped"

    @property
    def is_overrun(self):
        """Whether it is about the end of shared memory, where the race checker can say more."""
        return "command" in self.fields


OF_A_LAUNCH_THAT_IS_STUCK = ("waiting", "late_block", "running", "plain_poll")


def records_of(path):
    """The Diagnostics in a file; none if it is no regular file, or not there."""
    return records_in(content_of(path, MOST_BYTES))


def records_in(content):
    """The Diagnostics in the content of a file, without the lines that are none."""
    records = []
    for line in content.split(b"\n"):
        if not line or len(line) > LONGEST_LINE:
            continue
        record = _record_of(line)
        if record:
            records.append(record)
        if len(records) == MOST_RECORDS:
            break
    return tuple(records)


def _record_of(line):
    try:
        made = json.loads(line.decode("utf-8", errors="replace"))
        kind = made.pop("kind")
        fields = {name: CHECKS[name](value) for name, value in made.items() if name in CHECKS}
        if kind == REFUSED_SOURCE:
            fields["at"]  # must be there
            words = _words(made["arguments"])
            sentence = filled(made["code"], words.__contains__, lambda name, _: str(words[name]))
        else:
            sentence = sentence_of(kind, fields)
        return Diagnostic(kind, fields, sentence)
    except (KeyError, ValueError, TypeError, AttributeError, RecursionError):
        return None


def sentence_of(row, fields, depth=0):
    """What a row of the table says of these fields. Raises KeyError and ValueError if it can't."""
    if depth == DEEPEST_ROW:
        raise ValueError("rows of the table that name one another")

    def is_shown(name):
        return name in fields and name not in NOT_SHOWN

    def word(name, form):
        value = fields[name]
        if form == "row":
            return sentence_of(value, fields, depth + 1)
        if form == "bytes":
            return "1 byte" if value == 1 else f"{value} bytes"
        return f"{value:g}" if isinstance(value, float) else str(value)

    return filled(row, is_shown, word)


def _text(value):
    if not isinstance(value, str) or len(value) > LONGEST_TEXT:
        raise ValueError("no short text")
    return printable(value)


def _words(arguments):
    return {name: word if type(word) is int else _text(word) for name, word in arguments.items()}


def _row(value):
    if value not in rows():
        raise ValueError("no row of the table")
    return value


def _address(value):
    if not ADDRESS.fullmatch(value):
        raise ValueError("no address")
    return value


def _one_of(*words):
    def check(value):
        if value not in words:
            raise ValueError("another word")
        return value

    return check


def _number(least, most):
    def check(value):
        if type(value) is not int or not least <= value <= most:
            raise ValueError("no such number")
        return value

    return check


def _seconds(value):
    if type(value) not in (int, float) or not 0 <= value < math.inf:
        raise ValueError("no time")
    return value


def _index(value):
    if len(value) != 3:
        raise ValueError("no index")
    return Index(*map(_number(0, 2**32 - 1), value))


def _place(value):
    line = _number(1, 2**31)(value["line"])
    return Place(_text(value["file"]), line, _text(value.get("text", "")).strip())


COUNT = _number(0, 2**63)
CHECKS = {
    **dict.fromkeys(("block", "thread", "other_thread", "threads", "blocks", "largest"), _index),
    **dict.fromkeys(("next_block", "unstarted"), _index),
    **dict.fromkeys(
        ("at", "launched_at", "other_at", "overtaken_at", "allocated_at", "freed_at"), _place
    ),
    **dict.fromkeys(("bytes", "distance", "size", "more", "limit", "raised_limit"), COUNT),
    **dict.fromkeys(("lane", "rank", "blocks_not_started"), COUNT),
    "number": _number(-(2**31), 2**63),
    "seconds": _seconds,
    **dict.fromkeys(("address", "accessed"), _address),
    **dict.fromkeys(("what", "why", "where"), _row),
    "awaits": _one_of("the_blocks_barrier", "other_lanes", "a_value_in_memory"),
    "poll": _one_of("reads_again_and_again", "loops_without_reading", "last_read_was_plain"),
    "space": _one_of("global", "shared"),
    "access": _one_of("read", "write", "atomic operation", "access"),
    **dict.fromkeys(("function", "operation", "other_operation", "expression"), _text),
    **dict.fromkeys(("exception", "error", "command"), _text),
}

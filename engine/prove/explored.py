# SPDX-License-Identifier: MIT
"""What ./lab prove explores: the kinds of things that a program may do, and is proved. All else is denied."""

import json
import pathlib

from engine.command.errors import CommandError

LIST = pathlib.Path(__file__).parent / "explored.json"


def rows():
    """Those of the list: dictionaries with the keys kind, title, does, explored and denied."""
    return json.loads(LIST.read_text(encoding="utf-8"))


def not_explored(uses):
    """Those of a trace's uses that are not on the list, in their order."""
    return tuple(each for each in uses if each[:2] not in _EXPLORED)


def in_words(use):
    """'own.cu:7 creates a stream, whose other orders are not explored'"""
    row = _ROWS.get(use.kind, {"does": "does {name}", "denied": {}})
    does = row["denied"].get(use.name) or row["does"].format(name=use.name)
    return f"{use.place or 'the program'} {does}, whose other orders are not explored"


_ROWS = {row["kind"]: row for row in rows()}
_EXPLORED = {(kind, name) for kind, row in _ROWS.items() for name in row["explored"]}


class NotExplored(CommandError):
    """A run did what is not on the list."""

    def __init__(self, uses, decisions):
        super().__init__(f"not proved: {in_words(uses[0])}.")
        self.uses, self.decisions = uses, decisions

    def at(self, uses):
        """The same, with the place that a run with places names."""
        found = [each for each in uses if each[:2] == self.uses[0][:2]]
        return NotExplored(found[:1] or self.uses, self.decisions)

# SPDX-License-Identifier: MIT
"""Loops in which a thread waits by reading `volatile` memory: there others get their turn.

The threads of a block take turns, and a loop of plain loads gives none away. Atomics do so by
themselves; for volatile memory the loop has to say that it waits. (Racecheck sees each access.)
"""

from __future__ import annotations

import re

from device_code import DeviceCode
from source_text import SourceText
from tokens import WORD

WAITS = " ::cpu_backend::polled();"
VOLATILE = re.compile(rf"(?<![{WORD}])volatile(?![{WORD}])")
DECLARED = re.compile(
    rf"(?<![{WORD}])volatile(?![{WORD}])[^;{{}}()=,]*?(?<![{WORD}])([{WORD}]+)\s*(?=[\[;,)=])"
)
LOOP = re.compile(rf"(?<![{WORD}])(while|for|do)(?![{WORD}])")
ENDLESS = re.compile(r"\s*(?:1|true)?\s*\Z")


class Polling:
    """The waiting loops of one translation unit."""

    def __init__(self, text: SourceText, device_code: DeviceCode):
        self.text = text
        self.device_code = device_code

    def mark_loops(self) -> None:
        """Marks each loop of device code that waits for volatile memory."""
        if not VOLATILE.search(self.text.masked):
            return
        names = {match[1] for match in self.text.own_matches(DECLARED)}
        alternatives = "|".join(map(re.escape, sorted(names | {"volatile"})))
        reads = re.compile(rf"(?<![{WORD}])(?:{alternatives})(?![{WORD}])")
        for match in self.text.own_matches(LOOP):
            within = self.device_code.around(match.start())
            if within and within.runs_on_device:
                self.mark_loop(match[1], match.end(), reads)

    def mark_loop(self, keyword: str, position: int, reads: re.Pattern) -> None:
        masked = self.text.masked
        token = self.text.next_token(position)
        if keyword == "do":
            if token.text == "{":
                end = self.text.closing(token.start)
                condition = self.text.next_token(self.text.next_token(end + 1).end)
                if condition.text == "(":
                    end = self.text.closing(condition.start)
                if reads.search(masked, token.start, end):
                    self.text.insert(token.end, WAITS)
            return
        if token.text != "(":
            return
        closing = self.text.closing(token.start)
        condition = masked[token.end : closing]
        if keyword == "for":
            parts = condition.split(";")
            condition = parts[1] if len(parts) == 3 else "range"
        body = self.text.next_token(closing + 1)
        waits = bool(reads.search(condition))
        if body.text == ";" and waits:
            self.text.insert(body.start, WAITS)
        elif body.text == "{":
            if ENDLESS.match(condition):
                waits = bool(reads.search(masked, body.start, self.text.closing(body.start)))
            if waits:
                self.text.insert(body.end, WAITS)

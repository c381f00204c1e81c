# SPDX-License-Identifier: MIT
"""Loops in which a thread waits by reading `volatile` memory: there others get their turn.

The threads of a block take turns, and a loop of plain loads gives none away. Atomics do so by
themselves; for volatile memory the loop has to say that it waits. (Racecheck sees each access.)
"""

from __future__ import annotations

import re

from device_code import DeviceCode
from source_text import SourceText
from tokens import WORD, Token

WAITS = " ::cpu_backend::polled();"
VOLATILE = re.compile(rf"(?<![{WORD}])volatile(?![{WORD}])")
DECLARED = re.compile(
    rf"(?<![{WORD}])volatile(?![{WORD}])[^;{{}}()=,]*?(?<![{WORD}])([{WORD}]+)\s*(?=[\[;,)=])"
)
LOOP = re.compile(rf"(?<![{WORD}])(while|for|do)(?![{WORD}])")
END_OR_OPENING = re.compile(r"[;({\[}]")
ENDLESS = re.compile(r"\s*(?:1|true)?\s*\Z")


class Polling:
    """The waiting loops of one translation unit."""

    def __init__(self, text: SourceText, device_code: DeviceCode):
        self.text = text
        self.device_code = device_code
        self.ends_of_do: set[int] = set()  # where the `while` stands that ends one

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
            end = self.end_of_statement(token)
            last = self.text.next_token(end)
            condition = self.text.next_token(last.end)
            if last.text == "while" and condition.text == "(":
                self.ends_of_do.add(last.start)
                if reads.search(masked, token.start, self.text.closing(condition.start)):
                    self.mark(token, end)
            return
        if token.text != "(" or position - len(keyword) in self.ends_of_do:
            return
        closing = self.text.closing(token.start)
        condition = masked[token.end : closing]
        if keyword == "for":
            parts = condition.split(";")
            condition = parts[1] if len(parts) == 3 else "range"
        body = self.text.next_token(closing + 1)
        end = self.end_of_statement(body)
        is_endless = bool(ENDLESS.match(condition)) and body.text != ";"
        if reads.search(masked, body.start, end) if is_endless else reads.search(condition):
            self.mark(body, end)

    def mark(self, body: Token, end: int) -> None:
        """Lets the statement that begins with this token say that its thread waits."""
        if body.text == "{":
            self.text.insert(body.end, WAITS)
        elif body.text == ";":
            self.text.insert(body.start, WAITS)
        else:
            self.text.insert(body.start, "{" + WAITS + " ")
            self.text.insert(end, " }")

    def end_of_statement(self, first: Token) -> int:
        """The position behind the statement that begins with this token."""
        if first.text == "{":
            return self.text.closing(first.start) + 1
        if first.text == "do":
            end = self.end_of_statement(self.text.next_token(first.end))
            return self.end_of_expression(end)
        if first.text not in ("if", "while", "for", "switch"):
            return self.end_of_expression(first.start)
        head = self.text.next_token(first.end)
        if head.text == "constexpr":
            head = self.text.next_token(head.end)
        if head.text != "(":
            return first.end  # the compiler says what is wrong with it
        end = self.end_of_statement(self.text.next_token(self.text.closing(head.start) + 1))
        following = self.text.next_token(end)
        if first.text == "if" and following.text == "else":
            end = self.end_of_statement(self.text.next_token(following.end))
        return end

    def end_of_expression(self, position: int) -> int:
        """The position behind its semicolon."""
        while True:
            match = END_OR_OPENING.search(self.text.masked, position)
            if match is None or match[0] == "}":
                return match.start() if match else len(self.text.masked)
            if match[0] == ";":
                return match.end()
            position = self.text.closing(match.start()) + 1

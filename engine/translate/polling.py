# SPDX-License-Identifier: MIT
"""Loops in which a thread waits by reading `volatile` memory: there others get their turn.

The threads of a block take turns, and a loop of plain loads gives none away. Atomics do so by
themselves; for volatile memory the loop has to say that it waits. (Racecheck sees each access.)
"""

from __future__ import annotations

import bisect
import re

from device_code import DeviceCode
from source_text import WORD, SourceText, Token

WAITS = " ::cpu_backend::polled();"
VOLATILE = re.compile(rf"(?<![{WORD}])volatile(?![{WORD}])")
# A name before one of these, and what ends a declaration.
DECLARED = re.compile(rf"(?<![{WORD}])([{WORD}]+)(\s*(?=[\[;,)=]))?|[;{{}}()=,]")
NAME = re.compile(rf"(?<![{WORD}])[{WORD}]+")
LOOP = re.compile(rf"(?<![{WORD}])(while|for|do)(?![{WORD}])")
END_OR_OPENING = re.compile(r"[;({\[}]")
ENDLESS = re.compile(r"\s*(?:1|true)?\s*\Z")


class Polling:
    """The waiting loops of one translation unit."""

    def __init__(self, text: SourceText, device_code: DeviceCode):
        self.text = text
        self.device_code = device_code
        self.ends_of_do: set[int] = set()  # where the `while` stands that ends one
        self.reads: list[int] = []  # where names of volatile variables stand, and `volatile` itself
        self.ends: dict[int, int] = {}  # the ends of statements, by their first tokens' positions

    def mark_loops(self) -> None:
        """Marks each loop of device code that waits for volatile memory."""
        if not VOLATILE.search(self.text.masked):
            return
        names = self.volatile_names()
        self.reads = [match.start() for match in self.text.own_matches(NAME) if match[0] in names]
        for match in self.text.own_matches(LOOP):
            within = self.device_code.around(match.start())
            if within and within.runs_on_device:
                self.mark_loop(match[1], match.end())

    def volatile_names(self) -> set[str]:
        names, is_volatile = {"volatile"}, False
        for match in self.text.own_matches(DECLARED):
            if is_volatile and match[2] is not None:
                names.add(match[1])
            is_volatile = match[1] == "volatile" or (is_volatile and match[1] and match[2] is None)
        return names

    def has_read(self, start: int, end: int) -> bool:
        index = bisect.bisect_left(self.reads, start)
        return index < len(self.reads) and self.reads[index] < end

    def mark_loop(self, keyword: str, position: int) -> None:
        masked = self.text.masked
        token = self.text.next_token(position)
        if keyword == "do":
            end = self.end_of_statement(token)
            last = self.text.next_token(end)
            condition = self.text.next_token(last.end)
            if last.text == "while" and condition.text == "(":
                self.ends_of_do.add(last.start)
                if self.has_read(token.start, self.text.closing(condition.start)):
                    self.mark(token, end)
            return
        if token.text != "(" or position - len(keyword) in self.ends_of_do:
            return
        closing = self.text.closing(token.start)
        start, last = token.end, closing
        if keyword == "for":
            ends = [match.start() for match in re.finditer(";", masked[start:closing])]
            start, last = (
                (start + ends[0] + 1, start + ends[1]) if len(ends) == 2 else (closing, closing)
            )
        body = self.text.next_token(closing + 1)
        end = self.end_of_statement(body)
        is_range = keyword == "for" and start == closing
        is_endless = body.text != ";" and not is_range and ENDLESS.match(masked[start:last])
        if self.has_read(body.start, end) if is_endless else self.has_read(start, last):
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
        """The position behind the statement that begins with this token. Without recursion: statements may
        stand within one another to any depth."""
        open_statements: list[Token] = []
        token = first
        while True:
            head = self.text.next_token(token.end)
            if token.text in ("if", "while", "for", "switch") and head.text == "constexpr":
                head = self.text.next_token(head.end)
            has_inner = head.text == "(" and token.text in ("if", "while", "for", "switch")
            if token.start not in self.ends and (has_inner or token.text == "do"):
                open_statements.append(token)
                position = token.end if token.text == "do" else self.text.closing(head.start) + 1
                token = self.text.next_token(position)
                continue
            if token.start not in self.ends:
                self.ends[token.start] = self.end_of_simple(token)
            end = self.ends[token.start]
            while open_statements:
                statement = open_statements.pop()
                if statement.text == "do":
                    end = self.end_of_expression(end)
                following = self.text.next_token(end)
                if statement.text == "if" and following.text == "else":
                    # What comes after `else` ends where the whole does.
                    open_statements.append(statement._replace(text="else"))
                    token = self.text.next_token(following.end)
                    break
                self.ends[statement.start] = end
            else:
                return end

    def end_of_simple(self, token: Token) -> int:
        """The position behind a statement that has no other one at its end."""
        if token.text == "{":
            return self.text.closing(token.start) + 1
        if token.text in ("if", "while", "for", "switch"):
            return token.end  # the compiler says what is wrong with it
        return self.end_of_expression(token.start)

    def end_of_expression(self, position: int) -> int:
        """The position behind its semicolon."""
        while True:
            match = END_OR_OPENING.search(self.text.masked, position)
            if match is None or match[0] == "}":
                return match.start() if match else len(self.text.masked)
            if match[0] == ";":
                return match.end()
            position = self.text.closing(match.start()) + 1

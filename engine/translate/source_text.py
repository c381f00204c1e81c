# SPDX-License-Identifier: MIT
"""A translation unit that is searched and edited."""

from __future__ import annotations

import array
import bisect
import functools
import re
from collections.abc import Iterator
from typing import NamedTuple

from errors import NotUnderstood, WindowTooSmall
from file_names import quoted, unquoted
from refusals import Refusal
from tokens import BRACKET, CLASS_KEYS, LINE_MARKER, OPAQUE, OPENING, TOKEN, WORD, Token, masked

NEVER = -1
WITHIN_TOKEN = re.compile(rf"""[{WORD}"']""")  # of more than an operator


class Edit(NamedTuple):
    start: int
    end: int
    text: str


class LineMarker(NamedTuple):
    """What a `#` line says about the lines after it."""

    start: int
    end: int  # where the next line begins
    line: int
    file: str
    is_system: bool


class SourceText:
    """One preprocessed translation unit, and the edits that are to be made to it."""

    def __init__(self, text: str, input_name: str):
        self.source = text
        self.input_name = input_name
        self.masked = masked(text)
        self.edits: list[Edit] = []

    @functools.cached_property
    def markers(self) -> list[LineMarker]:
        """All line markers. What only looks like one, inside a raw string, is none."""
        found = []
        for match in OPAQUE.finditer(self.source):
            marker = LINE_MARKER.match(match[0])
            if marker:
                file = unquoted(marker[2])
                is_system = "3" in match[0][marker.end() :].split()
                end = match.end() + 1
                found.append(LineMarker(match.start(), end, int(marker[1]), file, is_system))
        return found

    def marker_before(self, position: int) -> LineMarker:
        index = bisect.bisect(self.markers, (position,)) - 1
        return self.markers[index] if index >= 0 else LineMarker(0, 0, 1, self.input_name, False)

    @functools.cached_property
    def line_ends(self) -> array.array:
        return array.array("q", (match.start() for match in re.finditer("\n", self.source)))

    def place(self, position: int) -> tuple[str, int]:
        """The file and the line of a position."""
        marker = self.marker_before(position)
        lines = bisect.bisect_left(self.line_ends, max(position, marker.end))
        return marker.file, marker.line + lines - bisect.bisect_left(self.line_ends, marker.end)

    def continuation(self, position: int) -> str:
        """What has to stand before the text from `position` on, wherever that is put: then the compiler
        speaks of it in its file, line and column, and warns of it as before."""
        file, line = self.place(position)
        column = position - (self.source.rfind("\n", 0, position) + 1)
        flags = " 3" if self.marker_before(position).is_system else ""
        return f"\n# {line} {quoted(file)}{flags}\n{' ' * column}"

    @functools.cached_property
    def own_parts(self) -> list[tuple[int, int]]:
        """Where each part begins and ends that comes from no header of the system.

        They are a small part of the text, and a search through all of it takes long.
        """
        ends = [marker.start for marker in self.markers[1:]] + [len(self.masked)]
        parts = [(0, self.markers[0].start if self.markers else len(self.masked))]
        for marker, end in zip(self.markers, ends):
            if marker.is_system:
                continue
            if parts[-1][1] == marker.start:
                parts[-1] = (parts[-1][0], end)
            else:
                parts.append((marker.start, end))
        return parts

    def own_matches(self, pattern: re.Pattern) -> Iterator[re.Match]:
        """What pattern finds in these parts."""
        for start, end in self.own_parts:
            yield from pattern.finditer(self.masked, start, end)

    def refusal(self, failure: NotUnderstood) -> Refusal:
        """The failure with its file and line."""
        return Refusal(*self.place(failure.position), failure.code, failure.arguments)

    def edited(self) -> str:
        pieces, position = [], 0
        for edit in sorted(self.edits, key=lambda edit: (edit.start, edit.end)):
            pieces += [self.source[position : edit.start], edit.text]
            position = edit.end
        return "".join(pieces) + self.source[position:]

    def insert(self, position: int, text: str) -> None:
        self.edits.append(Edit(position, position, text))

    def erase(self, token: Token) -> None:
        """Removes a token, but no newline or `#` line inside it."""
        for part in re.finditer(r"\S+", self.masked[token.start : token.end]):
            self.edits.append(Edit(token.start + part.start(), token.start + part.end(), ""))

    def on_one_line(self, start: int, end: int, without: tuple[Token, ...] = ()) -> str:
        """The source from start to end, `#` lines and the tokens in without left out."""
        blanked = bytearray(end - start)
        for token in without:
            for index in range(max(token.start, start), min(token.end, end)):
                blanked[index - start] = 1
        characters = [
            " " if self.masked[index].isspace() or blanked[index - start] else self.source[index]
            for index in range(start, end)
        ]
        return re.sub(" +", " ", "".join(characters)).strip()

    def tokens_before(self, position: int, size: int) -> tuple[list[Token], bool]:
        """The tokens of at least the last size characters before position; whether all are."""
        start = max(position - size, 0)
        while start and WITHIN_TOKEN.match(self.masked, start):
            start -= 1
        matches = TOKEN.finditer(self.masked, start, position)
        found = [Token(match[0], *match.span()) for match in matches]
        return found[1 if start else 0 :], start == 0  # the first may be the end of an operator

    def backward(self, position: int, search):
        """Calls search(tokens, whole) with as many tokens before position as it needs."""
        size = 100
        while True:
            try:
                return search(*self.tokens_before(position, size))
            except WindowTooSmall:
                size *= 8

    def next_token(self, position: int) -> Token:
        """The first token at or after position; at the end of the text, one that is empty."""
        match = TOKEN.search(self.masked, position)
        return Token(match[0], *match.span()) if match else Token("", position, position)

    @functools.cached_property
    def closings(self) -> array.array:
        """Of each bracket that was looked at: the one that closes it, or NEVER. 0 of all others."""
        return array.array("q", bytes(8 * len(self.masked)))

    def closing(self, opening: int) -> int:
        """The position of the bracket that closes the one at opening."""
        first = BRACKET.search(self.masked, opening)
        place = first.start() if first else NEVER
        if first and first[0] not in OPENING and not self.closings[place]:
            self.match_brackets(place)
        if not first or first[0] in OPENING or self.closings[place] == NEVER:
            raise NotUnderstood(opening, "never_closed", bracket=self.masked[opening])
        return self.closings[place]

    def match_brackets(self, position: int) -> None:
        """Notes what closes the bracket at position and those within. None is gone through twice, however
        deep it stands."""
        found, open_brackets = self.closings, array.array("q")
        match = BRACKET.search(self.masked, position)
        while match:
            place, bracket = match.start(), match[0]
            if bracket in OPENING:
                if self.masked[open_brackets[-1]] != OPENING[bracket]:
                    break
                found[open_brackets.pop()] = place
                if not open_brackets:
                    return
            elif found[place] == NEVER:
                break
            elif found[place]:
                place = found[place]
            else:
                open_brackets.append(place)
            match = BRACKET.search(self.masked, place + 1)
        for place in open_brackets:
            found[place] = NEVER

    def scope(self, position: int) -> str:
        """What the innermost braces around position belong to: namespace, class or block."""
        opening = self.enclosing_brace(position)
        if opening is None:
            return "namespace"
        head_start = max(self.masked.rfind(end, 0, opening) for end in ";{}") + 1
        head = [match[0] for match in TOKEN.finditer(self.masked, head_start, opening)]
        if "namespace" in head or (len(head) == 2 and head[0] == "extern"):
            return "namespace"
        if "(" not in head and self.has_class_key(head):
            return "class"
        return "block"

    @staticmethod
    def has_class_key(head: list[str]) -> bool:
        """Whether a class key stands outside all template parameter lists."""
        open_lists = 0
        for text in head:
            open_lists += {"<": 1, ">": -1}.get(text, 0)
            if text in CLASS_KEYS and open_lists == 0:
                return True
        return False

    @functools.cached_property
    def braces(self) -> array.array:
        """The positions of all braces."""
        return array.array("q", (match.start() for match in re.finditer("[{}]", self.masked)))

    @functools.cached_property
    def braces_around(self) -> array.array:
        """Of each brace: the innermost one that is open after it, or NEVER."""
        found, open_braces = array.array("q"), array.array("q", [NEVER])
        for brace in self.braces:
            if self.masked[brace] == "{":
                open_braces.append(brace)
            elif len(open_braces) > 1:
                open_braces.pop()
            found.append(open_braces[-1])
        return found

    def enclosing_brace(self, position: int) -> int | None:
        index = bisect.bisect(self.braces, position) - 1
        around = self.braces_around[index] if index >= 0 else NEVER
        return None if around == NEVER else around

# SPDX-License-Identifier: MIT
"""A preprocessed translation unit: its tokens, the names of its files, and edits that are to be made to it.

In a line marker a name stands in quotes. g++ writes a letter outside ASCII as it is, and clang as
`\\303\\274`, the numbers of its bytes: both become the same name here.
"""

from __future__ import annotations

import array
import bisect
import functools
import os
import re
from collections.abc import Iterator
from typing import NamedTuple

from refusals import NotUnderstood, Refusal, WindowTooSmall

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


SHARED_MARKER = "__cpu_backend_shared__"

# The text is read as Latin-1, one character for each byte; a byte of 128 and above is part of a
# UTF-8 letter.
WORD = r"A-Za-z0-9_$\x80-\xff"

# What must not be searched for launches. What has no end, which the compiler says, goes to that of its
# line or of the text, so that no end is searched for twice. Every match begins with a character of one
# class, which is what makes the search fast; the look-behinds then say which kind of text begins here.
OPAQUE = re.compile(
    rf"""["'/\#R0-9](?:
      (?<=\#)(?<![^\n].)[^\n]*                                     # a line marker or a pragma
    | (?<=")[^"\\\n]*(?:\\.[^"\\\n]*)*"?                           # a string
    | (?<=')[^'\\\n]*(?:\\.[^'\\\n]*)*'?                           # a character
    | (?<=R)(?:(?<![{WORD}]R)|(?<=[^{WORD}][uUL]R)|(?<=[^{WORD}]u8R))
      "([^()\\\s"]{{0,16}})\((?s:.*?)(?:\)\1"|\Z)                  # a raw string
    | (?<=[0-9])(?<![{WORD}][0-9])[{WORD}]*(?:'[{WORD}]+)+         # a number with separators
    | (?<=/)(?:/[^\n]*|\*(?s:.*?)(?:\*/|\Z))                       # a comment
    )""",
    re.VERBOSE,
)
LINE_MARKER = re.compile(rf"#\s*(?:line\s+)?(\d+)\s+{QUOTED}")

TOKEN = re.compile(
    rf"""
      operator(?![{WORD}])\s*(?:<=>|<<=|>>=|<<|>>|<=|>=|->\*?|<|>|\(\s*\))
    | \.?[0-9](?:[eEpP][+-]|[{WORD}.])*
    | [{WORD}]+
    | "[^"]*" | '[^']*'
    | :: | ->\*? | <=>? | >= | == | != | && | \|\| | \.\.\.
    | \S
    """,
    re.VERBOSE,
)
LAUNCH = re.compile(r"<\s*<\s*<(?:\s*<)*")
# (A pattern that begins with letters is found fast, so what may not stand before them comes second.)
SHARED = re.compile(rf"{SHARED_MARKER}(?<![{WORD}]{SHARED_MARKER})(?![{WORD}])")
EXCHANGE = re.compile(rf"atomicExch(?<![{WORD}]atomicExch)(?:_block|_system)?(?![{WORD}])")
# What host_defines.h makes of __global__, __device__ and their like in a .cu file.
MARKER = re.compile(
    rf"__cpu_backend_(?<![{WORD}]__cpu_backend_)"
    rf"(global|device|host|constant|managed|cluster_dims)__(?![{WORD}])"
)
CLOSING_ANGLES = re.compile(r">(?:\s*>)*(?!=)")
BRACKET = re.compile(r"[()\[\]{}]")
OPENING = {")": "(", "]": "[", "}": "{"}

STATEMENT_KEYWORDS = {"if", "while", "for", "switch", "catch", "constexpr", "consteval"}
# Words that end before an expression begins.
KEYWORDS = STATEMENT_KEYWORDS | set(
    """alignas alignof asm auto bool break case char class co_await co_return co_yield const
    constinit continue default delete do double else enum explicit export extern false float
    friend goto inline int long mutable namespace new noexcept nullptr private protected public
    register requires return short signed sizeof static static_assert struct template thread_local
    throw true try typedef typename union unsigned using virtual void volatile __attribute__
    __extension__ and or not xor""".split()
)
# What may stand before an expression of type void, such as a launch.
BEFORE_LAUNCH = {";", "{", "}", "(", ")", "]", ",", "?", ":", "else", "do", "return", "co_return"}
BEFORE_LAUNCH |= {"__extension__"}
ATTRIBUTES = {"alignas", "__attribute__", "__attribute"}
CLASS_KEYS = {"struct", "class", "union", "enum"}


class Token(NamedTuple):
    text: str
    start: int
    end: int


def masked(text: str) -> str:
    """Returns text, equally long, with literals, comments and `#` lines made harmless.

    A literal keeps its quotes and nothing else; a newline inside a raw string is gone, too.
    Comments and `#` lines become white space, so that they separate tokens and are none.
    """

    def replacement(match: re.Match) -> str:
        found = match[0]
        if found[0] in "#/":
            return re.sub(r"[^\n]", " ", found)
        if found[0].isdigit():
            return "0" * len(found)
        quote = '"' if found[0] == "R" else found[0]
        return quote + "_" * (len(found) - 2) + quote if len(found) > 1 else " "

    return OPAQUE.sub(replacement, text)


def is_word(text: str) -> bool:
    return text != "" and (text[0].isalpha() or text[0] in "_$" or text[0] >= "\x80")


def is_name(text: str) -> bool:
    return is_word(text) and text not in KEYWORDS


NEVER = -1
A_WORD = re.compile(rf"[{WORD}]+")
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

    @functools.cached_property
    def own_words(self) -> dict[str, list[re.Match]]:
        """Where each word stands in these parts: one search for all names that are asked for."""
        found: dict[str, list[re.Match]] = {}
        for match in self.own_matches(A_WORD):
            found.setdefault(match[0], []).append(match)
        return found

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
        blanked = {index for token in without for index in range(token.start, token.end)}
        characters = [
            " " if self.masked[index].isspace() or index in blanked else self.source[index]
            for index in range(start, end)
        ]
        return re.sub(" +", " ", "".join(characters)).strip()

    def tokens(self, start: int, end: int) -> list[Token]:
        matches = TOKEN.finditer(self.masked, start, end)
        return [Token(match[0], *match.span()) for match in matches]

    def tokens_before(self, position: int, size: int) -> tuple[list[Token], bool]:
        """The tokens of at least the last size characters before position; whether all are."""
        start = max(position - size, 0)
        while start and WITHIN_TOKEN.match(self.masked, start):
            start -= 1
        found = self.tokens(start, position)
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
        """What closes the bracket at each position, or NEVER; 0 of those not asked for yet."""
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

    def head_start(self, opening: int) -> int:
        """Where the head begins that ends with the brace at opening: behind a `;` or another brace."""
        index = bisect.bisect_left(self.braces, opening)
        before = self.braces[index - 1] if index > 0 else -1
        return max(self.masked.rfind(";", before + 1, opening), before) + 1

    def scope(self, position: int) -> str:
        """What the innermost braces around position belong to: namespace, class or block."""
        opening = self.enclosing_brace(position)
        if opening is None:
            return "namespace"
        head_start = self.head_start(opening)
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
        """The innermost brace that is open after each of `braces`, or NEVER."""
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

# SPDX-License-Identifier: MIT
"""The text of a preprocessed translation unit, as tokens."""

from __future__ import annotations

import re
from typing import NamedTuple

from file_names import QUOTED

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

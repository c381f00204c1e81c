# SPDX-License-Identifier: MIT
"""Tells the backend's scheduled form of calls of atomicExch() whose value the program discards.

Such a call only writes, so it may be the first access to its memory.
"""

from __future__ import annotations

import re

from errors import NotUnderstood
from source_text import SourceText
from tokens import STATEMENT_KEYWORDS, Token, is_name

UNUSED = ", ::cpu_backend::old_value_is_unused()"
BEFORE_STATEMENT = {";", "{", "}", "else", "do"}


class DiscardedValues:
    """The calls of atomicExch() in one translation unit that are statements."""

    def __init__(self, text: SourceText):
        self.text = text

    def call(self, match: re.Match) -> None:
        """Marks the call whose name is matched, if it is a statement; any other is left alone."""
        opening = self.text.next_token(match.end())
        if opening.text != "(":
            return
        try:
            end = self.text.closing(opening.start) + 1
        except NotUnderstood:
            return  # the compiler will say it
        if self.text.next_token(end).text == ";" and self.begins_statement(match.start()):
            self.text.insert(end, UNUSED)

    def begins_statement(self, position: int) -> bool:
        tokens = self.text.tokens_before(position, 400)[0]
        texts = [token.text for token in tokens[-2:]]
        if texts[-1:] == ["::"] and not is_name(texts[0]):
            tokens.pop()
        if [token.text for token in tokens[-3:]] == ["(", "void", ")"]:
            tokens = tokens[:-3]
        if not tokens:
            return False
        if tokens[-1].text == ")":
            return self.ends_condition(tokens)
        return tokens[-1].text in BEFORE_STATEMENT

    @staticmethod
    def ends_condition(tokens: list[Token]) -> bool:
        """Whether the last token closes the condition of an `if` or of a loop."""
        closed = 0
        for index in range(len(tokens) - 1, 0, -1):
            closed += {")": 1, "(": -1}.get(tokens[index].text, 0)
            if closed == 0:
                return tokens[index - 1].text in STATEMENT_KEYWORDS
        return False

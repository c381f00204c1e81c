# SPDX-License-Identifier: MIT
"""What is said about a source that can't be translated."""

from __future__ import annotations

IN_PARENTHESES = "put the expression in parentheses"


class NotUnderstood(Exception):
    """Something in the source that can't be translated; position is an index into the text."""

    def __init__(self, position: int, message: str):
        super().__init__(message)
        self.position = position
        self.message = message


class WindowTooSmall(Exception):
    """A backward search met the beginning of the text that it was given."""


class TranslationFailed(Exception):
    """Carries one finished message, FILE:LINE: error: ..., for each thing not understood."""

    def __init__(self, messages: list[str]):
        super().__init__("\n".join(messages))
        self.messages = messages

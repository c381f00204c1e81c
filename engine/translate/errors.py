# SPDX-License-Identifier: MIT
"""How what can't be translated is handed on."""

from __future__ import annotations

from refusals import Refusal


class NotUnderstood(Exception):
    """Something in the source that can't be translated; position is an index into the text. `code` is
    the row of refusals.SENTENCES that says what, and `arguments` are the words for its gaps."""

    def __init__(self, position: int, code: str, **arguments: str | int):
        super().__init__(code)
        self.position = position
        self.code = code
        self.arguments = arguments


class WindowTooSmall(Exception):
    """A backward search met the beginning of the text that it was given."""


class TranslationFailed(Exception):
    """Carries a Refusal for each thing not understood; `messages` are FILE:LINE: error: ..."""

    def __init__(self, refusals: list[Refusal]):
        self.refusals = refusals
        self.messages = [refusal.message for refusal in refusals]
        super().__init__("\n".join(self.messages))

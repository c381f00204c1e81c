# SPDX-License-Identifier: MIT
"""What translate.py refuses: how that is handed on, with the code of its row in words.inc."""

from __future__ import annotations

import json
from typing import NamedTuple

from words import filled


class Refusal(NamedTuple):
    """One thing that is refused. Its texts hold one character for each byte (Latin-1)."""

    file: str
    line: int
    code: str
    arguments: dict[str, str | int]

    @property
    def message(self) -> str:
        """FILE:LINE: error: ..., as compilers put it."""
        words = {name: str(word) for name, word in self.arguments.items()}
        sentence = filled(self.code, words.__contains__, lambda name, _: words[name])
        return f"{self.file}:{self.line}: error: {sentence}"

    @property
    def record(self) -> bytes:
        """The same for programs: a JSON object in a line, as the backend writes its diagnostics."""
        made = {
            "kind": "refused_source",
            "at": {"file": _decoded(self.file), "line": self.line},
            "code": self.code,
            "arguments": {name: _decoded(value) for name, value in self.arguments.items()},
        }
        return json.dumps(made).encode() + b"\n"


def _decoded(value: str | int) -> str | int:
    if isinstance(value, int):
        return value
    return value.encode("latin-1", "replace").decode(errors="replace")


class NotUnderstood(Exception):
    """Something in the source that can't be translated; position is an index into the text. `code` is
    the row of words.inc that says what, and `arguments` are the words for its gaps."""

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

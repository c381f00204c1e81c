# SPDX-License-Identifier: MIT
"""Kernels whose threads run one after the other: each call runs the rest of a row of the block.

What threadIdx and its like say is then known to the compiler, instead of being read from memory
that the kernel's own stores might change. For kernels whose threads only compute: they can't wait
for each other, so nothing tells that a thread begins when the one before it has returned.
"""

from __future__ import annotations

import re

from computing_code import PLAIN_TYPES, changes, only_computes
from device_code import Declaration, DeviceCode
from source_text import Edit, SourceText
from tokens import TOKEN, Token, is_name

BEGIN = (
    " [[maybe_unused]] const uint3 blockIdx = ::blockIdx;"
    " [[maybe_unused]] const dim3 blockDim = ::blockDim, gridDim = ::gridDim;"
    " for ([[maybe_unused]] const uint3 threadIdx : ::cpu_backend::row_of_threads()) { {"
)
NEXT_THREAD = "cpu_backend_next_thread"
END = f"}} {NEXT_THREAD}: __attribute__((unused)); }} "

REST_OF_LINE = re.compile(r"[ \t\r]*(?:\n|\Z)")
OF_POINTERS = {"const", "__restrict__", "__restrict"}


class RowsOfThreads:
    """The kernels of one translation unit that are so simple."""

    def __init__(self, text: SourceText, device_code: DeviceCode):
        self.text = text
        self.device_code = device_code
        self.declared = {found.name for found in device_code.declarations}

    def rewrite_kernels(self) -> None:
        """Lets each of them run rows of threads."""
        for found in self.device_code.bodies:
            if found.markers == {"global"} and not found.is_lambda:
                self.rewrite(found)

    def rewrite(self, kernel: Declaration) -> None:
        opening, closing = kernel.body, kernel.end - 1
        if any(opening < edit.start < closing for edit in self.text.edits):
            return
        parameters = self.parameters(kernel)
        body = self.tokens(opening + 1, closing)
        texts = [token.text for token in body]
        if "threadIdx" not in texts or parameters is None:
            return
        if not only_computes(texts, parameters, self.declared) or changes(texts, parameters):
            return
        returns = [index for index, token in enumerate(body) if token.text == "return"]
        if any([token.text for token in body[index + 1 : index + 2]] != [";"] for index in returns):
            return
        for index in returns:
            token = body[index]
            self.text.edits.append(Edit(token.start, token.end, f"goto {NEXT_THREAD}"))
        self.text.insert(opening + 1, BEGIN + self.same_column(opening + 1))
        self.text.insert(closing, END)

    def tokens(self, start: int, end: int) -> list[Token]:
        found = TOKEN.finditer(self.text.masked, start, end)
        return [Token(match[0], *match.span()) for match in found]

    def parameters(self, kernel: Declaration) -> set[str] | None:
        """The names of its parameters; None unless all are pointers and numbers."""
        start = kernel.parameters
        listed: list[list[Token]] = [[]]
        for token in self.tokens(start + 1, self.text.closing(start)):
            if token.text == ",":
                listed.append([])
            else:
                listed[-1].append(token)
        if listed == [[]]:
            return set()
        names = set()
        for tokens in listed:
            texts = [token.text for token in tokens]
            if len(texts) < 2 or not is_name(texts[-1]) or not is_type(texts[:-1]):
                return None
            names.add(texts[-1])
        return names

    def same_column(self, position: int) -> str:
        """What follows on the line must stay in its column, for what the compiler says of it."""
        if REST_OF_LINE.match(self.text.source, position):
            return ""
        return self.text.continuation(position)


def is_type(texts: list[str]) -> bool:
    """Whether these words are a type that is a pointer or a number."""
    if any(text in "&[](){}=." or text == "&&" for text in texts) or "volatile" in texts:
        return False
    while texts and texts[-1] in OF_POINTERS:
        texts = texts[:-1]
    return texts[-1:] == ["*"] or all(text in PLAIN_TYPES for text in texts)

# SPDX-License-Identifier: MIT
"""Which expression before `<<<` names the kernel."""

from __future__ import annotations

from errors import NotUnderstood, WindowTooSmall
from tokens import ATTRIBUTES, BEFORE_LAUNCH, OPENING, STATEMENT_KEYWORDS, Token, is_name, is_word


class Callee:
    """Finds where the expression before `<<<` begins, from tokens that end just before it."""

    def __init__(self, tokens: list[Token], whole: bool):
        self.tokens = tokens
        self.whole = whole  # whether the tokens begin where the translation unit does

    def text(self, index: int) -> str:
        if index >= 0:
            return self.tokens[index].text
        if not self.whole:
            raise WindowTooSmall
        return ";"

    def opening(self, index: int) -> int | None:
        """The index of the bracket that the bracket at index closes."""
        closed = []
        while True:
            text = self.text(index)
            if text in OPENING:
                closed.append(OPENING[text])
            elif text in ("(", "[", "{"):
                if closed.pop() != text:
                    return None
                if not closed:
                    return index
            if index < 0:
                return None
            index -= 1

    def opening_angles(self, index: int):
        """Yields the indices of each `<` that may open the list closed by the `>` at index.

        The nearest one comes first. A `<` may also be a comparison inside the list, so there
        can be more than one.
        """
        open_lists = 1
        index -= 1
        while True:
            text = self.text(index)
            if text in OPENING:
                index = self.opening(index)
                if index is None:
                    return
            elif text in (";", "(", "[", "{"):
                return
            elif text == ">":
                open_lists += 1
            elif text == "<" and self.is_shift(index):
                index -= 1
            elif text == "<" and is_name(self.text(index - 1)):
                open_lists = max(open_lists - 1, 0)
                if open_lists == 0:
                    yield index
            index -= 1

    def is_shift(self, index: int) -> bool:
        return self.text(index - 1) == "<" and (
            self.tokens[index - 1].end == self.tokens[index].start
        )

    def starts(self, index: int):
        """Yields each index at which a callee that ends with the token at index may begin.

        What ends at one token is looked at once for each way to read it, and without recursion: a name can
        have any number of parts.
        """
        seen = {(self.postfix_expression, index)}
        open_steps = [self.postfix_expression(index)]
        while open_steps:
            step = next(open_steps[-1], None)
            if step is None:
                open_steps.pop()
            elif isinstance(step, int):
                yield step
            elif step not in seen:
                seen.add(step)
                open_steps.append(step[0](step[1]))

    # Each of these yields indices, and (a function, an index) for what comes before.

    def postfix_expression(self, index: int):
        text = self.text(index)
        if text == "]":
            opening = self.opening(index)
            if opening is not None:
                yield self.postfix_expression, opening - 1
        elif text == ")":
            opening = self.opening(index)
            if opening is None or self.is_no_operand(opening, index):
                return
            before = self.text(opening - 1)
            if before in (")", "]", ">") or is_name(before):
                yield self.postfix_expression, opening - 1
            if opening + 1 < index:
                yield opening
        elif text == ">":
            for opening in self.opening_angles(index):
                yield self.name, opening - 1
        elif is_word(text):
            yield self.name, index

    def is_no_operand(self, opening: int, closing: int) -> bool:
        """Whether these parentheses belong to a statement, an attribute or a cast to void."""
        before = self.text(opening - 1)
        if before in STATEMENT_KEYWORDS or before in ATTRIBUTES:
            return True
        return closing == opening + 2 and self.text(opening + 1) == "void"

    def name(self, index: int):
        if not is_name(self.text(index)):
            return
        before = index - 1
        if self.text(before) == "template":
            before -= 1
        separator = self.text(before)
        if separator == "::":
            yield self.qualifier, before
        elif separator in (".", "->"):
            yield self.postfix_expression, before - 1
        elif before == index - 1:
            yield index

    def qualifier(self, index: int):
        """The same for what ends with the `::` at index; nothing need be before it."""
        text = self.text(index - 1)
        if text == ">":
            for opening in self.opening_angles(index - 1):
                yield self.name, opening - 1
        elif text == ")":
            opening = self.opening(index - 1)
            if opening is not None and self.text(opening - 1) == "decltype":
                yield opening - 1
        elif is_name(text):
            yield self.name, index - 1
        yield index

    def start(self) -> int:
        """The index of the callee's first token. Raises NotUnderstood."""
        last = len(self.tokens) - 1
        position = self.tokens[last].end if self.tokens else 0
        first_found = None
        for index in self.starts(last):
            if self.text(index - 1) in BEFORE_LAUNCH:
                return index
            if first_found is None:
                first_found = index
        if first_found is None:
            raise NotUnderstood(position, "no_kernel_named")
        before = self.text(first_found - 1)
        raise NotUnderstood(position, "launch_after_expression", before=before)

# SPDX-License-Identifier: MIT
"""Rewrites launches, `kernel<<<configuration>>>(arguments)`, and finds where their callee begins."""

from __future__ import annotations

import functools
import re

from device_code import DeviceCode
from refusals import NotUnderstood, WindowTooSmall
from source_text import (
    ATTRIBUTES,
    BEFORE_LAUNCH,
    CLOSING_ANGLES,
    LAUNCH,
    OPENING,
    STATEMENT_KEYWORDS,
    WORD,
    Edit,
    SourceText,
    Token,
    is_name,
    is_word,
)


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

        What ends at one token is read once for each way to read it, and without recursion: a name can
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


# A launch is a call of the kernel with arguments that are passed by value, so the kernel's name
# is wanted in two places: as a call, where deduction, default arguments and overloads work as in
# any other call, and as a value, where the name alone decides which function is meant. CONFIGURE
# stands before the first copy and CONFIGURED, with the other copies, after it. The innermost
# lambda is there for g++ 12, which expands no parameter pack inside a requires expression.
CONFIGURE = "::cpu_backend::configure([&](auto&... cpu_backend_arguments) -> void { "
CONFIGURED = (
    "(cpu_backend_arguments...); }}, [&](auto cpu_backend_pick) {{ "
    "const auto cpu_backend_kernel = [&](auto cpu_backend_of) "
    "-> decltype(cpu_backend_of({kernel})) {{ return cpu_backend_of({kernel}); }}; "
    "if constexpr (requires {{ cpu_backend_kernel(cpu_backend_pick); }}) "
    "return cpu_backend_kernel(cpu_backend_pick); else return nullptr; }}, "
    "::cpu_backend::launch_configuration("
)

FUNCTION = re.compile(rf"(?<![{WORD}])void\s+([{WORD}]+)\s*\(")


class Launches:
    """The launches of one translation unit."""

    def __init__(self, text: SourceText, device_code: DeviceCode):
        self.text = text
        self.device_code = device_code

    def launch(self, match: re.Match) -> None:
        """Rewrites the launch whose `<<<` is matched."""
        position = match.start()
        if re.search(
            rf"(?<![{WORD}])operator\s*$", self.text.masked[max(position - 200, 0) : position]
        ):
            return
        if match[0].count("<") > 3:
            raise NotUnderstood(position, "too_many_angles")
        within = self.device_code.around(position)
        if within and within.runs_on_device_alone:
            raise NotUnderstood(position, "launch_in_device_code")

        try:
            callee = self.text.backward(position, self.callee)
            closing_angles, arguments = self.configuration(match.end())
            end = self.text.closing(arguments)
            name = self.text.masked[callee.start : callee.end].strip()
            self.arguments(arguments, end, self.device_code.has_kernel(name))
        except NotUnderstood as failure:
            # The line of the `<<<` is the launch's to a student.
            raise NotUnderstood(position, failure.code, **failure.arguments) from None
        if LAUNCH.search(self.text.masked, callee.start, callee.end):
            raise NotUnderstood(position, "launch_within_name")
        self.check_kernel(position, self.text.masked[callee.start : callee.end])

        self.text.insert(callee.start, CONFIGURE)
        kernel = self.text.on_one_line(callee.start, callee.end)
        self.replace_angles(
            [index for index in range(*match.span()) if self.text.masked[index] == "<"],
            CONFIGURED.format(kernel=kernel),
        )
        self.replace_angles(closing_angles, "))")

    @functools.cached_property
    def functions(self) -> set[str]:
        """The names of functions that return nothing. None if a brace is too few: all that follows is part
        of a kernel then, and the compiler says where."""
        if self.text.masked.count("{") != self.text.masked.count("}"):
            return set()
        return {match[1] for match in self.text.own_matches(FUNCTION)}

    def check_kernel(self, position: int, callee: str) -> None:
        """nvcc launches kernels alone. Only a plain name is checked: others may be pointers."""
        name = re.fullmatch(rf"\s*([{WORD}]+)\s*(?:<.*>)?\s*", callee, re.DOTALL)
        if name is None or self.device_code.has_kernel(name[1]):
            return
        if name[1] in self.functions:
            raise NotUnderstood(position, "launch_of_no_kernel", name=name[1])

    def callee(self, tokens: list[Token], whole: bool) -> Token:
        start = Callee(tokens, whole).start()
        return Token("", tokens[start].start, tokens[-1].end)

    def replace_angles(self, positions: list[int], text: str) -> None:
        """Replaces three angles with text; `#` lines between them stay."""
        for position in positions:
            self.text.edits.append(Edit(position, position + 1, text))
            text = ""

    def configuration(self, start: int) -> tuple[list[int], int]:
        """Finds the `>>>` of the launch whose `<<<` ends at start, and checks what is between.

        Returns the positions of the three `>`, and that of the `(` after them. A run of three or
        more `>` that a `(` follows can also close template arguments, as in f<g<h<int>>>(x). It
        does so where enough of them are open and another run after it can end the configuration.
        """
        commas: list[int] = []
        open_lists: list[int] = []  # for each `<` not closed yet, how many commas came before it
        candidates = []
        missing_parenthesis = False
        previous = ""
        position = start
        while True:
            token = self.text.next_token(position)
            position = token.end
            if token.text in ("", ";", ")", "]", "}"):
                break
            if token.text in ("(", "[", "{"):
                position = self.text.closing(token.start) + 1
            elif token.text == ",":
                commas.append(token.start)
            elif token.text == "<":
                if LAUNCH.match(self.text.masked, token.start):
                    break
                if self.text.masked.startswith("<", token.end):  # a shift
                    position += 1
                elif is_name(previous) or previous == "[":  # "[": the end of a lambda's captures
                    open_lists.append(len(commas))
            elif token.text == ">":
                run = CLOSING_ANGLES.match(self.text.masked, token.start)
                angles = [i for i in range(*run.span()) if self.text.masked[i] == ">"]
                position = run.end()
                following = self.text.next_token(position)
                closed_lists = self.closed_lists(angles, len(open_lists))
                can_end = len(angles) >= 3 and len(open_lists) >= len(angles) - 3
                if can_end and following.text == "(":
                    own_commas = list(commas)
                    if len(angles) > 3:
                        del own_commas[open_lists[3 - len(angles)] :]
                    candidates.append((angles, own_commas, following.start))
                    if closed_lists is None:
                        break
                elif closed_lists is None:
                    if not can_end:
                        raise NotUnderstood(token.start, "unclear_end_of_configuration")
                    missing_parenthesis = True
                    break
                for _ in range(closed_lists):
                    del commas[open_lists.pop() :]
            previous = token.text

        if missing_parenthesis or not candidates:
            code = "no_arguments" if missing_parenthesis else "no_end_of_configuration"
            raise NotUnderstood(start, code)
        if closed_lists is not None and len(candidates) > 1:
            raise NotUnderstood(start, "ambiguous_end_of_configuration")
        angles, commas, arguments = candidates[-1]
        self.check_configuration(start, angles[-3], commas)
        return angles[-3:], arguments

    @staticmethod
    def closed_lists(angles: list[int], open_lists: int) -> int | None:
        """How many template argument lists a run of `>` closes, if it ends no configuration.

        None where the run can't be anything but the end of one. The last one or two of the run
        may be an operator, if white space stands before them: `v<w<int>> > (x)`.
        """
        count = len(angles)
        if count <= max(open_lists, 2):
            return min(count, open_lists)
        for operator in (1, 2):
            adjacent = angles[-1] - angles[-operator] == operator - 1
            apart = angles[-operator] - angles[-operator - 1] > 1
            if adjacent and apart and count - operator <= open_lists:
                return count - operator
        return None

    def check_configuration(self, start: int, end: int, commas: list[int]) -> None:
        borders = [start - 1, *commas, end]
        arguments = [
            self.text.masked[left + 1 : right].strip() for left, right in zip(borders, borders[1:])
        ]
        if arguments == [""]:
            raise NotUnderstood(start, "empty_configuration")
        if "" in arguments:
            raise NotUnderstood(
                start, "empty_argument_of_configuration", number=arguments.index("") + 1
            )
        if len(arguments) > 4:
            raise NotUnderstood(start, "too_many_arguments_of_configuration", number=len(arguments))

    def arguments(self, opening: int, closing: int, is_known: bool) -> None:
        """Checks the kernel's arguments. One that is NULL must convert to any pointer; one in braces has the
        type that a kernel says which `is_known` by its name."""
        start = opening + 1
        while start <= closing:
            end = start
            while self.text.masked[end] != "," and end < closing:
                end = self.text.closing(end) + 1 if self.text.masked[end] in "([{" else end + 1
            argument = self.text.masked[start:end].strip()
            if argument.startswith("{") and not is_known:
                raise NotUnderstood(start, "argument_in_braces")
            if argument == "__null":
                begin = self.text.masked.index("__null", start)
                self.text.edits.append(Edit(begin, begin + len("__null"), "nullptr"))
            start = end + 1

# SPDX-License-Identifier: MIT
"""Rewrites launches, `kernel<<<configuration>>>(arguments)`."""

from __future__ import annotations

import functools
import re

from callee import Callee
from device_code import DeviceCode
from errors import NotUnderstood
from source_text import Edit, SourceText
from tokens import CLOSING_ANGLES, LAUNCH, WORD, Token, is_name

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
            self.arguments(arguments, end)
        except NotUnderstood as failure:
            # The line of the `<<<` is the one that the student looks for.
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
        """nvcc launches kernels alone. Only a plain name is looked at: others may be pointers."""
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

    def arguments(self, opening: int, closing: int) -> None:
        """Checks the kernel's arguments. One that is NULL must convert to any pointer."""
        start = opening + 1
        while start <= closing:
            end = start
            while self.text.masked[end] != "," and end < closing:
                end = self.text.closing(end) + 1 if self.text.masked[end] in "([{" else end + 1
            argument = self.text.masked[start:end].strip()
            if argument.startswith("{"):
                raise NotUnderstood(start, "argument_in_braces")
            if argument == "__null":
                begin = self.text.masked.index("__null", start)
                self.text.edits.append(Edit(begin, begin + len("__null"), "nullptr"))
            start = end + 1

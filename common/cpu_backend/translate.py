#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turns a CUDA C++ file into preprocessed C++ that an ordinary compiler understands.

    translate.py --compiler g++ --output out.cpp [--depfile out.d] input.cu -- [compiler arguments]

The file is preprocessed first, so that launches inside headers and macros are seen as well. Then
three things that are not C++ are rewritten, and nothing else:

- a launch, `kernel<<<configuration>>>(arguments)`;
- `extern __shared__ T name[];`, the block's dynamic shared memory;
- `__shared__` on any other variable. cuda_runtime.h defines it as the marker below.

No line is added or removed, and line markers stay where they are: what the compiler and the
debugger say about the output is about the lines of the file that the student wrote. A launch or a
declaration that is not understood is an error with that file and line, and leaves no output.
"""

import argparse
import bisect
import functools
import os
import re
import shlex
import subprocess
import sys
from typing import NamedTuple

SHARED_MARKER = "__cpu_backend_shared__"

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
# Behind a __shared__ declaration, for the observed form of the backend.
SHARED_VARIABLE = " ::cpu_backend::shared_variable({name}, \"{name}\");"
DYNAMIC_SHARED_MEMORY = " = ::cpu_backend::dynamic_shared_memory<{type}>()"

# The text is read as Latin-1, one character for each byte; a byte of 128 and above is part of a
# UTF-8 letter.
WORD = r"A-Za-z0-9_$\x80-\xff"

# What must not be searched for launches. Every match begins with a character of one class, which
# is what makes the search fast; the look-behinds then say which kind of text begins here.
OPAQUE = re.compile(
    rf"""["'/\#R0-9](?:
      (?<=\#)(?<![^\n].)[^\n]*                                     # a line marker or a pragma
    | (?<=")[^"\\\n]*(?:\\.[^"\\\n]*)*"                            # a string
    | (?<=')[^'\\\n]*(?:\\.[^'\\\n]*)*'                            # a character
    | (?<=R)(?:(?<![{WORD}]R)|(?<=[^{WORD}][uUL]R)|(?<=[^{WORD}]u8R))
      "([^()\\\s"]{{0,16}})\((?s:.*?)\)\1"                         # a raw string
    | (?<=[0-9])(?<![{WORD}][0-9])[{WORD}]*(?:'[{WORD}]+)+         # a number with separators
    | (?<=/)(?:/[^\n]*|\*(?s:.*?)\*/)                              # a comment
    )""",
    re.VERBOSE,
)
LINE_MARKER = re.compile(r'#\s*(?:line\s+)?(\d+)\s+"((?:[^"\\]|\\.)*)"')

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
SHARED = re.compile(rf"{SHARED_MARKER}(?<![{WORD}]{SHARED_MARKER})(?![{WORD}])")
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

IN_PARENTHESES = "put the expression in parentheses"


class Token(NamedTuple):
    text: str
    start: int
    end: int


class Edit(NamedTuple):
    start: int
    end: int
    text: str


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


def translate(text: str, input_name: str, observed: bool = False) -> str:
    """Rewrites a preprocessed translation unit and returns it.

    observed is for the backend's observed form, which racecheck uses. text holds one character for each byte (Latin-1). input_name is the file named in messages
    where the text has no line marker. Raises TranslationFailed.
    """
    return Translation(text, input_name, observed).result()


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
        return found[-1] + "_" * (len(found) - 2) + found[-1]

    return OPAQUE.sub(replacement, text)


def is_word(text: str) -> bool:
    return text[0].isalpha() or text[0] in "_$" or text[0] >= "\x80"


def is_name(text: str) -> bool:
    return is_word(text) and text not in KEYWORDS


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

    def postfix_expression(self, index: int):
        """Yields each index at which a callee that ends with the token at index may begin."""
        text = self.text(index)
        if text == "]":
            opening = self.opening(index)
            if opening is not None:
                yield from self.postfix_expression(opening - 1)
        elif text == ")":
            opening = self.opening(index)
            if opening is None or self.is_no_operand(opening, index):
                return
            before = self.text(opening - 1)
            if before in (")", "]", ">") or is_name(before):
                yield from self.postfix_expression(opening - 1)
            if opening + 1 < index:
                yield opening
        elif text == ">":
            for opening in self.opening_angles(index):
                yield from self.name(opening - 1)
        elif is_word(text):
            yield from self.name(index)

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
            yield from self.qualifier(before)
        elif separator in (".", "->"):
            yield from self.postfix_expression(before - 1)
        elif before == index - 1:
            yield index

    def qualifier(self, index: int):
        """The same for what ends with the `::` at index; nothing need be before it."""
        text = self.text(index - 1)
        if text == ">":
            for opening in self.opening_angles(index - 1):
                yield from self.name(opening - 1)
        elif text == ")":
            opening = self.opening(index - 1)
            if opening is not None and self.text(opening - 1) == "decltype":
                yield opening - 1
        elif is_name(text):
            yield from self.name(index - 1)
        yield index

    def start(self) -> int:
        """The index of the callee's first token. Raises NotUnderstood."""
        last = len(self.tokens) - 1
        position = self.tokens[last].end if self.tokens else 0
        first_found = None
        for index in self.postfix_expression(last):
            if self.text(index - 1) in BEFORE_LAUNCH:
                return index
            if first_found is None:
                first_found = index
        if first_found is None:
            raise NotUnderstood(
                position,
                "no kernel is named before '<<<'; if it is a longer expression, "
                + IN_PARENTHESES,
            )
        before = self.text(first_found - 1)
        raise NotUnderstood(
            position,
            f"a kernel launch has no value and can't follow '{before}' (is a ';' missing?); "
            f"if '{before}' is part of the kernel's name, {IN_PARENTHESES}",
        )


class Translation:
    """One translation unit on its way from text to result()."""

    def __init__(self, text: str, input_name: str, observed: bool):
        self.source = text
        self.input_name = input_name
        self.observed = observed
        self.masked = masked(text)
        self.edits: list[Edit] = []

    def result(self) -> str:
        failures = []
        for understand, pattern in (
            (self.launch, LAUNCH),
            (self.shared_variable, SHARED),
        ):
            for match in pattern.finditer(self.masked):
                try:
                    understand(match)
                except NotUnderstood as failure:
                    failures.append(failure)
        if failures:
            failures.sort(key=lambda failure: failure.position)
            raise TranslationFailed([self.message(failure) for failure in failures])
        return self.edited()

    def message(self, failure: NotUnderstood) -> str:
        """FILE:LINE: error: ..., with the file and line that the last line marker tells."""
        file, line, begin = self.input_name, 1, 0
        for match in OPAQUE.finditer(self.source, 0, failure.position):
            marker = LINE_MARKER.match(match[0])
            if marker:
                line, begin = int(marker[1]), match.end() + 1
                file = re.sub(r"\\(.)", r"\1", marker[2])
        line += self.source.count("\n", begin, failure.position)
        return f"{file}:{line}: error: {failure.message}"

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
        blanked = bytearray(end - start)
        for token in without:
            for index in range(max(token.start, start), min(token.end, end)):
                blanked[index - start] = 1
        characters = [
            " " if self.masked[index].isspace() or blanked[index - start] else self.source[index]
            for index in range(start, end)
        ]
        return re.sub(" +", " ", "".join(characters)).strip()

    def tokens_before(self, position: int, size: int) -> tuple[list[Token], bool]:
        """The tokens of at least the last size characters before position; whether all are."""
        start = 0
        if position > size:
            start = self.masked.rfind("\n", 0, position - size) + 1
        found = TOKEN.finditer(self.masked, start, position)
        return [Token(match[0], *match.span()) for match in found], start == 0

    def backward(self, position: int, search):
        """Calls search(tokens, whole) with as many tokens before position as it needs."""
        size = 400
        while True:
            try:
                return search(*self.tokens_before(position, size))
            except WindowTooSmall:
                size *= 8

    def next_token(self, position: int) -> Token:
        """The first token at or after position; at the end of the text, one that is empty."""
        match = TOKEN.search(self.masked, position)
        return Token(match[0], *match.span()) if match else Token("", position, position)

    def closing(self, opening: int) -> int:
        """The position of the bracket that closes the one at opening."""
        open_brackets = []
        for match in BRACKET.finditer(self.masked, opening):
            bracket = match[0]
            if bracket not in OPENING:
                open_brackets.append(bracket)
            elif open_brackets.pop() != OPENING[bracket]:
                break
            elif not open_brackets:
                return match.start()
        raise NotUnderstood(opening, f"the '{self.masked[opening]}' is never closed")

    def launch(self, match: re.Match) -> None:
        """Rewrites the launch whose `<<<` is matched."""
        position = match.start()
        if re.search(rf"(?<![{WORD}])operator\s*$", self.masked[max(position - 200, 0) : position]):
            return
        if match[0].count("<") > 3:
            raise NotUnderstood(position, "more than three '<' in a row are no kernel launch")

        try:
            callee = self.backward(position, self.callee)
            closing_angles, arguments = self.configuration(match.end())
            end = self.closing(arguments)
            self.arguments(arguments, end)
        except NotUnderstood as failure:
            # The line of the `<<<` is the one that the student looks for.
            raise NotUnderstood(position, failure.message) from None
        if LAUNCH.search(self.masked, callee.start, callee.end):
            raise NotUnderstood(position, "the kernel's name contains another launch")

        self.insert(callee.start, CONFIGURE)
        kernel = self.on_one_line(callee.start, callee.end)
        self.replace_angles(
            [index for index in range(*match.span()) if self.masked[index] == "<"],
            CONFIGURED.format(kernel=kernel),
        )
        self.replace_angles(closing_angles, "))")

    def callee(self, tokens: list[Token], whole: bool) -> Token:
        start = Callee(tokens, whole).start()
        return Token("", tokens[start].start, tokens[-1].end)

    def replace_angles(self, positions: list[int], text: str) -> None:
        """Puts text in place of three angles; `#` lines between them stay."""
        for position in positions:
            self.edits.append(Edit(position, position + 1, text))
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
            token = self.next_token(position)
            position = token.end
            if token.text in ("", ";", ")", "]", "}"):
                break
            if token.text in ("(", "[", "{"):
                position = self.closing(token.start) + 1
            elif token.text == ",":
                commas.append(token.start)
            elif token.text == "<":
                if LAUNCH.match(self.masked, token.start):
                    break
                if self.masked.startswith("<", token.end):  # a shift
                    position += 1
                elif is_name(previous) or previous == "[":  # "[": the end of a lambda's captures
                    open_lists.append(len(commas))
            elif token.text == ">":
                run = CLOSING_ANGLES.match(self.masked, token.start)
                angles = [i for i in range(*run.span()) if self.masked[i] == ">"]
                position = run.end()
                following = self.next_token(position)
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
                        raise NotUnderstood(
                            token.start,
                            "can't tell which '>' end the launch configuration; "
                            + IN_PARENTHESES,
                        )
                    missing_parenthesis = True
                    break
                for _ in range(closed_lists):
                    del commas[open_lists.pop() :]
            previous = token.text

        if missing_parenthesis or not candidates:
            raise NotUnderstood(
                start,
                "a '(' with the kernel's arguments must follow '>>>'"
                if missing_parenthesis
                else "'<<<' begins a kernel launch, but no '>>>(' ends its configuration",
            )
        if closed_lists is not None and len(candidates) > 1:
            raise NotUnderstood(
                start,
                "the launch configuration can end at more than one '>>>'; " + IN_PARENTHESES,
            )
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
            self.masked[left + 1 : right].strip() for left, right in zip(borders, borders[1:])
        ]
        if arguments == [""]:
            raise NotUnderstood(
                start, "the launch configuration is empty: '<<<blocks, threads>>>' is expected"
            )
        if "" in arguments:
            raise NotUnderstood(
                start, f"argument {arguments.index('') + 1} of the launch configuration is empty"
            )
        if len(arguments) > 4:
            raise NotUnderstood(
                start,
                "a launch configuration has 1 to 4 arguments (blocks, threads, bytes of shared "
                f"memory, stream), and this one has {len(arguments)}",
            )

    def arguments(self, opening: int, closing: int) -> None:
        """Checks the kernel's arguments. One that is NULL must convert to any pointer."""
        start = opening + 1
        while start <= closing:
            end = start
            while self.masked[end] != "," and end < closing:
                end = self.closing(end) + 1 if self.masked[end] in "([{" else end + 1
            argument = self.masked[start:end].strip()
            if argument.startswith("{"):
                raise NotUnderstood(
                    start,
                    "a kernel argument can't be a list in braces: name its type, as in T{...}",
                )
            if argument == "__null":
                begin = self.masked.index("__null", start)
                self.edits.append(Edit(begin, begin + len("__null"), "nullptr"))
            start = end + 1

    def shared_variable(self, match: re.Match) -> None:
        """Rewrites the declaration in which the __shared__ that is matched stands."""
        marker = Token(match[0], *match.span())
        start = self.backward(match.end(), self.declaration_start)
        declaration = self.declaration(start, marker)
        texts = [token.text for token in declaration]
        scope = self.scope(marker.start)
        if scope == "class":
            raise NotUnderstood(
                marker.start,
                "a member of a class can't be __shared__: declare the variable in the kernel",
            )
        if "extern" in texts:
            self.dynamic_shared_memory(declaration, scope)
        else:
            self.static_shared_memory(declaration, marker)
            if self.observed:
                self.announce_shared_variables(declaration, scope)

    def declaration_start(self, tokens: list[Token], whole: bool) -> int:
        """The position of the first word of the declaration in which the last token stands."""
        reader = Callee(tokens, whole)
        index = len(tokens) - 1
        while True:
            text = reader.text(index - 1)
            before = index - 1
            if text == "]":
                before = reader.opening(before)
            elif text == ">":
                before = next(reader.opening_angles(before), None)
            elif text == ")":
                before = reader.opening(before)
                if before is not None:
                    before -= 1
                    if reader.text(before) not in ATTRIBUTES | {"decltype", "__typeof__"}:
                        before = None
            elif not is_word(text) and text != "::" or text in ("else", "do"):
                before = None
            if before is None:
                break
            index = before
        if text not in (";", "{", "}", ":", ")", "else", "do"):
            raise NotUnderstood(tokens[-1].start, "__shared__ must be part of a declaration")
        return tokens[index].start

    def declaration(self, start: int, marker: Token) -> list[Token]:
        """The tokens of a declaration without its `;`. Text in brackets is one token."""
        tokens = []
        position = start
        while True:
            token = self.next_token(position)
            if token.text in ("", ")", "]", "}"):
                raise NotUnderstood(
                    marker.start, "a ';' is missing after the declaration of a __shared__ variable"
                )
            is_class = any(known.text in CLASS_KEYS for known in tokens[-2:])
            follows_name = len(tokens) > 1 and is_name(tokens[-2].text)
            if (
                token.text == "="
                or (token.text == "{" and not is_class)
                or (token.text == "," or token.text == ";")
                and follows_name
                and tokens[-1].text.startswith("(")
            ):
                raise NotUnderstood(
                    marker.start,
                    "a __shared__ variable can't be initialised where it is declared: let one "
                    "thread assign it, and call __syncthreads() before another reads it",
                )
            if token.text == ";":
                return tokens
            if token.text in ("(", "[", "{"):
                end = self.closing(token.start) + 1
                token = Token(self.masked[token.start : end], token.start, end)
            tokens.append(token)
            position = token.end

    def static_shared_memory(self, declaration: list[Token], marker: Token) -> None:
        """One variable for each OS thread, which holds one block at a time."""
        is_static = any(token.text == "static" for token in declaration)
        replacement = "thread_local" if is_static else "static thread_local"
        self.edits.append(Edit(marker.start, marker.end, replacement))

        # CUDA takes alignas(...) and [[...]] after __shared__, C++ only before all other words.
        attributes = self.attributes(declaration)
        first_word = next(token for token in declaration if token not in attributes)
        moved = ""
        for index, token in enumerate(attributes):
            in_front = token.start < first_word.start
            is_argument = token.text.startswith("(") and attributes[index - 1].text == "alignas"
            if not in_front and (is_argument or token.text == "alignas" or token.text[0] == "["):
                moved += self.on_one_line(token.start, token.end) + " "
                self.erase(token)
        if moved:
            self.insert(declaration[0].start, moved)

    def announce_shared_variables(self, declaration: list[Token], scope: str) -> None:
        """Tells the backend each variable of the declaration, at its execution."""
        position = declaration[0].start
        if scope == "namespace":
            raise NotUnderstood(
                position, "racecheck: declare a __shared__ variable in the kernel that uses it"
            )
        attributes = self.attributes(declaration)
        declarators: list[list[Token]] = [[]]
        open_lists = 0
        for token in declaration:
            open_lists += {"<": 1, ">": -1}.get(token.text, 0)
            if token.text == "," and open_lists == 0:
                declarators.append([])
            elif token not in attributes:
                declarators[-1].append(token)
        for declarator in declarators:
            while declarator and declarator[-1].text.startswith("["):
                declarator.pop()
            if not declarator or not is_name(declarator[-1].text):
                raise NotUnderstood(position, "this __shared__ declaration is not understood")
            end = self.masked.index(";", declaration[-1].end) + 1
            self.insert(end, SHARED_VARIABLE.format(name=declarator[-1].text))

    @staticmethod
    def attributes(declaration: list[Token]) -> list[Token]:
        """The tokens of all attributes in the declaration."""
        found = []
        for token in declaration:
            is_argument = token.text.startswith("(") and found and found[-1].text in ATTRIBUTES
            if is_argument or token.text in ATTRIBUTES or token.text.startswith("[["):
                found.append(token)
        return found

    def dynamic_shared_memory(self, declaration: list[Token], scope: str) -> None:
        """A reference to the block's dynamic shared memory, which is aligned for any type."""
        position = declaration[0].start
        storage = {"extern", "static", SHARED_MARKER}
        attributes = self.attributes(declaration)
        removed = [t for t in declaration if t.text in storage or t in attributes]
        kept = [token for token in declaration if token not in removed]

        if self.has_comma(kept):
            raise NotUnderstood(
                position, "declare each extern __shared__ array in a statement of its own"
            )
        first_extent = len(kept)
        while first_extent > 0 and kept[first_extent - 1].text.startswith("["):
            first_extent -= 1
        extents = kept[first_extent:]
        if not extents:
            raise NotUnderstood(
                position,
                "an extern __shared__ variable must be an array without a size, as in "
                "'extern __shared__ float values[];'",
            )
        if extents[0].text[1:-1].strip():
            raise NotUnderstood(
                position,
                "an extern __shared__ array has no size of its own, the launch gives it: "
                "write '[]', or leave out 'extern'",
            )
        if first_extent < 2 or not is_name(kept[first_extent - 1].text):
            raise NotUnderstood(position, "this extern __shared__ declaration is not understood")

        name = kept[first_extent - 1]
        element = self.on_one_line(declaration[0].start, name.start, tuple(removed))
        if len(extents) > 1:
            element += self.on_one_line(extents[1].start, extents[-1].end)
        for token in removed:
            self.erase(token)
        per_thread = "static thread_local " if scope == "namespace" else ""
        self.insert(position, f"[[maybe_unused]] {per_thread}")
        self.insert(name.start, "(&")
        self.insert(name.end, ")")
        self.insert(extents[-1].end, DYNAMIC_SHARED_MEMORY.format(type=element))

    @staticmethod
    def has_comma(tokens: list[Token]) -> bool:
        """Whether a comma stands outside all template argument lists."""
        open_lists = 0
        for token in tokens:
            open_lists += {"<": 1, ">": -1}.get(token.text, 0)
            if token.text == "," and open_lists == 0:
                return True
        return False

    def scope(self, position: int) -> str:
        """What the innermost braces around position belong to: namespace, class or block."""
        opening = self.enclosing_brace(position)
        if opening is None:
            return "namespace"
        head_start = max(self.masked.rfind(end, 0, opening) for end in ";{}") + 1
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
    def braces(self) -> list[int]:
        """The positions of all braces."""
        return [match.start() for match in re.finditer("[{}]", self.masked)]

    def enclosing_brace(self, position: int) -> int | None:
        closed = 0
        for index in range(bisect.bisect(self.braces, position) - 1, -1, -1):
            brace = self.braces[index]
            if self.masked[brace] == "}":
                closed += 1
            elif closed == 0:
                return brace
            else:
                closed -= 1
        return None


def preprocess(
    compiler: list[str], source: str, arguments: list[str], depfile: str | None, target: str
) -> bytes | None:
    """Returns the preprocessed source, or None where the compiler has reported an error.

    The compiler writes its messages to standard error itself. It writes the headers that it read
    into depfile, as prerequisites of target.
    """
    dependencies = ["-MD", "-MF", depfile, "-MQ", target] if depfile else []
    command = [*compiler, *arguments, *dependencies, "-E", "-x", "c++", source]
    result = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    return result.stdout if result.returncode == 0 else None


def translate_file(
    compiler: list[str],
    source: str,
    arguments: list[str],
    output: str,
    depfile: str | None,
    observed: bool,
) -> int:
    """Writes output and depfile, both or neither. Returns the exit status."""
    suffix = f".{os.getpid()}.temporary"
    new_depfile = depfile + suffix if depfile else None
    new_output = output + suffix
    try:
        preprocessed = preprocess(compiler, source, arguments, new_depfile, output)
        if preprocessed is None:
            return 1
        name = os.fsencode(source).decode("latin-1")
        text = translate(preprocessed.decode("latin-1"), name, observed)
        with open(new_output, "wb") as file:
            file.write(text.encode("latin-1"))
        if new_depfile:
            os.replace(new_depfile, depfile)
        os.replace(new_output, output)
        return 0
    except TranslationFailed as failure:
        for message in failure.messages:
            sys.stderr.buffer.write(message.encode("latin-1") + b"\n")
        return 1
    except OSError as failure:
        name = str(failure.filename).removesuffix(suffix)
        sys.stderr.write(f"translate.py: error: {name}: {failure.strerror}\n")
        return 1
    finally:
        for leftover in (new_output, new_depfile):
            if leftover and os.path.exists(leftover):
                os.remove(leftover)


def main() -> int:
    own, separator, compiler_arguments = sys.argv[1:], "--", []
    if separator in own:
        place = own.index(separator)
        own, compiler_arguments = own[:place], own[place + 1 :]

    parser = argparse.ArgumentParser(
        description="Turns a CUDA C++ file into preprocessed C++, ready for -x c++-cpp-output.",
        usage="%(prog)s --compiler COMMAND --output FILE [--depfile FILE] [--observed] SOURCE -- [ARGUMENT ...]",
    )
    parser.add_argument(
        "--compiler",
        required=True,
        type=shlex.split,
        help="g++ or clang++, with options if need be",
    )
    parser.add_argument("--output", required=True, help="the file to write")
    parser.add_argument("--depfile", help="the Makefile rule to write, with the headers read")
    parser.add_argument(
        "--observed", action="store_true", help="for the backend's observed form (racecheck)"
    )
    parser.add_argument("source", metavar="SOURCE", help="the CUDA C++ file")
    options = parser.parse_args(own)
    return translate_file(
        options.compiler,
        options.source,
        compiler_arguments,
        options.output,
        options.depfile,
        options.observed,
    )


if __name__ == "__main__":
    sys.exit(main())

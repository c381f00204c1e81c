# SPDX-License-Identifier: MIT
"""Rewrites the declarations of `__shared__` variables, static and dynamic ones."""

from __future__ import annotations

import re

from device_code import MOST_OF_HEAD
from launches import Callee
from refusals import NotUnderstood
from source_text import (
    ATTRIBUTES,
    CLASS_KEYS,
    SHARED_MARKER,
    WORD,
    Edit,
    SourceText,
    Token,
    is_name,
    is_word,
)

# Behind a __shared__ declaration, for the scheduled form of the backend: in a function, and at
# namespace scope, where no thread executes it.
SHARED_VARIABLE = ' ::cpu_backend::shared_variable({name}, "{name}");'
SHARED_VARIABLE_OF_FILE = (
    " static const ::cpu_backend::shared_variable_of_file announced_{name}("
    "[](::cpu_backend::multiprocessor& to) {{"
    ' ::cpu_backend::announce_shared_variable(to, {name}, "{name}"); }});'
)
PAGE_AFTER_IT = " alignas(4096) [[gnu::used]] static thread_local char after_{name};"
# There an index that runs out of a variable must not meet the next one: each has pages of its own,
# and after it comes another page. (A larger alignment the loader of programs refuses.)
PAGE_OF_ITS_OWN = "alignas(4096) "
STATEMENTS = {"for", "if", "while", "do", "switch", "return", "break", "continue", "goto"}
POINTER_IN_PARENTHESES = re.compile(rf"\(\s*\*\s*([{WORD}]+)\s*(?:\[.*\]\s*)?\)")
DYNAMIC_SHARED_MEMORY = " = ::cpu_backend::dynamic_shared_memory<{type}>()"
# In the scheduled form one OS thread runs all blocks.
DYNAMIC_SHARED_MEMORY_OF_FILE = (
    " = *reinterpret_cast<::cpu_backend::array_without_size<{type}>*>("
    "::cpu_backend::memory_of_extern_arrays.usable)"
)


def is_extent(text: str) -> bool:
    return text.startswith("[") and not text.startswith("[[")


class SharedMemory:
    """The `__shared__` variables of one translation unit.

    is_scheduled is for the backend's scheduled form, which racecheck uses: there each variable is
    also announced.
    """

    def __init__(self, text: SourceText, is_scheduled: bool):
        self.text = text
        self.is_scheduled = is_scheduled
        self.extern_arrays: list[tuple[str, int, str]] = []  # name, position, scope

    def shared_variable(self, match: re.Match) -> None:
        """Rewrites the declaration in which the __shared__ that is matched stands."""
        marker = Token(match[0], *match.span())
        start = self.text.backward(match.end(), self.declaration_start)
        declaration = self.declaration(start, marker)
        texts = [token.text for token in declaration]
        scope = self.text.scope(marker.start)
        if scope == "class":
            raise NotUnderstood(marker.start, "shared_member")
        if "extern" in texts:
            self.dynamic_shared_memory(declaration, scope)
        else:
            self.static_shared_memory(declaration, marker)
            if self.is_scheduled:
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
            elif (not is_word(text) and text != "::") or text in ("else", "do"):
                before = None
            if before is None:
                break
            index = before
        if text not in (";", "{", "}", ":", ")", "else", "do"):
            raise NotUnderstood(tokens[-1].start, "shared_without_declaration")
        return tokens[index].start

    def declaration(self, start: int, marker: Token) -> list[Token]:
        """The tokens of a declaration without its `;`. Text in brackets is one token."""
        tokens = []
        position = start
        for _ in range(MOST_OF_HEAD):
            token = self.text.next_token(position)
            begins_statement = token.text in STATEMENTS or (
                tokens and is_extent(tokens[-1].text) and is_word(token.text)
            )
            if token.text in ("", ")", "]", "}") or (
                begins_statement and token.text not in ATTRIBUTES
            ):
                raise NotUnderstood(marker.start, "declaration_without_semicolon")
            is_class = any(known.text in CLASS_KEYS for known in tokens[-2:])
            follows_name = len(tokens) > 1 and is_name(tokens[-2].text)
            if (
                token.text == "="
                or (token.text == "{" and not is_class)
                or (
                    (token.text == "," or token.text == ";")
                    and follows_name
                    and tokens[-1].text.startswith("(")
                )
            ):
                raise NotUnderstood(marker.start, "initialised_shared_variable")
            if token.text == ";":
                return tokens
            if token.text in ("(", "[", "{"):
                end = self.text.closing(token.start) + 1
                token = Token(self.text.masked[token.start : end], token.start, end)
            tokens.append(token)
            position = token.end
        raise NotUnderstood(marker.start, "declaration_without_semicolon")

    def static_shared_memory(self, declaration: list[Token], marker: Token) -> None:
        """One variable for each OS thread, which holds one block at a time."""
        is_static = any(token.text == "static" for token in declaration)
        replacement = "thread_local" if is_static else "static thread_local"
        self.text.edits.append(Edit(marker.start, marker.end, replacement))

        # CUDA takes alignas(...) and [[...]] after __shared__, C++ only before all other words.
        attributes = self.attributes(declaration)
        first_word = next(token for token in declaration if token not in attributes)
        moved = ""
        for index, token in enumerate(attributes):
            in_front = token.start < first_word.start
            is_argument = token.text.startswith("(") and attributes[index - 1].text == "alignas"
            if not in_front and (is_argument or token.text == "alignas" or token.text[0] == "["):
                moved += self.text.on_one_line(token.start, token.end) + " "
                self.text.erase(token)
        if self.is_scheduled:
            moved += PAGE_OF_ITS_OWN
        if moved:
            self.text.insert(declaration[0].start, moved)

    def announce_shared_variables(self, declaration: list[Token], scope: str) -> None:
        """Tells the backend each variable of the declaration, at its execution or for each block."""
        position = declaration[0].start
        announcement = SHARED_VARIABLE_OF_FILE if scope == "namespace" else SHARED_VARIABLE
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
            name = self.declared_name([token.text for token in declarator])
            if not name:
                raise NotUnderstood(position, "shared_not_understood")
            end = self.text.masked.index(";", declaration[-1].end) + 1
            self.text.insert(end, (announcement + PAGE_AFTER_IT).format(name=name))

    @staticmethod
    def declared_name(declarator: list[str]) -> str | None:
        """The name in `int values[2][32]`, `int (*row)[32]` and `void (*functions[4])(int)`."""
        end = len(declarator)
        while end and is_extent(declarator[end - 1]):
            end -= 1
        if end and is_name(declarator[end - 1]):
            return declarator[end - 1]
        before = declarator[max(end - 2, 0) : end]  # the pointer, and perhaps parameters
        pointers = (POINTER_IN_PARENTHESES.fullmatch(text) for text in before)
        return next((found[1] for found in pointers if found), None)

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
        removed_words = {"extern", "static", SHARED_MARKER}
        attributes = self.attributes(declaration)
        removed = [t for t in declaration if t.text in removed_words or t in attributes]
        kept = [token for token in declaration if token not in removed]

        if self.has_comma(kept):
            raise NotUnderstood(position, "several_extern_arrays")
        first_extent = len(kept)
        while first_extent > 0 and kept[first_extent - 1].text.startswith("["):
            first_extent -= 1
        extents = kept[first_extent:]
        if not extents:
            raise NotUnderstood(position, "extern_without_array")
        if extents[0].text[1:-1].strip():
            raise NotUnderstood(position, "extern_with_size")
        if first_extent < 2 or not is_name(kept[first_extent - 1].text):
            raise NotUnderstood(position, "extern_not_understood")

        name = kept[first_extent - 1]
        self.extern_arrays.append((name.text, name.start, scope))
        element = self.text.on_one_line(declaration[0].start, name.start, tuple(removed))
        if len(extents) > 1:
            element += self.text.on_one_line(extents[1].start, extents[-1].end)
        for token in removed:
            self.text.erase(token)
        storage, value = "", DYNAMIC_SHARED_MEMORY
        if scope == "namespace" and self.is_scheduled:
            storage, value = "static ", DYNAMIC_SHARED_MEMORY_OF_FILE
        elif scope == "namespace":
            storage = "static thread_local "
        self.text.insert(position, f"[[maybe_unused]] {storage}")
        self.text.insert(name.start, "(&")
        self.text.insert(name.end, ")")
        self.text.insert(extents[-1].end, value.format(type=element))

    @staticmethod
    def has_comma(tokens: list[Token]) -> bool:
        """Whether a comma stands outside all template argument lists."""
        open_lists = 0
        for token in tokens:
            open_lists += {"<": 1, ">": -1}.get(token.text, 0)
            if token.text == "," and open_lists == 0:
                return True
        return False

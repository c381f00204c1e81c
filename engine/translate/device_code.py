# SPDX-License-Identifier: MIT
"""What `__global__`, `__device__` and `__host__` say about the functions of a translation unit."""

from __future__ import annotations

import bisect
import dataclasses
import functools
import re

from refusals import NotUnderstood
from source_text import (
    ATTRIBUTES,
    KEYWORDS,
    LAUNCH,
    MARKER,
    OPENING,
    WORD,
    Edit,
    SourceText,
    is_name,
    is_word,
)

NO_PARAMETERS_AFTER = ATTRIBUTES | KEYWORDS
BUILT_IN_TYPES = set("bool char double float int long short signed unsigned".split())
TYPE_ENDS = BUILT_IN_TYPES | {"void", "auto", "const", "*", ">"}
TEMPLATE = re.compile(r"\s*(?:(?:public|private|protected)\s*:\s*)?template(?![A-Za-z0-9_])")
MOST_OF_HEAD = 1000  # tokens before a body or a `;`, where what is in brackets is one
STORAGE = re.compile(
    rf"(?<![{WORD}])(?:static|inline|extern|constexpr|template|__inline__|__inline|operator)"
    rf"(?![{WORD}])"
)
ANNOUNCED = (
    " static const ::cpu_backend::device_variable_of_file announced_{name}"
    "(&{name}, sizeof {name}, {is_constant}, {is_managed}, ::cpu_backend::padding_of({name}));"
)
MANAGED = " static const ::cpu_backend::managed_variable managed_{name}(&{name}, sizeof {name});"
CLASS_OR_ENUM = {"class", "struct", "union", "enum"}
ACCESS = re.compile(r"\s*(?:public|private|protected)\s*:(?!:)")
INLINE_ASSEMBLY = re.compile(rf"(?<![{WORD}])(?:asm|__asm__|__asm)(?![{WORD}])")


@dataclasses.dataclass
class Declaration:
    """A declaration with at least one marker. Positions are indices into the text."""

    start: int  # of its first word
    first_marker: int
    markers: set[str]
    end: int = 0  # behind the body, or behind the `;`
    name: str = ""
    name_start: int = 0
    parameters: int | None = None  # the `(`; None if it is no function
    body: int | None = None  # the `{`; None if this is no definition
    is_lambda: bool = False
    initialised: bool = False

    @property
    def is_function(self) -> bool:
        return self.parameters is not None or self.is_lambda

    @property
    def runs_on_device(self) -> bool:
        return bool(self.markers & {"global", "device"})

    @property
    def runs_on_device_alone(self) -> bool:
        return self.runs_on_device and "host" not in self.markers


def opening_before(text: str, position: int) -> int:
    """The bracket that the one at position closes, or the beginning of the text."""
    closed = []
    for index in range(position, -1, -1):
        if text[index] in OPENING:
            closed.append(OPENING[text[index]])
        elif text[index] in "([{":
            if closed.pop() != text[index]:
                break
            if not closed:
                return index
    return 0


def previous(text: str, position: int) -> str:
    """The last character before position that is no white space."""
    position -= 1
    while position >= 0 and text[position].isspace():
        position -= 1
    return text[position] if position >= 0 else ";"


def declaration_start(text: str, position: int, known: tuple[int, int] = (-1, 0)) -> int:
    """Where the declaration begins in which position stands, from its first word on. `known`: a position
    before it, and its own declaration's start."""
    index = position - 1
    while index >= 0 and text[index] not in ";{}([,":
        if index == known[0]:
            return known[1]
        index = opening_before(text, index) if text[index] in ")]" else index
        index -= 1
    if index >= 0 and text[index] == ",":
        # It may be one of a template's parameters, and not one between arguments.
        before = max(text.rfind(end, 0, index) for end in ";{}")
        if TEMPLATE.match(text, before + 1):
            index = before
    index += 1
    access = ACCESS.match(text, index, position)
    while access:
        index = access.end()
        access = ACCESS.match(text, index, position)
    while index < position and text[index].isspace():
        index += 1
    return index


TEMPLATE_LIST = re.compile(r"\s*template\s*<")


def after_template(text: str, position: int) -> int:
    """The position behind the template parameters that a declaration may begin with."""
    match = TEMPLATE_LIST.match(text, position)
    while match:
        open_lists, open_brackets = 1, 0
        index = match.end()
        while index < len(text) and open_lists > 0:
            open_brackets += {"(": 1, ")": -1, "[": 1, "]": -1, "{": 1, "}": -1}.get(text[index], 0)
            if open_brackets == 0:
                open_lists += {"<": 1, ">": -1}.get(text[index], 0)
            index += 1
        position = index
        match = TEMPLATE_LIST.match(text, position)
    return position


class DeviceCode:
    """The declarations with markers of one translation unit."""

    def __init__(self, text: SourceText):
        self.text = text
        self.failures: list[NotUnderstood] = []
        self.declarations: list[Declaration] = []
        self.last_start = (-1, 0)
        known: Declaration | None = None
        for match in MARKER.finditer(text.masked):
            position = match.start()
            head_end = 0
            if known:
                head_end = known.end if known.body is None else known.body
            if known and known.start <= position < head_end and not known.is_lambda:
                known.markers.add(match[1])
                continue
            if known and known.is_lambda and known.start <= position < (known.body or 0):
                known.markers.add(match[1])
                continue
            try:
                known = self.declaration(position)
                known.markers.add(match[1])
                self.declarations.append(known)
            except NotUnderstood:
                known = None  # the compiler says what is wrong with it
        self.bodies = sorted(
            (d for d in self.declarations if d.body is not None and d.is_function),
            key=lambda d: d.body,
        )
        self.body_starts = [d.body for d in self.bodies]
        self.outer: list[int] = []  # the index of the innermost body around each, or -1
        for index, body in enumerate(self.bodies):
            outer = index - 1
            while outer >= 0 and self.bodies[outer].end <= body.body:
                outer = self.outer[outer]
            self.outer.append(outer)

    def declaration(self, marker: int) -> Declaration:
        """The declaration to which the marker belongs."""
        masked = self.text.masked
        if previous(masked, marker) == "]":
            opening = opening_before(masked, masked.rindex("]", 0, marker))
            if not masked.startswith("[[", opening):
                return self.lambda_(opening, marker)
        found = Declaration(declaration_start(masked, marker, self.last_start), marker, set())
        self.last_start = (marker, found.start)
        self.head(found)
        return found

    def lambda_(self, start: int, marker: int) -> Declaration:
        found = Declaration(start, marker, set(), is_lambda=True)
        position = marker
        for _ in range(MOST_OF_HEAD):
            token = self.text.next_token(position)
            if token.text in ("", ";", ")", "]", "}"):
                break
            if token.text == "{":
                found.body = token.start
                found.end = self.text.closing(token.start) + 1
                return found
            position = token.end
            if token.text in ("(", "["):
                position = self.text.closing(token.start) + 1
        raise NotUnderstood(marker, "lambda_without_body")

    def head(self, found: Declaration) -> None:
        """Reads on to the body, or to the end of the declaration."""
        position = after_template(self.text.masked, found.start)
        before = ("", 0)
        for _ in range(MOST_OF_HEAD):
            token = self.text.next_token(position)
            position = token.end
            if token.text in ("", ")", "]", "}"):
                break
            if token.text == ";":
                found.end = token.end
                return
            if token.text == "(":
                position = self.text.closing(token.start) + 1
                if found.parameters is None and self.can_be_name(before[0]):
                    found.parameters = token.start
                    found.name, found.name_start = self.name_before(token.start, *before)
                before = (")", token.start)
                continue
            if token.text == "[":
                if found.parameters is None and not found.name and is_name(before[0]):
                    found.name, found.name_start = before
                position = self.text.closing(token.start) + 1
            elif token.text == ":" and found.parameters is not None:
                self.body_after_initialisers(found, token.end)
                return
            elif token.text == "{" and found.parameters is not None and not found.initialised:
                self.ends_with_body(found, token.start)
                return
            elif token.text == "{":
                if not found.name and is_name(before[0]):
                    found.name, found.name_start = before
                found.initialised = True
                position = self.text.closing(token.start) + 1
            elif token.text == "=" and before[0] != "operator":
                if not found.name and is_name(before[0]):
                    found.name, found.name_start = before
                found.initialised = True
            before = (token.text, token.start)
        raise NotUnderstood(found.first_marker, "declaration_without_end")

    @staticmethod
    def can_be_name(text: str) -> bool:
        if not text:
            return False
        if is_word(text):
            return text not in NO_PARAMETERS_AFTER or text.startswith("operator")
        return text not in (")", "::", "*", "&", "=") or text.startswith("operator")

    def name_before(self, position: int, text: str, start: int) -> tuple[str, int]:
        """The name in front of the parameters at position, without template arguments."""
        if text != ">":
            return text, start
        masked = self.text.masked
        open_lists, index = 0, start
        while index > 0:
            open_lists += {">": 1, "<": -1}.get(masked[index], 0)
            if open_lists == 0:
                break
            index -= 1
        match = re.search(rf"([{WORD}]+)\s*\Z", masked[max(index - 200, 0) : index])
        return (match[1], index - len(match[0])) if match else (text, start)

    def ends_with_body(self, found: Declaration, opening: int) -> None:
        found.body = opening
        found.end = self.text.closing(opening) + 1

    def body_after_initialisers(self, found: Declaration, position: int) -> None:
        """Reads over the member initialisers of a constructor."""
        while True:
            token = self.text.next_token(position)
            while token.text not in ("(", "{", "", ";", "}"):
                token = self.text.next_token(token.end)
            if token.text not in ("(", "{"):
                raise NotUnderstood(found.first_marker, "declaration_without_end")
            token = self.text.next_token(self.text.closing(token.start) + 1)
            if token.text == "...":
                token = self.text.next_token(token.end)
            if token.text == "{":
                self.ends_with_body(found, token.start)
                return
            if token.text != ",":
                raise NotUnderstood(found.first_marker, "declaration_without_end")
            position = token.end

    def around(self, position: int) -> Declaration | None:
        """The innermost function or lambda with markers in whose body position stands."""
        index = bisect.bisect_right(self.body_starts, position) - 1
        while index >= 0 and position >= self.bodies[index].end:
            index = self.outer[index]
        return self.bodies[index] if index >= 0 else None

    def has_kernel(self, name: str) -> bool:
        """Whether a __global__ function of this name is declared."""
        return name in self.kernels

    @functools.cached_property
    def kernels(self) -> set[str]:
        return {found.name for found in self.declarations if "global" in found.markers}

    # ---- What nvcc refuses as well, or what this backend does not have.

    def check(self) -> None:
        for found in self.declarations:
            if "cluster_dims" in found.markers:
                self.refuse(found.first_marker, "cluster_dimensions")
            if "global" in found.markers and found.is_function:
                self.check_kernel(found)
        self.check_calls()
        self.check_assembly()

    def refuse(self, position: int, code: str, **arguments: str) -> None:
        self.failures.append(NotUnderstood(position, code, **arguments))

    def check_kernel(self, kernel: Declaration) -> None:
        """A kernel returns nothing."""
        words = []
        position = after_template(self.text.masked, kernel.start)
        while position < kernel.name_start:
            token = self.text.next_token(position)
            position = token.end
            if token.text in ("(", "["):
                position = self.text.closing(token.start) + 1
            elif token.start < kernel.name_start and not MARKER.match(token.text):
                words.append(token.text)
        is_plain = any(word in BUILT_IN_TYPES for word in words)
        if (is_plain and "<" not in words) or "*" in words:
            self.refuse(kernel.name_start, "kernel_returns_value", name=kernel.name)
        if kernel.runs_on_device and "device" in kernel.markers:
            self.refuse(kernel.name_start, "kernel_and_device_function", name=kernel.name)

    def check_calls(self) -> None:
        """A kernel's name before a `(` is a call without `<<<...>>>`."""
        kernels = [found for found in self.declarations if "global" in found.markers]
        heads = [(found.start, found.body or found.end) for found in kernels]
        names = {found.name for found in kernels if found.is_function}
        for name in sorted(filter(is_name, names)):
            uses = {}
            for match in self.text.own_words.get(name, ()):
                index = bisect.bisect_right(heads, (match.start(), len(self.text.masked))) - 1
                if index < 0 or match.start() >= heads[index][1]:
                    uses[match.start()] = self.use(*match.span())
            for position in uses if "declaration" not in uses.values() else ():
                if uses[position] == "call":
                    self.refuse(position, "kernel_called_as_function", name=name)

    def use(self, start: int, end: int) -> str:
        """What a kernel's name stands for: call, declaration (of something else) or other."""
        tokens, _ = self.text.tokens_before(start, 100)
        before = tokens[-1].text if tokens else ";"
        if before in (".", "->", "&", "::"):
            return "other"
        if before in TYPE_ENDS or is_name(before):
            return "declaration"
        token = self.text.next_token(end)
        open_lists = 0
        while token.text == "<" or open_lists > 0:
            if token.text in ("", ";", "{", "}") or LAUNCH.match(self.text.masked, token.start):
                return "other"
            open_lists += {"<": 1, ">": -1}.get(token.text, 0)
            token = self.text.next_token(token.end)
        return "call" if token.text == "(" else "other"

    def check_assembly(self) -> None:
        """Inline PTX has no meaning to a CPU. An empty string is a fence for the compiler."""
        for match in self.text.own_matches(INLINE_ASSEMBLY):
            within = self.around(match.start())
            if not within or not within.runs_on_device:
                continue
            instructions = re.compile(r'[^"]*"([^"]*)"').match(self.text.masked, match.end())
            if instructions and instructions[1]:
                self.refuse(match.start(), "inline_ptx")

    def make_static(self) -> None:
        """Keeps device variables and functions to this file, as nvcc does without -rdc=true."""
        for found in self.declarations:
            if not found.markers & {"device", "constant", "managed"} or found.is_lambda:
                continue
            if found.markers & {"global", "host"} or self.text.scope(found.start) != "namespace":
                continue
            head_end = found.name_start if found.is_function else found.body or found.end
            head = self.text.masked[found.start : head_end]
            if (found.is_function and not found.name) or STORAGE.search(head):
                continue
            if head.rstrip().endswith("::"):
                continue  # a member, whose class says it
            self.text.insert(found.start, "[[maybe_unused]] static ")

    def announce_variables(self, renamed: dict[str, str], is_scheduled: bool) -> None:
        """Tells the backend where managed variables are, and its scheduled form where all of the device's
        are, and which are constant."""
        for found in self.declarations:
            head = self.text.masked[found.start : found.end]
            if found.is_function or "extern" in head.split() or TEMPLATE.match(head):
                continue
            if not found.markers & {"device", "constant", "managed"}:
                continue
            if self.text.scope(found.start) == "namespace":
                is_constant, is_managed = (
                    str(marker in found.markers).lower() for marker in ("constant", "managed")
                )
                for declared in self.variables(found):
                    name = renamed.get(declared, declared)
                    announced = (ANNOUNCED if is_scheduled else "") + (
                        MANAGED if "managed" in found.markers else ""
                    )
                    self.text.insert(
                        found.end,
                        announced.format(name=name, is_constant=is_constant, is_managed=is_managed),
                    )

    def variables(self, found: Declaration) -> list[str]:
        """Names that the declaration of variables declares, but for those that are hard to understand."""
        names, words, open_lists, position = [], [""], 0, found.start
        while position < found.end:
            token = self.text.next_token(position)
            position = token.end
            ends = token.text in (",", ";", "=", "[", "{") and open_lists == 0
            if ends and is_name(words[-1]) and "::" not in words[-2:-1]:
                names.append(words[-1])
            if ends and CLASS_OR_ENUM & set(words):
                return []
            while ends and token.text not in (",", ";", ""):  # extents and an initialiser
                if token.text in OPENING.values():
                    position = self.text.closing(token.start) + 1
                token = self.text.next_token(position)
                position = token.end
            if token.text in OPENING.values():
                position = self.text.closing(token.start) + 1
            open_lists += {"<": 1, ">": -1}.get(token.text, 0)
            words = [""] if ends else [*words, token.text]
        return names

    def erase_markers(self) -> None:
        for match in MARKER.finditer(self.text.masked):
            self.text.edits.append(Edit(match.start(), match.end(), ""))

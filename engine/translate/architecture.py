# SPDX-License-Identifier: MIT
"""`__CUDA_ARCH__`: one translation unit out of what the host sees and what kernels see.

nvcc compiles a file twice: for the host without the macro, for the device with it. Here the file is
preprocessed twice and compiled once. Where the two texts differ, a function of the device comes from
the device's text, and one of the host from the host's. A function of both becomes one that asks, when
it is called, whether a kernel calls it. A declaration that can't be had twice is refused.
"""

from __future__ import annotations

import dataclasses
import difflib
import re

from device_code import Declaration, DeviceCode, after_template
from refusals import NotUnderstood, TranslationFailed
from source_text import ATTRIBUTES, MARKER, QUOTED, WORD, SourceText, native, unquoted

MACRO = b"__CUDA_ARCH__"
FILE = re.compile(rf"^#\s*\d+\s+{QUOTED}([ 0-9]*)$", re.M)
NAMED_SCOPE = re.compile(rf'(?<![{WORD}])namespace(?![{WORD}])|^\s*extern\s*"_*"\s*$')
CLASS = re.compile(rf"(?<![{WORD}])(?:struct|class|union)(?![{WORD}])")
ENUMERATION = re.compile(rf"(?<![{WORD}])enum(?![{WORD}])")
DECLARED_NAME = re.compile(rf"([{WORD}]+)\s*(?:\[[^\]]*\]\s*)*(?:=(?!=).*|\{{.*)?;?\s*\Z", re.S)


def mentions_architecture(text: str) -> bool:
    """Whether a file of the user's that the preprocessed text was made from names the macro."""
    for name in {match[1] for match in FILE.finditer(text) if "3" not in match[2]}:
        try:
            with open(native(unquoted(name)), "rb") as file:
                if MACRO in file.read():
                    return True
        except OSError:
            pass  # <built-in>, and a name that a #line invents
    return False


@dataclasses.dataclass
class Item:
    """A declaration at namespace or class scope; positions are indices into its text."""

    gap: int  # the end of the declaration before it; pragmas may stand between
    start: int
    end: int
    text: str  # as it is compared
    head: str  # what stands before the first brace, without markers
    body: tuple[int, int] | None  # the braces of a namespace, a class or a function
    is_scope: bool


class Side:
    """The text of one of the two passes."""

    def __init__(self, text: str, name: str):
        self.unit = SourceText(text, name)
        self.masked = self.unit.masked
        self.device_code = DeviceCode(self.unit)
        self.by_start = {found.first_marker: found for found in self.device_code.declarations}

    def compared(self, start: int, end: int) -> str:
        text = re.sub(r"^#(?!\s*pragma).*$", "", self.unit.source[start:end], flags=re.M)
        return " ".join(text.split())

    def items(self, start: int, end: int) -> list[Item]:
        found = []
        while True:
            gap = start
            while start < end and self.masked[start].isspace():
                start += 1
            if start >= end:
                return found
            item = self.item(gap, start, end)
            found.append(item)
            start = item.end

    def item(self, gap: int, start: int, end: int) -> Item:
        position, body, is_scope, is_value = after_template(self.masked, start), None, False, False
        parameters = False
        while position < end:
            match = re.compile(r"[;{}()\[=]").search(self.masked, position, end)
            if not match:
                position = end
                break
            mark, at = match[0], match.start()
            position = at + 1
            if mark == ";":
                break
            if mark == "=" and not re.search(r"operator\s*\Z|[=<>!]\Z", self.masked[start:at]):
                is_value = is_value or self.masked[at + 1] != "="
            elif mark in "([":
                position = min(self.unit.closing(at) + 1, end)
                word = re.search(rf"([{WORD}]+)\s*\Z", self.masked[max(start, at - 80) : at])
                parameters |= mark == "(" and not (word and word[1] in ATTRIBUTES)
            elif mark == "{":
                position = min(self.unit.closing(at) + 1, end)
                head = self.masked[after_template(self.masked, start) : at]
                if body is None and not is_value:
                    body = (at, position - 1)
                    is_named = bool(NAMED_SCOPE.search(head))
                    is_class = not parameters and bool(CLASS.search(head))
                    is_scope = is_named or (is_class and not ENUMERATION.search(head))
                    if is_named:
                        break
                    if is_class or (ENUMERATION.search(head) and not parameters):
                        continue
                if parameters and not is_value:
                    following = self.unit.next_token(position).text
                    if following not in ("{", ","):
                        body = (at, position - 1)
                        break
        if parameters and not is_scope and body and self.masked[position - 1] != "}":
            body = None  # a declaration with braces among its default arguments
        head = MARKER.sub("", self.compared(start, body[0] if body else position))
        return Item(
            gap,
            start,
            position,
            self.compared(start, position),
            " ".join(head.split()),
            body,
            is_scope,
        )

    def markers(self, item: Item) -> Declaration | None:
        """What the item's markers say; None where it has none, as of a scope with marked members."""
        end = item.body[0] if item.body else item.end
        match = MARKER.search(self.masked, item.start, end)
        return self.by_start.get(match.start()) if match else None

    def lambdas(self, start: int, end: int) -> list[Declaration]:
        return [
            found
            for found in self.device_code.declarations
            if found.is_lambda and start < found.start and found.end < end
        ]

    def piece(self, start: int, end: int) -> str:
        """The text, with a line marker before it."""
        return self.unit.continuation(start) + self.unit.source[start:end]


class Merge:
    """Makes one text of two."""

    def __init__(self, host: Side, device: Side):
        self.host = host
        self.device = device
        self.failures: list[tuple[Side, NotUnderstood]] = []

    def scopes(self, host: tuple[int, int], device: tuple[int, int], is_class: bool = False) -> str:
        """The declarations within a scope."""
        ours, theirs = self.host.items(*host), self.device.items(*device)
        matcher = difflib.SequenceMatcher(
            None, [item.text for item in ours], [item.text for item in theirs], autojunk=False
        )
        pieces = []
        for kind, first, last, other_first, other_last in matcher.get_opcodes():
            if kind == "equal":
                pieces.append(self.host.piece(ours[first].gap, ours[last - 1].end))
            else:
                pieces += self.group(ours[first:last], theirs[other_first:other_last], is_class)
        if ours or theirs:
            pieces.append("\n")
        return "".join(pieces)

    def group(self, ours: list[Item], theirs: list[Item], is_class: bool) -> list[str]:
        """Declarations of which none is the same on both sides."""
        pairs, unpaired = [], list(theirs)
        for item in ours:
            other = next((each for each in unpaired if each.head == item.head), None)
            if other:
                unpaired.remove(other)
            pairs.append((item, other))
        found = []
        for item, other in pairs:
            line = self.host.unit.place(item.start)[1]
            text = self.pair(item, other) if other else self.of_host(item)
            found.append((line, self.host.piece(item.gap, item.start) + text))
        if is_class and any(not self.is_function(self.device, item) for item in unpaired):
            self.refuse(unpaired[0])  # objects would have two sizes
        for item in unpaired:
            self.check_names(item, [item for item, other in pairs if not other])
            found.append((self.device.unit.place(item.start)[1], self.of_device(item)))
        return [text for _, text in sorted(found, key=lambda each: each[0])]

    def of_host(self, item: Item) -> str:
        markers = self.host.markers(item)
        if markers and markers.runs_on_device_alone and markers.is_function:
            return ""
        return self.host.piece(item.start, item.end)

    @staticmethod
    def is_function(side: Side, item: Item) -> bool:
        markers = side.markers(item)
        return bool((item.body and not item.is_scope) or (markers and markers.is_function))

    def of_device(self, item: Item) -> str:
        markers = self.device.markers(item)
        if self.is_function(self.device, item) and not (markers and markers.runs_on_device):
            return ""
        return self.device.piece(item.start, item.end)

    def check_names(self, item: Item, ours: list[Item]) -> None:
        """Refuses a declaration whose name stands for something else on the host."""
        name = self.name(self.device, item)
        for other in ours:
            if self.of_host(other) and self.of_device(item) and name == self.name(self.host, other):
                self.refuse(item)

    def name(self, side: Side, item: Item) -> str:
        markers = side.markers(item)
        if markers and markers.is_function:
            parameters = side.compared(markers.parameters or item.start, item.end).split("{")[0]
            return markers.name + parameters.split(":")[0]
        if item.is_scope:
            return item.head
        using = re.match(rf"using\s+([{WORD}]+)\s*=", item.text)
        found = using or DECLARED_NAME.search(item.text)
        return found[1] if found else item.text

    def refuse(self, item: Item) -> None:
        self.failures.append((self.device, NotUnderstood(item.start, "two_forms")))

    def pair(self, ours: Item, theirs: Item) -> str:
        """One declaration that the two sides have in different forms."""
        here, there = self.host.markers(ours), self.device.markers(theirs)
        if ours.is_scope and theirs.is_scope and ours.body and theirs.body:
            (opening, closing), (other_opening, other_closing) = ours.body, theirs.body
            return (
                self.host.piece(ours.start, opening + 1)
                + self.scopes(
                    (opening + 1, closing),
                    (other_opening + 1, other_closing),
                    not NAMED_SCOPE.search(self.host.masked[ours.start : opening]),
                )
                + self.host.piece(closing, ours.end)
            )
        if not (ours.body and theirs.body):
            if there and there.runs_on_device_alone:
                return self.device.piece(theirs.start, theirs.end)
            is_one_for_both = bool(there and there.markers & {"constant", "managed"})
            if MARKER.sub("", ours.text) != MARKER.sub("", theirs.text) and not is_one_for_both:
                self.refuse(theirs)
            return self.host.piece(ours.start, ours.end)
        if not (there and there.runs_on_device):
            return self.host_function(ours, theirs)
        if here and here.runs_on_device_alone:
            return self.device.piece(theirs.start, theirs.end)
        return (
            self.host.piece(ours.start, ours.body[0])
            + self.both(ours.body, theirs.body)
            + self.host.piece(ours.body[1] + 1, ours.end)
        )

    def both(self, ours: tuple[int, int], theirs: tuple[int, int]) -> str:
        """A body that is the one or the other, as its caller is a kernel or not."""
        return (
            "{ if (::cpu_backend::on_device())"
            + self.device.piece(theirs[0], theirs[1] + 1)
            + " else"
            + self.host.piece(ours[0], ours[1] + 1)
            + " }"
        )

    def host_function(self, ours: Item, theirs: Item) -> str:
        """A function of the host, with the lambdas in it that run on the device."""
        lambdas = self.host.lambdas(*ours.body)
        others = self.device.lambdas(*theirs.body)
        if len(lambdas) != len(others):
            if others:
                self.refuse(theirs)
            return self.host.piece(ours.start, ours.end)
        pieces, position = [], ours.start
        for mine, other in zip(lambdas, others):
            pieces.append(self.host.piece(position, mine.body))
            if mine.runs_on_device_alone:
                pieces.append(self.device.piece(other.body, other.end))
            else:
                pieces.append(self.both((mine.body, mine.end - 1), (other.body, other.end - 1)))
            position = mine.end
        pieces.append(self.host.piece(position, ours.end))
        return "".join(pieces)


def first_difference(left: str, right: str) -> int:
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def outermost_start(side: Side, position: int) -> int:
    """The beginning of the declaration at namespace scope in which position stands."""
    opening = side.unit.enclosing_brace(position)
    while opening is not None:
        position = opening
        opening = side.unit.enclosing_brace(position - 1)
    before = max(side.masked.rfind(end, 0, position) for end in ";}")
    return before + 1


def merged(host: str, device: str, name: str) -> str:
    """One preprocessed translation unit out of the host's and the device's. Raises TranslationFailed."""
    difference = first_difference(host, device)
    if difference == len(host) == len(device):
        return host
    ours, theirs = Side(host, name), Side(device, name)
    start = outermost_start(ours, difference)
    merge = Merge(ours, theirs)
    try:
        text = merge.scopes((start, len(host)), (start, len(device)))
    except NotUnderstood:
        return host  # the compiler says what is wrong with it
    if merge.failures:
        raise TranslationFailed([side.unit.refusal(failure) for side, failure in merge.failures])
    return host[:start] + text

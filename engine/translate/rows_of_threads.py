# SPDX-License-Identifier: MIT
"""Kernels whose threads run one after the other: each call runs the rest of a row of the block.

What threadIdx and its like say is then known to the compiler, instead of being read from memory
that the kernel's own stores might change. For kernels whose threads only compute: they can't wait
for each other, so nothing tells that a thread begins when the one before it has returned.
"""

from __future__ import annotations

import bisect
import re

from device_code import BUILT_IN_TYPES, Declaration, DeviceCode
from source_text import Edit, SourceText, is_name, is_word

# Types that are known to be copied as bytes.
PLAIN_TYPES = BUILT_IN_TYPES | set(
    """const std :: size_t ptrdiff_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t
    uint64_t""".split()
)
# Functions that only compute.
COMPUTING = re.compile(
    r"(?:abs|min|max|(?:fabs|fmin|fmax|fma|sqrt|rsqrt|exp|exp2|log|log2|sin|cos|tanh|pow|floor|ceil)f?)\Z"
)
CASTS = {"static_cast", "reinterpret_cast", "const_cast"}
ASSIGNMENT = re.compile(r"=(?!=)|[-+*/%&|^]=|<<=|>>=|\+\+|--")
# What each thread knows for itself, and the names of its parts.
BUILT_IN = {"threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize", "x", "y", "z"}
BEFORE_PARENTHESIS = PLAIN_TYPES | set("if for switch constexpr sizeof return case".split())
# With one of these, a thread may wait, or a `return` may not be the kernel's.
EXCLUDED = set(
    """asm __asm__ volatile goto while do static extern thread_local try throw new delete struct class
    union enum operator template requires __cpu_backend_shared__""".split()
)


def only_computes(texts: list[str], parameters: set[str], declared: set[str]) -> bool:
    """Whether a body of these tokens has no call but of functions that compute, and no loop that may
    wait. What is not understood is taken for something that may. `declared`: the names that the program
    itself gives to what runs on the device."""
    counted: set[str] = set()
    known = BUILT_IN | parameters | declared_in(texts)
    heads: set[int] = set()  # the indices of the tokens between the parentheses of loops
    begun_by: dict[int, str] = {}  # of braces: `for` or `switch`
    around: list[str] = []  # the same of the braces that are open
    for index, text in enumerate(texts):
        before = texts[index - 1] if index > 0 else ";"
        if text in EXCLUDED:
            return False
        if text == "(" and not opens_expression(texts, index):
            return False
        if COMPUTING.match(text) and (text in declared or not is_standard(texts, index)):
            return False
        if text == "for":
            end = closing_bracket(texts, index + 1)
            name = counts(texts[index + 2 : end], known)
            if name is None:
                return False
            counted.add(name)
            heads.update(range(index + 1, end))
        if text in ("for", "switch"):
            begun_by[closing_bracket(texts, index + 1) + 1] = text
        if text == "{":
            around.append(begun_by.get(index, ""))
        if text == "}" and around:
            around.pop()
        left = {"break": {"for", "switch"}, "continue": {"for"}}.get(text)
        if left and not left & {*around}:
            return False
        if text == "{" and is_name(before) and before not in PLAIN_TYPES:
            return False
        if text == "[" and not (is_name(before) or before in (")", "]")):
            return False
    bodies = [text for index, text in enumerate(texts) if index not in heads]
    return not changes(bodies, counted)


def closing_bracket(texts: list[str], opening: int) -> int:
    """The index of the parenthesis or brace that closes the one at `opening`, or the end."""
    open_brackets = 0
    for index in range(opening, len(texts)):
        open_brackets += {"(": 1, "{": 1, ")": -1, "}": -1}.get(texts[index], 0)
        if open_brackets == 0:
            return index
    return len(texts)


def declared_in(texts: list[str]) -> set[str]:
    """The names of the variables that these tokens declare, as far as they are numbers."""
    return {
        text
        for before, text in zip(texts, texts[1:])
        if is_name(text) and text not in PLAIN_TYPES and before in PLAIN_TYPES | {"auto"}
    }


UP, DOWN = ("+", "*", "<<"), ("-", "/", ">>")


def counts(head: list[str], known: set[str]) -> str | None:
    """The variable that a `for` counts up or down, "" if it goes through a range; None if it may do
    anything else, such as to wait for what another thread writes. `known`: names of numbers."""
    if head.count(";") != 2:
        return "" if ":" in head else None
    first = head.index(";")
    second = head.index(";", first + 1)
    beginning, condition, step = head[:first], head[first + 1 : second], head[second + 1 :]
    index = beginning.index("=") - 1 if "=" in beginning else 0
    if index <= 0 or not {*beginning[:index]} <= PLAIN_TYPES | {"auto"}:
        return None
    name, sign = beginning[index], "".join(condition[1:2])
    if condition[:1] != [name] or {name, "&&", "||", ",", "=", "?"} & set(condition[2:]):
        return None
    for signs, operators in ((("<", "<=", "!="), UP), ((">", ">=", "!="), DOWN)):
        if sign in signs and changes_by(step, name, operators, known):
            return name
    return None


def changes_by(step: list[str], name: str, operators: tuple[str, ...], known: set[str]) -> bool:
    """Whether the step is an assignment by one of these operators of what no other thread changes, or a
    step by one."""
    by_one = [operators[0]] * 2
    if step in ([*by_one, name], [name, *by_one]):
        return True
    text = "".join(step[1:4])
    operator = next((each for each in operators if text.startswith(f"{each}=")), None)
    if step[:1] != [name] or operator is None:
        return False
    value = step[3:]
    return not {name, "=", ",", "?", "["} & set(value) and all(
        not is_name(text) or text in known or text in PLAIN_TYPES for text in value
    )


def is_standard(texts: list[str], index: int) -> bool:
    """Whether the name there is called, and as one of the standard's or CUDA's functions."""
    if texts[index + 1 : index + 2] != ["("]:
        return False
    before = texts[index - 1] if index > 0 else ";"
    if before != "::":
        return before not in (".", "->")
    scope = texts[index - 2] if index > 1 else ";"
    return scope == "std" or not (is_word(scope) or scope == ">")


def opens_expression(texts: list[str], index: int) -> bool:
    """Whether the parenthesis at index is none of a call that might do anything."""
    before = texts[index - 1] if index > 0 else ";"
    if is_word(before):
        return before in BEFORE_PARENTHESIS or bool(COMPUTING.match(before))
    if before == ")":
        return is_cast(texts, index - 1)
    if before == ">":
        statement = texts[: index - 1]
        while statement and statement[-1] not in ("<", ";", "{", "}"):
            statement.pop()
        is_comparison = statement[-1:] != ["<"]
        return is_comparison or bool(CASTS & set(statement[-2:-1]))
    return before != "]"


def is_cast(texts: list[str], closing: int) -> bool:
    """Whether the parenthesis that closes there ends a cast to a number, or a condition."""
    open_parentheses, opening = 1, closing
    while opening >= 0 and open_parentheses:
        opening -= 1
        open_parentheses += {")": 1, "(": -1}.get(texts[opening], 0)
    if opening > 0 and texts[opening - 1] in ("if", "for", "switch", "constexpr"):
        return True
    return all(text in PLAIN_TYPES or text == "*" for text in texts[opening + 1 : closing])


def changes(texts: list[str], names: set[str]) -> bool:
    """Whether one of these variables may be changed, also by way of a reference or a pointer."""
    texts = ["", "", *texts, "", "", ""]
    for index, text in enumerate(texts):
        if text in ("&", "&&") and is_reference(texts[index + 1 : index + 3]):
            return True
        if text not in names or texts[index - 1] in (".", "->"):
            continue
        first, last = index, index
        while texts[first - 1] == "(" and texts[last + 1] == ")":
            first, last = first - 1, last + 1
        if ASSIGNMENT.match("".join(texts[last + 1 : last + 4])):
            return True
        if "".join(texts[first - 2 : first]) in ("++", "--") or texts[first - 1] == "&":
            return True
    return False


def is_reference(behind: list[str]) -> bool:
    """Whether an `&` with these tokens behind it declares a name for something."""
    name, follows = behind
    return name == "[" or (bool(name) and is_name(name) and follows in ("=", "{", ":"))


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
        self.edited = sorted(edit.start for edit in self.text.edits)
        for found in self.device_code.bodies:
            if found.markers == {"global"} and not found.is_lambda:
                self.rewrite(found)

    def rewrite(self, kernel: Declaration) -> None:
        opening, closing = kernel.body, kernel.end - 1
        first = bisect.bisect_right(self.edited, opening)
        if self.edited[first : first + 1] and self.edited[first] < closing:
            return
        parameters = self.parameters(kernel)
        body = self.text.tokens(opening + 1, closing)
        texts = [token.text for token in body]
        if "threadIdx" not in texts or parameters is None:
            return
        if not only_computes(texts, parameters, self.declared) or changes(texts, parameters):
            return
        returns = [index for index, text in enumerate(texts) if text == "return"]
        if any(texts[index + 1 : index + 2] != [";"] for index in returns):
            return
        for index in returns:
            token = body[index]
            self.text.edits.append(Edit(token.start, token.end, f"goto {NEXT_THREAD}"))
        self.text.insert(opening + 1, BEGIN + self.same_column(opening + 1))
        self.text.insert(closing, END)

    def parameters(self, kernel: Declaration) -> set[str] | None:
        """The names of its parameters; None unless all are pointers and numbers."""
        start = kernel.parameters
        listed: list[list[str]] = [[]]
        for token in self.text.tokens(start + 1, self.text.closing(start)):
            if token.text == ",":
                listed.append([])
            else:
                listed[-1].append(token.text)
        if listed == [[]]:
            return set()
        names = set()
        for texts in listed:
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

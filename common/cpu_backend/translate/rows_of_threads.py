# SPDX-License-Identifier: MIT
"""Kernels whose threads run one after the other: each call runs the rest of a row of the block.

What threadIdx and its like say is then known to the compiler, in place of being read from memory
that the kernel's own stores might change. For kernels whose threads only compute: they can't wait
for each other, so nothing tells that a thread begins when the one before it has returned.
"""

from __future__ import annotations

import re

from device_code import BUILT_IN_TYPES, Declaration, DeviceCode
from source_text import Edit, SourceText
from tokens import TOKEN, Token, is_name, is_word

BEGIN = (
    " [[maybe_unused]] const uint3 blockIdx = ::blockIdx;"
    " [[maybe_unused]] const dim3 blockDim = ::blockDim, gridDim = ::gridDim;"
    " for ([[maybe_unused]] const uint3 threadIdx : ::cpu_backend::row_of_threads()) { {"
)
NEXT_THREAD = "cpu_backend_next_thread"
END = f"}} {NEXT_THREAD}: __attribute__((unused)); }} "

REST_OF_LINE = re.compile(r"[ \t\r]*(?:\n|\Z)")
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
BEFORE_PARENTHESIS = {"if", "for", "switch", "constexpr", "sizeof", "return", "case"}
# With one of these, a thread may wait, or a `return` may not be the kernel's.
EXCLUDED = set(
    """asm __asm__ volatile goto while do static extern thread_local try throw new delete struct class
    union enum operator template requires __cpu_backend_shared__""".split()
)


class RowsOfThreads:
    """The kernels of one translation unit that are so simple."""

    def __init__(self, text: SourceText, device_code: DeviceCode):
        self.text = text
        self.device_code = device_code

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
        if all(token.text != "threadIdx" for token in body):
            return
        if parameters is None or not computes_only(body) or may_change(body, parameters):
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
        source = self.text.source
        if REST_OF_LINE.match(source, position):
            return ""
        file, line = self.text.place(position)
        escaped = re.sub(r'(["\\])', r"\\\1", file)
        return f'\n# {line} "{escaped}"\n' + " " * (position - source.rfind("\n", 0, position) - 1)


def is_type(texts: list[str]) -> bool:
    """Whether these words are a type that is a pointer or a number."""
    if any(text in "&[](){}=." or text == "&&" for text in texts) or "volatile" in texts:
        return False
    return "*" in texts or all(text in PLAIN_TYPES for text in texts)


def computes_only(body: list[Token]) -> bool:
    """Whether the body has no call but of functions that compute, no `while` and no lambda."""
    texts = [token.text for token in body]
    for index, text in enumerate(texts):
        before = texts[index - 1] if index > 0 else ";"
        if text in EXCLUDED:
            return False
        if text == "(" and not opens_expression(texts, index):
            return False
        if text == "for" and not counts(texts, index + 1):
            return False
        if text == "{" and is_name(before) and before not in PLAIN_TYPES:
            return False
        if text == "[" and not (is_name(before) or before in (")", "]")):
            return False
    return True


def counts(texts: list[str], opening: int) -> bool:
    """Whether a `for` whose parenthesis opens there goes through numbers, or through a range."""
    open_parentheses, end = 0, opening
    while end < len(texts):
        open_parentheses += {"(": 1, ")": -1}.get(texts[end], 0)
        if open_parentheses == 0:
            break
        end += 1
    head = texts[opening + 1 : end]
    if head.count(";") != 2:
        return ":" in head
    beginning = head[: head.index(";")]
    condition = head[len(beginning) + 1 :]
    condition = condition[: condition.index(";")]
    name = beginning.index("=") - 1 if "=" in beginning else 0
    return (
        name > 0
        and all(text in PLAIN_TYPES | {"auto"} for text in beginning[:name])
        and condition[:1] == [beginning[name]]
        and not {"&&", "||", ",", "="} & set(condition)
    )


def opens_expression(texts: list[str], index: int) -> bool:
    """Whether the parenthesis at index is none of a call that might do anything."""
    before = texts[index - 1] if index > 0 else ";"
    if is_word(before):
        return (
            before in BEFORE_PARENTHESIS
            or before in PLAIN_TYPES
            or COMPUTING.match(before) is not None
        )
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
    open_parentheses, opening = 0, closing
    while opening >= 0:
        open_parentheses += {")": 1, "(": -1}.get(texts[opening], 0)
        if open_parentheses == 0:
            break
        opening -= 1
    if opening > 0 and texts[opening - 1] in ("if", "for", "switch", "constexpr"):
        return True
    return all(text in PLAIN_TYPES or text == "*" for text in texts[opening + 1 : closing])


def may_change(body: list[Token], parameters: set[str]) -> bool:
    """Whether one of the parameters, which the threads of a row have in common, may be changed."""
    texts = ["", "", *(token.text for token in body), "", "", ""]
    for index, text in enumerate(texts):
        if text == "&" and is_reference(texts[index + 1 : index + 3]):
            return True
        if text not in parameters or texts[index - 1] in (".", "->"):
            continue
        behind = "".join(texts[index + 1 : index + 4])
        before = "".join(texts[index - 2 : index])
        if re.match(r"=(?!=)|[-+*/%&|^]=|<<=|>>=|\+\+|--", behind):
            return True
        if before in ("++", "--") or texts[index - 1] == "&":
            return True
    return False


def is_reference(behind: list[str]) -> bool:
    """Whether an `&` with these tokens behind it declares a name for something."""
    name, follows = behind
    return name == "[" or (bool(name) and is_name(name) and follows in ("=", "{", ":"))

# SPDX-License-Identifier: MIT
"""Calls and names that must be written otherwise to be compiled for a CPU."""

from __future__ import annotations

import re

from device_code import DeviceCode
from refusals import NotUnderstood
from source_text import (
    KEYWORDS,
    SHARED_MARKER,
    STATEMENT_KEYWORDS,
    WORD,
    Edit,
    SourceText,
    Token,
    is_name,
)

LAUNCH_FUNCTION = re.compile(rf"(?<![{WORD}])cudaLaunch(?:Cooperative)?Kernel\s*\(\s*")
POINTER_TYPE = r"(?:const\s+)?void\s*(?:const\s*)?\*(?:\s*const)?"
OLD_CAST = re.compile(rf"\(\s*{POINTER_TYPE}\s*\)\s*")
NEW_CAST = re.compile(rf"(?:reinterpret_cast|static_cast)\s*<\s*{POINTER_TYPE}\s*>\s*(?=\()")
CLOCK = re.compile(rf"(?<![{WORD}.>:])clock(?=\s*\(\s*\))")
# A loop that asks until the work is done, and does nothing meanwhile, waits for it.
PAUSE = r"(?:(?:::)?std::)?this_thread::(?:yield\s*\(\s*\)|sleep_for\s*\([^;{}]*\))\s*;\s*|continue\s*;\s*"
WAITING_QUERY = re.compile(
    rf"(?<![{WORD}])while\s*\(\s*(?:::\s*)?cuda(?:Stream|Event)(Query)\s*\(\s*[{WORD}\s.\[\]]*\)\s*"
    rf"(?:==\s*cudaErrorNotReady|!=\s*cudaSuccess)\s*\)\s*(?:;|{PAUSE}|\{{\s*(?:{PAUSE})?\}})"
)
# Functions of the library that the race checker stands in for; by these names g++ expands a call of constant
# size to instructions that it does not see.
BUILTIN = re.compile(
    rf"(?<![{WORD}])__builtin_(?=(?:mem(?:cpy|move|set|cmp|chr)|str(?:len|n?cmp|chr))\s*\()"
)


def rewrite_calls(text: SourceText, device_code: DeviceCode, is_scheduled: bool = False) -> None:
    """Makes the edits."""
    for match in text.own_matches(BUILTIN) if is_scheduled else ():
        if device_code.around(match.start()):
            text.edits.append(Edit(match.start(), match.end(), "::"))
    for match in text.own_matches(WAITING_QUERY) if is_scheduled else ():
        text.edits.append(Edit(match.start(1), match.end(1), "Synchronize"))
    # The kernel itself is wanted, not a pointer to void: that has lost the parameters' types.
    for match in text.own_matches(LAUNCH_FUNCTION):
        cast = OLD_CAST.match(text.masked, match.end()) or NEW_CAST.match(text.masked, match.end())
        if cast:
            text.edits.append(Edit(cast.start(), cast.end(), ""))
    # In a kernel it counts the multiprocessor's cycles, and not the process's time.
    for match in text.own_matches(CLOCK):
        within = device_code.around(match.start())
        if within and within.runs_on_device_alone:
            text.edits.append(Edit(match.start(), match.end(), "::cpu_backend::device_clock"))


UNUSED = ", ::cpu_backend::old_value_is_unused()"
BEFORE_STATEMENT = {";", "{", "}", "else", "do"}


class DiscardedValues:
    """The calls of atomicExch() in one translation unit that are statements, for the scheduled form.

    Such a call only writes, so it may be the first access to its memory.
    """

    def __init__(self, text: SourceText):
        self.text = text

    def call(self, match: re.Match) -> None:
        """Marks the call whose name is matched, if it is a statement; any other is left alone."""
        opening = self.text.next_token(match.end())
        if opening.text != "(":
            return
        try:
            end = self.text.closing(opening.start) + 1
        except NotUnderstood:
            return  # the compiler will say it
        if self.text.next_token(end).text == ";" and self.begins_statement(match.start()):
            self.text.insert(end, UNUSED)

    def begins_statement(self, position: int) -> bool:
        tokens = self.text.tokens_before(position, 400)[0]
        texts = [token.text for token in tokens[-2:]]
        if texts[-1:] == ["::"] and not is_name(texts[0]):
            tokens.pop()
        if [token.text for token in tokens[-3:]] == ["(", "void", ")"]:
            tokens = tokens[:-3]
        if not tokens:
            return False
        if tokens[-1].text == ")":
            return self.ends_condition(tokens)
        return tokens[-1].text in BEFORE_STATEMENT

    @staticmethod
    def ends_condition(tokens: list[Token]) -> bool:
        """Whether the last token closes the condition of an `if` or of a loop."""
        closed = 0
        for index in range(len(tokens) - 1, 0, -1):
            closed += {")": 1, "(": -1}.get(tokens[index].text, 0)
            if closed == 0:
                return tokens[index - 1].text in STATEMENT_KEYWORDS
        return False


# Variables of a program that are named like something in namespace std, beside `using namespace std`. The
# backend's headers include more of the standard library than nvcc's, so that such a name can be ambiguous
# here and not there. The program means its own variable: that gets another name.
USING = re.compile(rf"(?<![{WORD}])using\s+namespace\s+std\s*;")
NAMES = (
    "any array atomic barrier begin byte count data empty end function hash latch list minus mutex "
    "optional plus ratio ref size span string thread variant vector"
).split()
NAME = re.compile(rf"(?<![{WORD}.])(?<!->)(?<!::)({'|'.join(NAMES)})(?![{WORD}])(?!\s*::)")
AFTER_VARIABLE = ("[", ";", "=", ",", "{")
TYPES = KEYWORDS - {"return", "else", "case", "goto", "delete", "new", "throw", "using", "typename"}


SUFFIX = "__"


def rename_variables(text: SourceText) -> set[str]:
    """Gives variables at namespace scope that are named like the library's a name of their own, with the
    SUFFIX; returns which."""
    if not USING.search(text.masked):
        return set()
    uses: dict[str, list[re.Match]] = {}
    declared, kept = set(), set()
    for match in text.own_matches(NAME):
        name = match[1]
        uses.setdefault(name, []).append(match)
        tokens, _ = text.tokens_before(match.start(), 100)
        before = tokens[-1].text if tokens else ";"
        is_declared = before in ("*", "&", ">") or is_name(before) or before in TYPES
        if not is_declared or text.next_token(match.end()).text not in AFTER_VARIABLE:
            continue
        scope = text.scope(match.start())
        if scope == "class" or SHARED_MARKER in [token.text for token in tokens[-4:]]:
            kept.add(name)  # a member, which is named after a dot as well; or one that is announced
        elif scope == "namespace" and "(" not in text.masked[tokens[-1].start : match.start()]:
            declared.add(name)
    for name in declared - kept:
        for match in uses[name]:
            text.insert(match.end(), SUFFIX)
    return declared - kept

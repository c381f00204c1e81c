# SPDX-License-Identifier: MIT
"""Calls that must be written otherwise to be compiled for a CPU."""

from __future__ import annotations

import re

from device_code import DeviceCode
from source_text import Edit, SourceText
from tokens import WORD

LAUNCH_FUNCTION = re.compile(rf"(?<![{WORD}])cudaLaunch(?:Cooperative)?Kernel\s*\(\s*")
POINTER_TYPE = r"(?:const\s+)?void\s*(?:const\s*)?\*(?:\s*const)?"
OLD_CAST = re.compile(rf"\(\s*{POINTER_TYPE}\s*\)\s*")
NEW_CAST = re.compile(rf"(?:reinterpret_cast|static_cast)\s*<\s*{POINTER_TYPE}\s*>\s*(?=\()")
CLOCK = re.compile(rf"(?<![{WORD}.>:])clock(?=\s*\(\s*\))")
# Functions of the library that the race checker stands in for; by these names g++ expands a call of constant
# size to instructions that nobody sees.
BUILTIN = re.compile(
    rf"(?<![{WORD}])__builtin_(?=(?:mem(?:cpy|move|set|cmp|chr)|str(?:len|n?cmp|chr))\s*\()"
)


def rewrite_calls(text: SourceText, device_code: DeviceCode, is_observed: bool = False) -> None:
    """Makes the edits."""
    for match in text.own_matches(BUILTIN) if is_observed else ():
        if device_code.around(match.start()):
            text.edits.append(Edit(match.start(), match.end(), "::"))
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

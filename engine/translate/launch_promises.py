# SPDX-License-Identifier: MIT
"""What the scheduled form is told of a kernel that no access shows: the bounds of its launches, what its
parameters promise, and arrays of dynamic shared memory that begin at one address."""

from __future__ import annotations

import re

from device_code import DeviceCode
from source_text import WORD, Edit, SourceText

# What host_defines.h makes of __launch_bounds__ in a .cu file.
BOUNDS = re.compile(
    rf"__cpu_backend_launch_bounds__(?<![{WORD}]__cpu_backend_launch_bounds__)\s*\("
)
CHECKS_BOUNDS = " ::cpu_backend::check_launch_bounds({most});"
PROMISES = ' ::cpu_backend::promise_read_only({name}, "{name}");'
LONG_DOUBLE = re.compile(
    rf"(?<![{WORD}])(?:long\s+double|__float128|[\d.]*(?:\.\d*|\d[eE][-+]?\d+)[lL])(?![{WORD}])"
)
HAS_LONG_DOUBLE = ' ::cpu_backend::form::used("arithmetic", "long_double");'
PACKED = re.compile(r"\b(?:packed|__packed__)\b|#\s*pragma\s+pack\b|\b_Pragma\b")
HAS_PACKED = (
    "\n[[maybe_unused]] static const bool has_packed_structures_ = "
    "::cpu_backend::has_packed_structures = true;\n"
)
HAS_TWO_ARRAYS = ' ::cpu_backend::form::used("memory", "two_dynamic_arrays");'


def take_launch_bounds(unit: SourceText) -> list[tuple[int, str]]:
    """Erases the bounds, also for whoever reads the text after this; (position, most threads) of each."""
    found = []
    for match in BOUNDS.finditer(unit.masked):
        start, end = match.start(), unit.closing(match.end() - 1) + 1
        arguments = unit.source[match.end() : end - 1]
        found.append((start, _split(arguments)[0].strip()))
        text = unit.masked[start:end]
        parts = re.finditer(r"\S+", text)
        unit.edits += [Edit(start + part.start(), start + part.end(), "") for part in parts]
        unit.masked = unit.masked[:start] + re.sub(r"\S", " ", text) + unit.masked[end:]
    return found


def check_launch_bounds(
    unit: SourceText, device_code: DeviceCode, bounds: list[tuple[int, str]]
) -> None:
    """Lets each thread of a kernel with bounds ask first whether its block is too large."""
    for position, most in bounds:
        for kernel in device_code.bodies:
            if kernel.start <= position < kernel.body:
                unit.insert(kernel.body + 1, CHECKS_BOUNDS.format(most=most))
                break


READ_ONLY = re.compile(
    rf"(?<![{WORD}])const(?![{WORD}])[^*&]*\*\s*(?:const\s+)?__restrict(?:__)?\s+(?:const\s+)?([{WORD}]+)\s*"
)


def note_read_only_parameters(unit: SourceText, device_code: DeviceCode) -> None:
    """Lets a kernel say which parameters promise that what they point to is not written."""
    for kernel in device_code.bodies:
        if "global" not in kernel.markers or kernel.parameters is None:
            continue
        end = unit.closing(kernel.parameters)
        for parameter in _split(unit.masked[kernel.parameters + 1 : end]):
            if match := READ_ONLY.fullmatch(parameter.strip()):
                unit.insert(kernel.body + 1, PROMISES.format(name=match[1]))


def note_long_double(unit: SourceText, device_code: DeviceCode) -> None:
    """Lets device code say that it computes with a type that is another one on a GPU."""
    for body in device_code.bodies:
        head = unit.masked[body.start : body.body]
        if "constexpr" not in head and LONG_DOUBLE.search(unit.masked, body.start, body.end):
            unit.insert(body.body + 1, HAS_LONG_DOUBLE)


def note_packed_structures(unit: SourceText) -> None:
    """Lets a program say that it has structures whose members need not be aligned."""
    if PACKED.search(unit.masked):
        unit.insert(len(unit.masked), HAS_PACKED)


def _split(arguments: str) -> list[str]:
    """At the commas outside of all brackets."""
    parts, depth = [""], 0
    for letter in arguments:
        depth += (letter in "([{<") - (letter in ")]}>")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def note_two_arrays(
    unit: SourceText, device_code: DeviceCode, arrays: list[tuple[str, int, str]]
) -> None:
    """Lets functions that use two arrays of dynamic shared memory say so. `arrays`: name, position, scope."""
    of_all = {name for name, _, scope in arrays if scope == "namespace"}
    if len({name for name, _, _ in arrays}) < 2:
        return
    for body in device_code.bodies:
        names = {name for name, at, _ in arrays if body.body < at < body.end}
        words = re.findall(rf"[{WORD}]+", unit.masked[body.body : body.end])
        if len(names | (of_all & set(words))) > 1:
            unit.insert(body.body + 1, HAS_TWO_ARRAYS)

# SPDX-License-Identifier: MIT
"""The files between lab and the program that runs a student's function; case_file.hpp has their form."""

import contextlib
from typing import NamedTuple, Optional

from grader.exercises.cases import Array, PerLaunch

BEGINNING = b"cases 1\n"
PRINTED = "printed"  # instead of an argument's place


class Launch(NamedTuple):
    contents: dict  # {place of the argument: its elements' bytes}; of a program {PRINTED: its text}
    changed: list  # places of `given` arrays that were written to


class CudaError(NamedTuple):
    name: str  # 'cudaErrorIllegalAddress'
    words: str  # the runtime's own


class WatchedLoads(NamedTuple):
    """Has the race checker say which bytes each launch loads."""

    # Of an earlier run: what each launch has loaded, as the report has it. All other bytes are changed.
    of_launches: tuple = ()
    drawn_from: int = 0  # what they are changed to


class CaseResult:
    """What one case came to, as far as it came."""

    def __init__(self):
        self.launches = []
        self.error = None  # a CudaError
        self.is_done = False
        self.microseconds: Optional[float] = None
        self.nanoseconds: Optional[tuple] = None  # of the student's call and of the solution's
        self.returned: Optional[int] = None  # a program's exit code


def written_cases(cases, function, loads=None):
    """The bytes of a file of cases; `function` is the name of the function that they call, `loads` are
    WatchedLoads."""
    parts = [BEGINNING]
    for case in cases:
        parts.append(f"case {case.name}\n".encode())
        for argument in case.arguments:
            parts += _argument(argument)
        parts += _loads(loads) if loads else []
        parts.append(f"call {case.function or function} {case.launches}\n".encode())
    return b"".join(parts)


def _loads(loads):
    yield b"watch_loads\n"
    for pieces in loads.of_launches:
        yield f"loaded {loads.drawn_from} {' '.join(map(str, pieces))}\n".encode()


def _argument(argument):
    if isinstance(argument, PerLaunch):
        return [f"number {' '.join(map(repr, argument.numbers))}\n".encode()]
    if not isinstance(argument, Array):
        return [f"number {argument!r}\n".encode()]
    kind, type = argument.kind, argument.type
    if kind == "printed":
        return []
    line = f"{kind} {type.size} {argument.count} {argument.name}\n".encode()
    return [line] if argument.content is None else [line, type.packed(argument.content)]


def read_results(content):
    """[CaseResult], for as many cases as were begun.

    It ends where the content is cut off, or is nothing that the runner writes.
    """
    results = []
    with contextlib.suppress(ValueError, IndexError):
        _read(content, results)
    return results


def _read(content, results):
    at = 0
    while True:
        end = content.find(b"\n", at)
        if end < 0:
            return
        words = content[at:end].decode(errors="replace").split(" ")
        at = end + 1
        if words[0] == "case":
            results.append(CaseResult())
        elif not results:
            return
        elif words[0] in ("array", "printed"):
            size = int(words[-1])
            if size < 0:
                raise ValueError  # else a forged file would be read for ever
            if words[0] == "printed":
                results[-1].launches.append(Launch({}, []))
            place = int(words[1]) if words[0] == "array" else PRINTED
            results[-1].launches[-1].contents[place] = content[at : at + size]
            at += size
        else:
            _take(results[-1], words)


def _take(result, words):
    if words[0] == "launch":
        result.launches.append(Launch({}, []))
    elif words[0] == "changed":
        result.launches[-1].changed.append(int(words[1]))
    elif words[0] == "error":
        result.error = CudaError(words[1], " ".join(words[2:]))
    elif words[0] == "microseconds":
        result.microseconds = float(words[1])
    elif words[0] == "nanoseconds":
        result.nanoseconds = tuple(map(int, words[1:]))
    elif words[0] == "returned":
        result.returned = int(words[1])
        result.is_done = result.returned == 0
    elif words[0] == "done":
        result.is_done = True

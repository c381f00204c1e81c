# SPDX-License-Identifier: MIT
"""What an exercise.py is written with: facts, cases, their arguments and what must come out.

An exercise.py calls exercise(...). It defines cases(random), which yields a Case for each call of the
student's function or each run of the student's program, the smallest first; and, if there are limits,
case_of_another_size(random), which returns the counted case once more, of a size that only a grade knows.
`random` is a random.Random whose seed is public for `check` and secret for a grade, so whatever is drawn
from it must leave the case what its name says.
"""

import contextlib
import struct
from typing import Callable, NamedTuple, Optional, Union

FORMATS = {
    "char": "b",
    "unsigned char": "B",
    "int": "i",
    "unsigned": "I",
    "long long": "q",
    "unsigned long long": "Q",
    "std::size_t": "Q",
    "float": "f",
    "double": "d",
}
POISON = 0xA5  # every byte of an array that the function is to write


def exercise(
    *,
    number: int,  # in its chapter
    kind: str,  # write, repair or program
    minutes: int,
    points: dict,  # {part that is judged: points}
    # What follows may be left out.
    builds_on: list = ...,  # chapters and exercises
    limits: dict = ...,
    answers: list = ...,  # the course's headers that have what is to be written
    speed: dict = ...,  # points for speed
    streams: bool = ...,  # whether it creates streams, whose work a check does not time
    starter_fails: dict = ...,  # the part that rejects the starter, and a piece of what is said
    hints: list = ...,  # three texts in Markdown, the vaguest first
):
    """The facts of the exercise. catalogue.py reads the call's text, so all arguments are literals."""


class ElementType:
    """A type of C++: one of FORMATS, or a tuple of them, which is a struct of such members."""

    def __init__(self, name):
        self.is_struct = not isinstance(name, str)
        members = name if self.is_struct else (name,)
        codes = [FORMATS[member] for member in members]
        widest = max(codes, key=struct.calcsize)
        self.format = "@" + "".join(codes) + "0" + widest  # the padding at a struct's end
        self.size = struct.calcsize(self.format)

    def number(self, word):
        """The number that stands there. Raises ValueError if none of this type does."""
        return float(word) if self.format[1] in "fd" else int(word)

    def packed(self, elements):
        if self.is_struct:
            return b"".join(struct.pack(self.format, *element) for element in elements)
        return struct.pack(f"@{len(elements)}{self.format[1]}", *elements)

    def unpacked(self, content):
        if self.is_struct:
            return list(struct.iter_unpack(self.format, content))
        return list(struct.unpack(f"@{len(content) // self.size}{self.format[1]}", content))


class Array(NamedTuple):
    """An array in global memory, or the numbers that a program prints."""

    kind: str  # as in the file of cases: given, updated, kept, returned, scratch; or printed
    name: str
    type: ElementType
    count: int
    content: Optional[list] = None  # of given, updated and kept
    expected: Optional[list] = None  # after each launch; None: not judged so
    within: Union[float, list, None] = None  # how far from that an element may be
    judge: Optional[Callable] = None  # takes the elements; returns what is wrong with them, or None


def given(name, type, content):
    """An array that the function reads, and must not change."""
    return Array("given", name, ElementType(type), len(content), content)


def returned(name, type, expected=None, within=None, *, count=None, judge=None):
    """An array that the function writes; it finds each byte set to POISON, at each launch anew."""
    count = len(expected) if count is None else count
    return Array("returned", name, ElementType(type), count, None, expected, within, judge)


def updated(name, type, content, expected=None, within=None, *, judge=None):
    """An array that the function reads and writes; each launch finds the content given here. If nothing
    is expected in it, its stores are no part of the result."""
    type = ElementType(type)
    return Array("updated", name, type, len(content), content, expected, within, judge)


def kept(name, type, content, expected=None, *, judge=None):
    """An array that is set once, before the first launch: a counter, for one.

    Each launch finds what the last one left. `expected` and `judge` hold after every one of them.
    """
    type = ElementType(type)
    return Array("kept", name, type, len(content), content, expected, None, judge)


def scratch(name, type, count):
    """Memory that the function may use as it likes; what is in it at first means nothing."""
    return Array("scratch", name, ElementType(type), count)


def printed(name, type, expected, within=None):
    """All that a program prints to stdout: these numbers, with space or line feeds between them."""
    return Array("printed", name, ElementType(type), len(expected), None, expected, within)


class PerLaunch(NamedTuple):
    """A number that is another one at each launch: at the first one numbers[0], and so on, and from the
    beginning again after the last."""

    numbers: tuple


def per_launch(*numbers):
    return PerLaunch(numbers)


class Case(NamedTuple):
    """One call of the student's function, made `launches` times."""

    name: str  # such as "1,000 values, 4 blocks of 64 threads"
    arguments: list  # of Array, numbers and PerLaunch
    launches: int = 2
    function: str = ""  # which function; the exercise's name if empty
    races: bool = False  # small enough to be run in 20 schedules, and made for it
    counted: bool = False  # the one that the limits are counted in
    elements: int = 0  # that "per element" means in it
    question: str = ""  # what to look at if this case fails
    every_execution: bool = (
        False  # so small that all its executions can be run; at most one case is
    )
    second: Optional["Case"] = None  # whose arguments every second launch has

    def of_launch(self, launch):
        """The Case whose arguments this launch has, counted from 0."""
        return self.second if self.second and launch % 2 else self

    @property
    def size(self):
        """The number of elements in its arrays."""
        return sum(each.count for each in self.arguments if isinstance(each, Array))

    def can_be_followed_by(self, other):
        """Whether this one's arrays have room for those of the other, of which no other one is empty, and
        those that are kept fit both."""
        return (self.function, len(self.arguments)) == (
            other.function,
            len(other.arguments),
        ) and all(
            _has_room_for(mine, theirs) for mine, theirs in zip(self.arguments, other.arguments)
        )


def _has_room_for(mine, theirs):
    if not isinstance(mine, Array):
        return True
    if mine.kind == "kept" and mine.content[: theirs.count] != theirs.content:
        return False
    return 0 < theirs.count <= mine.count or mine.count == theirs.count


def several(count, noun):
    """'1 block', '2 blocks'."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def grid(blocks, threads):
    """'2 blocks of 1 thread'; if each launch has its own number, '7 blocks, then 4 blocks of 64 threads'."""
    launches = blocks if isinstance(blocks, tuple) else (blocks,)
    counts = ", then ".join(several(count, "block") for count in launches)
    return f"{counts} of {several(threads, 'thread')}"


def program_run(name, words, printed, **marks):
    """The Case of one run of a whole program: `words` are the numbers on its command line, `printed` is
    what it must print. `marks` are Case's, from `races` on; one case alone has races=True, because each
    schedule of a program is a process of its own."""
    return Case(name, [*words, printed], launches=1, **marks)


# The files between lab and the program that runs the student's function: grader/runner/case_file.hpp has
# their form.

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

    # An earlier run's: what each launch has loaded, as the report has it. All other bytes are changed.
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
        for place, argument in enumerate(case.arguments):
            if isinstance(argument, Array):
                parts += _array(argument)
            else:
                parts.append(f"number {' '.join(map(repr, _numbers(case, place)))}\n".encode())
        if case.second:
            for place, (mine, other) in enumerate(zip(case.arguments, case.second.arguments)):
                parts += _again(place, mine, other)
        parts += _loads(loads) if loads else []
        parts.append(f"call {case.function or function} {case.launches}\n".encode())
    return b"".join(parts)


def _loads(loads):
    yield b"watch_loads\n"
    for pieces in loads.of_launches:
        yield f"loaded {loads.drawn_from} {' '.join(map(str, pieces))}\n".encode()


def _again(place, array, other):
    """What every second launch finds in an array instead, and the poison that is left of it."""
    if isinstance(array, Array) and array.kind in ("given", "updated"):
        yield f"again {place}\n".encode()
        yield other.type.packed(other.content).ljust(array.count * array.type.size, bytes([POISON]))


def _numbers(case, place):
    """Those of the launches, one after the other."""
    own, others = (
        each.numbers if isinstance(each, PerLaunch) else (each,)
        for each in (case.of_launch(launch).arguments[place] for launch in (0, 1))
    )
    if not case.second:
        return own
    of_launches = ((others if launch % 2 else own, launch) for launch in range(case.launches))
    return [numbers[launch % len(numbers)] for numbers, launch in of_launches]


def _array(array):
    kind, type = array.kind, array.type
    if kind == "updated" and array.expected is None and array.judge is None:
        kind = "refilled"
    if kind == "printed":
        return []
    line = f"{kind} {type.size} {array.count} {array.name}\n".encode()
    return [line] if array.content is None else [line, type.packed(array.content)]


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

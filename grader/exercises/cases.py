# SPDX-License-Identifier: MIT
"""What an exercise's cases.py is written with: cases, their arguments and what must come out.

An exercise's cases.py defines cases(random), which yields a Case for each call of the student's function
or each run of the student's program, the smallest first; and, if there are limits,
case_of_another_size(random), which returns the counted case once more, of a size that only a grade knows.
`random` is a random.Random whose seed is public for `check` and secret for a grade, so whatever is drawn
from it must leave the case what its name says.
"""

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
    """An array that the function reads and writes; each launch finds the content given here."""
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


def program_run(name, words, printed, **marks):
    """The Case of one run of a whole program: `words` are the numbers on its command line, `printed` is
    what it must print. `marks` are Case's, from `races` on; one case alone has races=True, because each
    schedule of a program is a process of its own."""
    return Case(name, [*words, printed], launches=1, **marks)

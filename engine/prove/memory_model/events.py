# SPDX-License-Identifier: MIT
"""The events of a program, and the relations between them that hold in all of its executions.

The sections are those of the PTX ISA.
"""

import dataclasses
import itertools

from engine.prove.memory_model.program import (
    Kind,
    MemoryOrder,
    ThreadScope,
    may_race,
    morally_strong,
)


class Relation:
    """A set of pairs of numbers below `size`: bit j of rows[i] says that (i, j) is in it."""

    def __init__(self, size, pairs=()):
        self.rows = [0] * size
        for left, right in pairs:
            self.rows[left] |= 1 << right

    @staticmethod
    def _of(rows):
        result = Relation(0)
        result.rows = rows
        return result

    def __contains__(self, pair):
        return self.rows[pair[0]] >> pair[1] & 1 == 1

    def __or__(self, other):
        return Relation._of([left | right for left, right in zip(self.rows, other.rows)])

    def __and__(self, other):
        return Relation._of([left & right for left, right in zip(self.rows, other.rows)])

    def __sub__(self, other):
        return Relation._of([left & ~right for left, right in zip(self.rows, other.rows)])

    def __bool__(self):
        return any(self.rows)

    def pairs(self):
        return [
            (left, right)
            for left, row in enumerate(self.rows)
            for right in range(row.bit_length())
            if row >> right & 1
        ]

    def then(self, other):
        """The composition: (i, k) where (i, j) is in this relation and (j, k) is in the other."""
        composed = []
        for row in self.rows:
            union = 0
            while row:
                lowest = row & -row
                union |= other.rows[lowest.bit_length() - 1]
                row ^= lowest
            composed.append(union)
        return Relation._of(composed)

    def inverse(self):
        return Relation(len(self.rows), ((right, left) for left, right in self.pairs()))

    def closure(self):
        """The transitive closure (Warshall)."""
        rows = list(self.rows)
        for middle in range(len(rows)):
            bit = 1 << middle
            for left, row in enumerate(rows):
                if row & bit:
                    rows[left] = row | rows[middle]
        return Relation._of(rows)

    def is_irreflexive(self):
        return not any(row >> number & 1 for number, row in enumerate(self.rows))

    def is_acyclic(self):
        return self.closure().is_irreflexive()


@dataclasses.dataclass(eq=False)
class InitialWrite:
    """The write that initialises a location before any thread starts (section 8.2.6)."""

    location: str
    kind = Kind.write
    thread = None
    order = MemoryOrder.relaxed
    scope = ThreadScope.system
    strong, reads, writes, acquires, releases = True, False, True, False, False

    def includes(self, thread):
        return True


@dataclasses.dataclass(eq=False)
class Event:
    """An operation, or one half of a read-modify-write, which the orders relate separately."""

    number: int
    operation: object
    reads: bool
    writes: bool


class ProgramEvents:
    """The events of a program, and the relations between them that no execution changes."""

    def __init__(self, program):
        if program.comparisons:
            raise ValueError("a compare-and-swap is an update or a read: Program.case() decides.")
        self.program = program
        self.events = []
        self.first = {}  # of each operation: its only event, or its read half
        self.last = {}  # of each operation: its only event, or its write half
        for one in program.operations:
            if one.kind is Kind.read_modify_write:
                self.first[one] = self._add(one, True, False)
                self.last[one] = self._add(one, False, True)
            else:
                self.first[one] = self.last[one] = self._add(one, one.reads, one.writes)
        locations = {one.location for one in program.operations if one.location is not None}
        for location in sorted(locations):
            self._add(InitialWrite(location), False, True)
        self.reads = [each for each in self.events if each.reads]
        self.writes = [each for each in self.events if each.writes]
        self._relate()

    def _add(self, operation, reads, writes):
        self.events.append(Event(len(self.events), operation, reads, writes))
        return self.events[-1]

    def _relation(self, holds):
        """All pairs of two different events for which holds(left, right)."""
        return Relation(
            len(self.events),
            (
                (left.number, right.number)
                for left, right in itertools.permutations(self.events, 2)
                if holds(left, right)
            ),
        )

    def _relate(self):
        def in_program_order(left, right):
            one, other = left.operation, right.operation
            return one.thread is other.thread is not None and left.number < right.number

        def overlap(left, right):
            location = left.operation.location
            return location is not None and location == right.operation.location

        def from_the_start(left, right):
            """Initial writes come first, and a kernel ends before the next one starts (8.9.4)."""
            one, other = left.operation.thread, right.operation.thread
            return other is not None and (one is None or one.kernel < other.kernel)

        self.program_order = self._relation(in_program_order)
        self.overlap = self._relation(overlap)
        self.kernel_order = self._relation(from_the_start)
        self.morally_strong = self._relation(
            lambda left, right: morally_strong(left.operation, right.operation)
        )
        self.order_per_location = self.program_order & self.overlap
        self.write_pairs = self._relation(lambda left, right: left.writes and right.writes)
        self.halves = Relation(
            len(self.events),
            (
                (self.first[one].number, self.last[one].number)
                for one in self.first
                if one.kind is Kind.read_modify_write
            ),
        )
        self.barriers = Relation(
            len(self.events),
            (
                (self.first[left].number, self.first[right].number)
                for meeting in self.program.meetings()
                for left, right in itertools.permutations(meeting, 2)
            ),
        )
        self.release_patterns = self._patterns(self._is_release_pattern)
        self.acquire_patterns = self._patterns(self._is_acquire_pattern)
        self.sc_fences = [
            each.number for each in self.events if each.operation.order is MemoryOrder.seq_cst
        ]
        self.sc_fence_pairs = self.morally_strong & Relation(
            len(self.events), itertools.permutations(self.sc_fences, 2)
        )
        self.possible_races = [
            (one, other)
            for one, other in itertools.combinations(self.program.operations, 2)
            if may_race(one, other)
        ]

    def _patterns(self, is_pattern):
        """Pairs of the first and the last event of a pattern, which may be one and the same."""
        return Relation(
            len(self.events),
            (
                (first.number, last.number)
                for first, last in itertools.product(self.events, repeat=2)
                if first.operation.thread is last.operation.thread is not None
                and is_pattern(first, last)
            ),
        )

    def _is_release_pattern(self, first, last):
        """Section 8.8: from a release operation of the location, or a fence, to a strong write."""
        if not (last.writes and last.operation.strong):
            return False
        if first.operation.kind is Kind.fence:
            return (first.number, last.number) in self.program_order
        return (
            first.writes
            and first.operation.releases
            and (first is last or (first.number, last.number) in self.order_per_location)
        )

    def _is_acquire_pattern(self, first, last):
        """Section 8.8: from a strong read to an acquire operation of the location, or a fence."""
        if not (first.reads and first.operation.strong):
            return False
        if last.operation.kind is Kind.fence:
            return (first.number, last.number) in self.program_order
        return (
            last.reads
            and last.operation.acquires
            and (first is last or (first.number, last.number) in self.order_per_location)
        )

# SPDX-License-Identifier: MIT
"""Enumerates every execution of a small program that the axioms of the PTX ISA allow.

The axioms are those of PTX ISA section 8.10, with the orders of section 8.9. An execution is a
choice of the write that each read sees, of a Fence-SC order and of a coherence order; one that
contradicts an axiom is dropped. No Thin Air (8.10.4) is left out: the programs have no data
dependencies.
"""

import dataclasses
import itertools
import math

from memory_model.interleavings import check_barriers
from memory_model.program import (
    INITIAL,
    kind,
    may_race,
    memory_order,
    morally_strong,
    thread_scope,
    verdict,
)
from memory_model.relation import relation

# More candidates than this would take minutes.
LARGEST_CANDIDATE_COUNT = 200_000


@dataclasses.dataclass(eq=False)
class initial_write:
    """The write that initialises a location before any thread starts (section 8.2.6)."""

    location: str
    kind = kind.write
    thread = None
    order = memory_order.relaxed
    scope = thread_scope.system
    strong, reads, writes, acquires, releases = True, False, True, False, False

    def includes(self, thread):
        return True


@dataclasses.dataclass(eq=False)
class event:
    """An operation, or one half of a read-modify-write: the orders relate its halves by themselves."""

    number: int
    operation: object
    reads: bool
    writes: bool


@dataclasses.dataclass
class execution:
    causality: relation  # section 8.9.5
    sources: dict  # of each read: the write that it saw, or INITIAL


def verdict_of(program, given=None):
    """Races and possible reads over all executions in which the reads in `given` saw those writes.

    `given` maps reads to writes or to INITIAL. Raises ValueError where it makes no sense, where the
    program's barriers never meet, or where there would be too much to enumerate.
    """
    given = given or {}
    program.check_given(given)
    check_barriers(program)
    model = program_model(program)
    found = verdict()
    for each in model.executions(given):
        found.add(model.races(each), each.sources)
    return found


class program_model:
    """The events of a program, and the relations between them that no execution changes."""

    def __init__(self, program):
        self.program = program
        self.events = []
        self.first = {}  # of each operation: its only event, or its read half
        self.last = {}  # of each operation: its only event, or its write half
        for one in program.operations:
            if one.kind is kind.read_modify_write:
                self.first[one] = self._add(one, True, False)
                self.last[one] = self._add(one, False, True)
            else:
                self.first[one] = self.last[one] = self._add(one, one.reads, one.writes)
        locations = {one.location for one in program.operations if one.location is not None}
        self.initial = [
            self._add(initial_write(location), False, True) for location in sorted(locations)
        ]
        self.reads = [each for each in self.events if each.reads]
        self.writes = [each for each in self.events if each.writes]
        self._relate()

    def _add(self, operation, reads, writes):
        self.events.append(event(len(self.events), operation, reads, writes))
        return self.events[-1]

    def _relation(self, holds):
        """All pairs of two different events for which holds(left, right)."""
        return relation(
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
        self.halves = relation(
            len(self.events),
            (
                (self.first[one].number, self.last[one].number)
                for one in self.first
                if one.kind is kind.read_modify_write
            ),
        )
        self.barriers = relation(
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
            each.number for each in self.events if each.operation.order is memory_order.seq_cst
        ]
        self.sc_fence_pairs = self.morally_strong & relation(
            len(self.events), itertools.permutations(self.sc_fences, 2)
        )
        self.possible_races = [
            (one, other)
            for one, other in itertools.combinations(self.program.operations, 2)
            if may_race(one, other)
        ]

    def _patterns(self, is_pattern):
        """Pairs of the first and the last event of a pattern, which may be one and the same."""
        return relation(
            len(self.events),
            (
                (first.number, last.number)
                for first, last in itertools.product(self.events, repeat=2)
                if first.operation.thread is last.operation.thread is not None
                and is_pattern(first, last)
            ),
        )

    def _is_release_pattern(self, first, last):
        """Section 8.8: from a release operation or a fence to a strong write, all of one location."""
        if not (last.writes and last.operation.strong):
            return False
        if first.operation.kind is kind.fence:
            return (first.number, last.number) in self.program_order
        return (
            first.writes
            and first.operation.releases
            and (first is last or (first.number, last.number) in self.order_per_location)
        )

    def _is_acquire_pattern(self, first, last):
        """Section 8.8: from a strong read to an acquire operation of its location, or to a fence."""
        if not (first.reads and first.operation.strong):
            return False
        if last.operation.kind is kind.fence:
            return (first.number, last.number) in self.program_order
        return (
            last.reads
            and last.operation.acquires
            and (first is last or (first.number, last.number) in self.order_per_location)
        )

    def executions(self, given):
        """Yields each execution in which the reads in `given` saw those writes."""
        sources = [self._possible_sources(read, given) for read in self.reads]
        fence_orders = self._fence_sc_orders()
        count = math.prod(map(len, sources)) * len(fence_orders)
        if count > LARGEST_CANDIDATE_COUNT:
            raise ValueError(
                f"{self.program.title or 'this program'} has {count} candidate executions, "
                f"more than {LARGEST_CANDIDATE_COUNT}: make it smaller."
            )
        for choice in itertools.product(*sources):
            reads_from = relation(
                len(self.events),
                ((write.number, read.number) for write, read in zip(choice, self.reads)),
            )
            observation = self.observation_order(reads_from)
            synchronizes = (
                self.release_patterns.then(observation).then(self.acquire_patterns)
                & self.morally_strong
            )
            for fence_order in fence_orders:
                causality = self.causality_order(observation, synchronizes | fence_order)
                if not self.fence_sc_axiom(causality, fence_order):
                    continue
                for coherence in self._coherence_orders(causality):
                    if self._communication_axioms(reads_from, coherence, causality):
                        yield execution(causality, self._named_sources(choice))

    def _possible_sources(self, read, given):
        """The writes that a read may see, before the axioms are asked."""
        known = given.get(read.operation)
        return [
            write
            for write in self.writes
            if (write.number, read.number) in self.overlap
            and write.operation is not read.operation
            and (read.number, write.number) not in self.program_order
            and (known is None or known == self._source(write))
        ]

    @staticmethod
    def _source(write):
        return INITIAL if write.operation.thread is None else write.operation

    def _named_sources(self, choice):
        return {
            read.operation: self._source(write) for read, write in zip(self.reads, choice)
        }

    def _fence_sc_orders(self):
        """Section 8.9.3: acyclic relations of all pairs of morally strong fence.sc operations."""
        orders = {}
        for sequence in itertools.permutations(self.sc_fences):
            pairs = list(itertools.combinations(sequence, 2))
            if any((later, earlier) in self.program_order for earlier, later in pairs):
                continue
            order = relation(len(self.events), pairs) & self.sc_fence_pairs
            orders[tuple(order.rows)] = order
        return list(orders.values())

    def observation_order(self, reads_from):
        """Section 8.9.2: a write to its morally strong reads, directly or along a chain of RMWs."""
        observation = reads_from & self.morally_strong
        while True:
            longer = observation | observation.then(self.halves).then(observation)
            if longer.rows == observation.rows:
                return observation
            observation = longer

    def causality_order(self, observation, synchronizes):
        """Section 8.9.5, without proxies."""
        base = (
            self.program_order | self.kernel_order | self.barriers | synchronizes
        ).closure()
        return base | observation.then(base)

    def fence_sc_axiom(self, causality, fence_order):
        """Section 8.10.2: Fence-SC order can't contradict causality order."""
        return not (causality & self.sc_fence_pairs) - fence_order

    def _coherence_orders(self, causality):
        """Section 8.9.6, with the axiom Coherence (8.10.1) built in.

        It follows causality order, and it relates all morally strong writes of one location.
        """
        writes = self.write_pairs & self.overlap
        required = causality & writes
        undecided = [
            (left, right)
            for left, right in (self.morally_strong & writes).pairs()
            if left < right and (left, right) not in required and (right, left) not in required
        ]
        for choice in itertools.product((False, True), repeat=len(undecided)):
            chosen = (
                (right, left) if swap else (left, right)
                for (left, right), swap in zip(undecided, choice)
            )
            coherence = (required | relation(len(self.events), chosen)).closure()
            if coherence.is_irreflexive():
                yield coherence

    def _communication_axioms(self, reads_from, coherence, causality):
        """The axioms about communication order (section 8.9.7)."""
        from_reads = reads_from.inverse().then(coherence)
        return (
            self.atomicity_axiom(from_reads, coherence)
            and self.per_location_axiom(reads_from | coherence | from_reads)
            and self.causality_axiom(reads_from | from_reads, causality)
        )

    def atomicity_axiom(self, from_reads, coherence):
        """Section 8.10.3: no morally strong write comes between the halves of an atomic."""
        strongly = self.morally_strong
        return not (from_reads & strongly).then(coherence & strongly) & self.halves

    def per_location_axiom(self, communication):
        """Section 8.10.5, Sequential Consistency Per Location."""
        return ((communication & self.morally_strong) | self.order_per_location).is_acyclic()

    def causality_axiom(self, communication, causality):
        """Section 8.10.6: communication order can't contradict causality order."""
        return communication.then(causality).is_irreflexive()

    def races(self, execution):
        """Section 8.7.1. An atomic is one operation: where one half is ordered, both are."""
        causality = execution.causality
        return {
            frozenset((one, other))
            for one, other in self.possible_races
            if not any(
                (left.number, right.number) in causality or (right.number, left.number) in causality
                for left in (self.first[one], self.last[one])
                for right in (self.first[other], self.last[other])
            )
        }

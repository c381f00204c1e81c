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

from engine.prove.memory_model.events import ProgramEvents, Relation
from engine.prove.memory_model.program import INITIAL, Kind, Verdict

# More candidates than this would take minutes.
LARGEST_CANDIDATE_COUNT = 200_000


@dataclasses.dataclass
class Execution:
    causality: Relation  # section 8.9.5
    sources: dict  # of each read: the write that it saw, or INITIAL
    coherence: Relation  # section 8.9.6


def verdict_of(program, given=None):
    """Races and possible reads over all executions in which the reads in `given` saw those writes.

    `given` maps reads to writes or to INITIAL. Raises ValueError where it makes no sense, where the
    program's barriers never meet, or where there would be too much to enumerate.
    """
    given = given or {}
    program.check_given(given)
    program.check_barriers()
    model = Enumeration(program)
    found = Verdict()
    for each in model.executions(given):
        found.add(model.races(each), each.sources)
    return found


class Enumeration(ProgramEvents):
    """The executions of a program, and the axioms that rule out the others."""

    def executions(self, given):
        """Yields each execution in which the reads in `given` saw those writes."""
        sources = [self._possible_sources(read, given) for read in self.reads]
        fence_orders = self._fence_sc_orders()
        self._check_count(math.prod(map(len, sources)) * len(fence_orders), "executions")
        for choice in itertools.product(*sources):
            reads_from = Relation(
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
                        yield Execution(causality, self._named_sources(choice), coherence)

    def _check_count(self, count, of_what):
        if count > LARGEST_CANDIDATE_COUNT:
            raise ValueError(
                f"{self.program.title or 'this program'} has {count} candidates for its {of_what}, "
                f"more than {LARGEST_CANDIDATE_COUNT}: make it smaller."
            )

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
            and self._compares(read.operation, self._source(write))
        ]

    def _compares(self, one, source):
        """Whether a compare-and-swap that gets this turns out as the operation that it is here."""
        if one not in self.program.expected:
            return True
        return (source == self.program.expected[one]) == (one.kind is Kind.read_modify_write)

    @staticmethod
    def _source(write):
        return INITIAL if write.operation.thread is None else write.operation

    def _named_sources(self, choice):
        return {read.operation: self._source(write) for read, write in zip(self.reads, choice)}

    def _fence_sc_orders(self):
        """Section 8.9.3: acyclic relations of all pairs of morally strong fence.sc operations."""
        self._check_count(math.factorial(len(self.sc_fences)), "orders of fences")
        orders = {}
        for sequence in itertools.permutations(self.sc_fences):
            pairs = list(itertools.combinations(sequence, 2))
            if any((later, earlier) in self.program_order for earlier, later in pairs):
                continue
            order = Relation(len(self.events), pairs) & self.sc_fence_pairs
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
        base = (self.program_order | self.kernel_order | self.barriers | synchronizes).closure()
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
        self._check_count(2 ** len(undecided), "coherence orders")
        for choice in itertools.product((False, True), repeat=len(undecided)):
            chosen = (
                (right, left) if swap else (left, right)
                for (left, right), swap in zip(undecided, choice)
            )
            coherence = (required | Relation(len(self.events), chosen)).closure()
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

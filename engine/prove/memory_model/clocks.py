# SPDX-License-Identifier: MIT
"""The race checker's algorithm, in small: clocks that follow causality order as a program runs.

The rules are those of PTX ISA sections 8.8 and 8.9 again, but for one interleaving at a time: each
read sees the latest write, and races are found among the operations that have happened. The
axioms allow weaker executions than interleavings, so this may find fewer races than `axioms` do,
and must never find another one.
"""

import dataclasses

from engine.prove.memory_model.interleavings import interleavings
from engine.prove.memory_model.program import (
    INITIAL,
    Kind,
    MemoryOrder,
    Verdict,
    may_race,
    morally_strong,
)


def verdict_of(program, given=None, reduced=True):
    """Races and reads over all interleavings in which the reads in `given` saw those writes."""
    given = given or {}
    program.check_given(given)
    found = Verdict()
    for steps in interleavings(program, given, reduced):
        found.add(*run(program, steps))
    return found


def run(program, steps):
    """The races of one interleaving, and the write that each of its reads saw."""
    machine = ClockMachine(program)
    for step in steps:
        machine.take(step)
    return machine.races, machine.sources


@dataclasses.dataclass
class Knowledge:
    """What a thread knows to have happened before what it does next."""

    clock: dict = dataclasses.field(default_factory=dict)  # thread -> position of an operation
    # fence.sc operations whose effect this thread publishes and has seen; see clock_machine._fence.
    published_fences: set = dataclasses.field(default_factory=set)
    seen_fences: set = dataclasses.field(default_factory=set)
    # Writes that came before this thread in observation order, and the operations after that.
    observed: set = dataclasses.field(default_factory=set)

    def copy(self):
        return Knowledge(
            dict(self.clock),
            set(self.published_fences),
            set(self.seen_fences),
            set(self.observed),
        )

    def join(self, other):
        for thread, position in other.clock.items():
            self.clock[thread] = max(position, self.clock.get(thread, -1))
        self.published_fences |= other.published_fences
        self.seen_fences |= other.seen_fences
        self.observed |= other.observed


@dataclasses.dataclass
class Head:
    """The first operation of a release pattern, and what its thread knew then."""

    operation: object
    known: Knowledge

    def meets(self, tail):
        """Whether the pattern may synchronise with an acquire pattern that ends with `tail`."""
        return self.operation.includes(tail.thread) and tail.includes(self.operation.thread)


@dataclasses.dataclass
class Written:
    """The latest write of a location, and what goes with its value."""

    write: object
    heads: list  # of release patterns that end with this write, or with one earlier in its chain
    observed: set  # this write and those before it in a chain of RMWs
    fences: set  # fence.sc operations before this write
    chain_fences: set  # and before the writes in its chain


class ClockMachine:
    def __init__(self, program):
        self.races = set()
        self.sources = {}
        self.history = {}  # of each location: the operations so far
        self.latest = {}  # of each location: what is `written`
        self.sc_fences = {}  # of each fence.sc so far: its head
        self.known = {each: Knowledge() for each in program.threads}
        # In program order only: no barrier hands these on.
        self.fence_heads = {each: [] for each in program.threads}
        self.release_heads = {}  # of each thread and location: heads of its release operations
        self.pending = {each: [] for each in program.threads}  # heads that wait for a fence
        self.pending_at = {}  # of each thread and location: heads that wait for an acquire
        self.kernel = 0

    def take(self, step):
        self._start_kernel(step[0].thread.kernel)
        for one in step:
            self.known[one.thread].clock[one.thread] = one.position
        if step[0].kind is Kind.barrier:
            self._barrier(step)
        elif step[0].kind is Kind.fence:
            self._fence(step[0])
        else:
            self._access(step[0])

    def _start_kernel(self, kernel):
        """The end of a kernel orders all of it before the next one (section 8.9.4)."""
        if kernel == self.kernel:
            return
        self.kernel = kernel
        everything = Knowledge()
        for known in self.known.values():
            everything.join(known)
        for each in self.known:
            if each.kernel == kernel:
                self.known[each] = everything.copy()

    def _barrier(self, step):
        everything = Knowledge()
        for one in step:
            everything.join(self.known[one.thread])
        for one in step:
            self.known[one.thread] = everything.copy()

    def _fence(self, fence):
        """Ends the acquire patterns of this thread's reads, then begins release patterns.

        A fence.sc also joins earlier ones, but only those whose thread's later writes were seen:
        the order of two fences that nothing relates is the schedule's luck.
        """
        known = self.known[fence.thread]
        for each in self.pending[fence.thread]:
            if each.meets(fence):
                known.join(each.known)
        if fence.order is MemoryOrder.seq_cst:
            for other in [each for each in self.sc_fences if each in known.seen_fences]:
                if self.sc_fences[other].meets(fence):
                    known.join(self.sc_fences[other].known)
            known.published_fences.add(fence)
        here = Head(fence, known.copy())
        self.fence_heads[fence.thread].append(here)
        if fence.order is MemoryOrder.seq_cst:
            self.sc_fences[fence] = here

    def _access(self, one):
        known = self.known[one.thread]
        before = self.latest.get(one.location)
        if one.reads:
            self._see(one, before)
        if one.acquires:
            for each in self.pending_at.get((one.thread, one.location), []):
                if each.meets(one):
                    known.join(each.known)
        observes = before is not None and morally_strong(before.write, one)
        if one.kind is Kind.read_modify_write and observes:
            # What its read half observes is before its write half, and so before the whole.
            known.observed |= before.observed
        self._find_races(one, known)
        if one.kind is Kind.read and observes:
            known.observed |= before.observed
        if one.writes:
            self._write(one, before, known)
        self.history.setdefault(one.location, []).append(one)

    def _find_races(self, one, known):
        for other in self.history.get(one.location, []):
            ordered = known.clock.get(other.thread, -1) >= other.position
            if may_race(other, one) and not ordered and other not in known.observed:
                self.races.add(frozenset((other, one)))

    def _see(self, read, before):
        known = self.known[read.thread]
        self.sources[read] = INITIAL if before is None else before.write
        if before is None:
            return
        is_atomic = read.kind is Kind.read_modify_write
        known.seen_fences |= before.chain_fences if is_atomic else before.fences
        if read.strong and morally_strong(before.write, read):
            self.pending[read.thread] += before.heads
            self.pending_at.setdefault((read.thread, read.location), []).extend(before.heads)

    def _write(self, write, before, known):
        own_heads = self.release_heads.setdefault((write.thread, write.location), [])
        if write.releases:
            own_heads.append(Head(write, known.copy()))
        now = Written(
            write,
            heads=[*self.fence_heads[write.thread], *own_heads] if write.strong else [],
            observed={write},
            fences=set(known.published_fences),
            chain_fences=set(known.published_fences),
        )
        if write.kind is Kind.read_modify_write and before is not None:
            now.chain_fences |= before.chain_fences
            if morally_strong(before.write, write):
                now.heads += before.heads
                now.observed |= before.observed
        self.latest[write.location] = now

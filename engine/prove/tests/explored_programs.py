# SPDX-License-Identifier: MIT
"""What ./lab prove explores of small programs, beside what the axioms allow.

Their runs by a list of decisions are made without a compiler: as cpu_backend/scheduled/decisions.hpp makes
them, and with the same trace.
"""

import itertools
import json
import types

from engine.prove.memory_model.axioms import Enumeration
from engine.prove.memory_model.events import Relation
from engine.prove.memory_model.program import INITIAL, Kind, MemoryOrder, ThreadScope
from engine.prove.proving import Exploration
from engine.prove.trace import read_trace

LETTERS = {Kind.read: "L", Kind.write: "S", Kind.read_modify_write: "U"}
ORDERS = {
    MemoryOrder.relaxed: "-",
    MemoryOrder.acquire: "a",
    MemoryOrder.release: "r",
    MemoryOrder.acq_rel: "x",
}
BYTES = 4


def ranks_of(program):
    """Each thread's rank in its block."""
    ranks = {}
    for thread in program.threads:
        ranks[thread] = sum(other.block == thread.block for other in ranks)
    return ranks


def names_of(program):
    """{operation: its name in engine.prove.executions}, of fences and strong accesses."""
    ranks, names = ranks_of(program), {}
    for thread in program.threads:
        strong = [one for one in thread.operations if one.strong]
        for number, one in enumerate(strong):
            names[one] = (1, (thread.block, ranks[thread]), number)
    return names


def decided_run(program, decisions):
    """The trace of a run, and {strong read: the write that it saw, or INITIAL}."""
    run = _Run(program)
    for each in decisions:
        name, _, which = each.partition("/")
        block, rank = map(int, name.split("."))
        run.take(run.thread_named(block, rank), int(which) if which else None)
    while threads := run.parked():
        run.take(threads[0], None)
    return "".join(f"{json.dumps(line)}\n" for line in run.lines), run.sources


class _Run:
    def __init__(self, program):
        self.program = program
        self.ranks = ranks_of(program)
        blocks = max(thread.block for thread in program.threads) + 1
        self.lines = [("launch", blocks, max(self.ranks.values()) + 1, False)]
        self.sources = {}
        self._numbers = {INITIAL: 0, **{one: i + 1 for i, one in enumerate(program.operations)}}
        self._positions = dict.fromkeys(program.threads, 0)
        self._meeting_of = {one: all_of for all_of in program.meetings() for one in all_of}
        self._writes, self._order = (
            {},
            {},
        )  # of each word: in the order of the run, in coherence order
        self._go_on()

    def _next(self, thread):
        left = self._positions[thread] < len(thread.operations)
        return thread.operations[self._positions[thread]] if left else None

    def thread_named(self, block, rank):
        return next(
            each for each in self.parked() if (each.block, self.ranks[each]) == (block, rank)
        )

    def parked(self):
        """Threads before a strong access or a sequentially consistent fence."""
        found = [(each, self._next(each)) for each in self.program.threads]
        return [each for each, one in found if one and one.kind is not Kind.barrier]

    def _go_on(self):
        """Until all threads are parked, wait, or have returned."""
        while any(list(map(self._takes_a_step, self.program.threads))):
            pass

    def _takes_a_step(self, thread):
        one = self._next(thread)
        if one is None:
            return False
        if one.kind is Kind.barrier:
            meeting = self._meeting_of[one]
            if any(self._next(other.thread) is not other for other in meeting):
                return False
            for other in meeting:
                self._positions[other.thread] += 1
            ranks = sorted(self.ranks[other.thread] for other in meeting)
            if one.group == "block":
                self.lines.append(("barrier", thread.block, ranks))
            else:
                lanes = sum(1 << rank for rank in ranks)
                self.lines.append(("lanes", thread.block, 0, lanes, 1))
            return True
        if one.strong and not (one.kind is Kind.fence and one.order is MemoryOrder.acq_rel):
            return False
        if one.strong:
            self._write_fence(one)
        self._positions[thread] += 1
        return True

    def _write_fence(self, one):
        kind = "s" if one.order is MemoryOrder.seq_cst else "f"
        self.lines.append(("fence", *self._thread_of(one), kind + self._scope(one)))

    def _thread_of(self, one):
        return one.thread.block, self.ranks[one.thread]

    @staticmethod
    def _scope(one):
        return "b" if one.scope is ThreadScope.block else "d"

    def take(self, thread, which):
        """The thread's next strong access, of write number `which`, or fence; and all up to the next one."""
        one = self._next(thread)
        self._positions[thread] += 1
        if one.kind is Kind.fence:
            self._write_fence(one)
        else:
            self._access(one, which)
        self._go_on()

    def _access(self, one, which):
        writes = self._writes.setdefault(one.location, [INITIAL])
        order = self._order.setdefault(one.location, [0])
        which = order[-1] if which is None else which
        kind, order_of_one, has_written = one.kind, one.order, one.writes
        if one.reads:
            self.sources[one] = writes[which]
        if kind is Kind.compare_and_swap:
            has_written = writes[which] == self.program.expected[one]
            kind = Kind.read_modify_write if has_written else Kind.read
            if not has_written:
                order_of_one = MemoryOrder.acquire if one.acquires else MemoryOrder.relaxed
        if has_written:
            order.insert(order.index(which) + 1, len(writes))
            writes.append(one)
        address = BYTES * sorted(self._locations()).index(one.location)
        # A write's number in the program: the same in all runs.
        value = self._numbers[one if has_written else writes[which]]
        order_and_scope = ORDERS[order_of_one] + self._scope(one)
        at = LETTERS[kind], -1, address, BYTES
        self.lines.append(("event", *self._thread_of(one), *at, which, order_and_scope, str(value)))

    def _locations(self):
        return {one.location for one in self.program.operations if one.location}


def cases_of(made):
    """The program, for each choice of the compare-and-swaps that succeed."""
    for each in itertools.product((False, True), repeat=len(made.comparisons)):
        yield made.case(set(itertools.compress(made.comparisons, each)))[0]


class Expected:
    """The executions of a program that the axioms allow, without the cycles."""

    def __init__(self, made):
        self.graphs, self.races = set(), False
        for case in cases_of(made):
            self._add(case)

    def _add(self, made):
        self.model = Enumeration(made)
        self.names = names_of(made)
        before = self._before()
        for execution in self.model.executions({}):
            reads_from = Relation(
                len(self.model.events),
                (
                    (self.model.last[write].number, self.model.first[read].number)
                    for read, write in execution.sources.items()
                    if write != INITIAL
                ),
            )
            if (before | reads_from).is_acyclic():
                self.graphs.add(self._graph(execution))
                self.races |= bool(self.model.races(execution))

    def _before(self):
        """Program order, and what comes before a barrier before what comes after it."""
        order = self.model.program_order
        return order | order.then(self.model.barriers).then(order)

    def _graph(self, execution):
        """As engine.prove.executions has it."""
        parts = []
        for one, name in self.names.items():
            if one.reads:
                parts.append((name, self.names.get(execution.sources[one])))
            else:
                parts.append((name,))
        for left, right in execution.coherence.pairs():
            one, other = (self.model.events[each].operation for each in (left, right))
            if one in self.names and other in self.names and not (one.reads and other.reads):
                parts.append(("place", self.names[one], self.names[other]))
        return frozenset(parts)


def explored(run, expect=lambda decisions: None):
    exploration = Exploration()
    exploration.run_all(run, 100_000, expect)
    return exploration


def simulated(made, counts=lambda sources, pair: True):
    """An Exploration of the program whose runs `decided_run` makes, with the races that the axioms know.

    Those count for which counts(what each strong read of the run has seen, the two operations).
    """
    racing = {}

    def run(decisions, _orders_fences):
        trace, sources = decided_run(made, decisions)
        key = frozenset(sources.items())
        if key not in racing:
            case, copies = made.case(
                {one for one in made.comparisons if sources.get(one) == made.expected[one]}
            )
            model = Enumeration(case)
            given = {copies[one]: copies.get(write, write) for one, write in sources.items()}
            racing[key] = any(
                counts(sources, pair)
                for execution in model.executions(given)
                for pair in model.races(execution)
            )
        findings = [{"kind": "race"}] if racing[key] else []
        report = {"findings": findings, "forgotten_reads": 0, "failed_launches": 0}
        report |= {"ended_in_kernel": False, "ended_by_time": False}
        return types.SimpleNamespace(code=0, report=report, output=""), read_trace(trace)

    return explored(run)


def assert_agrees(made, exploration):
    """That the exploration found what the axioms allow. Returns whether the program has a race."""
    listing = "\n".join(map(repr, made.operations))
    expected = Expected(made)
    assert bool(exploration.failed) == expected.races, listing
    if not expected.races:
        assert exploration.graphs() == expected.graphs, listing
    return expected.races

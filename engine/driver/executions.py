# SPDX-License-Identifier: MIT
"""What a run by a list of decisions did, as a graph: which strong access took what which other one wrote.

Two runs with the same graph are one execution. `reversals` gives the lists of decisions that turn one race
between strong accesses around; followed from every execution, they lead to all (as in dynamic
partial-order reduction: Flanagan and Godefroid, POPL 2005).
"""

import re
from typing import NamedTuple, Optional

from engine.driver.errors import CommandError

LINE = re.compile(
    r"launch (?P<blocks>\d+) (?P<threads>\d+)|event (?P<block>\d+) (?P<rank>\d+) (?P<kind>[LSU]) "
    r"(?P<memory>-?\d+) (?P<address>\d+) (?P<bytes>\d+) (?P<value>\w+)|barrier (?P<all_of>\d+)|"
    r"lanes (?P<warp_of>\d+) (?P<first>\d+) (?P<lanes>\d+)|refused (?P<why>\w+)"
)


class Event(NamedTuple):
    launch: int
    thread: tuple  # the block's number, and the thread's rank
    kind: str  # U of an update, S of a store, L of a load
    cells: tuple  # the bytes that it accesses, each with its memory
    value: str  # of the word after it; no pointers, which differ from run to run

    @property
    def name(self):
        """Of its thread, among those of all launches."""
        return self.launch, self.thread

    @property
    def decision(self):
        return f"{self.thread[0]}.{self.thread[1]}"


class Trace(NamedTuple):
    shapes: tuple  # of each launch: blocks, threads of each
    events: tuple
    before: tuple  # of each event: the bits of those that its own thread has surely been after
    refused: Optional[str]


def read_trace(text):
    """The Trace that a program has written."""
    shapes, events, before, refused = [], [], [], None
    known, of_all, inherited = {}, 0, 0  # of each thread, of all events, since the launch's begin
    for line in text.splitlines():
        match = LINE.fullmatch(line)
        if not match:
            raise CommandError(f"the program has written a trace with the line {line!r}.")
        if match["blocks"]:
            shapes.append((int(match["blocks"]), int(match["threads"])))
            known, inherited = {}, of_all
        elif match["kind"]:
            thread = int(match["block"]), int(match["rank"])
            begin = int(match["address"])
            cells = tuple(
                (match["memory"], begin + offset) for offset in range(int(match["bytes"]))
            )
            events.append(Event(len(shapes), thread, match["kind"], cells, match["value"]))
            before.append(known.get(thread, inherited))
            of_all |= 1 << len(events) - 1
            known[thread] = before[-1] | 1 << len(events) - 1
        elif match["why"]:
            refused = match["why"]
        else:
            block = int(match["all_of"] or match["warp_of"])
            ranks = range(shapes[-1][1])
            if match["lanes"]:
                ranks = [int(match["first"]) + i for i in range(32) if int(match["lanes"]) >> i & 1]
            joined = 0
            for rank in ranks:
                joined |= known.get((block, rank), inherited)
            known.update({(block, rank): joined for rank in ranks})
    return Trace(tuple(shapes), tuple(events), tuple(before), refused)


def graphs(events):
    """For each prefix of the events, the empty one first, its graph: hashable, equal if it is the same."""
    threads, last, graph = {}, {}, frozenset()
    yield graph
    for event in events:
        name = event.name
        number = threads[name] = threads.get(name, -1) + 1
        sources = tuple(last.get(cell) for cell in event.cells)
        node = (name, number, event.kind, sources, event.value)
        graph = graph | {node}
        if event.kind != "L":
            last.update(dict.fromkeys(event.cells, (name, number)))
        yield graph


def reversals(trace):
    """The lists of events whose last one comes before another one that it came after: only the last one may
    turn out as another kind."""
    happened = []  # of each event: the bits of those before it
    writer, readers = {}, {}
    for i, event in enumerate(trace.events):
        conflicting = set()
        for cell in event.cells:
            conflicting.update(writer.get(cell, ()))
            if event.kind != "L":
                conflicting.update(readers.get(cell, ()))
        base = _closed(trace.before[i], happened)
        for j in sorted(conflicting):
            others = base
            for k in conflicting - {j}:
                others |= happened[k] | 1 << k
            if others >> j & 1:
                continue  # there is another one between the two
            kept = [
                trace.events[k] for k in range(i) if k != j and (k < j or not happened[k] >> j & 1)
            ]
            yield [*kept, event]
        for k in conflicting:
            base |= happened[k] | 1 << k
        happened.append(base)
        for cell in event.cells:
            if event.kind == "L":
                readers.setdefault(cell, []).append(i)
            else:
                writer[cell], readers[cell] = (i,), []


def _closed(bits, happened):
    """The bits, with those before them."""
    all_of, rest = bits, bits
    while rest:
        k = rest.bit_length() - 1
        rest &= ~(1 << k)
        all_of |= happened[k]
    return all_of


def misses_older_values(trace):
    """Whether the newest value is not the only one that the memory model allows to an access.

    It is for an update. It is for a store that follows a write of its own thread, as the launch's last access
    to its word: whoever sets a counter back.
    """
    last_writer, stored = {}, set()
    for event in trace.events:
        cells = [(event.launch, cell) for cell in event.cells]
        if event.kind == "L" or stored.intersection(cells):
            return True
        if event.kind == "S":
            if any(last_writer.get(cell) != event.thread for cell in cells):
                return True
            stored.update(cells)
        last_writer.update(dict.fromkeys(cells, event.thread))
    return False

# SPDX-License-Identifier: MIT
"""Programs for the oracle: one for each graph of up to 5 nodes, and random ones.

A graph is what a program orders: its nodes in the order of their calls, the place of each (a stream or the
host), and which of them come before which. Left out without a loss:
- programs whose streams, events or words differ in their names alone;
- all but one of the programs with one graph: the one with the fewest waits. (Other waits, those that order
  nothing more among them, and events recorded again are in the random ones.)
- programs without the legacy default stream in which a stream is non-blocking: it makes no difference.
The kinds of the nodes take turns: all that is enqueued in a stream is ordered alike. Each pair of nodes
writes a word of its own, so that one run shows every pair that is unordered, whatever the checker forgets.
"""

import itertools
import random

from oracle import ENQUEUED, Program, Step, waits_for

HOST = -1
KINDS = "kcfb"
STREAMS = ("BB", "BN", "NN")


class _Graph:
    """A program in the making; a set of nodes is a number that has a bit for each."""

    def __init__(self, places=(), before=(), known=0, waits=()):
        self.places, self.before, self.known, self.waits = places, before, known, waits

    def key(self):
        return self.places, self.before, self.known

    def cost(self):
        return sum(len(by_host) + len(by_stream) for by_host, by_stream in self.waits)

    def chosen(self, candidates):
        """Sets of nodes to wait for, none of which is before another one."""
        for size in range(len(candidates) + 1):
            for nodes in itertools.combinations(candidates, size):
                if not any(self.before[j] >> i & 1 for i in nodes for j in nodes):
                    yield nodes

    def with_all_before(self, nodes, start):
        for node in nodes:
            start |= 1 << node | self.before[node]
        return start

    def longer(self, streams):
        """Graphs with one node more."""
        count = len(self.places)
        enqueued = [i for i, place in enumerate(self.places) if place != HOST]
        for by_host in self.chosen([i for i in enqueued if not self.known >> i & 1]):
            known = self.with_all_before(by_host, self.known)
            for place in self._next_places(streams):
                by_place = [
                    i for i in enqueued
                    if place != HOST and waits_for(streams, place, self.places[i])
                ]  # fmt: skip
                base = self.with_all_before(by_place, known)
                others = [] if place == HOST else [i for i in enqueued if not base >> i & 1]
                for by_stream in self.chosen(others):
                    before = self.with_all_before(by_stream, base)
                    yield _Graph(
                        (*self.places, place),
                        (*self.before, before),
                        known | (1 << count if place == HOST else 0),
                        (*self.waits, (by_host, by_stream)),
                    )

    def _next_places(self, streams):
        yield from (HOST, 0, 1)
        if streams == "BN" or 1 in self.places:
            yield 2

    def program(self, streams, turn):
        """Host waits and streams' waits use an event for each node that is waited for."""
        count = len(self.places)
        recorded = {i for both in self.waits for nodes in both for i in nodes}
        steps = []
        for i, (place, (by_host, by_stream)) in enumerate(zip(self.places, self.waits)):
            steps += [Step("E", event=j) for j in by_host]
            steps += [Step("w", place, j) for j in by_stream]
            kind = "h" if place == HOST else KINDS[(turn + i) % len(KINDS)]
            steps.append(
                Step(kind, None if place == HOST else place, None, True, words_of_pairs(i, count))
            )
            if i in recorded:
                steps.append(Step("r", place, i))
        return Program(streams, tuple(steps))


def words_of_pairs(node, count):
    """The words of a node, one for each other node; a node alone has one, too."""
    numbers = {pair: n for n, pair in enumerate(itertools.combinations(range(count), 2))}
    return frozenset(n for pair, n in numbers.items() if node in pair) or frozenset({0})


def all_graphs(nodes):
    """A program for each graph of so many nodes."""
    for streams in STREAMS:
        graphs = {(): _Graph()}
        for _ in range(nodes):
            longer = {}
            for graph in (made for each in graphs.values() for made in each.longer(streams)):
                old = longer.get(graph.key())
                if old is None or graph.cost() < old.cost():
                    longer[graph.key()] = graph
            graphs = longer
        distinct = {(each.places, each.before): each for each in graphs.values()}
        for turn, graph in enumerate(distinct.values()):
            if streams == "BB" or 0 in graph.places:
                yield graph.program(streams, turn)


def random_program(seed, most_steps=12):
    """One of 6 to 12 steps, of all kinds; each pair of accesses has a word of its own."""
    choose = random.Random(seed)
    streams = choose.choice(("BB", "BN", "NN", "PB", "PN"))
    kinds = choose.choices("kkkkccffbbhhmzdpoFDSQERrrrrrrwwwwwww", k=choose.randint(6, most_steps))
    nodes = [n for n, kind in enumerate(kinds) if kind in "kcfbhmz"]
    steps = []
    for n, kind in enumerate(kinds):
        stream = choose.randrange(3) if kind in ENQUEUED + "SQ" else None
        event = choose.randrange(2) if kind in "rwER" else None
        words = words_of_pairs(nodes.index(n), len(nodes)) if n in nodes else frozenset()
        writes = n in nodes and (kind in "fz" or choose.random() < 0.7)
        steps.append(Step(kind, stream, event, writes, words))
    return Program(streams, tuple(steps))

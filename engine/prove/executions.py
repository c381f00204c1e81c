# SPDX-License-Identifier: MIT
"""What a run by a list of decisions did, as a graph: which strong access took what which other one wrote.

Two runs with the same graph are one execution. `alternatives` gives the lists of decisions that let one
access take something else; followed from every execution, they lead to all of them, as
docs/internals/racecheck.md says.
"""

import itertools
from typing import NamedTuple

from engine.prove.consistency import Graph, bits_of, closed, latest, morally_strong


class Prefix(NamedTuple):
    """Some events of an execution, with all that they come after, and one that takes something else."""

    decisions: list
    graph: int  # the bits of its parts, as numbers_of_parts has them
    happened: dict  # the kind and value of all but the last, by name
    name: tuple  # of the last one
    kind: str  # as which it was taken into account; a compare-and-swap may turn out as another one
    unordered: frozenset  # the names of those that are in the graph without what they take
    others: object  # others(kind): the prefixes if it is of that kind


class Execution:
    """A trace, and what it means.

    `numbers_of_parts`: of each part of a graph its number. Executions that are compared by bits share it.
    """

    def __init__(self, trace, numbers_of_parts=None):
        self.trace = trace
        self._numbers_of_parts = {} if numbers_of_parts is None else numbers_of_parts
        self.events = trace.events
        self.names, counts, self._first = [], {}, {}
        for event in self.events:
            number = counts[event.name] = counts.get(event.name, -1) + 1
            self.names.append((*event.name, number))
        # The bits of the events that each one surely came after.
        self.happened = self._all_before(())
        unwritten, unordered = self._words_without_order()
        if unordered:
            self.happened = self._all_before(unordered)
        # The race checker judges a volatile access as a plain one: without a race it gets one value.
        self._has_order = [
            not event.is_volatile and event.word not in unwritten | unordered
            for event in self.events
        ]
        self._unordered = frozenset(
            name for name, event in zip(self.names, self.events) if event.word in unordered
        )
        self._updates = {}  # by the word and what they take
        for i, event in enumerate(self.events):
            if event.kind == "U":
                self._updates.setdefault((event.word, trace.sources[i]), []).append(i)
            if event.word is not None and event.word not in self._first:
                self._first[event.word] = self._left_by_earlier(event.word)
        self._stores = sum(1 << i for i, event in enumerate(self.events) if event.kind == "S")
        self._after = [0] * len(self.events)  # the bits of the events that come after each
        for i in reversed(range(len(self.events))):
            for k in latest(self.happened[i], self.happened):
                self._after[k] |= 1 << i | self._after[i]
        self._nodes = self._nodes_with(self._unordered)

    def _all_before(self, unordered):
        """The bits of those that each event comes after: but for these words, of what it takes, too."""
        happened = []
        for bits, event, source in zip(self.trace.before, self.events, self.trace.sources):
            if event.kind in "LU" and source is not None and event.word not in unordered:
                bits |= 1 << source
            happened.append(closed(bits, happened))
        return happened

    def _words_without_order(self):
        """The words that are only read, and those whose updates may come in any order, as
        `atomicAdd(&word, 0)`.

        Such an update does not change the value, so each access gets the same in any order. None comes after
        a fence or a release, so it hands nothing over, and says nothing of the order of fences.
        """
        strict = {}  # the bits of each launch's fences and releases
        words, updated, ordered = set(), set(), set()
        for i, event in enumerate(self.events):
            if event.kind == "F" or event.releases:
                strict[event.launch] = strict.get(event.launch, 0) | 1 << i
            if event.is_volatile:
                continue
            if event.word is not None:
                words.add(event.word)
            if event.kind == "U":
                updated.add(event.word)
            is_after_one = self.happened[i] & strict.get(event.launch, 0)
            if event.kind == "S" or (
                event.kind == "U" and (event.changes or event.releases or is_after_one)
            ):
                ordered.add(event.word)
        return words - updated - ordered, updated - ordered

    def _nodes_with(self, unordered):
        """The bit of each event's part, with these names' without what they take."""
        return [
            self._bit_of((name,) if name in unordered else node)
            for name, node in zip(self.names, self._own_nodes())
        ]

    def _own_nodes(self):
        return (self._node(i, self.trace.sources[i], e.kind) for i, e in enumerate(self.events))

    def _left_by_earlier(self, word):
        """The write of an earlier launch that the word's first value is of."""
        launch, *place = word
        for earlier in range(launch - 1, 0, -1):
            if order := self.trace.coherence.get((earlier, *place)):
                return self.names[order[-1]]
        return None

    def _node(self, i, source, kind):
        event = self.events[i]
        if kind in "FS":
            return (self.names[i],)
        return self.names[i], self._first[event.word] if source is None else self.names[source]

    def _bit_of(self, part):
        return 1 << self._numbers_of_parts.setdefault(part, len(self._numbers_of_parts))

    def parts(self):
        """What its graph is made of."""
        yield from self._own_nodes()
        yield from self._places(range(len(self.events)), self.trace.coherence)

    def graph(self, numbers=None, nodes=None):
        """The bits of its parts: equal if it is the same. Of these events, or of all if none are named."""
        numbers = range(len(self.events)) if numbers is None else numbers
        nodes = self._nodes if nodes is None else nodes
        return self._bits_of_graph([nodes[i] for i in numbers], set(numbers), self.trace.coherence)

    def _bits_of_graph(self, nodes, numbers, coherence):
        result = 0
        for bits in nodes:
            result |= bits
        for part in self._places(numbers, coherence):
            result |= self._bit_of(part)
        return result

    def _places(self, chosen, coherence):
        """The order of two writes, where it is not that of a chain of updates."""
        for order in coherence.values():
            here = [i for i in order if i in chosen]
            if not any(self.events[i].kind == "S" for i in here):
                continue
            for at, one in enumerate(here):
                for other in here[at + 1 :]:
                    if "S" in (self.events[one].kind, self.events[other].kind):
                        yield "place", self.names[one], self.names[other]

    def begun(self, launch):
        """The graph that it has at this launch's end."""
        return self.graph([i for i, event in enumerate(self.events) if event.launch <= launch])

    def values(self, numbers=None):
        """Each event's kind and value, by name; or of these events."""
        numbers = range(len(self.events)) if numbers is None else numbers
        return {self.names[i]: (self.events[i].kind, self.events[i].value) for i in numbers}

    def follows(self, prefix):
        """Whether it goes on from the prefix, whose last event may be of another kind."""
        values = self.values()
        if prefix.name not in values:
            return False
        if any(values.get(name) != what for name, what in prefix.happened.items()):
            return False
        known = {*prefix.happened, prefix.name}
        numbers = [i for i, name in enumerate(self.names) if name in known]
        if values[prefix.name][0] != prefix.kind:
            return True
        # Later accesses may have made of a word one that has an order, or none.
        is_same = prefix.unordered == self._unordered
        nodes = self._nodes if is_same else self._nodes_with(prefix.unordered)
        return self.graph(numbers, nodes) == prefix.graph

    def decisions(self, numbers, coherence=None, sources=None):
        """The list that leads to these events in this order."""
        coherence, sources = coherence or self.trace.coherence, sources or self.trace.sources
        executed, words = {}, []
        for i in numbers:
            event = self.events[i]
            text = f"{event.thread[0]}.{event.thread[1]}"
            is_word = event.word is not None and self._has_order[i]
            if is_word and not self.trace.has_weak_writes:
                here = executed.setdefault(event.word, [])
                source = sources[i]
                order = coherence[event.word]
                if event.kind == "S":
                    earlier = order[: order.index(i)]
                    source = next((k for k in reversed(earlier) if k in here), None)
                text += f"/{0 if source is None else here.index(source) + 1}"
                if i in order:
                    here.append(i)
            if event.is_decided:
                words.append(text)
        return words

    def _changed(self, i, source, kind):
        """Events, sources and coherence order if event i takes `source` as an access of this kind."""
        events, sources = list(self.events), list(self.trace.sources)
        events[i] = events[i]._replace(kind=kind)
        sources[i] = source
        word = events[i].word
        order = [k for k in self.trace.coherence[word] if k != i]
        if kind != "L":
            order.insert(0 if source is None else order.index(source) + 1, i)
        return events, sources, {**self.trace.coherence, word: order}

    def _graph(self, numbers, events=None, sources=None, coherence=None):
        """That of the last one's launch."""
        launch = self.events[numbers[-1]].launch
        chosen = [i for i in numbers if self.events[i].launch == launch and self._has_order[i]]
        kept = set(chosen)
        coherence = {
            word: [i for i in order if i in kept]
            for word, order in (coherence or self.trace.coherence).items()
            if word[0] == launch
        }
        return Graph(
            events or self.events,
            chosen,
            self.trace.ordered,
            sources or self.trace.sources,
            coherence,
        )

    def is_consistent(self):
        by_launch = {}
        for i, event in enumerate(self.events):
            by_launch.setdefault(event.launch, []).append(i)
        graphs = map(self._graph, by_launch.values())
        return all(next(graph.fence_orders(), None) is not None for graph in graphs)

    def has_shown_its_fence_orders(self):
        """Whether a race that the race checker finds is one in some order of the fences."""
        return all(self._graph(each).has_shown_its_fence_orders() for each in self._launches())

    def _launches(self):
        """The numbers of each launch that has sequentially consistent fences of two threads."""
        names = {each.name for each in self.events if each.is_sc}
        pairs = itertools.combinations(names, 2)
        for launch in sorted({one[0] for one, other in pairs if one[0] == other[0]}):
            yield [i for i, event in enumerate(self.events) if event.launch == launch]

    def lists_by_fence_order(self):
        """Lists that lead to this execution: each order of a launch's fences that the axioms allow is in one.

        Launches come one after the other, so a race is within one, and no launch's order is another's affair.
        """
        numbers = list(range(len(self.events)))
        by_launch = [self._orders_to_run(each) for each in self._launches()]
        orders = following = [next(each, None) for each in by_launch]
        while None not in orders and any(each is not None for each in following):
            order = [fence for each in orders for fence in each]
            yield self.decisions(self._linear(numbers, order))
            following = [next(each, None) for each in by_launch]
            orders = [old if new is None else new for old, new in zip(orders, following)]

    def _orders_to_run(self, numbers):
        for each in self._graph(numbers).fence_orders():
            if self._linear(numbers, each) is not None:
                yield each

    def _linear(self, numbers, fence_order, changed=None, source=None):
        """The numbers, each after what it comes after, and the fences in this order; None: no way."""
        before = {i: self.happened[i] for i in numbers}
        if changed is not None:
            before[changed] = self.trace.before[changed] | (0 if source is None else 1 << source)
        for earlier, later in zip(fence_order, fence_order[1:]):
            before[later] |= 1 << earlier
        left, linear, done = list(numbers), [], ~sum(1 << i for i in numbers)
        while left:
            ready = next((i for i in left if not before[i] & ~done), None)
            if ready is None:
                return None
            left.remove(ready)
            linear.append(ready)
            done |= 1 << ready
        return linear

    def alternatives(self, is_known, last_launch):
        """Prefixes, in each of which the last access takes something else; none that is_known(graph).

        That access is in one of the launches up to the last one.
        """
        for i, event in enumerate(self.events):
            if event.kind == "F" or event.launch > last_launch or not self._has_order[i]:
                continue
            for source in [None, *self.trace.coherence[event.word]]:
                if source == i or (source is not None and self._comes_after(source, i)):
                    continue
                if event.kind != "S" and source == self.trace.sources[i]:
                    continue
                yield from self.others(i, source, event.kind, is_known)

    def choices(self):
        """How many of its events have an order, and how many writes these could be made to take."""
        events = [event for event, has_order in zip(self.events, self._has_order) if has_order]
        writes = [len(self.trace.coherence.get(event.word, ())) for event in events]
        return len(events), sum(writes)

    def _comes_after(self, k, i):
        return self.happened[k] >> i & 1

    def others(self, i, source, kind, is_known):
        """The largest prefixes after which event i may take `source`, as an access of this kind.

        All events that do not come after it are in, unless they contradict it.
        """
        kept = (1 << len(self.events)) - 1 & ~self._after[i] & ~(1 << i)
        base = closed(self.trace.before[i], self.happened)
        if source is not None:
            base |= self.happened[source] | 1 << source
        if kind != "L":
            for k in self._updates_of(source, i):
                kept &= ~self._after[k] & ~(1 << k)
            if base & ~kept:
                return
        orders = {}

        def in_order(bits):
            """The numbers as they may happen; None if the axioms don't allow it."""
            if bits not in orders:
                events, sources, coherence = self._changed(i, source, kind)
                numbers, orders[bits] = [*bits_of(bits), i], None
                for fences in self._graph(numbers, events, sources, coherence).fence_orders():
                    orders[bits] = self._linear(numbers, fences, i, source)
                    if orders[bits]:
                        break
                    orders[bits] = numbers  # A run has another order of its fences.
            return orders[bits]

        def has_none_after(k, bits):
            return not self._after[k] & bits

        seen, waiting = set(), [kept]
        while waiting:
            bits = waiting.pop()
            if bits in seen:
                continue
            seen.add(bits)
            graph = self._bits_of_changed(bits, i, source, kind)
            if is_known(graph):
                continue
            if in_order(base) is None:
                return
            if linear := in_order(bits):
                _, sources, coherence = self._changed(i, source, kind)
                linear = [*(k for k in linear if k != i), i]
                yield Prefix(
                    self.decisions(linear, coherence, sources),
                    graph,
                    self.values(bits_of(bits)),
                    self.names[i],
                    kind,
                    self._unordered,
                    lambda other: self.others(i, source, other, is_known),
                )
                continue
            # A smallest part that contradicts: something at its end must go.
            part = bits
            for k in reversed(list(bits_of(bits & ~base))):
                if has_none_after(k, part) and in_order(part & ~(1 << k)) is None:
                    part &= ~(1 << k)
            for k in bits_of(part & ~base):
                if has_none_after(k, part):
                    waiting.append(bits & ~self._after[k] & ~(1 << k))

    def _updates_of(self, source, i):
        """The updates, without event i, that take `source`: none of them can if i writes just after it."""
        event = self.events[i]
        for k in self._updates.get((event.word, source), ()):
            if k != i and morally_strong(self.events[k], event):
                yield k

    def _bits_of_changed(self, bits, i, source, kind):
        """The graph of the events `bits`, and of event i if it takes `source` as an access of this kind."""
        numbers, coherence = {*bits_of(bits), i}, {}
        if (bits | 1 << i) & self._stores:
            _, _, coherence = self._changed(i, source, kind)
        nodes = [
            self._bit_of(self._node(i, source, kind)),
            *(self._nodes[k] for k in bits_of(bits)),
        ]
        return self._bits_of_graph(nodes, numbers, coherence)

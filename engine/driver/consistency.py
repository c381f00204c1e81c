# SPDX-License-Identifier: MIT
"""Whether the memory model allows a graph: strong accesses and fences, with what each takes from which one.

The axioms are those of PTX ISA 8.10, as engine/memory_model/axioms.py has them; that is written for one
program's few executions, and this for very many of them. Sets of events are bits. A read-modify-write is one
event: only to its writing half comes what its reading half has observed.
"""

import itertools

from engine.driver.errors import CommandError

MOST_ORDERS = 5040  # of fences; more take minutes


def bits_of(number):
    """The places of the bits, the lowest first."""
    while number:
        lowest = number & -number
        yield lowest.bit_length() - 1
        number ^= lowest


def closed(bits, before):
    """The bits, with those before them."""
    result, rest = bits, bits
    while rest:
        each = rest.bit_length() - 1
        rest &= ~(1 << each)
        result |= before[each]
        rest |= before[each] & ~result
    return result


def morally_strong(one, other):
    if one.thread == other.thread:
        return True
    widely = one.thread[0] == other.thread[0] or not (one.is_narrow or other.is_narrow)
    return widely


class Graph:
    """Some events of one launch, in an order in which each comes after what it takes something from.

    `ordered`: of each event, the bits of those that its thread and barriers order before it.
    `sources`: of each event that reads, the number of the one that it reads from; None: the first value.
    `coherence`: of each word the numbers of its writes.
    """

    def __init__(self, events, chosen, ordered, sources, coherence):
        self.events = events
        self.chosen = chosen  # the numbers, in that order
        self.ordered = ordered
        self.sources = sources
        self.coherence = coherence

    def fence_orders(self):
        """The orders of sequentially consistent fences that the axioms allow; none: it is inconsistent."""
        if not (self._is_atomic() and self._is_coherent_by_location()):
            return
        self._relate()
        fences = [each for each in self.chosen if self.events[each].is_sc]
        pairs = [
            (one, other)
            for one, other in itertools.combinations(fences, 2)
            if morally_strong(self.events[one], self.events[other])
        ]
        before = self._causality(())
        if not self._is_consistent(before):
            return
        if not pairs:
            yield []
            return
        for tried, order in enumerate(self._linear(fences, before)):
            if tried == MOST_ORDERS:
                raise CommandError(
                    "not proved: the sequentially consistent fences have too many orders; try fewer threads."
                )
            place = {each: i for i, each in enumerate(order)}
            edges = [pair if place[pair[0]] < place[pair[1]] else pair[::-1] for pair in pairs]
            with_order = self._causality(edges)
            if with_order is None:
                continue
            if any(self._reaches(with_order, later, earlier) for earlier, later in edges):
                continue  # the axiom Fence-SC
            if self._is_consistent(with_order):
                yield order

    def _linear(self, fences, before):
        """The orders of the fences that contradict nothing that is known without one."""
        if not fences:
            yield []
            return
        for first in fences:
            if any(before[first] >> other & 1 for other in fences if other != first):
                continue
            for rest in self._linear([each for each in fences if each != first], before):
                yield [first, *rest]

    def _after(self, word, source):
        order = self.coherence[word]
        return order if source is None else order[order.index(source) + 1 :]

    def _is_atomic(self):
        """No other write that is morally strong comes between what an update reads and what it writes."""
        for each in self.chosen:
            event = self.events[each]
            if event.kind != "U":
                continue
            for other in self._after(event.word, self.sources[each]):
                if other == each:
                    break
                if morally_strong(self.events[other], event):
                    return False
            else:
                return False
        return True

    def _is_coherent_by_location(self):
        """Sequential Consistency Per Location."""
        by_word = {}
        for each in self.chosen:
            if self.events[each].word is not None:
                by_word.setdefault(self.events[each].word, []).append(each)
        for word, here in by_word.items():
            leads_to = {each: set() for each in here}
            threads = {}
            for each in here:
                event = self.events[each]
                earlier = threads.setdefault(event.thread, [])
                for other in earlier:
                    leads_to[other].add(each)
                earlier.append(each)
                if event.kind == "S":
                    continue
                source = self.sources[each]
                if source is not None and morally_strong(self.events[source], event):
                    leads_to[source].add(each)
                for other in self._after(word, source):
                    if other != each and morally_strong(event, self.events[other]):
                        leads_to[each].add(other)
            for one, other in itertools.combinations(self.coherence[word], 2):
                if morally_strong(self.events[one], self.events[other]):
                    leads_to[one].add(other)
            if _has_cycle(leads_to):
                return False
        return True

    def _relate(self):
        """What synchronizes, and what reads have observed."""
        events = self.events
        self.observed = {}  # of a read: the bits of the writes
        heads = {}  # of a write: the first operations of the release patterns that it ends
        fences, releases = {}, {}  # of each thread; and word
        waiting = {}  # of each thread: heads that its reads have seen, by word
        self.synchronizes = {}  # of an event: the bits of the heads before it
        for each in self.chosen:
            event = events[each]
            seen = waiting.setdefault(event.thread, {})
            if event.kind == "F":
                self._meet(each, [head for some in seen.values() for head in some])
                fences.setdefault(event.thread, []).append(each)
                continue
            source = self.sources[each]
            observes = (
                event.kind != "S" and source is not None and morally_strong(events[source], event)
            )
            if observes:
                chain = self.observed.get(source, 0) if events[source].kind == "U" else 0
                self.observed[each] = chain | 1 << source
                seen.setdefault(event.word, set()).update(heads[source])
            if event.acquires:
                self._meet(each, seen.get(event.word, ()))
            if event.kind == "L":
                continue
            mine = releases.setdefault((event.thread, event.word), [])
            if event.releases:
                mine.append(each)
            heads[each] = {*fences.get(event.thread, ()), *mine}
            if observes:
                heads[each] |= heads[source]

    def _meet(self, tail, heads):
        for head in heads:
            if morally_strong(self.events[head], self.events[tail]):
                self.synchronizes[tail] = self.synchronizes.get(tail, 0) | 1 << head

    def _causality(self, edges):
        """Of each event the bits of those before it in base causality order; None if that has a cycle."""
        direct = {}
        inside = sum(1 << each for each in self.chosen)
        for each in self.chosen:
            direct[each] = (self.ordered[each] & inside) | self.synchronizes.get(each, 0)
        for earlier, later in edges:
            direct[later] |= 1 << earlier
        before = dict.fromkeys(self.chosen, 0)
        changed = True
        while changed:
            changed = False
            for each in self.chosen:
                bits = direct[each]
                for other in bits_of(direct[each]):
                    bits |= before[other]
                if bits != before[each]:
                    before[each] = bits
                    changed = True
        return before if not any(bits >> each & 1 for each, bits in before.items()) else None

    def _reaches(self, before, one, other):
        """Whether causality order has `one` before the reading half of `other`."""
        return self._all_before(before, other) >> one & 1

    def _all_before(self, before, each):
        bits = before[each]
        for other in bits_of(bits):
            bits |= self.observed.get(other, 0)
        return bits

    def _is_consistent(self, before):
        """The axioms Coherence and Causality."""
        if before is None:
            return False
        for order in self.coherence.values():
            place = {each: i for i, each in enumerate(order)}
            for each in order:
                bits = self._all_before(before, each)
                if self.events[each].kind == "U":
                    bits |= self.observed.get(each, 0)
                if any(place.get(other, -1) > place[each] for other in bits_of(bits)):
                    return False
        for each in self.chosen:
            event = self.events[each]
            if event.kind in "SF":
                continue
            source = self.sources[each]
            if source is not None:
                bits = self._all_before(before, source)
                if self.events[source].kind == "U":
                    bits |= self.observed.get(source, 0)
                if bits >> each & 1:
                    return False
            bits = self._all_before(before, each)
            if any(bits >> other & 1 for other in self._after(event.word, source)):
                return False
        return True


def _has_cycle(leads_to):
    done, path = set(), set()

    def visit(each):
        if each in path:
            return True
        if each in done:
            return False
        path.add(each)
        found = any(visit(other) for other in leads_to[each])
        path.discard(each)
        done.add(each)
        return found

    return any(visit(each) for each in leads_to)

# SPDX-License-Identifier: MIT
"""Whether the memory model allows a graph: strong accesses and fences, with what each takes from which one.

The axioms are those of PTX ISA 8.10, as engine/prove/memory_model/axioms.py has them; that is written for one
program's few executions, and this for very many of them. Sets of events are bits. A read-modify-write is one
event: only to its writing half comes what its reading half has observed.
"""

import itertools

from engine.command.errors import CommandError

MOST_ORDERS = 5040  # of fences; more take minutes


def bits_of(number):
    """The numbers of the bits, the lowest first."""
    while number:
        lowest = number & -number
        yield lowest.bit_length() - 1
        number ^= lowest


def latest(bits, before):
    """The numbers of those bits that come before no other of them, if all those in `before` do that come
    before each, and their numbers are lower."""
    while bits:
        each = bits.bit_length() - 1
        yield each
        bits &= ~(before[each] | 1 << each)


def closed(bits, before):
    """The bits, with those before them."""
    for each in latest(bits, before):
        bits |= before[each]
    return bits


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
        fences = self._fences()
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
        before = self._causality(
            (earlier, later)
            for earlier, later in self._forced(fences, before)
            if morally_strong(self.events[earlier], self.events[later])
        )
        if before is None:
            return
        for tried, order in enumerate(self._linear(fences, before)):
            if tried == MOST_ORDERS:
                raise CommandError(
                    "not proved: the sequentially consistent fences have too many orders; try fewer threads."
                )
            place = {each: i for i, each in enumerate(order)}
            edges = [pair if place[pair[0]] < place[pair[1]] else pair[::-1] for pair in pairs]
            # The axiom Fence-SC holds as well: whatever has observed something of a fence is no fence, so
            # one that comes before an earlier one is a cycle.
            if self._is_consistent(self._causality(edges)):
                yield order

    def has_shown_its_fence_orders(self):
        """Whether the race checker's clocks, which know no order of the fences but what reads have shown,
        know all that the axioms force. Then a race that the clocks find is one.

        Let the fences that either access comes after be the first ones, in any order that is allowed, with
        those that must come before them. No way from one access to the other leads over these.
        """
        self._relate()
        fences = self._fences()
        before = self._causality(())
        shown = {each: self._shown(each) for each in fences}
        return before is not None and all(
            (before[later] | shown[later]) >> earlier & 1
            and morally_strong(self.events[earlier], self.events[later])
            for earlier, later in self._forced(fences, before)
        )

    def _fences(self):
        return [each for each in self.chosen if self.events[each].is_sc]

    def _forced(self, fences, before):
        """Pairs of fences that can't come in the opposite order, as if all were morally strong.

        In an order of all fences a way over several of them is one over the first and the last alone. So
        if each pair is as it must be, all is.
        """
        known = {each: self._all_before(before, each) for each in fences}
        excluded = dict.fromkeys(
            fences, 0
        )  # what is in no event's past that has this fence in its own
        for each, bits in self.not_before.items():
            for fence in fences:
                if before[each] >> fence & 1:
                    excluded[fence] |= bits
        for one, other in itertools.permutations(fences, 2):
            if known[one] & excluded[other]:
                yield other, one

    def _shown(self, fence):
        """The bits of what is before a write that the fence's thread, or one that it has met, has read."""
        bits = 0
        for read in bits_of(self.ordered[fence]):
            for write in bits_of(self.observed.get(read, 0)):
                bits |= self.ordered[write]
        return bits

    def _linear(self, fences, before):
        """The orders of the fences that contradict nothing that is known without one."""
        order, choices, left = [], [iter(fences)], sum(1 << each for each in fences)
        while choices:
            if not left:
                yield [*order]
            first = next((i for i in choices[-1] if left >> i & 1 and not before[i] & left), None)
            if first is not None:
                order.append(first)
                choices.append(iter(fences))
                left ^= 1 << first
            elif choices.pop() and order:
                left ^= 1 << order.pop()

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
        """What synchronizes, what reads have observed, and what must not be before an event."""
        events = self.events
        self.not_before = dict.fromkeys(self.chosen, 0)
        for order in self.coherence.values():
            later = 0
            for each in reversed(order):
                self.not_before[each] |= later
                later |= 1 << each
        self.observed = {}  # the bits of the writes that each read sees
        heads = {}  # the first operations of the release patterns that a write ends
        fences, releases = {}, {}  # by thread; by thread and word
        waiting = {}  # heads that a thread's reads have seen, by word
        self.synchronizes = {}  # the bits of the heads before an event
        for each in self.chosen:
            event = events[each]
            seen = waiting.setdefault(event.thread, {})
            if event.kind == "F":
                if event.acquires:
                    self._meet(each, [head for some in seen.values() for head in some])
                if event.releases:
                    fences.setdefault(event.thread, []).append(each)
                continue
            source = self.sources[each]
            if event.kind != "S":
                for later in self._after(event.word, source):
                    self.not_before[each] |= 1 << later
                if source is not None:
                    self.not_before[source] |= 1 << each
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
        """The bits of those before each event in base causality order; None if that has a cycle."""
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

    def _all_before(self, before, each):
        """The bits of those before the event, or before its reading half, in causality order."""
        bits = before[each]
        for other in bits_of(bits):
            bits |= self.observed.get(other, 0)
        return bits

    def _is_consistent(self, before):
        """The axioms Coherence and Causality."""
        if before is None:
            return False
        for each, excluded in self.not_before.items():
            bits = self._all_before(before, each)
            if self.events[each].kind == "U":
                bits |= self.observed.get(each, 0)
            if bits & excluded:
                return False
        return True


def _has_cycle(leads_to):
    before = dict.fromkeys(leads_to, 0)  # how many events that lead to each are left
    for others in leads_to.values():
        for each in others:
            before[each] += 1
    done = [each for each, count in before.items() if count == 0]
    for each in done:
        for other in leads_to[each]:
            before[other] -= 1
            if before[other] == 0:
                done.append(other)
    return len(done) < len(before)

# SPDX-License-Identifier: MIT
"""Whether a program may have executions in which program order and reads-from form a cycle.

Those are not run: a thread acts there on a value before the write that it comes from. But what threads have
done in all other executions shows where there may be one.

In such a cycle each thread reads from the one before it, and later writes what the next one reads, and no two
of them synchronize by that. At least one of them writes whatever its read gets: otherwise the value would
come out of thin air, which no GPU gives. If all executions leave the same memory, no value counts.
"""

import functools
from typing import NamedTuple


class _Way(NamedTuple):
    """Of a thread: it reads one word, and writes another one later."""

    thread: tuple
    reads: tuple
    writes: tuple
    releases: frozenset  # whether what orders the read before the write for who sees it is narrow
    acquires: frozenset

    def may_precede(self, other):
        """Whether the other one may read what it writes, and they do not synchronize by that."""
        if self.writes != other.reads or self.thread == other.thread:
            return False
        is_near = self.thread[0] == other.thread[0]
        pairs = [one or two for one in self.releases for two in other.acquires]
        return not any(is_near or not is_narrow for is_narrow in pairs)


class Histories:
    """What each thread has done, in all executions so far."""

    def __init__(self):
        # By launch and thread: its events, each with what it has read (what that write left; None: the
        # first value), and whether it has come to its end.
        self._of = {}
        self._left = {}  # by launch: what was in memory at its end

    def add(self, trace):
        steps = {}
        for event, source in zip(trace.events, trace.sources):
            read = event.value if event.kind == "L" else None
            if event.kind == "U" and source is not None:
                read = trace.events[source].value
            steps.setdefault(event.name, []).append((event, read))
        for name, each in steps.items():
            self._of.setdefault(name, set()).add((tuple(each), trace.refused is None))
        if trace.refused is None:
            for launch, left in enumerate(trace.left, 1):
                self._left.setdefault(launch, set()).add(left)

    @functools.cached_property
    def may_form_a_cycle(self):
        return any(
            _may_form_a_cycle({of[1]: each for of, each in self._of.items() if of[0] == launch})
            for launch, left in self._left.items()
            if len(left) > 1
        )


def _may_form_a_cycle(histories):
    ways = {}  # with the histories that have it, and the numbers of the read and the write
    for thread, each in histories.items():
        for steps in (steps for steps, has_ended in each if has_ended):
            for way, i, k in _ways(thread, steps):
                ways.setdefault(way, []).append((steps, i, k))
    return any(
        _is_free(*place, histories[way.thread])
        for way, places in ways.items()
        if _comes_back(way, ways)
        for place in places
    )


def _ways(thread, steps):
    events = [event for event, _ in steps]
    for i, first in enumerate(events):
        for k in range(i + 1, len(events)):
            last = events[k]
            if first.kind in "LU" and last.kind in "SU" and first.word != last.word:
                releases, acquires = (
                    frozenset(
                        each.is_narrow for each in some if each.kind == "F" or each.word == word
                    )
                    for some, word in (
                        ([each for each in events[i + 1 : k + 1] if each.releases], last.word),
                        ([each for each in events[i:k] if each.acquires], first.word),
                    )
                )
                yield _Way(thread, first.word, last.word, releases, acquires), i, k


def _comes_back(way, ways):
    known, waiting = set(), [way]
    while waiting:
        each = waiting.pop()
        following = {other for other in ways if each.may_precede(other)} - known
        if way in following:
            return True
        known |= following
        waiting += following
    return False


def _is_free(steps, i, k, histories):
    """Whether no execution shows that the thread writes so only because of what it has read."""
    (first, read), (last, _) = steps[i], steps[k]
    does_not = False
    for others, has_ended in histories:
        if others[:i] != steps[:i] or len(others) <= i or others[i][1] == read:
            continue
        if others[i][0].word != first.word:
            continue
        writes = [e for e, _ in others[i + 1 :] if (e.kind, e.word) == (last.kind, last.word)]
        if any(each.kind == "U" or each.value == last.value for each in writes):
            return True
        # Who waits for another word has not come to the write.
        does_not |= has_ended or others[-1][0].word == first.word
    return not does_not

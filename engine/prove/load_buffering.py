# SPDX-License-Identifier: MIT
"""Whether a program may have executions in which program order and reads-from form a cycle.

Those are not run: a thread acts there on a value before the write that it comes from. But what threads have
done in all other executions shows where there may be one.

In such a cycle each thread reads from the one before it, and later writes what the next one reads, and no two
of them synchronize by that. At least one of them writes whatever its read gets: otherwise the value would
come out of thin air, which no GPU gives. If all executions leave the same memory, no value counts.
"""

from typing import NamedTuple


class _Step(NamedTuple):
    """An event of a thread, and what it has read: what that write left, or None: the first value."""

    event: object
    read: object

    def reads(self):
        return self.event.kind in ("L", "U")

    def writes(self):
        return self.event.kind in ("S", "U")


class _Way(NamedTuple):
    """Of a thread: it reads one word, and writes another one later."""

    thread: tuple
    reads: tuple
    writes: tuple
    releases: frozenset  # whether what orders the read before the write for who sees it is narrow
    acquires: frozenset
    is_free: bool  # whether it may write the same whatever it has read

    def may_precede(self, other):
        """Whether the other one may read what it writes, and they do not synchronize by that."""
        if self.writes != other.reads or self.thread == other.thread:
            return False
        is_wide = self.thread[0] != other.thread[0]
        pairs = [(one, two) for one in self.releases for two in other.acquires]
        return not any(not is_wide or not (one or two) for one, two in pairs)


class Histories:
    """What each thread has done, in all executions so far."""

    def __init__(self):
        self._of = {}  # by launch and thread
        self._left = {}  # by launch: what was in memory at its end

    def add(self, trace):
        steps = {}
        for event, source in zip(trace.events, trace.sources):
            read = event.value if event.kind == "L" else None
            if event.kind == "U" and source is not None:
                read = trace.events[source].value
            # Only the kind and the words of an event, and not which run it is of, count.
            steps.setdefault(event.name, []).append(_Step(event, read))
        for name, each in steps.items():
            if trace.refused is None or each[-1].event.kind == "L":
                self._of.setdefault(name, set()).add((tuple(each), trace.refused is None))
        if trace.refused is None:
            for launch, left in enumerate(trace.left, 1):
                self._left.setdefault(launch, set()).add(left)

    def may_form_a_cycle(self):
        for launch, left in self._left.items():
            if len(left) > 1:
                ways = {
                    way
                    for (of, thread), histories in self._of.items()
                    if of == launch
                    for way in _ways(thread, histories)
                }
                if any(_comes_back(way, ways) for way in ways if way.is_free):
                    return True
        return False


def _comes_back(way, ways):
    known, waiting = set(), [way]
    while waiting:
        each = waiting.pop()
        for other in ways - known:
            if each.may_precede(other):
                if other == way:
                    return True
                known.add(other)
                waiting.append(other)
    return False


def _ways(thread, histories):
    for steps, is_whole in histories:
        if not is_whole:
            continue
        for i, first in enumerate(steps):
            for k in range(i + 1, len(steps)):
                last = steps[k]
                if not (first.reads() and last.writes()) or first.event.word == last.event.word:
                    continue
                between = [each.event for each in steps[i : k + 1]]
                releases = {
                    each.is_narrow
                    for each in between[1:]
                    if each.releases and (each.kind == "F" or each.word == last.event.word)
                }
                acquires = {
                    each.is_narrow
                    for each in between[:-1]
                    if each.acquires and (each.kind == "F" or each.word == first.event.word)
                }
                yield _Way(
                    thread,
                    first.event.word,
                    last.event.word,
                    frozenset(releases),
                    frozenset(acquires),
                    _is_free(steps, i, last, histories),
                )


def _is_free(steps, i, last, histories):
    """Whether no execution shows that the thread writes so only because of what it has read."""
    does_not = False
    for others, is_whole in histories:
        if len(others) <= i or others[:i] != steps[:i] or others[i].read == steps[i].read:
            continue
        if others[i].event.word != steps[i].event.word:
            continue
        if any(_is_same_write(each, last) for each in others[i + 1 :]):
            return True
        # Who waits for another word has not come to the write.
        does_not |= is_whole or others[-1].event.word == steps[i].event.word
    return not does_not


def _is_same_write(one, other):
    if one.event.kind != other.event.kind or one.event.word != other.event.word:
        return False
    return one.event.kind == "U" or one.event.value == other.event.value

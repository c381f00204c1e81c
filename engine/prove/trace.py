# SPDX-License-Identifier: MIT
"""What a run by a list of decisions did, as the program has written it, and whether all of it is explored.

explored.json lists the kinds of things that a program may do, and is proved. All else is denied.
"""

import json
import pathlib
from typing import NamedTuple, Optional

from engine.command.errors import CommandError

# What stands in each line of a trace behind its first word.
WORDS = {
    "launch": (int, int, bool),
    "event": (int, int, str, int, int, int, int, str, str),
    "fence": (int, int, str),
    "weak": (int, int, int),
    "barrier": (int, list),
    "lanes": (int, int, int, int),
    "grid": (),
    "waits": (),
    "stuck": (int,),
    "left": (str,),
    "use": (str, str, str),
    "refused": (str,),
}
LIST = pathlib.Path(__file__).parent / "explored.json"


class Event(NamedTuple):
    launch: int
    thread: tuple  # the block's number, and the thread's rank
    kind: str  # U of an update, S of a store, L of a load, F of a fence
    word: Optional[tuple] = None  # the launch, the memory, where it begins, its bytes
    value: str = ""  # the word's after it; no pointers, which differ from run to run
    acquires: bool = False
    releases: bool = False
    is_narrow: bool = False  # of block scope
    is_sc: bool = False
    changes: bool = True  # an update: the word's value
    is_volatile: bool = False

    @property
    def name(self):
        """Of its thread, among those of all launches."""
        return self.launch, self.thread

    @property
    def is_decided(self):
        """Whether a decision lets it happen."""
        return self.kind != "F" or self.is_sc


class Use(NamedTuple):
    """Something that a program did: explored.json has those that are explored."""

    kind: str
    name: str
    place: str  # 'own.cu:7'; "" if it is not known


def read_trace(text):
    """The Trace that a program has written: in each line a list in JSON, what happened and its words.

    After a refusal nothing counts any more but what the program did.
    """
    trace = Trace()
    for line in text.split("\n")[:-1]:
        try:
            what, *words = json.loads(line)
            if tuple(map(type, words)) != WORDS[what]:
                raise ValueError(words)
            if trace.refused is None or what in ("use", "refused"):
                getattr(trace, f"on_{what}")(*words)
        except (ValueError, TypeError, LookupError, RecursionError) as error:
            problem = f"the program has written a trace with the line {line!r}."
            raise CommandError(problem) from error
    return trace


class Trace:
    """What a run did. The functions take the words of a line, as decisions.cpp writes them."""

    def __init__(self):
        self.shapes = []  # the blocks of each launch, and the threads of each block
        self.events = []
        self._known, self._ordered = _Knowledge(), _Knowledge()
        # The bits of the events that each one's own thread has surely been after, and of those that its
        # thread and barriers order before it.
        self.before, self.ordered = self._known.before, self._ordered.before
        # The number of the access that each one reads from, or, if it only stores, that comes just before
        # it in coherence order; None: the word's first value.
        self.sources = []
        self.coherence = {}  # the numbers of each word's writes
        self.has_weak_writes = False  # to words that strong accesses use after them
        self.has_volatile = False
        self.refused = None
        self.cooperative = []  # whether all blocks of each launch start together
        self.with_waits = set()  # the launches in which a thread has waited in a loop
        self.stuck = []  # the blocks that wait for ever at the end
        self.left = []  # a hash of what kernels have written until the end of each launch
        self.uses = []  # what the program did, each kind and name once
        self._writes, self._weak = {}, set()

    def on_launch(self, blocks, threads, is_cooperative):
        self.shapes.append((blocks, threads))
        self.cooperative.append(is_cooperative)
        self._known.begin_launch()
        self._ordered.begin_launch()
        self._weak = set()

    def on_event(self, block, rank, kind, memory, address, size, number, order, value):
        if kind not in ("L", "S", "U", "u"):
            raise ValueError(kind)
        place = memory, address, size
        word = len(self.shapes), *place
        is_volatile = order == "volatile"
        self.has_weak_writes |= place in self._weak and not is_volatile
        self.has_volatile |= is_volatile
        here = self._writes.setdefault(word, [])
        source = here[number - 1] if 0 < number <= len(here) and not is_volatile else None
        order_of_word = self.coherence.setdefault(word, [])
        if kind != "L" and not is_volatile:
            at = 0 if source is None else order_of_word.index(source) + 1
            order_of_word.insert(at, len(self.events))
            here.append(len(self.events))
        self._add(
            Event(
                len(self.shapes),
                (block, rank),
                kind.upper(),
                word,
                value,
                acquires=order[0] in "ax",
                releases=order[0] in "rx",
                is_narrow=order[1] == "b",
                changes=kind != "u",
                is_volatile=is_volatile,
            ),
            source,
        )

    def on_fence(self, block, rank, order):
        self._add(
            Event(
                len(self.shapes),
                (block, rank),
                "F",
                acquires=order[0] != "r",
                releases=order[0] != "a",
                is_narrow=order[1] == "b",
                is_sc=order[0] == "s",
            ),
            None,
        )

    def _add(self, event, source):
        self._known.add(event.thread, len(self.events))
        self._ordered.add(event.thread, len(self.events))
        self.events.append(event)
        self.sources.append(source)

    def on_weak(self, *place):
        self._weak.add(place)
        self._writes.pop((len(self.shapes), *place), None)

    def on_barrier(self, block, ranks):
        self._meet([(block, int(rank)) for rank in ranks])

    def on_lanes(self, block, first, lanes, orders_memory):
        threads = [(block, first + i) for i in range(32) if lanes >> i & 1]
        self._meet(threads, orders_memory)

    def on_grid(self):
        self._meet([(block, 0) for block in range(self.shapes[-1][0])])

    def _meet(self, threads, orders_memory=True):
        self._known.meet(threads)
        if orders_memory:
            self._ordered.meet(threads)

    def on_waits(self):
        self.with_waits.add(len(self.shapes))

    def on_stuck(self, block):
        self.stuck.append(block)

    def on_left(self, content):
        self.left.append(content)

    def on_use(self, kind, name, place):
        self.uses.append(Use(kind, name, place))

    def on_refused(self, why):
        self.refused = why


class _Knowledge:
    """The bits of those that came before each event in its thread, or in one that it has met."""

    def __init__(self):
        self.before = []
        self._known, self._of_all, self._inherited = {}, 0, 0

    def begin_launch(self):
        self._known, self._inherited = {}, self._of_all

    def add(self, thread, number):
        self.before.append(self._known.get(thread, self._inherited))
        self._of_all |= 1 << number
        self._known[thread] = self.before[-1] | 1 << number

    def meet(self, threads):
        joined = 0
        for each in threads:
            joined |= self._known.get(each, self._inherited)
        self._known.update(dict.fromkeys(threads, joined))


def rows():
    """Those of the list: dictionaries with the keys kind, title, does, explored and denied."""
    return json.loads(LIST.read_text(encoding="utf-8"))


def not_explored(uses):
    """Those of a trace's uses that are not on the list, in their order."""
    return tuple(each for each in uses if each[:2] not in _EXPLORED)


def in_words(use):
    """'own.cu:7 creates a stream, whose other orders are not explored'"""
    whys = _ROWS.get(use.kind, {}).get("why", {})
    why = whys.get(use.name) or whys.get("", "whose other orders are not explored")
    return f"{does_in_words(use)}, {why}"


def does_in_words(use):
    """'own.cu:7 creates a stream'"""
    row = _ROWS.get(use.kind, {"does": "does {name}", "denied": {}})
    does = row["denied"].get(use.name) or row["does"].format(name=use.name)
    return f"{use.place or 'the program'} {does}"


_ROWS = {row["kind"]: row for row in rows()}
_EXPLORED = {(kind, name) for kind, row in _ROWS.items() for name in row["explored"]}


class NotExplored(CommandError):
    """A run did what is not on the list."""

    def __init__(self, uses, decisions):
        super().__init__(f"not proved: {in_words(uses[0])}.")
        self.uses, self.decisions = uses, decisions

    def at(self, uses):
        """The same, with the place that a run with places names."""
        found = [each for each in uses if each[:2] == self.uses[0][:2]]
        return NotExplored(found[:1] or self.uses, self.decisions)

# SPDX-License-Identifier: MIT
"""Which operations of a host program no order of CUDA's separates: an oracle for the race checker.

A program is a line of words, which orders.cu reads, too. The first has a letter for each created stream, 1
and 2: B for a blocking one, N for a non-blocking one, P for the host thread's own default stream. Stream 0
is the legacy default stream. Each further word is a step: S is a stream, E an event, and A is "r" or "w"
and the words of pinned memory that are read or written, with a point between them.

    kSA  a kernel                              rS.E   cudaEventRecord
    cSA  cudaMemcpyAsync                       wS.E   cudaStreamWaitEvent
    fSA  cudaMemsetAsync (writes)              SS QS  cudaStreamSynchronize; cudaStreamQuery until ready
    bSA  a function by cudaLaunchHostFunc      EE RE  cudaEventSynchronize; cudaEventQuery until ready
    hA   the host itself                       D      cudaDeviceSynchronize
    mA   cudaMemcpy from or to device memory   F      cudaFree of memory that nothing uses
    zA   cudaMemset (writes)                   d p o  cudaMemcpy of memory of its own: within the device,
                                                      from pageable memory, to pageable memory

What orders them, by the documentation (Runtime API: "Stream synchronization behavior" and "API
synchronization behavior", and the functions' own pages):

- The host makes its calls one after the other, and what it enqueues does not begin before the call.
- A stream does its work in the order of the calls. A record and a wait are work of their stream.
- Work in the legacy default stream waits for all that is enqueued in blocking streams, and what is enqueued
  in these later waits for it. (A thread's own default stream is a blocking one.)
- A wait is for what the last record before the call has captured; an event never recorded has captured
  nothing.
- To wait for a stream is to wait for what new work in it would wait for.
- cudaMemcpy takes place in the legacy default stream. From pinned to device memory and from device to any
  memory of the host, it returns when it is done; from pageable memory when the source has been read, and
  the stream's work before it is done; from device to device it waits for nothing.
- cudaMemset of pinned memory returns when it is done.
- cudaFree "may" wait for the device. All releases do, and programs rely on it.
"""

import re
from typing import NamedTuple, Optional

NODES = "kcfbhmz"  # the kinds that access words
ENQUEUED = "kcfbrw"  # in the stream that is named
IN_LEGACY_STREAM = "mzdpo"
SPINNING = {"Q": "S", "R": "E"}  # asked until it is ready: as good as a synchronization


class Step(NamedTuple):
    kind: str
    stream: Optional[int] = None
    event: Optional[int] = None
    writes: bool = False
    words: frozenset = frozenset()

    def __str__(self):
        text = self.kind + ".".join(
            str(each) for each in (self.stream, self.event) if each is not None
        )
        return text + (
            "rw"[self.writes] + ".".join(map(str, sorted(self.words))) if self.words else ""
        )


class Program(NamedTuple):
    streams: str  # the letters of those that are created
    steps: tuple

    def __str__(self):
        return " ".join([self.streams, *map(str, self.steps)])


def parsed(line):
    streams, *texts = line.split()
    return Program(streams, tuple(map(_step, texts)))


def _step(text):
    kind, numbers, access, words = re.fullmatch(r"(\w)([\d.]*)([rw]?)([\d.]*)", text).groups()
    numbers = [*map(int, filter(None, numbers.split(".")))]
    stream = numbers.pop(0) if kind in ENQUEUED + "SQ" else None
    return Step(
        kind,
        stream,
        *(numbers or [None]),
        access == "w",
        frozenset(map(int, filter(None, words.split(".")))),
    )


def ordered_pairs(program):
    """Pairs (i, j) of steps whose work is surely done in that order.

    The graph has two vertices for each call, when it begins and when it returns, and one for what the call
    enqueues. An access by the host is at the beginning of its step.
    """
    later = {}

    def add(before, after):
        later.setdefault(before, set()).add(after)

    steps = program.steps
    for i, step in enumerate(steps):
        begin, end, work = ("begins", i), ("returns", i), ("done", i)
        add(begin, end)
        add(end, ("begins", i + 1))
        if _stream_of(step) is not None:
            add(begin, work)
            for before in _awaited_by_stream(program, i, _stream_of(step)):
                add(("done", before), work)
        if step.kind == "w" and (recorded := _last_record(steps, i, step.event)) is not None:
            add(("done", recorded), work)
        for before in _awaited_by_host(program, i):
            add(("done", before), end)
    reachable = {each: _reachable(later, each) for each in later}

    def place(i):
        return ("begins" if _stream_of(steps[i]) is None else "done", i)

    numbers = range(len(steps))
    return {(i, j) for i in numbers for j in numbers if place(j) in reachable.get(place(i), ())}


def _stream_of(step):
    """The stream that the step enqueues work in; None for a step that enqueues none."""
    return step.stream if step.kind in ENQUEUED else 0 if step.kind in IN_LEGACY_STREAM else None


def waits_for(streams, stream, other):
    """Whether work in the stream waits for what was enqueued before it in the other one."""
    letters = "L" + streams
    is_legacy_and_blocking = 0 in (stream, other) and "N" not in (letters[stream], letters[other])
    return stream == other or is_legacy_and_blocking


def _awaited_by_stream(program, i, stream):
    """Steps before the i-th whose work comes first, if something is enqueued in the stream now."""
    others = [_stream_of(step) for step in program.steps[:i]]
    return [
        n for n, other in enumerate(others)
        if other is not None and waits_for(program.streams, stream, other)
    ]  # fmt: skip


def _last_record(steps, i, event):
    records = [each for each in range(i) if steps[each].kind == "r" and steps[each].event == event]
    return records[-1] if records else None


def _awaited_by_host(program, i):
    """Steps whose work is done when the i-th call returns."""
    step, before = program.steps[i], range(i)
    kind = SPINNING.get(step.kind, step.kind)
    if kind == "S":
        return _awaited_by_stream(program, i, step.stream)
    if kind == "E":
        recorded = _last_record(program.steps, i, step.event)
        return [] if recorded is None else [recorded]
    if kind in "DF":
        return [each for each in before if _stream_of(program.steps[each]) is not None]
    if kind == "p":
        return _awaited_by_stream(program, i, 0)
    return [i] if kind in "mzo" else []


def _reachable(later, start):
    found, left = set(), [start]
    while left:
        for each in later.get(left.pop(), ()):
            if each not in found:
                found.add(each)
                left.append(each)
    return found


def conflicts(program):
    """Pairs i < j of steps that access one word, at least one of them writing."""
    steps = program.steps
    pairs = ((i, j) for j in range(len(steps)) for i in range(j) if steps[i].words & steps[j].words)
    return {(i, j) for i, j in pairs if steps[i].writes or steps[j].writes}


def races(program):
    ordered = ordered_pairs(program)
    return {
        (i, j) for i, j in conflicts(program) if (i, j) not in ordered and (j, i) not in ordered
    }

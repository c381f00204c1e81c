# SPDX-License-Identifier: MIT
"""All states of a stepper, by the memory model: what can come next, what races, what a read may see.

A setting of the switches is one program. Its states are the threads' positions. That the next steps
depend on nothing else, whatever path led there, is checked for every state and every edge. A race of the
axioms shows as soon as both of its operations have happened.
"""

import itertools

from engine.prove.memory_model import INITIAL, axioms
from engine.prove.memory_model.program import Kind


def settings(figure):
    """All sets of switches that are on, the empty one first."""
    names = [switch.name for switch in figure.switches]
    for choice in itertools.product((False, True), repeat=len(names)):
        yield frozenset(name for name, is_on in zip(names, choice) if is_on)


def data_of(figure):
    """What stepper.js reads: one entry for each setting, under the switches as a text of 0 and 1."""
    return {
        "switches": [switch.says for switch in figure.switches],
        "settings": {key_of(figure, on): _setting(figure, on) for on in settings(figure)},
    }


def key_of(figure, on):
    """'101': the first and the third switch are on."""
    return "".join("1" if switch.name in on else "0" for switch in figure.switches)


def _setting(figure, on):
    program, given = figure.program(on)
    verdict = axioms.verdict_of(program, given)
    operations = program.operations
    pairs = sorted(
        (tuple(sorted(map(operations.index, pair))) for pair in verdict.races),
    )
    return {
        "threads": [
            {
                "name": thread.name,
                "operations": [operation_of(figure, one) for one in thread.operations],
            }
            for thread in program.threads
        ],
        "pairs": [[_place(operations[one]) for one in pair] for pair in pairs],
        "reads": {
            _place(read): sorted(words_of(figure, write) for write in writes)
            for read, writes in verdict.sources.items()
            if read.kind is Kind.read
        },
        "states": _states(program, given, pairs),
    }


def _place(one):
    """'A0.2': the third operation of thread A0."""
    return f"{one.thread.name}.{one.position}"


def words_of(figure, write):
    """The value that a write leaves."""
    return "old" if write == INITIAL else figure.values(write)


def operation_of(figure, one):
    """What the page says about an operation, and what it does to memory."""
    says = {
        Kind.barrier: "__syncthreads()",
        Kind.fence: "__threadfence()",
        Kind.read: f"read {one.location}",
        Kind.write: f"write {one.location}",
        Kind.read_modify_write: f"add 1 to {one.location}",
    }[one.kind]
    if one.kind is Kind.read_modify_write:
        says += f" ({one.order.value})"
    made = {"says": says, "kind": one.kind.value}
    if one.location is not None:
        made["location"] = one.location
        made["memory"] = next(m for start, m in figure.spaces if one.location.startswith(start))
    if one.writes:
        made["leaves"] = figure.values(one)
    return made


def next_steps(program, given, positions, latest):
    """The steps that may come now: lists of operations, several only where a barrier is met by all."""
    meeting_of = {one: meeting for meeting in program.meetings() for one in meeting}
    waiting = [
        thread.operations[at]
        for thread, at in zip(program.threads, positions)
        if at < len(thread.operations)
    ]
    if not waiting:
        return
    kernel = min(one.thread.kernel for one in waiting)
    for one in waiting:
        if one.thread.kernel != kernel:
            continue
        if one.kind is not Kind.barrier:
            if one not in given or latest.get(one.location, INITIAL) == given[one]:
                yield [one]
        elif one is meeting_of[one][0] and all(other in waiting for other in meeting_of[one]):
            yield meeting_of[one]


def _states(program, given, pairs):
    """{positions: [[threads that step together], ...] and the races so far}."""
    names = {thread: number for number, thread in enumerate(program.threads)}
    found = {}
    paths = [[]]
    while paths:
        path = paths.pop()
        positions = [0] * len(program.threads)
        latest = {}
        for step in path:
            for one in step:
                positions[names[one.thread]] += 1
                if one.writes:
                    latest[one.location] = one
        has_happened = [one.position < positions[names[one.thread]] for one in program.operations]
        races = [
            at for at, (one, other) in enumerate(pairs) if has_happened[one] and has_happened[other]
        ]
        steps = list(next_steps(program, given, positions, latest))
        state = [[[names[one.thread] for one in step] for step in steps], races]
        key = "".join(map(str, positions))
        if key in found:
            if found[key] != state:
                raise ValueError(f"{program.title}: two paths to {key} disagree.")
            continue
        found[key] = state
        paths += [[*path, step] for step in steps]
    return found

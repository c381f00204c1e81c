# SPDX-License-Identifier: MIT
"""The programs that the steppers of lessons 02, 04 and 05 play, two blocks, A and B, of two threads; and all
their states, by the memory model: what can come next, what races, what a read may see.

They are programs of the project's memory model (engine/prove/memory_model), built anew for each setting
of a figure's switches. So a stepper can't say anything else than the model does, and the race checker
is held to the same model.
"""

import itertools
from typing import Callable, NamedTuple

from engine.prove.memory_model import INITIAL, MemoryOrder, Program, axioms
from engine.prove.memory_model.last_block_guard import Guard, Step, build
from engine.prove.memory_model.program import Kind


class Switch(NamedTuple):
    name: str
    says: str  # what is left out if it is off, as a label of the checkbox
    starts_on: bool = True  # as the lesson's own program has it


class Figure(NamedTuple):
    lesson: str  # the chapter's folder
    anchor: str  # the heading under which it stands
    title: str
    introduction: str
    switches: tuple
    program: Callable  # takes a set of switches that are on; returns the program and `given`
    values: Callable  # of a write: what it leaves, in words
    spaces: tuple  # (beginning of a location's name, which memory it is in)


def last_block_guard(on):
    """As lesson 04's last_block(): the ticket is an atomic_ref's fetch_add, of any order."""
    orders = {
        (False, False): MemoryOrder.relaxed,
        (True, False): MemoryOrder.release,
        (False, True): MemoryOrder.acquire,
        (True, True): MemoryOrder.acq_rel,
    }
    before = (Step.barrier,) if "barrier before" in on else ()
    after = (Step.barrier,) if "barrier after" in on else ()
    guard = Guard(
        publish=(*before, Step.ticket),
        observe=(Step.ticket, *after, Step.merge),
        ticket_order=orders["release" in on, "acquire" in on],
    )
    return build(guard)


def block_reduction(on):
    """As lesson 02's dot product, twice in a row in block A: thread 1 leaves a value for thread 0."""
    program = Program("block reduction")
    for number, block in enumerate("AB"):
        adds = program.thread(f"{block}0", block=number)
        leaves = program.thread(f"{block}1", block=number)
        leaves.write(f"{block}.shared[1]")
        if "barrier after writing" in on:
            leaves.barrier()
            adds.barrier()
        adds.read(f"{block}.shared[1]")
        adds.write(f"partial[{number}]")
        if block == "A":
            if "barrier before reuse" in on:
                leaves.barrier()
                adds.barrier()
            leaves.write("A.shared[1]")
    host = program.thread("host", block=0, kernel=1)
    host.read("partial[0]")
    host.read("partial[1]")
    return program, {}


def work_queue(on):
    """As lesson 05's fetch(), twice in a row in block A and once in block B."""
    order = MemoryOrder.acq_rel if "ordered counter" in on else MemoryOrder.relaxed
    program = Program("work queue")
    for number, (block, fetches) in enumerate((("A", 2), ("B", 1))):
        asks = program.thread(f"{block}0", block=number)
        works = program.thread(f"{block}1", block=number)
        for fetch in range(fetches):
            asks.read_modify_write("next", order)
            asks.write(f"{block}.item")
            if "barrier after writing" in on:
                asks.barrier()
                works.barrier()
            works.read(f"{block}.item")
            if "barrier before reuse" in on and fetch + 1 < fetches:
                asks.barrier()
                works.barrier()
    return program, {}


def _nth_write(write):
    """1 for a thread's first write to a location, 2 for its second."""
    same = [one for one in write.thread.operations if one.writes and one.location == write.location]
    return same.index(write) + 1


def _value_of_block_reduction(write):
    if write.location.startswith("partial"):
        return "the sum"
    return ("first value", "second value")[_nth_write(write) - 1]


def _value_of_work_queue(write):
    if write.location == "next":
        return "one more"
    return ("first item", "second item")[_nth_write(write) - 1]


FIGURES = (
    Figure(
        "02_shared_memory_dot_product",
        "why-it-is-correct",
        "Play the schedule: two blocks add up",
        "In each block thread 1 leaves a value in shared memory, and thread 0 adds it to its own and "
        "writes the block's partial sum. Block A then uses its shared memory again. The host reads "
        "when the kernel has ended.",
        (
            Switch("barrier after writing", "barrier after the values were written"),
            Switch("barrier before reuse", "barrier before shared memory is used again"),
        ),
        block_reduction,
        _value_of_block_reduction,
        (
            ("A.", "shared memory of block A"),
            ("B.", "shared memory of block B"),
            ("", "global memory"),
        ),
    ),
    Figure(
        "04_last_block_guard",
        "why-it-is-correct",
        "Play the schedule: the last block merges",
        "Both threads of block A write one word each, and thread 0 takes a ticket. Block B takes the "
        "last ticket and reads the words. The figure shows the launches in which block B is the last, "
        "so its ticket comes after A's.",
        (
            Switch("barrier before", "barrier before the ticket"),
            Switch("release", "the ticket is a release"),
            Switch("acquire", "the ticket is an acquire"),
            Switch("barrier after", "barrier after the ticket"),
        ),
        last_block_guard,
        lambda write: "one more" if write.location == "counter" else "new",
        (("", "global memory"),),
    ),
    Figure(
        "05_work_queue",
        "why-it-is-correct",
        "Play the schedule: two blocks take items",
        "Thread 0 of a block takes the next number from the counter and puts the item into shared "
        "memory, and thread 1 reads it there. Block A does so twice, block B once.",
        (
            Switch("barrier after writing", "barrier after the item was written"),
            Switch("barrier before reuse", "barrier before the next item is written"),
            Switch(
                "ordered counter", "the counter is a release and an acquire, not relaxed", False
            ),
        ),
        work_queue,
        _value_of_work_queue,
        (
            ("A.", "shared memory of block A"),
            ("B.", "shared memory of block B"),
            ("", "global memory"),
        ),
    ),
)


# A setting of the switches is one program. Its states are the threads' positions. That the next steps
# depend on nothing else, whatever path led there, is checked for every state and every edge. A race of the
# axioms shows as soon as both of its operations have happened.


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

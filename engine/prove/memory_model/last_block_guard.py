# SPDX-License-Identifier: MIT
"""Programs in which one block publishes data, and the last block to take a ticket merges it.

Block A publishes, block B is last: its ticket sees A's. Threads 0 and 1 of a block stand for all,
because only thread 0 takes the ticket. Thread i of A writes `partial[i]`.
"""

import dataclasses
import enum
import itertools

from engine.prove.memory_model.program import MemoryOrder, Program, ThreadScope


class Step(enum.Enum):
    """What a block does, in order; all of its threads unless it says otherwise."""

    fence = "fence"
    fence_of_thread_0 = "fence of thread 0"
    ticket = "ticket"  # by thread 0
    barrier = "barrier"
    merge = "merge"  # reads the data


@dataclasses.dataclass(frozen=True)
class Guard:
    """A variant of the last-block guard."""

    publish: tuple  # steps of block A after it has written its data
    observe: tuple  # steps of block B
    every_thread_writes: bool = True  # else only thread 0 of block A
    volatile_data: bool = False
    fence_order: MemoryOrder = MemoryOrder.seq_cst
    publisher_fence_scope: ThreadScope = ThreadScope.device
    observer_fence_scope: ThreadScope = ThreadScope.device
    ticket_order: MemoryOrder = MemoryOrder.relaxed
    ticket_scope: ThreadScope = ThreadScope.device


def build(variant, merging_threads=(0, 1), between=None):
    """The program of a variant, and the `given` in which block B is last.

    Thread 1 merges all data, and thread 0, if it is one of `merging_threads`, the last element
    (one is enough for it, and each read multiplies the executions). `between` are the steps of
    thread 0 of another block, C, that takes its ticket after A and before B, and has no data.
    """
    result = Program(f"last-block guard: {variant}")
    written = (0, 1) if variant.every_thread_writes else (0,)
    tickets = []
    for index in (0, 1):
        publisher = result.thread(f"A{index}", block=0)
        if index in written:
            publisher.write(f"partial[{index}]", *_access(variant))
        tickets += _run(publisher, index, variant.publish, variant, variant.publisher_fence_scope)
    if between is not None:
        other = result.thread("C0", block=2)
        tickets += _run(other, 0, between, variant, variant.publisher_fence_scope)
    for index in (0, 1):
        merged = () if index not in merging_threads else written if index == 1 else written[-1:]
        observer = result.thread(f"B{index}", block=1)
        tickets += _run(
            observer, index, variant.observe, variant, variant.observer_fence_scope, merged
        )
    given = {later: earlier for earlier, later in itertools.pairwise(tickets)}
    return result, given


def _access(variant):
    if variant.volatile_data:
        return MemoryOrder.relaxed, ThreadScope.system  # section 8.4.2
    return (MemoryOrder.weak,)


def _run(thread, index, steps, variant, fence_scope, merged=()):
    """Appends the steps of a block to its thread `index`; returns the tickets that it takes."""
    tickets = []
    for each in steps:
        if each is Step.fence or (each is Step.fence_of_thread_0 and index == 0):
            thread.fence(variant.fence_order, fence_scope)
        elif each is Step.barrier:
            thread.barrier()
        elif each is Step.ticket and index == 0:
            tickets.append(
                thread.read_modify_write("counter", variant.ticket_order, variant.ticket_scope)
            )
        elif each is Step.merge:
            for element in merged:
                thread.read(f"partial[{element}]", *_access(variant))
    return tickets


def _all_variants():
    """8,960 variants: every mistake that a student can make by leaving out, adding or narrowing."""
    fence, fence_of_thread_0, ticket = Step.fence, Step.fence_of_thread_0, Step.ticket
    barrier, merge = Step.barrier, Step.merge
    publish = (
        (ticket,),
        (fence_of_thread_0, ticket),
        (fence, ticket),
        (barrier, ticket),
        (fence, barrier, ticket),
        (barrier, fence_of_thread_0, ticket),
        (fence, barrier, fence_of_thread_0, ticket),
        (fence_of_thread_0, barrier, ticket),
        (ticket, fence_of_thread_0),
        (ticket, barrier),
    )
    observe = (
        (ticket, barrier, merge),
        (ticket, fence_of_thread_0, barrier, merge),
        (ticket, barrier, fence, merge),
        (fence, ticket, barrier, merge),
        (ticket, barrier, fence_of_thread_0, merge),
        (ticket, fence_of_thread_0, merge),
        (fence_of_thread_0, ticket, fence_of_thread_0, barrier, merge),
    )
    scopes = (ThreadScope.device, ThreadScope.block)
    for choice in itertools.product(
        publish,
        observe,
        (False, True),
        (MemoryOrder.acq_rel, MemoryOrder.seq_cst),
        scopes,
        scopes,
        scopes,
        (MemoryOrder.relaxed, MemoryOrder.acq_rel, MemoryOrder.release, MemoryOrder.acquire),
    ):
        before, after, every_thread, fence_order, publisher, observer, ticket_scope, order = choice
        yield Guard(
            before,
            after,
            every_thread_writes=every_thread,
            fence_order=fence_order,
            publisher_fence_scope=publisher,
            observer_fence_scope=observer,
            ticket_order=order,
            ticket_scope=ticket_scope,
        )


ALL_VARIANTS = tuple(_all_variants())

# SPDX-License-Identifier: MIT
"""The verdicts on the last-block guard, form by form. What each leaves out decides the lesson."""

import pytest

from engine.prove.memory_model import MemoryOrder, ThreadScope, axioms
from engine.prove.memory_model.last_block_guard import ALL_VARIANTS, Guard, Step, build

ALL_FENCE, FENCE = Step.fence, Step.fence_of_thread_0
TICKET, BARRIER, MERGE = Step.ticket, Step.barrier, Step.merge
ACQ_REL, SEQ_CST, BLOCK = MemoryOrder.acq_rel, MemoryOrder.seq_cst, ThreadScope.block
COUNTER, DATA = {"counter"}, {"partial[0]", "partial[1]"}


def judge(publish, observe, between=None, merging_threads=(0, 1), **options):
    made, given = build(Guard(publish, observe, **options), merging_threads, between)
    seen = axioms.verdict_of(made, given)
    assert seen.executions > 0
    return seen


def assert_clean(*steps, **options):
    seen = judge(*steps, **options)
    assert seen.races == set()
    assert seen.stale_reads() & merging(seen) == set()


def assert_race(locations, *steps, **options):
    assert judge(*steps, **options).racing_locations() == locations


def merging(seen):
    return {read for read in seen.sources if read.location in DATA}


def test_the_number_of_variants():
    assert len(ALL_VARIANTS) == 8960
    assert len(set(ALL_VARIANTS)) == 8960


PUBLISH = (ALL_FENCE, TICKET, BARRIER)

OBSERVE = (ALL_FENCE, TICKET, BARRIER, MERGE)

ONE = {"every_thread_writes": False}


# Only thread 0 of each block writes what is merged.


def test_fence_and_ticket_without_an_acquire():
    assert_race({"partial[0]"}, PUBLISH, OBSERVE, **ONE)


def test_no_fence_at_all():
    assert_race({"partial[0]"}, (TICKET, BARRIER), (TICKET, BARRIER, MERGE), **ONE)


def test_a_fence_after_the_ticket():
    assert_clean(PUBLISH, (ALL_FENCE, TICKET, FENCE, BARRIER, MERGE), **ONE)


def test_fences_of_all_threads_after_the_barrier():
    assert_clean(PUBLISH, (ALL_FENCE, TICKET, BARRIER, ALL_FENCE, MERGE), **ONE)


def test_volatile_data_may_be_stale():
    seen = judge(PUBLISH, OBSERVE, volatile_data=True, **ONE)
    assert seen.races == set()
    assert seen.stale_reads() & merging(seen) == merging(seen)


def test_a_ticket_of_block_scope():
    steps = PUBLISH, (ALL_FENCE, TICKET, FENCE, BARRIER, MERGE)
    assert_race(COUNTER, *steps, ticket_scope=BLOCK, **ONE)


def test_a_release_by_a_fence_of_block_scope():
    steps = PUBLISH, (ALL_FENCE, TICKET, FENCE, BARRIER, MERGE)
    assert_race({"partial[0]"}, *steps, publisher_fence_scope=BLOCK, **ONE)


def test_no_barrier_before_the_ticket():
    publish = (ALL_FENCE, TICKET, BARRIER)
    assert_race(DATA, publish, (ALL_FENCE, TICKET, BARRIER, MERGE))
    assert_race({"partial[1]"}, publish, (TICKET, FENCE, BARRIER, MERGE))


def test_volatile_data_and_no_barrier_may_be_stale():
    publish = (ALL_FENCE, TICKET, BARRIER)
    seen = judge(publish, (TICKET, FENCE, BARRIER, MERGE), volatile_data=True)
    assert seen.races == set()
    assert {one.location for one in seen.stale_reads()} & DATA == {"partial[1]"}


def test_fence_barrier_ticket_without_an_acquire():
    publish = (ALL_FENCE, BARRIER, TICKET, BARRIER)
    assert_race(DATA, publish, (BARRIER, TICKET, BARRIER, MERGE))


def test_fence_barrier_ticket_needs_sc_fences():
    steps = (ALL_FENCE, BARRIER, TICKET, BARRIER), (TICKET, FENCE, BARRIER, MERGE)
    assert_clean(*steps, fence_order=SEQ_CST)
    assert_race({"partial[1]"}, *steps, fence_order=ACQ_REL)


def test_barrier_fence_ticket_fence():
    steps = (BARRIER, FENCE, TICKET, BARRIER), (TICKET, FENCE, BARRIER, MERGE)
    assert_clean(*steps, fence_order=SEQ_CST)
    assert_clean(*steps, fence_order=ACQ_REL)


def test_fences_after_the_last_barrier_need_sc_fences():
    steps = (BARRIER, FENCE, TICKET, BARRIER), (TICKET, BARRIER, ALL_FENCE, MERGE)
    assert_clean(*steps, fence_order=SEQ_CST)
    assert_race(DATA, *steps, fence_order=ACQ_REL)


# Thread 0 takes the ticket by cuda::atomic_ref::fetch_add, with an order.
STEPS = (BARRIER, TICKET, BARRIER), (TICKET, BARRIER, MERGE)


def test_acq_rel_at_device_scope():
    assert_clean(*STEPS, ticket_order=ACQ_REL)


def test_without_the_first_barrier():
    assert_race({"partial[1]"}, (TICKET, BARRIER), (TICKET, BARRIER, MERGE), ticket_order=ACQ_REL)


def test_block_scope():
    assert_race(COUNTER | DATA, *STEPS, ticket_order=ACQ_REL, ticket_scope=BLOCK)


@pytest.mark.parametrize("order", (MemoryOrder.release, MemoryOrder.acquire, MemoryOrder.relaxed))
def test_release_or_acquire_alone(order):
    assert_race(DATA, *STEPS, ticket_order=order)


def test_without_the_last_barrier():
    """Thread 1 merges without having learned that its block is the last one."""
    assert_race(DATA, (BARRIER, TICKET), (TICKET, MERGE), ticket_order=ACQ_REL)


# Another block takes its ticket in between: the release travels along its atomic.
ONE_READER = {"merging_threads": (1,)}


@pytest.mark.parametrize("order", (SEQ_CST, ACQ_REL))
def test_barrier_fence_ticket_fence_of_three_blocks(order):
    steps = (BARRIER, FENCE, TICKET), (TICKET, FENCE, BARRIER, MERGE)
    assert_clean(*steps, between=(ALL_FENCE, TICKET), fence_order=order, **ONE_READER)
    assert_clean(*steps, between=(TICKET,), fence_order=order, **ONE_READER)


def test_fence_barrier_ticket_needs_sc_fences_of_three_blocks():
    steps = (ALL_FENCE, BARRIER, TICKET), (TICKET, FENCE, BARRIER, MERGE)
    options = dict(between=(ALL_FENCE, TICKET), **ONE_READER)
    assert_clean(*steps, fence_order=SEQ_CST, **options)
    assert_race({"partial[1]"}, *steps, fence_order=ACQ_REL, **options)


def test_fences_after_the_last_barrier_need_sc_fences_of_three_blocks():
    steps = (BARRIER, FENCE, TICKET), (TICKET, BARRIER, ALL_FENCE, MERGE)
    options = dict(between=(ALL_FENCE, TICKET), **ONE_READER)
    assert_clean(*steps, fence_order=SEQ_CST, **options)
    assert_race(DATA, *steps, fence_order=ACQ_REL, **options)


def test_acq_rel_at_device_scope_of_three_blocks():
    steps = (BARRIER, TICKET), (TICKET, BARRIER, MERGE)
    assert_clean(*steps, between=(TICKET,), ticket_order=ACQ_REL, **ONE_READER)

# SPDX-License-Identifier: MIT
"""The verdicts on the last-block guard, form by form. What each leaves out decides the lesson."""

import unittest
from typing import ClassVar

from engine.prove.memory_model import MemoryOrder, ThreadScope, axioms
from engine.prove.memory_model.last_block_guard import ALL_VARIANTS, Guard, Step, build

ALL_FENCE, FENCE = Step.fence, Step.fence_of_thread_0
TICKET, BARRIER, MERGE = Step.ticket, Step.barrier, Step.merge
ACQ_REL, SEQ_CST, BLOCK = MemoryOrder.acq_rel, MemoryOrder.seq_cst, ThreadScope.block
COUNTER, DATA = {"counter"}, {"partial[0]", "partial[1]"}


class GuardTest(unittest.TestCase):
    def judge(self, publish, observe, between=None, merging_threads=(0, 1), **options):
        made, given = build(Guard(publish, observe, **options), merging_threads, between)
        seen = axioms.verdict_of(made, given)
        self.assertGreater(seen.executions, 0)
        return seen

    def assert_clean(self, *steps, **options):
        seen = self.judge(*steps, **options)
        self.assertEqual(seen.races, set())
        self.assertEqual(seen.stale_reads() & self.merging(seen), set())

    def assert_race(self, locations, *steps, **options):
        self.assertEqual(self.judge(*steps, **options).racing_locations(), locations)

    @staticmethod
    def merging(seen):
        return {read for read in seen.sources if read.location in DATA}


class VariantsTest(unittest.TestCase):
    def test_the_number_of_variants(self):
        self.assertEqual(len(ALL_VARIANTS), 8960)
        self.assertEqual(len(set(ALL_VARIANTS)), 8960)


class OneWriterTest(GuardTest):
    """Only thread 0 of each block writes what is merged."""

    PUBLISH = (ALL_FENCE, TICKET, BARRIER)
    OBSERVE = (ALL_FENCE, TICKET, BARRIER, MERGE)
    ONE: ClassVar = {"every_thread_writes": False}

    def test_fence_and_ticket_without_an_acquire(self):
        self.assert_race({"partial[0]"}, self.PUBLISH, self.OBSERVE, **self.ONE)

    def test_no_fence_at_all(self):
        self.assert_race({"partial[0]"}, (TICKET, BARRIER), (TICKET, BARRIER, MERGE), **self.ONE)

    def test_a_fence_after_the_ticket(self):
        self.assert_clean(self.PUBLISH, (ALL_FENCE, TICKET, FENCE, BARRIER, MERGE), **self.ONE)

    def test_fences_of_all_threads_after_the_barrier(self):
        self.assert_clean(self.PUBLISH, (ALL_FENCE, TICKET, BARRIER, ALL_FENCE, MERGE), **self.ONE)

    def test_volatile_data_may_be_stale(self):
        seen = self.judge(self.PUBLISH, self.OBSERVE, volatile_data=True, **self.ONE)
        self.assertEqual(seen.races, set())
        self.assertEqual(seen.stale_reads() & self.merging(seen), self.merging(seen))

    def test_a_ticket_of_block_scope(self):
        steps = self.PUBLISH, (ALL_FENCE, TICKET, FENCE, BARRIER, MERGE)
        self.assert_race(COUNTER, *steps, ticket_scope=BLOCK, **self.ONE)

    def test_a_release_by_a_fence_of_block_scope(self):
        steps = self.PUBLISH, (ALL_FENCE, TICKET, FENCE, BARRIER, MERGE)
        self.assert_race({"partial[0]"}, *steps, publisher_fence_scope=BLOCK, **self.ONE)


class EveryThreadWritesTest(GuardTest):
    def test_no_barrier_before_the_ticket(self):
        publish = (ALL_FENCE, TICKET, BARRIER)
        self.assert_race(DATA, publish, (ALL_FENCE, TICKET, BARRIER, MERGE))
        self.assert_race({"partial[1]"}, publish, (TICKET, FENCE, BARRIER, MERGE))

    def test_volatile_data_and_no_barrier_may_be_stale(self):
        publish = (ALL_FENCE, TICKET, BARRIER)
        seen = self.judge(publish, (TICKET, FENCE, BARRIER, MERGE), volatile_data=True)
        self.assertEqual(seen.races, set())
        self.assertEqual({one.location for one in seen.stale_reads()} & DATA, {"partial[1]"})

    def test_fence_barrier_ticket_without_an_acquire(self):
        publish = (ALL_FENCE, BARRIER, TICKET, BARRIER)
        self.assert_race(DATA, publish, (BARRIER, TICKET, BARRIER, MERGE))

    def test_fence_barrier_ticket_needs_sc_fences(self):
        steps = (ALL_FENCE, BARRIER, TICKET, BARRIER), (TICKET, FENCE, BARRIER, MERGE)
        self.assert_clean(*steps, fence_order=SEQ_CST)
        self.assert_race({"partial[1]"}, *steps, fence_order=ACQ_REL)

    def test_barrier_fence_ticket_fence(self):
        steps = (BARRIER, FENCE, TICKET, BARRIER), (TICKET, FENCE, BARRIER, MERGE)
        self.assert_clean(*steps, fence_order=SEQ_CST)
        self.assert_clean(*steps, fence_order=ACQ_REL)

    def test_fences_after_the_last_barrier_need_sc_fences(self):
        steps = (BARRIER, FENCE, TICKET, BARRIER), (TICKET, BARRIER, ALL_FENCE, MERGE)
        self.assert_clean(*steps, fence_order=SEQ_CST)
        self.assert_race(DATA, *steps, fence_order=ACQ_REL)


class ModernFormTest(GuardTest):
    """Thread 0 takes the ticket by cuda::atomic_ref::fetch_add, with an order."""

    STEPS = (BARRIER, TICKET, BARRIER), (TICKET, BARRIER, MERGE)

    def test_acq_rel_at_device_scope(self):
        self.assert_clean(*self.STEPS, ticket_order=ACQ_REL)

    def test_without_the_first_barrier(self):
        self.assert_race(
            {"partial[1]"}, (TICKET, BARRIER), (TICKET, BARRIER, MERGE), ticket_order=ACQ_REL
        )

    def test_block_scope(self):
        self.assert_race(COUNTER | DATA, *self.STEPS, ticket_order=ACQ_REL, ticket_scope=BLOCK)

    def test_release_or_acquire_alone(self):
        for order in (MemoryOrder.release, MemoryOrder.acquire, MemoryOrder.relaxed):
            with self.subTest(order=order):
                self.assert_race(DATA, *self.STEPS, ticket_order=order)

    def test_without_the_last_barrier(self):
        """Thread 1 merges without having learned that its block is the last one."""
        self.assert_race(DATA, (BARRIER, TICKET), (TICKET, MERGE), ticket_order=ACQ_REL)


class ThreeBlocksTest(GuardTest):
    """Another block takes its ticket in between: the release travels along its atomic."""

    ONE_READER: ClassVar = {"merging_threads": (1,)}

    def assert_both_fences_clean(self, *steps, **options):
        for order in (SEQ_CST, ACQ_REL):
            with self.subTest(order=order):
                self.assert_clean(*steps, fence_order=order, **self.ONE_READER, **options)

    def test_barrier_fence_ticket_fence(self):
        steps = (BARRIER, FENCE, TICKET), (TICKET, FENCE, BARRIER, MERGE)
        self.assert_both_fences_clean(*steps, between=(ALL_FENCE, TICKET))
        self.assert_both_fences_clean(*steps, between=(TICKET,))

    def test_fence_barrier_ticket_needs_sc_fences(self):
        steps = (ALL_FENCE, BARRIER, TICKET), (TICKET, FENCE, BARRIER, MERGE)
        options = dict(between=(ALL_FENCE, TICKET), **self.ONE_READER)
        self.assert_clean(*steps, fence_order=SEQ_CST, **options)
        self.assert_race({"partial[1]"}, *steps, fence_order=ACQ_REL, **options)

    def test_fences_after_the_last_barrier_need_sc_fences(self):
        steps = (BARRIER, FENCE, TICKET), (TICKET, BARRIER, ALL_FENCE, MERGE)
        options = dict(between=(ALL_FENCE, TICKET), **self.ONE_READER)
        self.assert_clean(*steps, fence_order=SEQ_CST, **options)
        self.assert_race(DATA, *steps, fence_order=ACQ_REL, **options)

    def test_acq_rel_at_device_scope(self):
        steps = (BARRIER, TICKET), (TICKET, BARRIER, MERGE)
        self.assert_clean(*steps, between=(TICKET,), ticket_order=ACQ_REL, **self.ONE_READER)

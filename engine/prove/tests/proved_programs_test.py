# SPDX-License-Identifier: MIT
"""What ./lab prove explores against the axioms: each execution of small programs once, and no other one.

Executions in which program order and reads-from form a cycle are left out, as they are not explored.
"""

import os
import random

import pytest

from engine.prove.consistency import Graph
from engine.prove.decided_runs import decided_runs
from engine.prove.memory_model import INITIAL, MemoryOrder, Program, axioms
from engine.prove.memory_model.last_block_guard import ALL_VARIANTS, build
from engine.prove.memory_model.program import Kind
from engine.prove.tests.explored_programs import Expected, assert_agrees, explored, simulated
from engine.prove.tests.random_programs import random_program_of_two_words
from engine.prove.tests.weak_outcomes_test import words_of
from engine.prove.trace import Event

SEED = 40
SIMULATED_COUNT = 100
PERFORMED_COUNT = 20
VARIANT_COUNT = 300
SECONDS_OF_RUN = 60
MANY_EVENTS = 1100  # more than Python's functions may call each other
WORD = 1, -1, 0, 4

RELAXED, ACQUIRE, RELEASE = MemoryOrder.relaxed, MemoryOrder.acquire, MemoryOrder.release


def store_buffering(fence=None):
    made = Program()
    for number in (0, 1):
        thread = made.thread(f"P{number}", number)
        thread.write("xy"[number], RELAXED)
        if fence:
            thread.fence(fence)
        thread.read("yx"[number], RELAXED)
    return made


def two_writes_each():
    """2+2W."""
    made = Program()
    for number in (0, 1):
        thread = made.thread(f"P{number}", number)
        thread.write("xy"[number], RELAXED)
        thread.write("yx"[number], RELAXED)
    return made


def two_writers_two_readers(order=ACQUIRE, fence=None):
    """IRIW."""
    made = Program()
    for number in (0, 1):
        made.thread(f"writer {number}", number).write("xy"[number], RELAXED)
    for number in (0, 1):
        thread = made.thread(f"reader {number}", number)
        thread.read("xy"[number], order)
        if fence:
            thread.fence(fence)
        thread.read("yx"[number], order)
    return made


def data_behind_fences():
    """A race in one order of the two fences."""
    made = Program()
    one, other = made.thread("one", 0), made.thread("other", 1)
    one.write("data")
    one.fence()
    one.read("x", RELAXED)
    other.write("x", RELAXED)
    other.fence()
    other.read("data")
    return made


def beside_fences(made):
    """The same, and twelve more threads that fence: the fences of all have more than 10^10 orders."""
    for number in range(12):
        made.thread(f"fences {number}", number % 2).fence()
    return made


def fences_that_order_nothing():
    """A race, whichever fence is first."""
    made = Program()
    for number in (0, 1):
        thread = made.thread(f"P{number}", number)
        thread.fence()
        thread.write("data")
    return made


def two_comparisons():
    """Two blocks both want to replace the first value: one succeeds, and the other sees that or not."""
    made = Program()
    for number in (0, 1):
        one = made.thread(f"P{number}", number).compare_and_swap("x")
        made.expected[one] = INITIAL
    return made


def comparison_of_a_store():
    """It succeeds if it gets the store's value; then it comes after it, else at no place."""
    made = Program()
    stored = made.thread("stores", 0).write("x", RELAXED)
    compares = made.thread("compares", 1)
    made.expected[compares.compare_and_swap("x")] = stored
    compares.read("x", RELAXED)
    return made


# Each with the number of its executions.
LITMUS = {
    "store buffering": (store_buffering(), 4),
    "store buffering, acq_rel fences": (store_buffering(MemoryOrder.acq_rel), 4),
    "store buffering, sc fences": (store_buffering(MemoryOrder.seq_cst), 3),
    "2+2W": (two_writes_each(), 4),
    "IRIW": (two_writers_two_readers(), 16),
    "IRIW, sc fences": (two_writers_two_readers(RELAXED, MemoryOrder.seq_cst), 15),
    "two compare-and-swaps": (two_comparisons(), 2),
    "compare-and-swap of a store's value": (comparison_of_a_store(), 3),
}


def performed(made):
    """An Exploration of the program that the CPU backend performs."""
    options = [str(word) for word in words_of(made)]
    with decided_runs(os.environ["ONE_PROGRAM"], options, SECONDS_OF_RUN) as runs:
        return explored(runs.run, runs.expect)


@pytest.mark.parametrize("name", LITMUS)
def test_litmus_tests(name):
    made, count = LITMUS[name]
    assert len(Expected(made).graphs) == count
    assert_agrees(made, simulated(made))
    assert_agrees(made, performed(made))


def test_a_race_in_one_order_of_the_fences_is_one():
    assert assert_agrees(data_behind_fences(), performed(data_behind_fences()))


def test_other_fences_change_nothing():
    stored = beside_fences(store_buffering(MemoryOrder.seq_cst))
    assert len(performed(stored).executions) == 3
    assert performed(beside_fences(fences_that_order_nothing())).failed


def test_a_thread_may_have_many_accesses_and_fences():
    numbers = [*range(MANY_EVENTS)]
    before = [(1 << i) - 1 for i in numbers]
    for each in (Event(1, (0, 0), "U", WORD), Event(1, (0, 0), "F", is_sc=True)):
        coherence = {WORD: numbers} if each.kind == "U" else {}
        graph = Graph([each] * MANY_EVENTS, numbers, before, [None, *numbers], coherence)
        (order,) = graph.fence_orders()
        assert order == (numbers if each.is_sc else [])


def test_variants_of_the_guard():
    """Each has two executions, the orders of the tickets. In one of them block 1 is last, and merges."""
    clean = 0
    for variant in random.Random(SEED).sample(ALL_VARIANTS, VARIANT_COUNT):
        made, given = build(variant, merging_threads=(1,))
        (ticket,) = given

        def counts(sources, pair, ticket=ticket):
            is_last = sources.get(ticket) != INITIAL
            return is_last or all(one.kind is not Kind.read for one in pair)

        exploration = simulated(made, counts)
        races = axioms.verdict_of(made, given).races
        assert bool(exploration.failed) == bool(races), variant
        if not races:
            assert len(exploration.executions) == 2, variant
            clean += 1
    assert clean > VARIANT_COUNT // 20


def test_random_programs():
    generator = random.Random(SEED)
    racing = 0
    for _ in range(SIMULATED_COUNT):
        made = random_program_of_two_words(generator)
        racing += assert_agrees(made, simulated(made))
    assert racing > SIMULATED_COUNT // 10
    assert racing < SIMULATED_COUNT // 2


def test_random_programs_on_the_cpu_backend():
    generator = random.Random(SEED + 1)
    racing = 0
    for _ in range(PERFORMED_COUNT):
        made = random_program_of_two_words(generator)
        racing += assert_agrees(made, performed(made))
    assert racing < PERFORMED_COUNT

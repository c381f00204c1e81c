# SPDX-License-Identifier: MIT
"""Known litmus tests, and every verdict of docs/memory-model.md that is not about the guard."""

import pytest

from engine.prove.memory_model import INITIAL, MemoryOrder, Program, ThreadScope, axioms
from engine.prove.memory_model.events import Relation
from engine.prove.tests.explored_programs import assert_agrees, simulated

WEAK, RELAXED, ACQUIRE = MemoryOrder.weak, MemoryOrder.relaxed, MemoryOrder.acquire
RELEASE, ACQ_REL, SEQ_CST = MemoryOrder.release, MemoryOrder.acq_rel, MemoryOrder.seq_cst
BLOCK, DEVICE, SYSTEM = ThreadScope.block, ThreadScope.device, ThreadScope.system


def judge(made, given=None):
    """The axioms' verdict. What ./lab prove explores of the program must agree with the axioms."""
    seen = axioms.verdict_of(made, given)
    assert seen.executions > 0, "this can't happen at all"
    assert_agrees(made, simulated(made))
    return seen


def message(
    store=(RELAXED, DEVICE),
    load=(RELAXED, DEVICE),
    writer_fence=None,
    reader_fence=None,
    data=(WEAK,),
    blocks=(0, 1),
):
    """Message passing: one thread writes data, then a flag; another one saw the flag.

    Returns the verdict, the write and the read of the data.
    """
    made = Program("message passing")
    writer = made.thread("writer", blocks[0])
    write = writer.write("data", *data)
    if writer_fence:
        writer.fence(*writer_fence)
    flag = writer.write("flag", *store)
    reader = made.thread("reader", blocks[1])
    seen_flag = reader.read("flag", *load)
    if reader_fence:
        reader.fence(*reader_fence)
    read = reader.read("data", *data)
    return judge(made, {seen_flag: flag}), write, read


def assert_delivered(judged):
    seen, write, read = judged
    assert seen.races == set()
    assert seen.sources[read] == {write}


def assert_race_on_data(judged):
    seen, write, read = judged
    assert seen.races == {frozenset((write, read))}
    assert seen.sources[read] == {write, INITIAL}


# What a race is.


def two_accesses(first, second, blocks=(0, 1)):
    """The verdict of two threads with one access each, (method, order, scope), to one place."""
    made = Program("two accesses")
    for name, block, (method, *rest) in zip("PQ", blocks, (first, second)):
        getattr(made.thread(name, block), method)("x", *rest)
    return judge(made)


def test_two_plain_accesses_race_if_one_writes():
    assert two_accesses(("write",), ("write",)).races
    assert two_accesses(("write",), ("read",)).races
    assert not two_accesses(("read",), ("read",)).races


def test_a_plain_and_a_strong_access_race():
    assert two_accesses(("write",), ("read_modify_write",)).races
    assert two_accesses(("read",), ("write", RELEASE, DEVICE)).races


def test_two_atomics_of_wide_enough_scope_do_not_race():
    add = ("read_modify_write", RELAXED, DEVICE)
    assert not two_accesses(add, add).races
    assert not two_accesses(add, ("read", RELAXED, SYSTEM)).races


def test_two_atomics_of_block_scope_race_between_blocks():
    add = ("read_modify_write", RELAXED, BLOCK)
    assert two_accesses(add, add).races
    assert not two_accesses(add, add, blocks=(0, 0)).races


def test_one_narrow_scope_is_enough_for_a_race():
    narrow = ("read_modify_write", RELAXED, BLOCK)
    wide = ("read_modify_write", RELAXED, DEVICE)
    assert two_accesses(narrow, wide).races
    assert two_accesses(wide, narrow).races


def test_different_locations_do_not_race():
    made = Program("two places")
    made.thread("P", 0).write("x")
    made.thread("Q", 1).write("y")
    assert not judge(made).races


def test_one_thread_does_not_race_with_itself():
    made = Program("one thread")
    only = made.thread("P", 0)
    write, read = only.write("x"), only.read("x")
    seen = judge(made)
    assert not seen.races
    assert seen.sources[read] == {write}


# Section 8.10.3, litmus tests 1 and 2.


def both_saw_zero(scope, blocks):
    made = Program("two increments")
    adds = [
        made.thread(name, block).read_modify_write("x", RELAXED, scope)
        for name, block in zip("PQ", blocks)
    ]
    return axioms.verdict_of(made, dict.fromkeys(adds, INITIAL)).executions > 0


def test_no_increment_is_lost_in_scope():
    assert not both_saw_zero(DEVICE, (0, 1))
    assert not both_saw_zero(BLOCK, (0, 0))


def test_an_increment_can_be_lost_where_the_scope_is_too_narrow():
    assert both_saw_zero(BLOCK, (0, 1))


# Release and acquire patterns (section 8.8).


def test_a_relaxed_flag_orders_nothing():
    assert_race_on_data(message())


def test_a_plain_flag_races_itself():
    seen, _, read = message(store=(WEAK,), load=(WEAK,))
    assert seen.racing_locations() == {"data", "flag"}
    assert INITIAL in seen.sources[read]


def test_release_and_acquire_deliver():
    assert_delivered(message(store=(RELEASE, DEVICE), load=(ACQUIRE, DEVICE)))


def test_a_release_needs_an_acquire():
    assert_race_on_data(message(store=(RELEASE, DEVICE)))


def test_an_acquire_needs_a_release():
    assert_race_on_data(message(load=(ACQUIRE, DEVICE)))


def test_block_scope_does_not_reach_another_block():
    narrow = {"store": (RELEASE, BLOCK), "load": (ACQUIRE, BLOCK)}
    seen, _, _ = message(**narrow)
    assert seen.racing_locations() == {"data", "flag"}
    assert_delivered(message(**narrow, blocks=(0, 0)))


def test_block_scope_on_one_side_is_enough_within_a_block():
    assert_delivered(message(store=(RELEASE, BLOCK), load=(ACQUIRE, DEVICE), blocks=(0, 0)))


def test_what_comes_after_the_release_is_not_published():
    made = Program("late write")
    writer, reader = made.thread("writer", 0), made.thread("reader", 1)
    flag = writer.write("flag", RELEASE, DEVICE)
    late = writer.write("data")
    seen_flag = reader.read("flag", ACQUIRE, DEVICE)
    read = reader.read("data")
    assert judge(made, {seen_flag: flag}).races == {frozenset((late, read))}


def test_what_comes_before_the_acquire_is_not_covered():
    made = Program("early read")
    writer, reader = made.thread("writer", 0), made.thread("reader", 1)
    write = writer.write("data")
    flag = writer.write("flag", RELEASE, DEVICE)
    early = reader.read("data")
    seen_flag = reader.read("flag", ACQUIRE, DEVICE)
    assert judge(made, {seen_flag: flag}).races == {frozenset((write, early))}


def test_an_acquire_that_sees_another_value_acquires_nothing():
    made = Program("not yet")
    writer, reader = made.thread("writer", 0), made.thread("reader", 1)
    write = writer.write("data")
    writer.write("flag", RELEASE, DEVICE)
    flag = reader.read("flag", ACQUIRE, DEVICE)
    read = reader.read("data")
    assert judge(made, {flag: INITIAL}).races == {frozenset((write, read))}


@pytest.mark.parametrize("location", ("f", "g"))
def test_a_release_is_seen_at_its_own_location(location):
    """A later strong write continues the pattern, if it is to the same location."""
    made = Program("release, then a relaxed write")
    writer, reader = made.thread("writer", 0), made.thread("reader", 1)
    write = writer.write("data")
    writer.write("f", RELEASE, DEVICE)
    link = writer.write(location, RELAXED, DEVICE)
    flag = reader.read(location, RELAXED, DEVICE)
    reader.fence(ACQ_REL, DEVICE)
    read = reader.read("data")
    message = judge(made, {flag: link}), write, read
    (assert_delivered if location == "f" else assert_race_on_data)(message)


@pytest.mark.parametrize("location", ("f", "g"))
def test_an_acquire_is_of_its_own_location(location):
    """An earlier relaxed read begins the pattern, if it is of the same location."""
    made = Program("relaxed read, then an acquire")
    writer, reader = made.thread("writer", 0), made.thread("reader", 1)
    write = writer.write("data")
    writer.fence(ACQ_REL, DEVICE)
    release = writer.write("f", RELAXED, DEVICE)
    later = made.thread("other", 2).write(location, RELAXED, DEVICE)
    flag = reader.read("f", RELAXED, DEVICE)
    acquire = reader.read(location, ACQUIRE, DEVICE)
    read = reader.read("data")
    message = judge(made, {flag: release, acquire: later}), write, read
    (assert_delivered if location == "f" else assert_race_on_data)(message)


def chain(middle):
    """Release by P, something by Q that saw it, acquire by R that saw Q's write."""
    made = Program("chain")
    first, second, third = (made.thread(name, number) for number, name in enumerate("PQR"))
    write = first.write("data")
    release = first.write("flag", RELEASE, DEVICE)
    if middle == "read-modify-write":
        seen = link = second.read_modify_write("flag", RELAXED, DEVICE)
    else:
        seen = second.read("flag", RELAXED, DEVICE)
        link = second.write("flag", RELAXED, DEVICE)
    acquire = third.read("flag", ACQUIRE, DEVICE)
    read = third.read("data")
    return judge(made, {seen: release, acquire: link}), write, read


def test_a_release_travels_along_a_chain_of_atomics():
    assert_delivered(chain("read-modify-write"))


def test_a_load_and_a_store_break_the_chain():
    assert_race_on_data(chain("load and store"))


def test_each_link_of_a_chain_must_be_morally_strong():
    """The first and the last thread share a block; the atomic in between is out of scope."""
    made = Program("chain out of scope")
    first, second, third = (
        made.thread(name, block) for name, block in (("P", 0), ("Q", 1), ("R", 0))
    )
    write = first.write("data")
    release = first.write("flag", RELEASE, BLOCK)
    link = second.read_modify_write("flag", RELAXED, DEVICE)
    acquire = third.read("flag", ACQUIRE, DEVICE)
    read = third.read("data")
    seen = judge(made, {link: release, acquire: link})
    assert seen.races == {frozenset((release, link)), frozenset((write, read))}


def test_release_and_acquire_are_cumulative():
    """Three threads, two flags, and the first hand-over at block scope."""
    made = Program("cumulative")
    first, second = made.thread("P", 0), made.thread("Q", 0)
    third = made.thread("R", 1)
    write = first.write("data")
    block_flag = first.write("f", RELEASE, BLOCK)
    seen_block_flag = second.read("f", ACQUIRE, BLOCK)
    device_flag = second.write("g", RELEASE, DEVICE)
    seen_device_flag = third.read("g", ACQUIRE, DEVICE)
    read = third.read("data")
    given = {seen_block_flag: block_flag, seen_device_flag: device_flag}
    assert_delivered((judge(made, given), write, read))


def test_volatile_has_no_race_but_may_be_stale():
    volatile = (RELAXED, SYSTEM)  # section 8.4.2
    seen, write, read = message(store=volatile, load=volatile, data=volatile)
    assert seen.races == set()
    assert seen.sources[read] == {write, INITIAL}


@pytest.mark.parametrize("data", ((WEAK,), (RELAXED, SYSTEM)), ids=("weak data", "volatile data"))
def test_volatile_with_fences_delivers(data):
    volatile = (RELAXED, SYSTEM)
    fence = (SEQ_CST, DEVICE)
    assert_delivered(message(volatile, volatile, fence, fence, data))


@pytest.mark.parametrize("order", (ACQ_REL, SEQ_CST))
@pytest.mark.parametrize("scope", (DEVICE, SYSTEM))
def test_two_fences_deliver(order, scope):
    fence = (order, scope)
    assert_delivered(message(writer_fence=fence, reader_fence=fence))


@pytest.mark.parametrize("order", (ACQ_REL, SEQ_CST))
def test_a_fence_on_one_side_is_not_enough(order):
    assert_race_on_data(message(writer_fence=(order, DEVICE)))
    assert_race_on_data(message(reader_fence=(order, DEVICE)))


def test_fences_and_orders_mix():
    fence = (ACQ_REL, DEVICE)
    assert_delivered(message(store=(RELEASE, DEVICE), reader_fence=fence))
    assert_delivered(message(load=(ACQUIRE, DEVICE), writer_fence=fence))


def test_a_block_fence_does_not_reach_another_block():
    narrow, wide = (SEQ_CST, BLOCK), (SEQ_CST, DEVICE)
    assert_race_on_data(message(writer_fence=narrow, reader_fence=wide))
    assert_race_on_data(message(writer_fence=wide, reader_fence=narrow))
    assert_delivered(message(writer_fence=narrow, reader_fence=narrow, blocks=(0, 0)))


def test_fences_need_a_strong_flag():
    fence = (ACQ_REL, DEVICE)
    seen, write, read = message((WEAK,), (WEAK,), fence, fence)
    assert seen.racing_locations() == {"data", "flag"}
    assert seen.sources[read] == {write, INITIAL}


def test_a_plain_flag_races_even_between_sc_fences():
    fence = (SEQ_CST, DEVICE)
    seen, _, _ = message((WEAK,), (WEAK,), fence, fence)
    assert seen.racing_locations() == {"flag"}


def both_miss(fence_order):
    """Store buffering: whether both threads can miss the other one's write."""
    made = Program("store buffering")
    reads = []
    for block, (mine, other) in enumerate(("xy", "yx")):
        thread = made.thread(f"P{block}", block)
        thread.write(mine, RELAXED, DEVICE)
        if fence_order:
            thread.fence(fence_order, DEVICE)
        reads.append(thread.read(other, RELAXED, DEVICE))
    return axioms.verdict_of(made, dict.fromkeys(reads, INITIAL)).executions > 0


def test_store_buffering():
    assert both_miss(None)
    assert both_miss(ACQ_REL)
    assert not both_miss(SEQ_CST)


def test_the_order_of_sc_fences_follows_causality():
    """Section 8.10.2: with a barrier between them, two fences come in one order only."""
    made = Program("fence, barrier, fence")
    first, second = made.thread("P", 0), made.thread("Q", 0)
    first.fence(SEQ_CST, DEVICE)
    first.barrier()
    second.barrier()
    second.fence(SEQ_CST, DEVICE)
    assert axioms.verdict_of(made).executions == 1


def readers_disagree(fence_order):
    """Independent reads of independent writes: whether two readers can see another order."""
    made = Program("two writers, two readers")
    x = made.thread("X", 0).write("x", RELAXED, DEVICE)
    y = made.thread("Y", 1).write("y", RELAXED, DEVICE)
    given = {}
    for block, (first, write, second) in enumerate((("x", x, "y"), ("y", y, "x")), start=2):
        reader = made.thread(f"R{block}", block)
        given[reader.read(first, RELAXED, DEVICE)] = write
        reader.fence(fence_order, DEVICE)
        given[reader.read(second, RELAXED, DEVICE)] = INITIAL
    return axioms.verdict_of(made, given).executions > 0


def test_independent_reads_of_independent_writes():
    assert readers_disagree(ACQ_REL)
    assert not readers_disagree(SEQ_CST)


# Section 8.10.5: the strong accesses of one location happen as if one after the other.


def test_a_strong_read_never_goes_back():
    made = Program("CoRR")
    write = made.thread("writer", 0).write("x", RELAXED, SYSTEM)
    reader = made.thread("reader", 1)
    first, second = (reader.read("x", RELAXED, SYSTEM) for _ in range(2))
    assert judge(made, {first: write}).sources[second] == {write}


def test_the_axiom_refuses_going_back():
    """Causality forbids the same here, so the axiom is asked by itself, about two reads."""
    made = Program("CoRR")
    made.thread("writer", 0).write("x", RELAXED, SYSTEM)
    reader = made.thread("reader", 1)
    reader.read("x", RELAXED, SYSTEM)
    reader.read("x", RELAXED, SYSTEM)
    model = axioms.Enumeration(made)
    write, first, second = range(3)
    size = len(model.events)
    back = Relation(size, [(write, first), (second, write)])
    forth = Relation(size, [(first, write), (write, second)])
    assert not model.per_location_axiom(back)
    assert model.per_location_axiom(forth)


def test_a_plain_read_may_go_back():
    made = Program("CoRR, plain")
    write = made.thread("writer", 0).write("x")
    reader = made.thread("reader", 1)
    first, second = reader.read("x"), reader.read("x")
    seen = axioms.verdict_of(made, {first: write})
    assert seen.sources[second] == {write, INITIAL}


def test_the_later_of_two_ordered_writes_is_read():
    """Section 8.10.1: coherence order follows causality order, for plain writes too."""
    made = Program("two writes, handed on")
    first, second, third = (made.thread(name, number) for number, name in enumerate("PQR"))
    first.write("x")
    to_second = first.write("f", RELEASE, DEVICE)
    from_first = second.read("f", ACQUIRE, DEVICE)
    later = second.write("x")
    to_third = second.write("g", RELEASE, DEVICE)
    from_second = third.read("g", ACQUIRE, DEVICE)
    read = third.read("x")
    seen = judge(made, {from_first: to_second, from_second: to_third})
    assert seen.races == set()
    assert seen.sources[read] == {later}


def test_load_buffering_without_dependencies_is_allowed():
    """Section 8.10.4: each thread reads what the other one writes later."""
    made = Program("load buffering")
    first, second = made.thread("P", 0), made.thread("Q", 1)
    read_x, write_y = first.read("x"), first.write("y")
    read_y, write_x = second.read("y"), second.write("x")
    seen = axioms.verdict_of(made, {read_x: write_x, read_y: write_y})
    assert seen.executions > 0


def neighbours(blocks=(0, 0), groups=("block", "block")):
    """One thread writes and another one reads, after a barrier if they name a group."""
    made = Program("neighbours")
    writer, reader = made.thread("writer", blocks[0]), made.thread("reader", blocks[1])
    write = writer.write("shared")
    for thread, group in zip((writer, reader), groups):
        if group:
            thread.barrier(group)
    read = reader.read("shared")
    seen = judge(made)
    return seen, write, read


def test_a_barrier_orders_the_threads_of_a_block():
    assert_delivered(neighbours())


def test_without_a_barrier_they_race():
    assert_race_on_data(neighbours(groups=(None, None)))


def test_a_barrier_orders_no_other_block():
    assert_race_on_data(neighbours(blocks=(0, 1)))


def test_syncwarp_orders_its_lanes_alone():
    assert_delivered(neighbours(groups=("lanes 0-15", "lanes 0-15")))
    assert_race_on_data(neighbours(groups=("lanes 0-15", "lanes 16-31")))


def test_shuffles_and_votes_order_nothing():
    """They are no operations of the model at all: what is left is two plain accesses."""
    assert_race_on_data(neighbours(groups=(None, None)))


def block_publishes(publisher_steps, fence_order=ACQ_REL):
    """Thread 1 of block 0 writes; thread 0 of block 0 publishes; block 1 acquires.

    `publisher_steps`, in order, are "fence" and "barrier", each by both threads of block 0.
    With a fence the flag is relaxed, else it is a release.
    """
    made = Program("one thread publishes for its block")
    leader, worker = made.thread("A0", 0), made.thread("A1", 0)
    observer = made.thread("B0", 1)
    write = worker.write("data")
    for each in publisher_steps:
        for thread in (leader, worker):
            if each == "fence":
                thread.fence(fence_order, DEVICE)
            else:
                thread.barrier()
    order = RELAXED if "fence" in publisher_steps else RELEASE
    flag = leader.write("flag", order, DEVICE)
    seen_flag = observer.read("flag", RELAXED, DEVICE)
    observer.fence(fence_order, DEVICE)
    read = observer.read("data")
    return judge(made, {seen_flag: flag}), write, read


def test_one_release_after_a_barrier_publishes_the_whole_block():
    assert_delivered(block_publishes(["barrier"]))
    assert_delivered(block_publishes(["barrier", "fence"]))


def test_a_release_without_a_barrier_publishes_its_own_thread():
    assert_race_on_data(block_publishes([]))


def test_a_barrier_does_not_carry_a_fence_to_another_thread():
    made = Program("fence, barrier, another thread's flag")
    leader, worker, observer = made.thread("A0", 0), made.thread("A1", 0), made.thread("B0", 1)
    write = worker.write("data")
    worker.fence(ACQ_REL, DEVICE)
    for thread in (leader, worker):
        thread.barrier()
    flag = leader.write("flag", RELAXED, DEVICE)
    seen_flag = observer.read("flag", ACQUIRE, DEVICE)
    read = observer.read("data")
    assert_race_on_data((judge(made, {seen_flag: flag}), write, read))
    # A fence of the leader's own comes before the barrier: too early for the worker's write.
    assert_race_on_data(block_publishes(["fence", "barrier"], ACQ_REL))


def test_fence_sc_orders_more_than_a_pattern():
    """With fence.sc on both sides, the fences themselves are ordered by the flag."""
    assert_delivered(block_publishes(["fence", "barrier"], SEQ_CST))


def test_a_kernel_sees_all_of_the_one_before():
    made = Program("two kernels")
    write = made.thread("first", block=0, kernel=0).write("data")
    read = made.thread("second", block=0, kernel=1).read("data")
    assert_delivered((judge(made), write, read))


def test_blocks_of_one_kernel_race():
    made = Program("one kernel")
    write = made.thread("first", block=0).write("data")
    read = made.thread("second", block=1).read("data")
    assert_race_on_data((judge(made), write, read))


def test_block_0_of_the_next_kernel_is_another_block():
    made = Program("narrow scope in two kernels")
    made.thread("first", block=0, kernel=0).barrier()
    made.thread("second", block=0, kernel=1).barrier()
    assert [len(meeting) for meeting in made.meetings()] == [1, 1]


# Section 8.9.5: an observed write comes before what its observer does next, there.


def reset(before, resets):
    """Three blocks take relaxed tickets, A, B, C; then block C stores to the counter, or D does.

    Returns the verdict and the store.
    """
    made = Program("reset")
    first = made.thread("A0", 0).read_modify_write("counter", RELAXED, DEVICE)
    second = made.thread("B0", 1).read_modify_write("counter", RELAXED, DEVICE)
    leader, other = made.thread("C0", 2), made.thread("C1", 2)
    last = leader.read_modify_write("counter", RELAXED, DEVICE)
    thread = {"C0": leader, "C1": other, "D0": made.thread("D0", 3)}[resets]
    if before == "barrier":
        leader.barrier()
        other.barrier()
    store = thread.write("counter")
    return judge(made, {first: INITIAL, second: first, last: second}), store


def test_the_last_block_may_reset_the_counter_plainly():
    assert reset(None, "C0")[0].races == set()
    assert reset("barrier", "C1")[0].races == set()


@pytest.mark.parametrize("before, resets", ((None, "C1"), (None, "D0"), ("barrier", "D0")))
def test_a_thread_that_saw_no_ticket_may_not(before, resets):
    seen, store = reset(before, resets)
    assert seen.racing_locations() == {"counter"}
    assert all(store in pair for pair in seen.races)


def test_observation_alone_publishes_no_other_location():
    """The plain data before a relaxed ticket still race."""
    made = Program("observed, not released")
    publisher, observer = made.thread("A0", 0), made.thread("B0", 1)
    write = publisher.write("data")
    ticket = publisher.read_modify_write("counter", RELAXED, DEVICE)
    seen_ticket = observer.read_modify_write("counter", RELAXED, DEVICE)
    read = observer.read("data")
    assert_race_on_data((judge(made, {seen_ticket: ticket}), write, read))


# Readers that poll until a value comes. A program here has one poll that fails and the last one.


def polls(first, last, fence=False):
    made = Program("polls")
    writer, reader = made.thread("writer", 0), made.thread("reader", 1)
    write = writer.write("data")
    flag = writer.write("flag", RELEASE, DEVICE)
    failed = reader.read("flag", first, DEVICE)
    succeeded = reader.read("flag", last, DEVICE)
    if fence:
        reader.fence(ACQ_REL, DEVICE)
    read = reader.read("data")
    return judge(made, {failed: INITIAL, succeeded: flag}), write, read


def test_the_poll_that_succeeds_acquires():
    assert_delivered(polls(ACQUIRE, ACQUIRE))
    assert_delivered(polls(RELAXED, ACQUIRE))
    assert_race_on_data(polls(RELAXED, RELAXED))


def test_a_poll_that_failed_covers_nothing():
    assert_race_on_data(polls(ACQUIRE, RELAXED))


def test_relaxed_polls_and_a_fence_behind_the_loop_deliver():
    assert_delivered(polls(RELAXED, RELAXED, fence=True))


def grid_barrier(arrival=ACQ_REL, opening=RELEASE, poll=ACQUIRE):
    """The locations that race in chapter 07's barrier of two blocks of a thread each."""
    made = Program("grid barrier")
    first, last = made.thread("first", 0), made.thread("last", 1)
    first.write("of the first")
    last.write("of the last")
    noted = [each.read("generation", RELAXED, DEVICE) for each in (first, last)]
    arrivals = [each.read_modify_write("arrived", arrival, DEVICE) for each in (first, last)]
    last.write("arrived", RELAXED, DEVICE)
    opened = last.write("generation", opening, DEVICE)
    seen = first.read("generation", poll, DEVICE)
    first.read("of the last")
    last.read("of the first")
    given = {noted[0]: INITIAL, noted[1]: INITIAL, seen: opened}
    given |= {arrivals[0]: INITIAL, arrivals[1]: arrivals[0]}
    return judge(made, given).racing_locations()


def test_a_grid_barrier_orders_all_blocks():
    assert grid_barrier() == set()


def test_each_order_of_a_grid_barrier_is_needed():
    assert grid_barrier(arrival=ACQUIRE) == {"of the first"}
    assert grid_barrier(arrival=RELEASE) == {"of the first"}
    assert grid_barrier(opening=RELAXED) == {"of the last"}
    assert grid_barrier(poll=RELAXED) == {"of the last"}


# What can't be asked is refused in one sentence.


def test_orders_that_do_not_exist():
    thread = Program().thread("P", 0)
    for call in (
        lambda: thread.read("x", RELEASE),
        lambda: thread.write("x", ACQUIRE),
        lambda: thread.read_modify_write("x", WEAK),
        lambda: thread.read("x", SEQ_CST),
        lambda: thread.fence(RELAXED),
    ):
        with pytest.raises(ValueError, match="can't be"):
            call()
    assert thread.operations == []


def test_two_threads_of_one_name():
    made = Program()
    made.thread("P", 0)
    with pytest.raises(ValueError, match="there is a thread P already"):
        made.thread("P", 1)


def test_given_reads_that_make_no_sense():
    made = Program()
    thread = made.thread("P", 0)
    write, read, other = thread.write("x"), thread.read("x"), thread.write("y")
    stranger = Program().thread("Q", 0).write("x")
    for given in ({write: INITIAL}, {read: other}, {read: read}, {read: stranger}):
        with pytest.raises(ValueError):
            axioms.verdict_of(made, given)


def test_barriers_that_never_meet():
    made = Program()
    first, second = made.thread("P", 0), made.thread("Q", 0)
    for thread, groups in ((first, "ab"), (second, "ba")):
        for group in groups:
            thread.barrier(group)
    with pytest.raises(ValueError, match="never meet"):
        axioms.verdict_of(made)


def test_a_thread_that_has_exited_is_not_waited_for():
    made = Program()
    made.thread("P", 0)
    write = made.thread("Q", 0)
    write.barrier()
    assert axioms.verdict_of(made).executions == 1


@pytest.mark.parametrize(
    "what, operation",
    [
        ("executions", lambda thread: thread.read_modify_write("x")),
        ("orders of fences", lambda thread: thread.fence()),
        ("coherence orders", lambda thread: thread.write("x", RELAXED)),
    ],
)
def test_too_large_to_enumerate(what, operation):
    made = Program("large")
    for name in "PQRSTU":
        thread = made.thread(name, 0)
        for _ in range(4):
            operation(thread)
    with pytest.raises(ValueError, match=f"for its {what}, .* make it smaller"):
        axioms.verdict_of(made)

# SPDX-License-Identifier: MIT
"""The weak form against the axioms: what it makes happen is allowed, and what the lessons speak of
happens."""

import itertools
import os
import random
import subprocess

from engine.prove.memory_model import INITIAL, MemoryOrder, Program, ThreadScope
from engine.prove.memory_model.axioms import Enumeration
from engine.prove.memory_model.program import Kind
from engine.prove.tests.random_programs import random_program, random_program_of_two_words

SEEDS = 400
RANDOM_SEEDS = 60
RANDOM_PROGRAM_COUNT = 120
FIRST_SEED = 30

WEAK, RELAXED, ACQUIRE = MemoryOrder.weak, MemoryOrder.relaxed, MemoryOrder.acquire
RELEASE, ACQ_REL, SEQ_CST = MemoryOrder.release, MemoryOrder.acq_rel, MemoryOrder.seq_cst
BLOCK, DEVICE = ThreadScope.block, ThreadScope.device

ORDERS = [WEAK, RELAXED, ACQUIRE, RELEASE, ACQ_REL, SEQ_CST]
KINDS = [Kind.read, Kind.write, Kind.read_modify_write, Kind.fence]
MEETS_BLOCK, MEETS_LANES, COMPARES = 4, 5, 6
SCOPES = {ThreadScope.system: 0, DEVICE: 1, BLOCK: 2}  # cuda::thread_scope's own numbers


def message(store=RELAXED, load=RELAXED, scope=DEVICE, blocks=(0, 1), barrier=None, fences=()):
    """One thread writes data and then a flag; another one reads the flag and then the data."""
    made = Program()
    writer, reader = made.thread("writer", blocks[0]), made.thread("reader", blocks[1])
    writer.write("data")
    if "writer" in fences:
        writer.fence(ACQ_REL, scope)
    if barrier:
        writer.barrier(barrier)
        reader.barrier(barrier)
    else:
        writer.write("flag", store, scope)
        reader.read("flag", load, scope)
    if "reader" in fences:
        reader.fence(ACQ_REL, scope)
    reader.read("data")
    return made


def ticket(order=ACQ_REL, scope=DEVICE):
    """Two blocks write their partial sum, and take a ticket; each then reads the other's."""
    made = Program()
    for block in (0, 1):
        thread = made.thread(f"block {block}", block)
        thread.write(f"partial {block}")
        thread.read_modify_write("counter", order, scope)
        thread.read(f"partial {1 - block}")
    return made


def flags(order=None, access=WEAK):
    """Each of two blocks raises its own flag, and then looks at the other one's."""
    made = Program()
    for block in (0, 1):
        thread = made.thread(f"block {block}", block)
        thread.write(f"flag {block}", access, DEVICE)
        if order:
            thread.fence(order, DEVICE)
        thread.read(f"flag {1 - block}", access, DEVICE)
    return made


def updates(access):
    made = Program()
    writer, reader = made.thread("writer", 0), made.thread("reader", 1)
    writer.write("x", access, DEVICE)
    writer.write("x", access, DEVICE)
    reader.read("x", access, DEVICE)
    reader.read("x", access, DEVICE)
    return made


def independent_reads(load, fence=None):
    """Two blocks store to a word each, and two more look at both, in opposite order."""
    made = Program()
    for block, word in enumerate("xy"):
        made.thread(f"writer of {word}", block).write(word, RELAXED, DEVICE)
    for block, words in enumerate(("xy", "yx"), start=2):
        reader = made.thread(f"reader of {words}", block)
        reader.read(words[0], load, DEVICE)
        if fence:
            reader.fence(fence, DEVICE)
        reader.read(words[1], load, DEVICE)
    return made


def seen_and_handed_on():
    """What one block has seen of x, another one that acquires from it can't go back before."""
    made = Program()
    made.thread("writer", 0).write("x", RELAXED, DEVICE)
    between, reader = made.thread("between", 1), made.thread("reader", 2)
    between.read("x", RELAXED, DEVICE)
    between.write("y", RELEASE, DEVICE)
    reader.read("y", ACQUIRE, DEVICE)
    reader.read("x", RELAXED, DEVICE)
    return made


def overwritten(has_barrier):
    """One thread writes an item and then the next one; another one of its block reads the first."""
    made = Program()
    writer, reader = made.thread("writer", 0), made.thread("reader", 0)
    writer.write("item")
    writer.barrier()
    reader.barrier()
    reader.read("item")
    if has_barrier:
        writer.barrier()
        reader.barrier()
    writer.write("item")
    return made


# Name: the program, and outcomes that must be reached, as the numbers of the writes that its reads
# see (0: none, the initial value).
LITMUS = {
    "message, flag released and acquired": (message(RELEASE, ACQUIRE), [(0, 0), (2, 1)]),
    "message, without the acquire": (message(RELEASE, RELAXED), [(2, 0), (2, 1)]),
    "message, without the release": (message(RELAXED, ACQUIRE), [(2, 0), (2, 1)]),
    "message, with both fences": (message(fences=("writer", "reader")), [(2, 1)]),
    "message, without the writer's fence": (message(fences=("reader",)), [(2, 0)]),
    "message, without the reader's fence": (message(fences=("writer",)), [(2, 0)]),
    "message, at block scope, of two blocks": (message(RELEASE, ACQUIRE, BLOCK), [(2, 0)]),
    "message, at block scope, in one block": (
        message(RELEASE, ACQUIRE, BLOCK, blocks=(0, 0)),
        [(2, 1)],
    ),
    "message, by __syncthreads()": (message(blocks=(0, 0), barrier="block"), [(1,)]),
    "message, by __syncwarp()": (message(blocks=(0, 0), barrier="lanes"), [(1,)]),
    "message, plain flag": (message(WEAK, WEAK), [(2, 0), (2, 1)]),
    "ticket, acq_rel": (ticket(), [(0, 0, 2, 1), (4, 3, 0, 0)]),
    "ticket, release alone": (ticket(RELEASE), [(0, 0, 2, 0)]),
    "ticket, acquire alone": (ticket(ACQUIRE), [(0, 0, 2, 0)]),
    "ticket, relaxed": (ticket(RELAXED), [(0, 0, 2, 0)]),
    "ticket, at block scope": (ticket(ACQ_REL, BLOCK), [(0, 0, 2, 0)]),
    "two flags, plain": (flags(), [(0, 0), (0, 1)]),
    "two flags, relaxed": (flags(None, RELAXED), [(0, 0), (2, 1)]),
    "two flags, relaxed, acq_rel fences": (flags(ACQ_REL, RELAXED), [(0, 0), (2, 1)]),
    "two flags, relaxed, sc fences": (flags(SEQ_CST, RELAXED), [(2, 1)]),
    "two flags, plain, sc fences": (flags(SEQ_CST), [(2, 1)]),
    "two flags, plain, acq_rel fences": (flags(ACQ_REL), [(0, 0)]),
    "two plain writes, two reads": (updates(WEAK), [(0, 0), (2, 2)]),
    "two relaxed writes, two reads": (updates(RELAXED), [(0, 0), (0, 2)]),
    "four blocks, two relaxed words": (independent_reads(RELAXED), [(1, 0, 2, 0)]),
    "four blocks, two words, acquire": (independent_reads(ACQUIRE), [(1, 0, 2, 0)]),
    "four blocks, two words, sc fences": (
        independent_reads(RELAXED, SEQ_CST),
        [(1, 0, 0, 1), (1, 2, 2, 1)],
    ),
    "seen and handed on": (seen_and_handed_on(), [(1, 2, 1), (0, 2, 0), (1, 0, 0)]),
    "item overwritten too early": (overwritten(False), [(1,), (2,)]),
    "item overwritten after a barrier": (overwritten(True), [(1,)]),
}


def reads_of(made):
    return [one for one in made.operations if one.reads]


def numbers_of_writes(made):
    """{write: its value}: 1, 2, ... in the order of the program's text; 0 is the initial value."""
    writes = [one for one in made.operations if one.writes]
    return {INITIAL: 0, **{one: number + 1 for number, one in enumerate(writes)}}


def allowed_outcomes(made):
    numbers = numbers_of_writes(made)
    allowed = set()
    for succeed in itertools.product((False, True), repeat=len(made.comparisons)):
        case, copies = made.case(set(itertools.compress(made.comparisons, succeed)))
        number_of = {INITIAL: 0, **{copies[one]: numbers[one] for one in numbers if one in copies}}
        reads = [copies[read] for read in reads_of(made)]
        for each in Enumeration(case).executions({}):
            allowed.add(tuple(number_of[each.sources[read]] for read in reads))
    return allowed


def words_of(made):
    """The program as weak_outcomes reads it."""
    numbers = numbers_of_writes(made)
    locations = sorted({one.location for one in made.operations if one.location})
    ranks = {}
    for thread in made.threads:
        ranks[thread] = sum(other.block == thread.block for other in ranks)
    blocks = max(thread.block for thread in made.threads) + 1
    words = [blocks, max(ranks.values()) + 1, len(locations), len(made.threads)]
    for thread in made.threads:
        words += [thread.block, ranks[thread], len(thread.operations)]
        for one in thread.operations:
            if one.kind is Kind.barrier:
                meet = [
                    ranks[other]
                    for other in made.threads
                    if any(each.group == one.group for each in other.operations)
                ]
                kind = MEETS_BLOCK if one.group == "block" else MEETS_LANES
                words += [kind, 0, 0, 0, sum(1 << rank for rank in meet), 0]
                continue
            place = locations.index(one.location) if one.location else 0
            scope = SCOPES[one.scope] if one.scope else 0
            kind = COMPARES if one.kind is Kind.compare_and_swap else KINDS.index(one.kind)
            expected = numbers[made.expected.get(one, INITIAL)]
            words += [kind, place, ORDERS.index(one.order), scope, numbers.get(one, 0), expected]
    return words


def reached_outcomes(programs, seeds):
    """The outcomes of so many runs of each program, each run with another seed."""
    words = [seeds, *itertools.chain.from_iterable(map(words_of, programs))]
    result = subprocess.run(
        [os.environ["WEAK_OUTCOMES_PROGRAM"]],
        input=" ".join(map(str, words)),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=500,
    )
    return [
        {tuple(map(int, outcome.split())) for outcome in line.split(";")}
        for line in result.stdout.splitlines()
    ]


def table_of_litmus_tests():
    """The rows of the table in docs/internals/weak.md."""
    programs = [made for made, _ in LITMUS.values()]
    rows = ["| program | allowed | reached |", "| --- | --- | --- |"]
    for name, made, reached in zip(LITMUS, programs, reached_outcomes(programs, SEEDS)):
        rows.append(f"| {name} | {len(allowed_outcomes(made))} | {len(reached)} |")
    return rows


def check_allowed(made, reached):
    """Returns how many outcomes are allowed."""
    assert reached
    allowed = allowed_outcomes(made)
    assert reached <= allowed, "\n".join(map(repr, made.operations))
    return len(allowed)


def test_litmus_tests():
    programs = [made for made, _ in LITMUS.values()]
    reached = reached_outcomes(programs, SEEDS)
    assert len(reached) == len(programs)
    for (name, (made, expected)), outcomes in zip(LITMUS.items(), reached):
        check_allowed(made, outcomes)
        assert set(expected) <= outcomes, name


def check_random_programs(make):
    """Returns how many outcomes were reached, and how many are allowed."""
    generator = random.Random(FIRST_SEED)
    programs = [make(generator) for _ in range(RANDOM_PROGRAM_COUNT)]
    reached = reached_outcomes(programs, RANDOM_SEEDS)
    assert len(reached) == len(programs)
    allowed = sum(map(check_allowed, programs, reached))
    return sum(map(len, reached)), allowed


def test_random_programs():
    reached, _ = check_random_programs(random_program)
    assert reached > 3 * RANDOM_PROGRAM_COUNT


def test_random_programs_of_two_strong_words():
    reached, allowed = check_random_programs(random_program_of_two_words)
    # If all loads got the newest value, it would be less.
    assert 4 * reached > 3 * allowed


if __name__ == "__main__":
    print("\n".join(table_of_litmus_tests()))

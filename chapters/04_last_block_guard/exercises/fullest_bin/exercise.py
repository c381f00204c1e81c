# SPDX-License-Identifier: MIT
from grader.exercises.cases import Case, exercise, given, grid, kept, per_launch, returned, updated

exercise(
    number=2,
    kind="write",
    minutes=35,
    points={"results": 5, "races": 5, "limits": 2},
    builds_on=["04_last_block_guard"],
    limits={
        "global atomics per call: at most 2576": "Count in shared memory first: then a block "
        "needs one global atomic for each bin and two for the counter, and the last one may look "
        "at each bin twice by atomic loads.",
        "global loads per thread: at most 1024": "One thread works and the others of its block "
        "wait: let all of them take their part.",
        "bytes loaded per block: at most 8192": "That is far more than one block's share: all "
        "blocks are to work.",
    },
    starter_fails={"part": "results", "says": "bins[203]: got 0, expected 1"},
    hints=[
        """Which block may read `bins`, and how does that block know that every thread of every
        other block has added to it?""",
        """Four steps, with a barrier between each two of them: all threads clear 256 counts in
        shared memory; all threads count there; all threads add the counts to `bins`; one thread
        takes the block's ticket. Who gets the last ticket looks for the fullest bin. There may be
        fewer threads than bins, so each step over the bins is a loop.""",
        """The ticket is a `fetch_add` of a `cuda::atomic_ref` of device scope, with the order that
        is a release and an acquire at once. The last block has two things left to write: the
        result, and a zero for the next launch.""",
    ],
)


def case(name, values, blocks, threads, before=None, **more):
    """`blocks`: of each launch; `before`: what the bins hold already, 0 if it is None."""
    before = before or [0] * 256
    bins = list(before)
    for value in values:
        bins[value] += 1
    blocks = blocks if isinstance(blocks, tuple) else (blocks,)
    return Case(
        f"{name}, {grid(blocks, threads)}",
        [
            given("values", "unsigned char", values),
            len(values),
            updated("bins", "unsigned", before, bins),
            kept("arrived", "unsigned", [0]),
            returned("fullest", "unsigned", [bins.index(max(bins))]),
            per_launch(*blocks),
            threads,
        ],
        **more,
    )


def some(random, count):
    """All bytes, and one that is chosen for each case more often than the others."""
    favourite = random.randrange(256)
    return [random.choice((favourite, *random.choices(range(256), k=7))) for _ in range(count)]


def smallest_case(random):
    """Each block has counted an even bin and an odd one. The odd bin is the fullest one for a block that sees
    what both blocks have added to it, and for no other: then another one is as full, and lower.

    The odd bin is also the last one. So it is that of the block's second thread, in whichever way the threads
    share the bins.
    """
    ahead, even = sorted(random.sample(range(0, 128, 2), 2))
    before = [0] * 256
    before[ahead], before[255] = 2, 1
    return case("4 values", [even, 255, even, 255], 2, 2, before, every_execution=True)


def cases(random):
    yield case("1 value", [203], 1, 32)
    yield case("no value", [], 2, 64)
    yield case("31 values", some(random, 31), 1, 32)
    yield case("33 values", some(random, 33), 8, 64, question="Some blocks have nothing to count.")
    yield case(
        "256 values, each once",
        random.sample(range(256), 256),
        1,
        256,
        question="All bins are equally full. Which one is asked for?",
    )
    tied = [190, 17, 255] * 60 + [203] * 59 + list(range(256))
    yield case("495 values, three bins tie", random.sample(tied, len(tied)), 3, 96)
    yield smallest_case(random)
    yield case("1,000 values", some(random, 1000), 4, 64, races=True)
    values = random.choices(range(256), k=1023)
    # The fullest bin is found by a block that sees what all blocks have added, and by no other.
    fullest, ahead = random.sample(range(256), 2)
    values[::4] = [fullest] * len(values[::4])
    before = [0] * 256
    before[ahead] = values.count(fullest) // 2 + values.count(ahead)
    yield case("1,023 values", values, (7, 4), 64, before, races=True)
    yield case("16,384 values", some(random, 16384), 8, 128, counted=True)
    before = [10_000_000] * 256
    before[random.randrange(1, 255)] = 2**24 + 5_000  # 256 times that does not fit into 32 bits
    yield case("4,097 values after many others", some(random, 4097), 2, 1024, before)
    yield case("70,011 equal values", [random.randrange(1, 256)] * 70011, 33, 96, launches=3)


def case_of_another_size(random):
    blocks = random.randrange(5, 8)
    values = some(random, 128 * blocks * random.randrange(15, 26))
    return case(f"{len(values):,} values", values, blocks, 128)

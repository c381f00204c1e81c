# SPDX-License-Identifier: MIT
from grader.exercises.cases import POISON, Case, exercise, grid, kept, returned, several, updated

exercise(
    number=3,
    kind="write",
    minutes=35,
    points={"results": 6, "races": 3, "limits": 3},
    builds_on=["05_work_queue", "05.1"],
    limits={
        "global atomics per call: at most 400": "Take as many items at once as the rule allows, "
        "and let one thread of the block do it.",
        "global stores per thread's share: at most 25": "One thread works and the others of its "
        "block wait: let all of them take their part.",
        "global stores per first block's share: at least 60": "The blocks have fixed shares: which "
        "item a block gets next is to depend on which of them is free.",
        "global stores per block's share: at most 90": "The blocks share the work: each of them "
        "takes more as soon as it is free.",
    },
    starter_fails={"part": "results", "says": "values[0]: got"},
    hints=[
        """How large the next chunk may be depends on where it begins. Who else may change the
        counter between your look at it and your addition?""",
        """One thread of the block takes the chunk and tells the others its first item and its size
        through shared memory, with the two barriers of a fetch. It computes the size from the
        counter's value, and may only keep the chunk if the counter still has that value. Which
        atomic operation compares first?""",
        """Load the counter, compute the size (at least one item while any is left), and
        compare-and-exchange the counter to the end of the chunk, again and again until that
        succeeds: a failed attempt gives you the newer value. A chunk of size 0 means that all is
        taken, and the whole block returns.""",
    ],
)

# Items, blocks, threads.
SIZES = [
    (2, 1, 1),
    (1, 2, 2),
    (0, 1, 32),
    (7, 16, 32),
    (31, 1, 33),
    (33, 2, 1),
    (256, 4, 64),
    (300, 3, 96),
    (1000, 5, 48),
    (10_000, 8, 64),
    (4095, 64, 128),
    (40_000, 7, 100),
]
RACES = (256, 300)  # items
COUNTED = 10_000
NOT_WRITTEN = int.from_bytes(bytes([POISON]) * 4, "little")


def judge_of(items, blocks):
    """Where the chunks begin is up to the student, but for the rule on how large they may be."""

    def judge(first_of):
        first = 0
        while first < items:
            size = 0
            while first + size < items and first_of[first + size] == first:
                size += 1
            if size == 0:
                if first_of[first] == NOT_WRITTEN:
                    return f"first_of[{first}]: nothing was written"
                return (
                    f"first_of[{first}]: got {first_of[first]:,}, expected {first:,}, since all "
                    "items before it are in other chunks"
                )
            most = max(1, (items - first) // (2 * blocks))
            if size > most:
                return (
                    f"the chunk from item {first:,} on has {size:,} items; with {items - first:,} "
                    f"left it may have {most:,}"
                )
            first += size
        return None

    return judge


def case(random, items, blocks, threads, counted):
    values = [random.randint(-1000, 1000) for _ in range(items)]
    return Case(
        f"{several(items, 'item')}, {grid(blocks, threads)}",
        [
            # For no whole number is 3 v + 1 = v: twice is wrong, and not at all as well.
            updated("values", "int", values, [3 * value + 1 for value in values]),
            returned("first_of", "unsigned", count=items, judge=judge_of(items, blocks)),
            items,
            kept("next", "unsigned", [0]),
            blocks,
            threads,
        ],
        races=items in RACES,
        every_execution=items == 1,
        counted=counted,
        elements=items,
    )


def cases(random):
    for items, blocks, threads in SIZES:
        yield case(random, items, blocks, threads, counted=items == COUNTED)


def case_of_another_size(random):
    return case(random, random.randrange(8_000, 10_000), 8, 64, counted=True)

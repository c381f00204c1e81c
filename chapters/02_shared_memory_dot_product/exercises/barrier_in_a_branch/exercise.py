# SPDX-License-Identifier: MIT
from grader.exercises.cases import Case, exercise, given, grid, returned, several

exercise(
    number=5,
    kind="repair",
    minutes=10,
    points={"results": 5, "races": 5},
    builds_on=["02_shared_memory_dot_product"],
    limits={
        "global loads per thread: at most 64": "One thread works and the others of its block "
        "wait: let each thread move one value of the tile.",
        "global loads per block: at most 2500": "That is far more than one block's share: all "
        "blocks are to work.",
    },
    starter_fails={"part": "results", "says": "threads of one block wait at different barriers"},
    hints=[
        """Tiles of 64 values, and 100 values: how many threads have a value in the second tile? At
        which line does thread 63 wait then, and at which line does thread 0 wait?""",
        """A thread without a value has nothing to load and nothing to store. But it must come to
        the same barrier as the others. Which statements belong into the branch, and which one does
        not?""",
        """Split the branch into two with the same condition: one for the load, one for the store.
        The barrier goes between the two, outside of both.""",
    ],
)

# (values, blocks, threads)
SHAPES = [
    (64, 1, 64),
    (256, 2, 64),
    (1, 1, 64),
    (63, 1, 64),
    (100, 1, 64),
    (0, 2, 64),
    (300, 2, 96),
    (1000, 3, 128),
    (10_000, 9, 512),
    (20_001, 33, 128),
]
RACES = (256, 300)


def case(random, n, blocks, threads, counted):
    values = [random.randrange(1, 1_000_000) for _ in range(n)]
    reversed_ = []
    for first in range(0, n, threads):
        reversed_ += values[first : first + threads][::-1]
    return Case(
        f"{several(n, 'value')}, {grid(blocks, threads)}",
        [
            given("values", "int", values),
            n,
            returned("reversed", "int", reversed_),
            blocks,
            threads,
        ],
        races=n in RACES,
        every_execution=n == 256,
        counted=counted,
    )


def cases(random):
    for n, blocks, threads in SHAPES:
        yield case(random, n, blocks, threads, counted=n == 10_000)


def case_of_another_size(random):
    return case(random, random.randrange(9_300, 12_000), 9, 512, counted=True)

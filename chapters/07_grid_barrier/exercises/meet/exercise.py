# SPDX-License-Identifier: MIT
from grader.exercises.cases import Case, exercise, grid, kept, scratch, several, updated

exercise(
    number=1,
    kind="write",
    minutes=30,
    points={"results": 5, "races": 5, "limits": 2},
    builds_on=["04_last_block_guard", "07_grid_barrier"],
    answers=["07_grid_barrier/grid_barrier.cuh"],
    limits={
        "launches per call: at most 1": "The blocks meet within one launch: do not launch once "
        "per round.",
        "grid barriers per call: at most 0": "Don't use grid.sync(): this exercise is about what is "
        "in it.",
        "barriers per block: at most 20": "Two block barriers per round are enough, for 10 "
        "rounds. What is each of yours for?",
        "global stores per thread's share: at most 25": "One thread works and the others of its "
        "block wait: let all of them take their part.",
        "global stores per block's share: at most 90": "The blocks share the work: launch as many "
        "as are asked for, if so many are resident.",
    },
    starter_fails={"part": "results", "says": "from["},
    hints=[
        """Which block may open the barrier, and how does a block learn that it is the one?""",
        """One thread of each block adds 1 to a counter. The block that finds one less than the
        number of blocks is the last. The others look at a second word, again and again, until it is
        another one than before. When must each block note what it was before?""",
        """Block barrier; thread 0 notes the second word and then counts its block; the last one
        puts the counter back to 0 and *then* increases the second word; the others poll it; block
        barrier. Which of these operations publish writes, and which must see them?""",
    ],
)

# Cells, rounds (even), blocks, threads.
SIZES = [
    (1, 2, 1, 1),
    (0, 2, 1, 32),
    (5, 0, 2, 32),
    (4, 2, 2, 1),
    (64, 2, 1, 64),
    (40, 2, 2, 32),
    (200, 4, 3, 32),
    (100, 6, 4, 31),
    (240, 10, 3, 64),
    (1000, 6, 4, 33),
    (77, 20, 3, 1),
    (3000, 8, 16, 96),
    (5000, 4, 64, 256),
]
RACES = (40, 200)  # cells
COUNTED = 240


def mixed(cells, rounds):
    for _ in range(rounds):
        cells = [(3 * cell + right) % 2**32 for cell, right in zip(cells, cells[1:] + cells[:1])]
    return cells


def case(random, n, rounds, blocks, threads, counted):
    cells = [random.randrange(2**32) for _ in range(n)]
    return Case(
        f"{several(n, 'cell')}, {rounds} rounds, {grid(blocks, threads)}",
        [
            updated("from", "unsigned", cells, mixed(cells, rounds)),
            scratch("to", "unsigned", n),
            n,
            rounds,
            kept("words", "unsigned", [0, 0]),
            blocks,
            threads,
        ],
        function="mix",
        races=n in RACES,
        counted=counted,
        every_execution=n == 4,
        elements=n,
        question="A cell takes up its neighbour of the round before. Who may still be in that round, "
        "and who is already in the next one?",
    )


def cases(random):
    for n, rounds, blocks, threads in SIZES:
        yield case(random, n, rounds, blocks, threads, counted=n == COUNTED)


def case_of_another_size(random):
    return case(random, random.randrange(200, 240), 10, 3, 64, counted=True)

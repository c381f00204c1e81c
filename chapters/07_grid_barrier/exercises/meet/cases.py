# SPDX-License-Identifier: MIT
from grader.exercises.cases import Case, kept, scratch, updated

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
        f"{n:,} cell{'s' * (n != 1)}, {rounds} rounds, {blocks} block{'s' * (blocks > 1)} of "
        f"{threads} thread{'s' * (threads > 1)}",
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

# SPDX-License-Identifier: MIT
from grader.exercises.cases import Case, scratch, updated

# Cells, steps (even), blocks, threads, whether the last block begins late.
SIZES = [
    (1, 2, 1, 1, False),
    (0, 2, 1, 32, False),
    (5, 0, 2, 32, False),
    (64, 2, 1, 64, False),
    (40, 4, 2, 32, False),
    (90, 6, 3, 32, True),
    (3, 8, 5, 31, False),
    (150, 6, 4, 33, True),
    (240, 10, 3, 64, False),
    (77, 6, 3, 1, True),
    (3000, 4, 16, 96, False),
    (2000, 2, 64, 256, False),
]
RACES = (40, 90)  # cells
COUNTED = 240


def drifted(cells, steps):
    for _ in range(steps):
        cells = [(3 * cell + left) % 2**32 for cell, left in zip(cells, [0, *cells])]
    return cells


def case(random, n, steps, blocks, threads, late, counted):
    cells = [random.randrange(2**32) for _ in range(n)]
    return Case(
        f"{n:,} cell{'s' * (n != 1)}, {steps} steps, {blocks} block{'s' * (blocks > 1)} of "
        f"{threads} thread{'s' * (threads > 1)}{', the last one late' * late}",
        [
            updated("from", "unsigned", cells, drifted(cells, steps)),
            scratch("to", "unsigned", n),
            n,
            steps,
            updated("done", "unsigned", [0] * blocks),
            blocks,
            threads,
        ],
        function="drift_late" if late else "drift",
        races=n in RACES,
        counted=counted,
        elements=n,
        question="Which blocks does one step of one block depend on? Who reads what it overwrites?",
    )


def cases(random):
    for n, steps, blocks, threads, late in SIZES:
        yield case(random, n, steps, blocks, threads, late, counted=n == COUNTED)


def case_of_another_size(random):
    return case(random, random.randrange(200, 240), 10, 3, 64, False, counted=True)

# SPDX-License-Identifier: MIT
from grader.exercises.cases import Case, given, returned

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
        f"{n:,} {'value' if n == 1 else 'values'}, {blocks} "
        f"{'block' if blocks == 1 else 'blocks'} of {threads} threads",
        [
            given("values", "int", values),
            n,
            returned("reversed", "int", reversed_),
            blocks,
            threads,
        ],
        races=n in RACES,
        counted=counted,
    )


def cases(random):
    for n, blocks, threads in SHAPES:
        yield case(random, n, blocks, threads, counted=n == 10_000)


def case_of_another_size(random):
    return case(random, random.randrange(9_300, 12_000), 9, 512, counted=True)

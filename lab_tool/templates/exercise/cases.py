# SPDX-License-Identifier: MIT
from grader.exercises.cases import Case, given, returned

SIZES = [
    (0, 1, 32),
    (1, 1, 32),
    (31, 1, 32),
    (33, 1, 32),
    (256, 4, 64),
    (1000, 3, 96),
    (20000, 8, 128),
]


def case(random, count, blocks, threads, counted):
    values = [random.randrange(-1000, 1000) for _ in range(count)]
    return Case(
        f"{count:,} values, {blocks} blocks of {threads} threads",
        [
            given("values", "int", values),
            count,
            returned("doubled", "int", [2 * value for value in values]),
            blocks,
            threads,
        ],
        races=count in (33, 1000),
        counted=counted,
    )


def cases(random):
    for count, blocks, threads in SIZES:
        yield case(random, count, blocks, threads, counted=count == 20000)


def case_of_another_size(random):
    """The counted case once more, for a grade: no student knows its size."""
    return case(random, random.randrange(15000, 20000), 8, 128, counted=True)

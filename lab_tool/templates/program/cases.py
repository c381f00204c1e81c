# SPDX-License-Identifier: MIT
from grader.exercises.cases import printed, program_run

COUNTS = [0, 1, 33, 256, 257, 1000, 10000]


def case(random, count, counted):
    first = random.randrange(-1000, 1000)
    return program_run(
        f"COUNT = {count:,}",
        [count, first],
        printed("doubled", "int", [2 * (first + i) for i in range(count)]),
        races=count == 33,
        counted=counted,
        elements=count,
    )


def cases(random):
    for count in COUNTS:
        yield case(random, count, counted=count == 10000)


def case_of_another_size(random):
    """The counted case once more, for a grade: no student knows its size."""
    return case(random, random.randrange(8000, 10000, 16), counted=True)

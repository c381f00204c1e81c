# SPDX-License-Identifier: MIT
from grader.exercises.cases import printed, program_run

SIZES = [0, 1, 33, 255, 256, 257, 1000, 10_000]


def case(random, count, counted):
    first, step = random.randrange(-1000, 1000), random.randrange(1, 1000)
    sums = [first + i + step * i for i in range(count)]
    return program_run(
        f"COUNT = {count:,}",
        [count, first, step],
        printed("sums", "int", sums),
        races=count == 33,
        counted=counted,
        elements=count,
    )


def cases(random):
    for count in SIZES:
        yield case(random, count, counted=count == 10_000)


def case_of_another_size(random):
    return case(random, random.randrange(8_000, 10_000, 16), counted=True)

# SPDX-License-Identifier: MIT
from grader.exercises.cases import printed, program_run

# (count, threads)
SHAPES = [(0, 64), (1, 64), (33, 32), (64, 32), (100, 25), (300, 96), (1000, 256), (10_000, 256)]


def case(random, count, threads, counted):
    first, step = random.randrange(1, 1000), random.randrange(1, 1000)
    dot = sum((first + i) * step * i for i in range(count))
    return program_run(
        f"COUNT = {count:,}, THREADS = {threads}",
        [count, first, step, threads],
        printed("dot", "long long", [dot]),
        races=count == 100,
        counted=counted,
        elements=count,
    )


def cases(random):
    for count, threads in SHAPES:
        yield case(random, count, threads, counted=count == 10_000)


def case_of_another_size(random):
    return case(random, random.randrange(8_500, 10_000), 256, counted=True)

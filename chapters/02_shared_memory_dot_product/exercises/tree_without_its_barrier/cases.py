# SPDX-License-Identifier: MIT
from grader.exercises.cases import Case, given, returned

# (values, blocks, threads)
SHAPES = [
    (1, 1, 64),
    (33, 1, 64),
    (64, 1, 64),
    (63, 2, 64),
    (127, 1, 128),
    (0, 3, 64),
    (300, 3, 64),
    (1000, 2, 256),
    (1025, 1, 1024),
    (10_000, 9, 512),
    (20_001, 33, 128),
]
RACES = (300, 127)
QUESTIONS = {33: "Thread 0 adds up what others have added up before. Have they?"}


def case(random, n, blocks, threads, counted):
    values = random.choices(range(1, 30_000), k=n)
    totals = [0] * blocks
    for i, value in enumerate(values):
        totals[i // threads % blocks] += value
    return Case(
        f"{n:,} {'value' if n == 1 else 'values'}, {blocks} "
        f"{'block' if blocks == 1 else 'blocks'} of {threads:,} threads",
        [
            given("values", "int", values),
            n,
            returned("totals", "int", totals),
            blocks,
            threads,
        ],
        function="totals_of_blocks",
        races=n in RACES,
        counted=counted,
        question=QUESTIONS.get(n, ""),
    )


def cases(random):
    for n, blocks, threads in SHAPES:
        yield case(random, n, blocks, threads, counted=n == 10_000)


def case_of_another_size(random):
    return case(random, random.randrange(9_300, 12_000), 9, 512, counted=True)

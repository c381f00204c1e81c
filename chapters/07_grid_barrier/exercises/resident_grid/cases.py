# SPDX-License-Identifier: MIT
from grader.exercises.cases import Case, scratch, updated

# Values, threads.
SIZES = [
    (1, 1),
    (0, 32),
    (31, 32),
    (64, 64),
    (65, 64),
    (100, 33),
    (300, 32),
    (700, 96),
    (1000, 64),
    (5000, 1),
    (20000, 256),
]
RACES = (100, 300)  # values
COUNTED = 700


def case(random, n, threads, counted):
    # Small, so that a block that missed the largest one is seen.
    values = [random.randrange(1, 1000) for _ in range(n)]
    if n:
        values[random.randrange(n)] = 2000
    # The second launch finds the distances of the first, and so on.
    largest = max(values, default=0)
    distances = [largest - value for value in values]
    blocks = max(1, -(-n // threads))
    return Case(
        f"{n:,} value{'s' * (n != 1)}, blocks of {threads} thread{'s' * (threads > 1)}",
        [
            updated("values", "unsigned", values, distances),
            n,
            scratch("largest_of_block", "unsigned", blocks),
            threads,
        ],
        function="distances",
        races=n in RACES,
        counted=counted,
        elements=n,
        question="How many threads are there, and how many values? Which block has seen the largest one?",
    )


def cases(random):
    for n, threads in SIZES:
        yield case(random, n, threads, counted=n == COUNTED)


def case_of_another_size(random):
    return case(random, random.randrange(600, 800), 96, counted=True)

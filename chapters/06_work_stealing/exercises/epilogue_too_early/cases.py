# SPDX-License-Identifier: MIT
from grader.exercises.cases import Case, given, returned, updated

# Elements, threads. The last ones have far more tiles than any CPU has places for blocks.
SIZES = [
    (1, 32),
    (0, 64),
    (31, 32),
    (33, 32),
    (500, 1),
    (255, 256),
    (257, 256),
    (1500, 100),
    (1984, 64),
    (6400, 32),
    (7000, 512),
    (40_000, 33),
]
RACES = (1500, 1984)  # elements
COUNTED = 6400


def case(random, n, threads, counted):
    # Positive, so that no part that is missing can hide another one.
    a = [random.randint(1, 1000) for _ in range(n)]
    c = [random.randint(1, 1000) for _ in range(n)]
    added = [old + x for old, x in zip(c, a)]
    tiles = -(-n // threads)
    return Case(
        f"{n:,} element{'s' * (n != 1)}, {tiles:,} tile{'s' * (tiles != 1)} of {threads} "
        f"thread{'s' * (threads > 1)}",
        [
            given("a", "int", a),
            updated("c", "int", c, added),
            n,
            returned("total", "unsigned long long", [sum(added)]),
            threads,
        ],
        races=n in RACES,
        counted=counted,
        elements=n,
        question="How many tiles did the block do, and how often did it add its sums?",
    )


def cases(random):
    for n, threads in SIZES:
        yield case(random, n, threads, counted=n == COUNTED)


def case_of_another_size(random):
    return case(random, 32 * random.randrange(150, 200), 32, counted=True)

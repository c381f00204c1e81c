# SPDX-License-Identifier: MIT
from grader.exercises.cases import Case, given, updated

# Elements, threads. The last ones have far more tiles than any CPU has places for blocks.
SIZES = [
    (31, 32),
    (1, 32),
    (0, 64),
    (33, 32),
    (255, 256),
    (257, 256),
    (1000, 1),
    (2000, 100),
    (1984, 64),
    (6400, 32),
    (5000, 512),
    (40_000, 33),
]
RACES = (2000, 1984)  # elements
COUNTED = 6400


def case(random, n, threads, counted):
    a = [random.randint(-1000, 1000) for _ in range(n)]
    kind = [random.randrange(256) for _ in range(n)]
    c = [random.randint(-1000, 1000) for _ in range(n)]
    # A distinct one per kind, and never so small that a[i] could hide it.
    table = [10_000 * entry for entry in random.sample(range(1, 1000), 256)]
    tiles = -(-n // threads)
    return Case(
        f"{n:,} element{'s' * (n != 1)}, {tiles:,} tile{'s' * (tiles != 1)} of {threads} "
        f"thread{'s' * (threads > 1)}",
        [
            given("a", "int", a),
            given("kind", "unsigned char", kind),
            given("table", "int", table),
            updated(
                "c",
                "int",
                c,
                [old + x + table[of] for old, x, of in zip(c, a, kind)],
            ),
            n,
            threads,
        ],
        races=n in RACES,
        counted=counted,
        elements=n,
        question="Is every tile done, and is the whole table there, whatever the block's size?",
    )


def cases(random):
    for n, threads in SIZES:
        yield case(random, n, threads, counted=n == COUNTED)


def case_of_another_size(random):
    return case(random, 32 * random.randrange(201, 260), 32, counted=True)

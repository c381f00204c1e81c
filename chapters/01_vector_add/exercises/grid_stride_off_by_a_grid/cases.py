# SPDX-License-Identifier: MIT
from grader.exercises.cases import POISON, Case, given, returned

# (pixels, blocks, threads)
SHAPES = [
    (0, 2, 64),
    (1, 1, 32),
    (31, 1, 32),
    (33, 1, 32),
    (33, 8, 64),  # more blocks than work
    (100, 3, 32),
    (255, 2, 64),
    (257, 2, 128),
    (1000, 7, 33),
    (4096, 4, 256),
    (10_000, 8, 128),
    (20_001, 33, 96),
]
RACES = (100, 255)


def case(random, n, blocks, threads, counted):
    # Some become 255, and none is what the array is filled with before.
    amount = random.randint(40, 60)
    pixels = random.choices([value for value in range(256) if value + amount != POISON], k=n)
    return Case(
        f"{n:,} {'pixel' if n == 1 else 'pixels'}, {blocks} "
        f"{'block' if blocks == 1 else 'blocks'} of {threads} threads",
        [
            given("pixels", "unsigned char", pixels),
            returned("brightened", "unsigned char", [min(255, v + amount) for v in pixels]),
            n,
            amount,
            blocks,
            threads,
        ],
        function="brighten",
        races=n in RACES,
        counted=counted,
        elements=n,
    )


def cases(random):
    for n, blocks, threads in SHAPES:
        yield case(random, n, blocks, threads, counted=n == 10_000)


def case_of_another_size(random):
    return case(random, random.randrange(8_000, 10_000), 8, 128, counted=True)

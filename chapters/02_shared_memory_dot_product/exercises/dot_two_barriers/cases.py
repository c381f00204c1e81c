# SPDX-License-Identifier: MIT
from grader.exercises.cases import Case, given, returned

# (elements, blocks, threads)
SHAPES = [
    (0, 2, 64),
    (1, 1, 32),
    (31, 1, 32),
    (33, 1, 64),
    (63, 2, 32),
    (96, 1, 96),
    (300, 3, 64),
    (1025, 1, 1024),
    (5000, 8, 160),
    (10_000, 9, 1024),
    (30_001, 33, 224),
]
RACES = (300, 1025)


def case(random, n, blocks, threads, counted):
    # A product needs more than 32 bits, and a block's sum far fewer than 64.
    a = random.choices(range(-1_000_000, 1_000_001), k=n)
    b = random.choices(range(1_000, 1_000_000), k=n)
    partials = [0] * blocks
    for i in range(n):
        partials[i // threads % blocks] += a[i] * b[i]
    return Case(
        f"{n:,} {'element' if n == 1 else 'elements'}, {blocks} "
        f"{'block' if blocks == 1 else 'blocks'} of {threads:,} threads",
        [
            given("a", "long long", a),
            given("b", "long long", b),
            n,
            returned("partials", "long long", partials),
            blocks,
            threads,
        ],
        races=n in RACES,
        counted=counted,
        elements=n,
    )


def cases(random):
    for n, blocks, threads in SHAPES:
        yield case(random, n, blocks, threads, counted=n == 10_000)


def case_of_another_size(random):
    return case(random, random.randrange(9_300, 10_000), 9, 1024, counted=True)

# SPDX-License-Identifier: MIT
from grader.exercises.cases import Case, given, updated

# Small whole numbers: their products and sums are exact, and a fused multiply-add gives the same.
FACTORS = [*range(-1000, 0), *range(1, 1001)]
# The last one takes more than 1,024 blocks of 256, so blocks and threads can't be exchanged.
SIZES = [0, 1, 31, 32, 33, 127, 255, 256, 257, 1023, 1025, 10_000, 20_001, 270_000]
ALPHAS = {0: 2, 1: 3, 33: -1, 256: 0.5, 1025: -4}


def case(random, n, counted):
    alpha = ALPHAS.get(n, 3)
    x = random.choices(FACTORS, k=n)
    y = random.choices(range(-1000, 1001), k=n)
    if n == 1:
        x, y = [2], [7]
    return Case(
        f"n = {n:,}, alpha = {alpha}",
        [
            float(alpha),
            given("x", "float", x),
            updated("y", "float", y, [float(alpha * a + b) for a, b in zip(x, y)]),
            n,
        ],
        races=n in (33, 257),  # the first shows who leaves the arrays, by less than a page
        counted=counted,
        elements=n,
        question="How many blocks does your launch ask for, and does CUDA accept that?"
        if n == 0
        else "",
    )


def cases(random):
    for n in SIZES:
        yield case(random, n, counted=n == 10_000)


def case_to_time(random):
    return case(random, 1 << 20, counted=False)


def case_of_another_size(random):
    return case(random, random.randrange(8_000, 10_000, 16), counted=True)

# SPDX-License-Identifier: MIT
from grader.exercises.cases import Case, updated

SIZES = [1, 2, 3, 31, 32, 33, 255, 256, 257, 511, 513, 1025, 2051, 10_001, 20_000]
RACES = (3, 256, 2051)  # the last has 1,025 pairs: more than one block, whatever its size
QUESTIONS = {
    1: "One element is no pair: no thread has anything to do.",
    2: "There is one pair, and one thread that swaps it is enough.",
    3: "Element 1 stays where it is.",
}


def case(random, n, counted):
    # Rising, with a step of at least 1: no two elements are the same.
    values = [10 * (i + 1) + digit for i, digit in enumerate(random.choices(range(10), k=n))]
    if n <= 3:
        values = [10, 20, 30][:n]
    return Case(
        f"{n:,} {'element' if n == 1 else 'elements'}",
        [updated("values", "int", values, values[::-1]), n],
        races=n in RACES,
        counted=counted,
        elements=n,
        question=QUESTIONS.get(n, ""),
    )


def cases(random):
    for n in SIZES:
        yield case(random, n, counted=n == 10_001)


def case_of_another_size(random):
    return case(random, random.randrange(8_001, 10_000, 2), counted=True)

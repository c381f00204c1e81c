# SPDX-License-Identifier: MIT
from grader.exercises.cases import Case, given, returned, updated

EACH = 16  # numbers in one sum


def case(random, pairs, threads, **more):
    numbers = [random.randrange(-1000, 1000) for _ in range(pairs * threads * EACH)]
    sums = [sum(numbers[i : i + EACH]) for i in range(0, len(numbers), EACH)]
    answers = []
    for first in range(0, len(sums), threads):
        answers += reversed(sums[first : first + threads])
    pairs_of_blocks = f"{pairs:,} pair{'' if pairs == 1 else 's'} of blocks"
    return Case(
        f"{pairs_of_blocks}, {threads:,} thread{'' if threads == 1 else 's'} each",
        [
            given("numbers", "int", numbers),
            pairs,
            threads,
            updated("flags", "unsigned", [0] * pairs),
            returned("sums", "long long", sums),
            returned("answers", "long long", answers),
        ],
        function="sum_both_ways",
        **more,
    )


def cases(random):
    yield case(random, 1, 1)
    yield case(random, 1, 2)
    yield case(random, 2, 32)
    yield case(random, 2, 64, races=True)
    yield case(random, 3, 96, races=True)
    yield case(random, 5, 33)
    yield case(random, 16, 64, counted=True)
    yield case(random, 40, 256)


def case_of_another_size(random):
    """Nearly as many sums as in the counted case: the limits are numbers of loads. And as there, half of
    the pairs have the writer first."""
    shapes = [
        (pairs, threads)
        for pairs in (14, 18)
        for threads in range(48, 80)
        if 900 < pairs * threads < 1100
    ]
    return case(random, *random.choice(shapes))

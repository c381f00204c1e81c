# SPDX-License-Identifier: MIT
from grader.exercises.cases import Case, given, returned, scratch

# Elements, threads of a block.
SIZES = [
    (1, 32),
    (0, 32),
    (33, 32),
    (100, 1),
    (500, 33),
    (2000, 1024),
    (4500, 64),
]
RACES = [(150, 32), (450, 64)]
COUNTED = (768, 64)


def case(random, count, threads, races=False, counted=False):
    values = [random.randint(1, 2**64 - 1) for _ in range(count)]
    totals, total = [], 0
    for value in values:
        total = (total + value) % 2**64
        totals.append(total)
    tiles = -(-count // threads)
    return Case(
        f"{count:,} value{'s' * (count != 1)} in {tiles} tile{'s' * (tiles != 1)} of {threads}",
        [
            given("values", "unsigned long long", values),
            returned("totals", "unsigned long long", totals),
            count,
            scratch("next_tile", "unsigned", 1),
            scratch("states", "unsigned", tiles),
            scratch("sums", "unsigned long long", 2 * tiles),
            threads,
        ],
        races=races,
        counted=counted,
        elements=count,
        question="The first total that is wrong: which sum did its tile read, and was it there yet?",
    )


def cases(random):
    for count, threads in SIZES:
        yield case(random, count, threads)
    for count, threads in RACES:
        yield case(random, count, threads, races=True)
    yield case(random, *COUNTED, counted=True)


def case_of_another_size(random):
    return case(random, 64 * random.randrange(9, 40), 64, counted=True)

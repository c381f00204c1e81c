# SPDX-License-Identifier: MIT
from grader.exercises.cases import Case, given, kept, per_launch, returned

# Elements, threads of a block.
SIZES = [
    (1, 32),
    (0, 32),
    (31, 32),
    (32, 32),
    (33, 32),
    (100, 1),
    (500, 33),
    (2000, 1024),
    (4500, 64),
]
RACES = [(300, 32), (450, 64)]
COUNTED = (768, 64)


def case(random, count, threads, races=False, counted=False, second=None, every_execution=False):
    """`second`: the threads of the second launch, at most as many as of the first."""
    values = [random.randint(1, 2**32 - 1) for _ in range(count)]
    totals, total = [], 0
    for value in values:
        total = (total + value) % 2**32
        totals.append(total)
    smaller = min(threads, second or threads)
    tiles = -(-count // smaller)
    grids = f"{threads}, then of {second}" if second else threads
    return Case(
        f"{count:,} value{'s' * (count != 1)} in {tiles} tile{'s' * (tiles != 1)} of {grids}",
        [
            given("values", "unsigned", values),
            returned("totals", "unsigned", totals),
            count,
            kept("counter", "unsigned", [0]),
            kept("status", "unsigned long long", [0] * tiles),
            per_launch(threads, second) if second else threads,
        ],
        races=races,
        counted=counted,
        every_execution=every_execution,
        elements=count,
        question="The first total that is wrong: does its tile lack an earlier tile, or has it one twice?",
    )


def cases(random):
    for count, threads in SIZES:
        yield case(random, count, threads)
    yield case(random, 2, 1, every_execution=True)
    # What an earlier launch left in the status words is wrong for other tiles.
    yield case(random, 1000, 64, second=32)
    for count, threads in RACES:
        yield case(random, count, threads, races=True)
    yield case(random, *COUNTED, counted=True)


def case_of_another_size(random):
    return case(random, 64 * random.randrange(9, 40), 64, counted=True)

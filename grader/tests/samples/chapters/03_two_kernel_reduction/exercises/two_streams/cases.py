# SPDX-License-Identifier: MIT
from grader.exercises.cases import Case, given, returned, updated


def several(count, what):
    """'1 block', '2 blocks'."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def case(random, count, blocks, threads, **more):
    # The second half's values are larger, so a sum that is wrong says which half is missing.
    values = [random.randrange(1, 10) + 1000 * (i >= count // 2) for i in range(count)]
    grid = f"2 times {several(blocks, 'block')} of {several(threads, 'thread')}"
    return Case(
        f"{several(count, 'value')}, {grid}",
        [
            given("values", "int", values),
            count,
            updated("partials", "long long", [0] * (2 * blocks)),  # what is missing counts as 0
            returned("sum", "long long", [sum(values)]),
            blocks,
            threads,
        ],
        function="sum_in_two_streams",
        **more,
    )


def cases(random):
    yield case(random, 2, 1, 1)
    yield case(random, 1, 1, 32, question="One of the halves is empty.")
    yield case(random, 0, 2, 32)
    yield case(random, 33, 1, 32)
    yield case(random, 63, 3, 31)
    yield case(random, 5, 16, 64)
    yield case(random, 1000, 4, 64, races=True)
    yield case(random, 1023, 2, 96, races=True)
    yield case(random, 2049, 1, 1024)
    yield case(random, 20011, 33, 100, launches=3, counted=True)


def case_of_another_size(random):
    return case(random, random.randrange(15_001, 20_000, 2), 33, 100)

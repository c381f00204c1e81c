# SPDX-License-Identifier: MIT
from grader.exercises.cases import Case, given, kept, returned, updated


def several(count, what):
    """'1 block', '2 blocks'."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def case(random, rows, columns, blocks, **more):
    # Row r counts 1,000 r more than the last one: a sum that is wrong says whose rows are missing.
    matrix = [
        1000 * row + random.randrange(-400, 400) for row in range(rows) for _ in range(columns)
    ]
    return Case(
        f"{several(rows, 'row')}, {several(columns, 'column')}, {several(blocks, 'block')}",
        [
            given("matrix", "int", matrix),
            rows,
            updated("partials", "long long", [0] * (blocks * columns)),  # what is missing is a 0
            kept("counter", "unsigned", [0]),
            returned("sums", "long long", [sum(matrix[c::columns]) for c in range(columns)]),
            blocks,
            columns,
        ],
        function="sum_columns",
        **more,
    )


def cases(random):
    yield case(random, 1, 1, 1)
    yield case(random, 3, 2, 1)
    yield case(random, 2, 3, 2)
    yield case(random, 0, 31, 3)
    yield case(random, 7, 32, 3)
    yield case(random, 9, 33, 16)
    yield case(random, 40, 64, 4, races=True)
    yield case(random, 30, 96, 6, races=True)
    yield case(random, 100, 1, 100)
    yield case(random, 65, 31, 64)
    yield case(random, 500, 65, 3, launches=3)

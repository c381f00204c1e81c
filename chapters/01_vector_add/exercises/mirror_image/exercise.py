# SPDX-License-Identifier: MIT
from grader.exercises.cases import Case, exercise, given, returned

exercise(
    number=4,
    kind="write",
    minutes=10,
    points={"results": 7, "races": 3},
    builds_on=["01_vector_add"],
    limits={
        "global stores per thread: at most 4": "One thread does what many could do: there is a "
        "thread for each pixel.",
        "global stores per block: at most 1000": "That is far more than one block's share: let "
        "the grid cover the image.",
    },
    starter_fails={"part": "results", "says": "expected"},
    hints=[
        """A block has `blockDim.x` columns and `blockDim.y` rows. In which column of the image does
        block 2 in the x-direction start?""",
        """The index of lesson 01, once with `.x` and once with `.y`, gives column and row. Rows lie
        one after the other in memory. And the blocks at the right and lower edge may reach beyond
        the image.""",
        """A pixel's place is its row times the width, plus its column. Check both x and y before
        you touch memory. The grid is a `dim3` of two numbers, each rounded up as in lesson 01.""",
    ],
)


def case(random, width, height, threads_x, threads_y, **more):
    rows = [[random.randrange(-1000, 1000) for _ in range(width)] for _ in range(height)]
    return Case(
        f"{width:,} x {height:,} pixels, blocks of {threads_x} x {threads_y} threads",
        [
            given("image", "int", [pixel for row in rows for pixel in row]),
            width,
            height,
            returned("mirrored", "int", [pixel for row in rows for pixel in reversed(row)]),
            threads_x,
            threads_y,
        ],
        **more,
    )


def cases(random):
    yield case(random, 1, 1, 1, 1)
    yield case(random, 4, 1, 4, 1)
    yield case(random, 4, 3, 4, 3)
    yield case(random, 7, 5, 4, 2, races=True)
    yield case(random, 40, 9, 16, 4, races=True)
    yield case(random, 5, 33, 8, 8)
    yield case(random, 32, 32, 16, 16)
    yield case(random, 200, 60, 32, 4, counted=True)


def case_of_another_size(random):
    return case(random, random.randrange(170, 230), random.randrange(50, 70), 32, 4)

# SPDX-License-Identifier: MIT
from grader.exercises.cases import Case, given, returned


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

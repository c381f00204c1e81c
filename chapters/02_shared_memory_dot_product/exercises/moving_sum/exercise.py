# SPDX-License-Identifier: MIT
from grader.exercises.cases import Case, exercise, given, returned, several

exercise(
    number=4,
    kind="write",
    minutes=15,
    points={"results": 2, "races": 3, "limits": 5},
    builds_on=["02_shared_memory_dot_product"],
    limits={
        "global loads per element: at most 1.2": "A value is in 8 sums: load it once, and take it "
        "from shared memory 8 times.",
        "global loads per thread: at most 12": "One thread loads for its whole block: let each "
        "thread load one value, and a few of them one more.",
        "global stores per block: at most 400": "That is far more than one block's share: each "
        "block has its own sums.",
    },
    starter_fails={"part": "limits", "says": "A value is in 8 sums"},
    hints=[
        """How many of the values that thread 5 adds up does thread 6 need as well? And how many
        different values does a block of 64 threads need?""",
        """A block needs one value per thread and 7 more. All threads copy them into shared memory
        first, in a loop with the step `blockDim.x`. Then they add up, but not before everything is
        there.""",
        """An array of 1,024 + 7 elements in shared memory is large enough for every block. The loop
        goes from `threadIdx.x` to below the number of threads plus 7, and copies only values that
        exist. After the barrier, thread t adds the elements t to t + 7 of the array.""",
    ],
)

WINDOW = 8  # values in one sum


def case(random, count, threads, **more):
    values = [random.randrange(-1000, 1000) for _ in range(count + WINDOW - 1)]
    blocks = (count + threads - 1) // threads
    sums = [sum(values[i : i + WINDOW]) for i in range(count)]
    return Case(
        f"{several(count, 'sum')}, blocks of {threads:,}",
        [given("values", "int", values), count, returned("sums", "int", sums), blocks, threads],
        **more,
    )


def cases(random):
    yield case(random, 1, 1)
    yield case(random, 2, 32)
    yield case(random, 5, 3, every_execution=True)
    yield case(random, 64, 32, races=True)
    yield case(random, 100, 64, races=True)
    yield case(random, 33, 32)
    yield case(random, 2000, 1024)
    yield case(random, 4096, 128, counted=True, elements=4096)


def case_of_another_size(random):
    """Whole blocks of 128, as in the counted case."""
    count = 128 * random.choice([k for k in range(26, 40) if k != 32])
    return case(random, count, 128, elements=count)

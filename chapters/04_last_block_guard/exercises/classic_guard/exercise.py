# SPDX-License-Identifier: MIT
from grader.exercises.cases import (
    Case,
    exercise,
    given,
    kept,
    per_launch,
    returned,
    several,
    updated,
)

exercise(
    number=1,
    kind="repair",
    minutes=25,
    points={"results": 3, "races": 7},
    builds_on=["04_last_block_guard"],
    limits={
        "launches per call: at most 1": "The last block can finish the job: no second kernel is "
        "needed.",
        "global loads per thread: at most 200": "One thread works and the others of its block "
        "wait: let all of them take their part.",
        "global loads per block: at most 1000": "That is far more than one block's share: all "
        "blocks are to work.",
        "global stores per block's share: at least 90": "The last block stores the sums, and it alone: "
        "without a guard this is not the exercise.",
        "accesses to global memory per call: at least 5380": "Each block stores its partial sums "
        "and takes a ticket, and the last one loads those of all: without a guard this is not the "
        "exercise.",
    },
    starter_fails={
        "part": "results",
        "says": "The first launch was right. What is different the second time?",
    },
    hints=[
        """What does the counter hold when the second launch begins? Whose writes are done when
        thread 0 takes the ticket? And what makes the last block look at memory anew?""",
        """The ticket must not be taken before all threads of the block have written. After the
        ticket, the last block has to acquire, as the others have released before theirs. And the
        counter must be 0 again when the kernel ends.""",
        """A barrier comes first, then the fence that is there. `atomicInc` wraps around to 0 by
        itself if you tell it the number of the last ticket. Directly after the ticket, thread 0
        needs a second fence.""",
    ],
)


def case(random, rows, columns, *blocks, **more):
    """With so many blocks at the first launch, and so many at the second."""
    # Row r counts 1,000 r more than the last one: a sum that is wrong says whose rows are missing.
    matrix = [
        1000 * row + random.randrange(-400, 400) for row in range(rows) for _ in range(columns)
    ]
    grids = ", then ".join(several(number, "block") for number in blocks)
    return Case(
        f"{several(rows, 'row')}, {several(columns, 'column')}, {grids}",
        [
            given("matrix", "int", matrix),
            rows,
            # What is missing is a 0.
            updated("partials", "long long", [0] * (max(blocks) * columns)),
            kept("counter", "unsigned", [0]),
            returned("sums", "long long", [sum(matrix[c::columns]) for c in range(columns)]),
            per_launch(*blocks),
            columns,
        ],
        function="sum_columns",
        **more,
    )


def cases(random):
    yield case(random, 1, 1, 1)
    yield case(random, 3, 2, 1)
    yield case(random, 2, 3, 2)
    yield case(random, 6, 2, 3, every_execution=True)
    yield case(random, 0, 31, 3)
    yield case(random, 7, 32, 3)
    yield case(random, 9, 33, 16)
    yield case(random, 40, 64, 4, races=True)
    yield case(random, 30, 96, 7, 4, races=True)
    yield case(random, 100, 1, 100)
    yield case(random, 640, 8, 16, counted=True)
    yield case(random, 65, 31, 64, 37)
    yield case(random, 500, 65, 3, launches=3)


def case_of_another_size(random):
    """One in which a guard needs as many accesses as in the counted case, and a sum by atomics fewer: for
    each block and column one that stores and one that adds, and with a guard one more for each block."""
    shapes = [
        (blocks * rounds, columns, blocks)
        for blocks in range(12, 25)
        for columns in range(4, 14)
        for rounds in range(30, 120)
        if 5380 - blocks + 8 <= blocks * columns * (rounds + 2) < 5380 and blocks != 16
    ]
    return case(random, *random.choice(shapes))

# SPDX-License-Identifier: MIT
from grader.exercises.cases import Case, exercise, given, returned

exercise(
    number=0,
    kind="write",
    minutes=15,
    points={"results": 8, "races": 2},
    builds_on=["NN_chapter_folder"],
    limits={
        "global stores per thread: at most 100": "One thread does what many threads can do at the "
        "same time: share it out among them.",
        "global stores per block: at most 5000": "That is far more than one block's share: all "
        "blocks are to work.",
    },
    starter_fails={"part": "results", "says": "doubled: nothing was written"},
    hints=[
        """Which element does thread 0 of block 1 begin with?""",
        """If there are more elements than threads, each thread has to take several, one after the
        other.""",
        """From one of its elements to the next a thread goes as many places as the grid has
        threads.""",
    ],
)

SIZES = [
    (0, 1, 32),
    (1, 1, 32),
    (31, 1, 32),
    (33, 1, 32),
    (256, 4, 64),
    (1000, 3, 96),
    (20000, 8, 128),
]


def case(random, count, blocks, threads, counted):
    values = [random.randrange(-1000, 1000) for _ in range(count)]
    return Case(
        f"{count:,} values, {blocks} blocks of {threads} threads",
        [
            given("values", "int", values),
            count,
            returned("doubled", "int", [2 * value for value in values]),
            blocks,
            threads,
        ],
        races=count in (33, 1000),
        counted=counted,
    )


def cases(random):
    for count, blocks, threads in SIZES:
        yield case(random, count, blocks, threads, counted=count == 20000)


def case_of_another_size(random):
    """The counted case once more, for a grade: no student knows its size."""
    return case(random, random.randrange(15000, 20000), 8, 128, counted=True)

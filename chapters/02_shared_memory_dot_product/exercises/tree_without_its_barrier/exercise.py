# SPDX-License-Identifier: MIT
from grader.exercises.cases import Case, exercise, given, grid, returned, several

exercise(
    number=3,
    kind="repair",
    minutes=25,
    points={"results": 4, "races": 6},
    builds_on=["02.2"],
    limits={
        "global loads per thread: at most 64": "One thread works and the others of its block "
        "wait: let all of them take their part.",
        "shared loads per thread: at most 200": "One thread adds up too many of the sums while "
        "the others wait: keep the tree.",
        "global loads per block: at most 2500": "That is far more than one block's share: all "
        "blocks are to work.",
    },
    starter_fails={"part": "results", "says": "totals: got"},
    hints=[
        """In the step with half = 16, which element does thread 0 read, and which thread writes
        that element in the step before? Which element does thread 16 write in *this* step, and who
        needs its old value?""",
        """The steps of many warps have two things that the steps of the one warp lack. One is a
        barrier after the addition. The other one is a question that each thread asks itself before
        it adds.""",
        """Let only the threads of the front half add, as in the loop above, so that no element is
        both read and written in one step. After the addition, and outside of that `if`, comes the
        barrier of the warp.""",
    ],
)

# (values, blocks, threads)
SHAPES = [
    (1, 1, 64),
    (33, 1, 64),
    (64, 1, 64),
    (63, 2, 64),
    (127, 1, 128),
    (0, 3, 64),
    (300, 3, 64),
    (1000, 2, 256),
    (1025, 1, 1024),
    (10_000, 9, 512),
    (20_001, 33, 128),
]
RACES = (300, 127)
QUESTIONS = {33: "Thread 0 adds up what others have added up before. Have they?"}


def case(random, n, blocks, threads, counted):
    values = random.choices(range(1, 30_000), k=n)
    totals = [0] * blocks
    for i, value in enumerate(values):
        totals[i // threads % blocks] += value
    return Case(
        f"{several(n, 'value')}, {grid(blocks, threads)}",
        [
            given("values", "int", values),
            n,
            returned("totals", "int", totals),
            blocks,
            threads,
        ],
        function="totals_of_blocks",
        races=n in RACES,
        every_execution=n == 63,
        counted=counted,
        question=QUESTIONS.get(n, ""),
    )


def cases(random):
    for n, blocks, threads in SHAPES:
        yield case(random, n, blocks, threads, counted=n == 10_000)


def case_of_another_size(random):
    return case(random, random.randrange(9_300, 12_000), 9, 512, counted=True)

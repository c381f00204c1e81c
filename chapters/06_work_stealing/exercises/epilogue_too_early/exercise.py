# SPDX-License-Identifier: MIT
from grader.exercises.cases import Case, exercise, given, returned, several, updated

exercise(
    number=2,
    kind="repair",
    minutes=15,
    points={"results": 2, "races": 6, "limits": 2},
    builds_on=["06_work_stealing", "06.1"],
    limits={
        "barriers per block: at most 1": "A barrier in the lambda is one per tile. Where is one "
        "per block enough?",
        "global atomics per block: at most 4": "Leave the threads' sums in shared memory, and let "
        "one thread add them to the total, once per block.",
        "blocks begun per call: at most 100": "A block that runs takes over tiles of blocks that "
        "have not begun: that was so in the kernel that was given.",
        "blocks taken over per call: at least 75": "A block that runs takes over tiles of blocks that "
        "have not begun: launch one block per tile.",
        "global stores per thread's share: at most 25": "One thread works and the others of its "
        "block wait: let all of them take their part.",
        "global stores per block's share: at most 90": "The blocks share the work: each of them "
        "takes more as soon as it is free.",
    },
    starter_fails={"part": "races", "says": "missing __syncthreads()"},
    hints=[
        """Thread 0 adds up what all threads of its block have left in `sums`. How does it know that
        they have finished their last tile?""",
        """`for_each_canceled_block` orders no memory. What comes before it is the prologue, what
        comes after it the epilogue: which of the two reads what *other* threads have written?""",
        """All threads of the block must meet after their last tile and before thread 0 reads. A
        barrier at the beginning of the epilogue does that, outside of the condition on the thread's
        index.""",
    ],
)

# Elements, threads. The last ones have far more tiles than any CPU has places for blocks.
SIZES = [
    (1, 32),
    (0, 64),
    (31, 32),
    (33, 32),
    (500, 1),
    (255, 256),
    (257, 256),
    (1500, 100),
    (1984, 64),
    (6400, 32),
    (7000, 512),
    (40_000, 33),
]
RACES = (1500, 1984)  # elements
COUNTED = 6400


def case(random, n, threads, counted):
    # Positive, so that no part that is missing can hide another one.
    a = [random.randint(1, 1000) for _ in range(n)]
    c = [random.randint(1, 1000) for _ in range(n)]
    added = [old + x for old, x in zip(c, a)]
    tiles = -(-n // threads)
    return Case(
        f"{several(n, 'element')}, {several(tiles, 'tile')} of {several(threads, 'thread')}",
        [
            given("a", "int", a),
            updated("c", "int", c, added),
            n,
            returned("total", "unsigned long long", [sum(added)]),
            threads,
        ],
        races=n in RACES,
        counted=counted,
        elements=n,
        question="How many tiles did the block do, and how often did it add its sums?",
    )


def cases(random):
    for n, threads in SIZES:
        yield case(random, n, threads, counted=n == COUNTED)


def case_of_another_size(random):
    return case(random, 32 * random.randrange(150, 200), 32, counted=True)

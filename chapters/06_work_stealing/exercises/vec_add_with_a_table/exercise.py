# SPDX-License-Identifier: MIT
from grader.exercises.cases import Case, exercise, given, several, updated

exercise(
    number=1,
    kind="write",
    minutes=25,
    points={"results": 5, "races": 3, "limits": 4},
    builds_on=["01_vector_add", "06_work_stealing"],
    limits={
        "global loads per element: at most 3.5": "Three per element are a, kind and c. The table "
        "belongs into shared memory, once per block and not once per tile.",
        "barriers per block: at most 1": "No thread changes the table after the prologue, so no tile "
        "needs a barrier.",
        "blocks taken over per call: at least 75": "A block that runs takes over tiles of blocks that "
        "have not begun: launch one block per tile.",
        "global stores per thread's share: at most 25": "One thread works and the others of its "
        "block wait: let all of them take their part.",
        "global stores per block's share: at most 90": "The blocks share the work: each of them "
        "takes more as soon as it is free.",
    },
    starter_fails={"part": "results", "says": "c[0]: got"},
    hints=[
        """How often does a launched block run what comes before `for_each_canceled_block`, and how
        often what is in its lambda?""",
        """The table is the prologue: all threads of the block copy their part of it, also if the
        block has fewer than 256 threads. The lambda is one tile. Which index may it use, and which
        one must it not?""",
        """Copy in steps of `blockDim.x` entries, wait for the block, then let the lambda compute
        its element from the `x` of the index that it is given. In the host function launch enough
        blocks for all elements, and none if there is no element.""",
    ],
)

# Elements, threads. The last ones have far more tiles than any CPU has places for blocks.
SIZES = [
    (31, 32),
    (1, 32),
    (0, 64),
    (33, 32),
    (255, 256),
    (257, 256),
    (1000, 1),
    (2000, 100),
    (1984, 64),
    (6400, 32),
    (5000, 512),
    (40_000, 33),
]
RACES = (2000, 1984)  # elements
COUNTED = 6400


def case(random, n, threads, counted):
    a = [random.randint(-1000, 1000) for _ in range(n)]
    kind = [random.randrange(256) for _ in range(n)]
    c = [random.randint(-1000, 1000) for _ in range(n)]
    # A distinct one per kind, and never so small that a[i] could hide it.
    table = [10_000 * entry for entry in random.sample(range(1, 1000), 256)]
    tiles = -(-n // threads)
    return Case(
        f"{several(n, 'element')}, {several(tiles, 'tile')} of {several(threads, 'thread')}",
        [
            given("a", "int", a),
            given("kind", "unsigned char", kind),
            given("table", "int", table),
            updated(
                "c",
                "int",
                c,
                [old + x + table[of] for old, x, of in zip(c, a, kind)],
            ),
            n,
            threads,
        ],
        races=n in RACES,
        counted=counted,
        elements=n,
        question="Is every tile done, and is the whole table there, whatever the block's size?",
    )


def cases(random):
    for n, threads in SIZES:
        yield case(random, n, threads, counted=n == COUNTED)


def case_of_another_size(random):
    return case(random, 32 * random.randrange(201, 260), 32, counted=True)

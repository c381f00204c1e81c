# SPDX-License-Identifier: MIT
from grader.exercises.cases import Case, exercise, given, kept, per_launch, returned, updated

exercise(
    number=3,
    kind="write",
    minutes=30,
    points={"results": 5, "races": 4, "limits": 3},
    builds_on=["02_shared_memory_dot_product", "08_look_back_scan", "08.1"],
    limits={
        "launches per call: at most 1": "One kernel does it: a tile finds where its values begin "
        "while the earlier tiles are at work.",
        "global loads per element: at most 1": "Each value is read once, and kept in a variable. "
        "The look-back reads by atomic loads.",
        "global stores per thread's share: at most 25": "One thread works and the others of its "
        "block wait: let each of them move its own value.",
        "global stores per block's share: at most 90": "Each block has one tile.",
    },
    starter_fails={"part": "results", "says": "kept["},
    hints=[
        """How many large values come before mine? Some of them are in my tile, and the others are
        in the tiles before. Who counts which?""",
        """A tile's aggregate is the number of its large values, and the last thread of the block
        has it after the scan. What all earlier tiles combine to is the place of the tile's first
        value. What does the look-back do for tile 0?""",
        """Take the tile by `take_tile`, for as many tiles as there are blocks. The last thread
        sets `start` to 0, which is right for tile 0, and calls `exclusive_prefix_by_one_thread`
        with the ticket, its `so_far`, `course::plus{}` and `&start`. The tile with the last
        *number* knows the count, and if there is no tile at all, the host sets it.""",
    ],
)

# Elements, threads of a block, per cent of them that are kept.
SIZES = [
    (1, 32, 100),
    (31, 32, 50),
    (33, 32, 100),
    (0, 32, 50),
    (100, 1, 50),
    (200, 64, 0),
    (500, 33, 50),
    (2000, 1024, 90),
    (4500, 64, 10),
]
RACES = [(300, 32, 50), (450, 64, 50)]
COUNTED = (768, 64, 50)
LEAST = 1000


def case(random, n, threads, per_cent, second=None, **marks):
    """`second`: the threads of the second launch, at most as many as of the first."""
    is_large = [random.randrange(100) < per_cent for _ in range(n)]
    if n and per_cent:
        is_large[-1] = True  # Its tile is the last one, and not the only one.
    values = [
        random.randrange(LEAST, 2**32) if large else random.randrange(LEAST) for large in is_large
    ]
    large = [value for value in values if value >= LEAST]
    share = {0: "none", 100: "all"}.get(per_cent, f"about {per_cent} %")
    grids = f"{threads}, then of {second}" if second else threads
    tiles = -(-n // min(threads, second or threads))
    return Case(
        f"{n:,} value{'s' * (n != 1)} in {tiles} tile{'s' * (tiles != 1)} of {grids}"
        + (f", {share} large" if n else ""),
        [
            given("values", "unsigned", values),
            n,
            LEAST,
            updated("kept", "unsigned", [0] * n, large + [0] * (n - len(large))),
            returned("count", "unsigned", [len(large)]),
            kept("memory", "unsigned long long", [0] * (16 + n)),
            per_launch(threads, second) if second else threads,
        ],
        elements=n,
        question="How many large values come before this one, in all tiles before and in its own?",
        **marks,
    )


def cases(random):
    for n, threads, per_cent in SIZES:
        yield case(random, n, threads, per_cent)
    yield case(random, 2, 1, 100, every_execution=True)
    yield case(random, 1000, 64, 50, second=32)
    for n, threads, per_cent in RACES:
        yield case(random, n, threads, per_cent, races=True)
    yield case(random, *COUNTED, counted=True)


def case_of_another_size(random):
    return case(random, 64 * random.randrange(9, 40), 64, 50, counted=True)

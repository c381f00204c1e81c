# SPDX-License-Identifier: MIT
from grader.exercises.cases import Case, exercise, given, grid, returned, several

exercise(
    number=2,
    kind="write",
    minutes=35,
    points={"results": 4, "races": 3, "limits": 5},
    builds_on=["02.1"],
    answers=["02_shared_memory_dot_product/block_reduce.cuh"],
    limits={
        "barriers per block: at most 2": "Let each warp combine its own 32 sums without a "
        "barrier, or let 32 threads add up a part each.",
        "shared loads per thread: at most 128": "One thread adds up too many of the sums while "
        "the others wait: share them out.",
        "shared atomics per block: at most 32": "Threads queue for one address: at most one "
        "atomic per warp, once the warp has its sum.",
        "global loads per thread: at most 64": "One thread works and the others of its block "
        "wait: let all of them take their part.",
        "global loads per block: at most 4000": "That is far more than one block's share: all "
        "blocks are to work.",
    },
    starter_fails={"part": "limits", "says": "Your code: 11 barriers per block; allowed: 2."},
    hints=[
        """A block has at most 1,024 threads, which are 32 warps. If each warp has one sum, how many
        sums are left, and how many threads does it take to add them up?""",
        """First stage: each warp adds up its own 32 sums by shuffles, with half the distance each
        time, 16 to begin with. Its lane 0 puts the result into shared memory. Then one barrier.
        Second stage: the first warp does the same with the warps' results.""",
        """The whole first warp has to take part in the second stage, since a shuffle waits for all
        32 lanes. But there may be fewer than 32 warps: a lane without a warp's sum brings 0, and
        doesn't read shared memory.""",
    ],
)

# (elements, blocks, threads)
SHAPES = [
    (0, 2, 64),
    (1, 1, 32),
    (31, 1, 32),
    (33, 1, 64),
    (63, 2, 32),
    (96, 1, 96),
    (300, 3, 64),
    (1025, 1, 1024),
    (5000, 8, 160),
    (10_000, 9, 1024),
    (30_001, 33, 224),
]
RACES = (300, 1025)


def case(random, n, blocks, threads, counted):
    # A product needs more than 32 bits, and a block's sum far fewer than 64.
    a = random.choices(range(-1_000_000, 1_000_001), k=n)
    b = random.choices(range(1_000, 1_000_000), k=n)
    partials = [0] * blocks
    for i in range(n):
        partials[i // threads % blocks] += a[i] * b[i]
    return Case(
        f"{several(n, 'element')}, {grid(blocks, threads)}",
        [
            given("a", "long long", a),
            given("b", "long long", b),
            n,
            returned("partials", "long long", partials),
            blocks,
            threads,
        ],
        races=n in RACES,
        counted=counted,
        elements=n,
    )


def cases(random):
    for n, blocks, threads in SHAPES:
        yield case(random, n, blocks, threads, counted=n == 10_000)


def case_of_another_size(random):
    return case(random, random.randrange(9_300, 10_000), 9, 1024, counted=True)

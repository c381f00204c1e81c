# SPDX-License-Identifier: MIT
from grader.exercises.cases import POISON, Case, exercise, given, grid, returned, several

exercise(
    number=3,
    kind="repair",
    minutes=15,
    points={"results": 2, "races": 6, "limits": 3},
    builds_on=["01_vector_add"],
    limits={
        "global stores per element: at most 1": "Each pixel is one thread's work, and that thread "
        "writes it once.",
        "global stores per block: at most 1280": "That is one block's share of the 10,000 pixels: "
        "all blocks are to work.",
        "global stores per thread: at most 100": "One thread does what many threads can do at the "
        "same time: share it out among them.",
    },
    starter_fails={"part": "races", "says": "writes brightened["},
    hints=[
        """With two blocks of four threads: which pixels does thread 0 of block 0 write, one after
        the other? And thread 0 of block 1?""",
        """All threads of the grid take one pixel each; then all of them step on together. How many
        threads are that? The kernel steps by another number.""",
        """The stride is the number of threads in the whole grid. You know the threads of one block
        already; `gridDim.x` is the number of blocks. Write the product so that it has 64 bits, as
        the line above does.""",
    ],
)

# (pixels, blocks, threads)
SHAPES = [
    (0, 2, 64),
    (1, 1, 32),
    (31, 1, 32),
    (33, 1, 32),
    (33, 8, 64),  # more blocks than work
    (100, 3, 32),
    (255, 2, 64),
    (257, 2, 128),
    (1000, 7, 33),
    (4096, 4, 256),
    (10_000, 8, 128),
    (20_001, 33, 96),
]
RACES = (100, 255)


def case(random, n, blocks, threads, counted):
    # Some become 255, and none is what the array is filled with before.
    amount = random.randint(40, 60)
    pixels = random.choices([value for value in range(256) if value + amount != POISON], k=n)
    return Case(
        f"{several(n, 'pixel')}, {grid(blocks, threads)}",
        [
            given("pixels", "unsigned char", pixels),
            returned("brightened", "unsigned char", [min(255, v + amount) for v in pixels]),
            n,
            amount,
            blocks,
            threads,
        ],
        function="brighten",
        races=n in RACES,
        counted=counted,
        elements=n,
    )


def cases(random):
    for n, blocks, threads in SHAPES:
        yield case(random, n, blocks, threads, counted=n == 10_000)


def case_of_another_size(random):
    return case(random, random.randrange(8_000, 10_000), 8, 128, counted=True)

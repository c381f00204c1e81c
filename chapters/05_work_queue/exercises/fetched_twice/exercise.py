# SPDX-License-Identifier: MIT
from grader.exercises.cases import Case, exercise, grid, kept, several, updated

exercise(
    number=2,
    kind="repair",
    minutes=15,
    points={"results": 4, "races": 6},
    builds_on=["05_work_queue", "05.1"],
    limits={
        "global atomics per call: at least 20": "The counter says which block takes which tile: "
        "each of the 40 tiles is fetched, two at once if you like.",
        "global stores per thread's share: at most 25": "One thread works and the others of its "
        "block wait: let all of them take their part.",
        "global stores per first block's share: at least 60": "The blocks have fixed shares: which "
        "item a block gets next is to depend on which of them is free.",
        "global stores per block's share: at most 90": "The blocks share the work: each of them "
        "takes more as soon as it is free.",
    },
    starter_fails={"part": "results", "says": "pixels["},
    hints=[
        """Which threads write `number`, which threads read it, and what comes between a read and
        the *next* write?""",
        """Thread 0 may be in its next fetch already while the others of its block still have to
        read what it wrote in the last one. There are two places where one fetch follows
        another.""",
        """Let each thread copy the number into a variable of its own, wait for the whole block
        after that, and only then return. In `fetch` one barrier more is enough for both places.""",
    ],
)

# Tiles, blocks, threads.
SIZES = [
    (1, 1, 1),
    (0, 2, 32),
    (2, 1, 32),
    (3, 2, 2),
    (5, 1, 33),
    (1, 3, 64),
    (33, 2, 1),
    (12, 3, 96),
    (40, 4, 64),
    (101, 7, 100),
    (32, 33, 256),
    (601, 64, 32),
]
RACES = (12, 40)  # tiles
EVERY_EXECUTION = 3


def case(random, tiles, blocks, threads, counted):
    # Inverted twice is not inverted: both mistakes show in any pixel.
    pixels = [random.randrange(256) for _ in range(tiles * threads)]
    return Case(
        f"{several(tiles, 'tile')}, {grid(blocks, threads)}",
        [
            updated("pixels", "int", pixels, [255 - pixel for pixel in pixels]),
            tiles,
            kept("next", "unsigned", [0]),
            blocks,
            threads,
        ],
        races=tiles in RACES,
        every_execution=tiles == EVERY_EXECUTION,
        counted=counted,
        question="Pixels that are as before were inverted by no thread, or twice. "
        "Which numbers did the threads get?",
    )


def cases(random):
    for tiles, blocks, threads in SIZES:
        yield case(random, tiles, blocks, threads, counted=tiles == 40)


def case_of_another_size(random):
    return case(random, random.randrange(42, 72, 2), 4, 64, counted=True)

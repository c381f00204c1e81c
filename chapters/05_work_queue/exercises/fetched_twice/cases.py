# SPDX-License-Identifier: MIT
from grader.exercises.cases import Case, kept, updated

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
        f"{tiles:,} tile{'s' * (tiles != 1)}, {blocks} block{'s' * (blocks > 1)} of {threads} "
        f"thread{'s' * (threads > 1)}",
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
        question="Pixels that are as before were inverted by nobody, or twice. "
        "Which numbers did the threads get?",
    )


def cases(random):
    for tiles, blocks, threads in SIZES:
        yield case(random, tiles, blocks, threads, counted=tiles == 40)


def case_of_another_size(random):
    return case(random, random.randrange(42, 72, 2), 4, 64, counted=True)

# SPDX-License-Identifier: MIT
from grader.exercises.cases import Case, exercise, grid, scratch, several, updated

exercise(
    number=3,
    kind="write",
    minutes=30,
    points={"results": 5, "races": 5, "limits": 2},
    builds_on=["07_grid_barrier", "07.1"],
    limits={
        "launches per call: at most 1": "The blocks wait for each other within one launch: do not "
        "launch once per step.",
        "grid barriers per call: at most 0": "Don't use grid.sync(): a block waits for its neighbours "
        "only.",
        "barriers per block: at most 20": "Two block barriers per step are enough, for 10 steps. "
        "What is each of yours for?",
        "global stores per thread's share: at most 25": "One thread works and the others of its "
        "block wait: let all of them take their part.",
        "global stores per block's share: at most 90": "The blocks share the work: launch as many "
        "as are asked for, if so many are resident.",
    },
    starter_fails={"part": "results", "says": "from["},
    hints=[
        """Take one block in step 5. Whose cells does it read, and which step wrote them? Which
        cells does it overwrite, which step's values are in them, and who reads those?""",
        """Before a step, look at two words until both are large enough. A neighbour can be one step
        further than this block, so compare with "less than", not with "is not". After a step, write
        one word. Which of the block's threads must have come how far, each time?""",
        """Thread 0 polls the words of the left and of the right block until each counts as many
        steps as this block has done; block barrier; the cells; block barrier; thread 0 stores the
        new count into its block's word. Both directions need both orders: a write that is read, and
        a read that is overwritten.""",
    ],
)

# Cells, steps (even), blocks, threads, whether the last block begins late.
SIZES = [
    (1, 2, 1, 1, False),
    (0, 2, 1, 32, False),
    (5, 0, 2, 32, False),
    (4, 2, 2, 2, False),
    (64, 2, 1, 64, False),
    (40, 4, 2, 32, False),
    (90, 6, 3, 32, True),
    (3, 8, 5, 31, False),
    (150, 6, 4, 33, True),
    (240, 10, 3, 64, False),
    (77, 6, 3, 1, True),
    (3000, 4, 16, 96, False),
    (2000, 2, 64, 256, False),
]
RACES = (40, 90)  # cells
COUNTED = 240


def drifted(cells, steps):
    for _ in range(steps):
        cells = [(3 * cell + left) % 2**32 for cell, left in zip(cells, [0, *cells])]
    return cells


def case(random, n, steps, blocks, threads, late, counted):
    cells = [random.randrange(2**32) for _ in range(n)]
    return Case(
        f"{several(n, 'cell')}, {steps} steps, {grid(blocks, threads)}{', the last one late' * late}",
        [
            updated("from", "unsigned", cells, drifted(cells, steps)),
            scratch("to", "unsigned", n),
            n,
            steps,
            updated("done", "unsigned", [0] * blocks),
            blocks,
            threads,
        ],
        function="drift_late" if late else "drift",
        races=n in RACES,
        every_execution=n == 4,
        counted=counted,
        elements=n,
        question="Which blocks does one step of one block depend on? Who reads what it overwrites?",
    )


def cases(random):
    for n, steps, blocks, threads, late in SIZES:
        yield case(random, n, steps, blocks, threads, late, counted=n == COUNTED)


def case_of_another_size(random):
    return case(random, random.randrange(200, 240), 10, 3, 64, False, counted=True)

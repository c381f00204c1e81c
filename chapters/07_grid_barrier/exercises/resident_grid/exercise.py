# SPDX-License-Identifier: MIT
from grader.exercises.cases import Case, exercise, scratch, several, updated

exercise(
    number=2,
    kind="repair",
    minutes=20,
    points={"results": 6, "races": 3, "limits": 2},
    builds_on=["01_vector_add", "07_grid_barrier"],
    limits={
        "launches per call: at most 1": "A second kernel would do it, too. Here the blocks are to "
        "meet within one launch.",
        "global stores per thread's share: at most 25": "One thread works and the others of its "
        "block wait: let all of them take their part.",
        "global stores per block's share: at most 90": "The blocks share the work: launch as many "
        "as are useful, if so many are resident.",
    },
    starter_fails={"part": "results", "says": "grid_group::sync()"},
    hints=[
        """Run the starter. Which launch does `grid.sync()` ask for, and what would it say of 700
        blocks?""",
        """Ask the device how many blocks of this kernel fit on one SM, and how many SMs it has.
        Launch at most that many. Then a thread has more than one value: where does it find its next
        one?""",
        """In both places a loop takes the place of the `if`: from the thread's number in the grid
        on, in steps of all threads of the grid. The launch is `cudaLaunchCooperativeKernel`, which
        takes the addresses of the arguments.""",
    ],
)

# Values, threads.
SIZES = [
    (1, 1),
    (0, 32),
    (4, 2),
    (31, 32),
    (64, 64),
    (65, 64),
    (100, 33),
    (300, 32),
    (700, 96),
    (1000, 64),
    (5000, 1),
    (20000, 256),
]
RACES = (100, 300)  # values
COUNTED = 700


def case(random, n, threads, counted):
    # Small, so that a block that missed the largest one is seen.
    values = [random.randrange(1, 1000) for _ in range(n)]
    if n:
        values[random.randrange(n)] = 2000
    # The second launch finds the distances of the first, and so on.
    largest = max(values, default=0)
    distances = [largest - value for value in values]
    blocks = max(1, -(-n // threads))
    return Case(
        f"{several(n, 'value')}, blocks of {several(threads, 'thread')}",
        [
            updated("values", "unsigned", values, distances),
            n,
            scratch("largest_of_block", "unsigned", blocks),
            threads,
        ],
        function="distances",
        races=n in RACES,
        every_execution=n == 4,
        counted=counted,
        elements=n,
        question="How many threads are there, and how many values? Which block has seen the largest one?",
    )


def cases(random):
    for n, threads in SIZES:
        yield case(random, n, threads, counted=n == COUNTED)


def case_of_another_size(random):
    return case(random, random.randrange(600, 800), 96, counted=True)

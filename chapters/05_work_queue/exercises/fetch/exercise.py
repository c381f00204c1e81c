# SPDX-License-Identifier: MIT
from grader.exercises.cases import Case, exercise, given, grid, kept, several, updated

exercise(
    number=1,
    kind="write",
    minutes=20,
    points={"results": 5, "races": 5, "limits": 2},
    builds_on=["01_vector_add", "05_work_queue"],
    answers=["05_work_queue/work_queue.cuh"],
    limits={
        "global atomics per call: at most 43": "One per fetch is enough: 40 for the rows, and one "
        "for each of the 3 blocks that finds none left.",
        "barriers per call: at most 86": "Two per fetch are enough, for 43 fetches. What is each "
        "of yours for?",
        "global atomics per call: at least 33": "The counter says which block takes which row: "
        "each of the 40 rows is fetched.",
        "global stores per thread's share: at most 25": "One thread works and the others of its "
        "block wait: let all of them take their part.",
        "global stores per first block's share: at least 60": "The blocks have fixed shares: which "
        "item a block gets next is to depend on which of them is free.",
        "global stores per block's share: at most 90": "The blocks share the work: each of them "
        "takes more as soon as it is free.",
    },
    starter_fails={"part": "results", "says": "values[0]: got"},
    hints=[
        """How many numbers does a block take per fetch, and how do its other threads learn the
        number?""",
        """One thread changes the counter by one atomic operation and writes the number that it
        found into shared memory. All threads of the block read it there. The write must come before
        the reads. Is there something that must come after them?""",
        """Put a block barrier between the write and the reads, so that the number is there. Each
        thread copies it into a variable of its own, and then a second block barrier keeps the next
        fetch from overwriting what a slow thread has yet to read. In the host function, set the
        counter back to 0 with `cudaMemsetAsync`.""",
    ],
)

# Rows, the longest row, blocks, threads.
SIZES = [
    (1, 5, 1, 1),
    (0, 0, 1, 32),
    (1, 40, 3, 32),
    (7, 9, 2, 1),
    (3, 4, 2, 2),
    (31, 70, 1, 33),
    (33, 64, 4, 64),
    (20, 100, 3, 96),
    (40, 80, 3, 64),
    (5, 3000, 16, 256),
    (1000, 30, 33, 48),
    (600, 200, 64, 128),
]
RACES = (33, 20)  # rows
COUNTED = 40
EVERY_EXECUTION = 3


def lengths_of(random, rows, longest, counted):
    """Very unequal, as rows are: most are short, some are empty, one is as long as any may be. In the
    counted case all have work for a whole block."""
    if counted:
        return [random.randint(64, longest) for _ in range(rows)]
    lengths = [random.choice((0, 1, 2, random.randint(0, longest))) for _ in range(rows)]
    if rows:
        lengths[random.randrange(rows)] = longest
    return lengths


def case(random, rows, longest, blocks, threads, counted):
    begin, scaled, values, factors = [0], [], [], []
    for length in lengths_of(random, rows, longest, counted):
        # Never 0, 1 or -1: a row that is scaled twice, or not at all, must come out wrong.
        factor = random.choice((-1, 1)) * random.randint(2, 9)
        row = [random.choice((-1, 1)) * random.randint(1, 1000) for _ in range(length)]
        factors.append(factor)
        values += row
        scaled += [value * factor for value in row]
        begin.append(len(values))
    return Case(
        f"{several(rows, 'row')}, {grid(blocks, threads)}",
        [
            updated("values", "int", values, scaled),
            given("begin", "unsigned", begin),
            given("factors", "int", factors),
            rows,
            kept("next", "unsigned", [0]),
            blocks,
            threads,
        ],
        function="scale_rows",
        races=rows in RACES,
        every_execution=rows == EVERY_EXECUTION,
        counted=counted,
        elements=rows,
        question="Each value is to be multiplied once. Which threads got the number of its row? "
        "Those of one block, of two, of none?",
    )


def cases(random):
    for rows, longest, blocks, threads in SIZES:
        yield case(random, rows, longest, blocks, threads, counted=rows == COUNTED)


def case_of_another_size(random):
    return case(random, random.randrange(33, 40), random.randrange(72, 100), 3, 64, counted=True)

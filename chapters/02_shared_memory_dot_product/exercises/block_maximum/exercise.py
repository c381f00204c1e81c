# SPDX-License-Identifier: MIT
from grader.exercises.cases import Case, exercise, given, grid, returned, several

exercise(
    number=1,
    kind="write",
    minutes=25,
    points={"results": 6, "races": 3, "limits": 3},
    builds_on=["02_shared_memory_dot_product"],
    answers=["02_shared_memory_dot_product/block_reduce.cuh"],
    limits={
        "global loads per element: at most 1": "Read each value once, and put it into shared "
        "memory for the others.",
        "shared loads per thread: at most 64": "One thread looks at too many values: halve their "
        "number with each step instead.",
        "shared atomics per block: at most 0": "All threads of a block would queue for one "
        "address: combine them in pairs instead.",
        "global atomics per block: at most 0": "All threads of a block would queue for one "
        "address: combine them in pairs instead.",
        "barriers per block: at most 12": "A tree over 1,000 values has ten steps: one barrier "
        "before the first, and one for each.",
        "global loads per thread: at most 32": "One thread works and the others of its block "
        "wait: let all of them take their part.",
        "global loads per block: at most 2000": "A block looks at its own values only: launch a "
        "block for each part of the array.",
    },
    starter_fails={"part": "results", "says": "maxima: nothing was written, expected -7"},
    hints=[
        """Which number is never larger than any other `int`? And of five values, three are left
        after one step: which threads of the five have worked in it, and on which two values
        each?""",
        """Each thread writes its own element of `largest`, also if it has no value. Then repeat:
        the threads of the front part take in the back part, all threads wait, and fewer values are
        live. All threads of the block have to come to each barrier, also those that have nothing to
        do.""",
        """Round half of the live values up. A thread whose number is less than the live values
        minus that half has a partner, that half farther on. The barrier comes after the `if`,
        outside of its braces, and another one before the loop.""",
    ],
)

LOWEST = -(2**31)
# (blocks, threads, values that the last block lacks)
SHAPES = [
    (1, 1, 0),
    (2, 2, 0),
    (1, 3, 0),
    (5, 5, 2),
    (2, 31, 0),
    (32, 32, 1),
    (33, 33, 32),
    (64, 64, 17),
    (100, 100, 50),
    (4, 255, 0),
    (20, 257, 200),
    (10, 1000, 0),
    (9, 1024, 1000),
]
# A thread without a value brings the lowest one, and not one that is merely low.
LOW_ENDS = (100, 1024)  # by threads
RACES = (5, 33)  # by threads, as the questions
QUESTIONS = {
    3: "Two values are left after the first step, and then one.",
    5: "Which of five threads have a partner in the first step? The last block has 3 values.",
    33: "The last block has one value and 33 threads: what do the other 32 bring?",
}


def case(random, blocks, threads, lacking, counted):
    n = blocks * threads - lacking
    # Mostly negative: a solution that begins with 0 is found out. The largest value of each block is in
    # another place, and where there are as many blocks as threads, in each place once.
    values = random.choices(range(-2_000_000_000, -1_000_000), k=n)
    places = list(range(threads))
    random.shuffle(places)
    for block in range(blocks):
        begin = block * threads
        last = min(begin + threads, n) - 1
        place = min(begin + places[block % threads], last) if blocks > 1 else last
        values[place] = -(block + 7)
        if blocks > 3 and block == 2:  # nothing is lower than what these have in common
            values[begin : last + 1] = [LOWEST] * (last + 1 - begin)
    if threads in LOW_ENDS:
        begin = (blocks - 1) * threads
        values[begin:] = random.choices(range(LOWEST + 1, LOWEST + 1000), k=n - begin)
    maxima = [max(values[b * threads : (b + 1) * threads]) for b in range(blocks)]
    return Case(
        f"{several(n, 'value')}, {grid(blocks, threads)}",
        [
            given("values", "int", values),
            n,
            returned("maxima", "int", maxima),
            threads,
        ],
        races=threads in RACES,
        every_execution=threads == 2,
        counted=counted,
        elements=n,
        question=QUESTIONS.get(threads, ""),
    )


def cases(random):
    for blocks, threads, lacking in SHAPES:
        yield case(random, blocks, threads, lacking, counted=threads == 1000)


def case_of_another_size(random):
    return case(random, 10, random.randrange(840, 1000, 8), 0, counted=True)

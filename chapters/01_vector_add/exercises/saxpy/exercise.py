# SPDX-License-Identifier: MIT
from grader.exercises.cases import Case, exercise, given, updated

exercise(
    number=1,
    kind="write",
    minutes=15,
    points={"results": 6, "races": 2, "limits": 3},
    builds_on=["01_vector_add"],
    limits={
        "global loads per element: at most 2": "Read x[i] and y[i] once each.",
        "global stores per element: at most 1": "Write y[i] once, when its value is complete.",
        "global atomics per element: at most 0": "No two threads share an element, so an ordinary "
        "load and store will do.",
        "global stores per block: at most 1024": "A block runs on one SM only: launch enough "
        "blocks for all of n, so that each has its part.",
        "global stores per thread: at most 64": "One thread does what many threads can do at the "
        "same time: share it out among them.",
    },
    starter_fails={"part": "results", "says": "y: got 7, expected 13"},
    hints=[
        """Ten elements and blocks of four threads: how many blocks do you need? Which numbers does
        thread 1 of block 2 have, and which element is that?""",
        """Give each element one thread. The kernel computes its index from the block's number, the
        size of a block and its own number in the block. The host computes the number of blocks, and
        must round it up. Then some threads of the last block have an index that is n or more.""",
        """In the kernel, guard the one statement with a comparison of the index and n. On the host,
        add the threads per block less one to n before you divide. If n is 0, that gives no blocks,
        which CUDA refuses: launch nothing then.""",
    ],
)

# Small whole numbers: their products and sums are exact, and a fused multiply-add gives the same.
FACTORS = [*range(-1000, 0), *range(1, 1001)]
# The last one takes more than 1,024 blocks of 256, so blocks and threads can't be exchanged.
SIZES = [0, 1, 31, 32, 33, 127, 255, 256, 257, 1023, 1025, 10_000, 20_001, 270_000]
ALPHAS = {0: 2, 1: 3, 33: -1, 256: 0.5, 1025: -4}


def case(random, n, counted):
    alpha = ALPHAS.get(n, 3)
    x = random.choices(FACTORS, k=n)
    y = random.choices(range(-1000, 1001), k=n)
    if n == 1:
        x, y = [2], [7]
    return Case(
        f"n = {n:,}, alpha = {alpha}",
        [
            float(alpha),
            given("x", "float", x),
            updated("y", "float", y, [float(alpha * a + b) for a, b in zip(x, y)]),
            n,
        ],
        races=n in (33, 257),  # the first shows who leaves the arrays, by less than a page
        counted=counted,
        elements=n,
        question="How many blocks does your launch ask for, and does CUDA accept that?"
        if n == 0
        else "",
    )


def cases(random):
    for n in SIZES:
        yield case(random, n, counted=n == 10_000)


def case_to_time(random):
    return case(random, 1 << 20, counted=False)


def case_of_another_size(random):
    return case(random, random.randrange(8_000, 10_000, 16), counted=True)

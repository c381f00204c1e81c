# SPDX-License-Identifier: MIT
from grader.exercises.cases import exercise, printed, program_run

exercise(
    number=6,
    kind="program",
    minutes=20,
    points={"results": 5, "races": 1, "limits": 5},
    builds_on=["01.5"],
    limits={
        "global loads per element: at least 2": "The products are to come from the GPU: launch "
        "the kernel, and copy back what it has stored.",
        "calls of cudaMemcpy per call: at most 3": "Each call takes microseconds, however little "
        "it copies: one call for each array.",
        "global loads per block: at most 2500": "That is far more than one block's share: launch "
        "as many blocks as the program has computed.",
        "global loads per thread: at most 64": "One thread does what many threads can do at the "
        "same time: launch THREADS of them per block.",
    },
    starter_fails={"part": "results", "says": "dot: got 0, expected"},
    hints=[
        """How many elements has `partials`, and how many bytes is that? What does the kernel find
        in `sums` if the launch has only two numbers between `<<<` and `>>>`?""",
        """The third number of the launch is the size of the block's dynamic shared memory in bytes:
        threads times the size of a `long long`. The copy back waits for the kernel, and has an
        element for each block. If COUNT is 0 there is no block, and the sum is 0.""",
        """Declare a vector of `blocks` numbers of type `long long` on the host, and allocate as
        many bytes on the GPU. After the launch and its check, copy all of them back with one call.
        Then add up the vector in a loop.""",
    ],
)

# (count, threads)
SHAPES = [(0, 64), (1, 64), (33, 32), (64, 32), (100, 25), (300, 96), (1000, 256), (10_000, 256)]


def case(random, count, threads, counted):
    first, step = random.randrange(1, 1000), random.randrange(1, 1000)
    dot = sum((first + i) * step * i for i in range(count))
    return program_run(
        f"COUNT = {count:,}, THREADS = {threads}",
        [count, first, step, threads],
        printed("dot", "long long", [dot]),
        races=count == 100,
        every_execution=count == 33,
        counted=counted,
        elements=count,
    )


def cases(random):
    for count, threads in SHAPES:
        yield case(random, count, threads, counted=count == 10_000)


def case_of_another_size(random):
    return case(random, random.randrange(8_500, 10_000), 256, counted=True)

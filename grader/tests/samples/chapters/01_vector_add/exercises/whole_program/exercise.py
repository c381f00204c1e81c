# SPDX-License-Identifier: MIT
from grader.exercises.cases import exercise, printed, program_run

exercise(
    number=5,
    kind="program",
    minutes=25,
    points={"results": 5, "races": 1, "limits": 6},
    builds_on=["01.1"],
    limits=[
        {
            "count": "global stores",
            "per": "element",
            "at_least": 1,
            "advice": "The sums are to come from the GPU: launch the kernel, and copy back what "
            "it has stored.",
        },
        {
            "count": "calls of cudaMemcpy",
            "per": "call",
            "at_most": 3,
            "advice": "Each call takes microseconds, however little it copies: one call for each array.",
        },
        {
            "count": "global stores",
            "per": "block",
            "at_most": 1024,
            "advice": "A block runs on one SM only: launch enough blocks for all elements, so "
            "that each has its part.",
        },
        {
            "count": "global stores",
            "per": "thread",
            "at_most": 64,
            "advice": "One thread does what many threads can do at the same time: share it out among them.",
        },
    ],
    starter_fails={"part": "results", "says": "sums: got 0, expected"},
)

SIZES = [0, 1, 33, 255, 256, 257, 1000, 10_000]


def case(random, count, counted):
    first, step = random.randrange(-1000, 1000), random.randrange(1, 1000)
    sums = [first + i + step * i for i in range(count)]
    return program_run(
        f"COUNT = {count:,}",
        [count, first, step],
        printed("sums", "int", sums),
        races=count == 33,
        counted=counted,
        elements=count,
    )


def cases(random):
    for count in SIZES:
        yield case(random, count, counted=count == 10_000)


def case_of_another_size(random):
    return case(random, random.randrange(8_000, 10_000, 16), counted=True)

# SPDX-License-Identifier: MIT
from grader.exercises.cases import exercise, printed, program_run

exercise(
    number=0,
    kind="write",
    minutes=20,
    points={"results": 5, "races": 1, "limits": 5},
    builds_on=["NN_chapter_folder"],
    limits={
        "global stores per element: at least 1": "The numbers are to come from the GPU: launch "
        "the kernel, and copy back what it has stored.",
        "global stores per thread: at most 64": "One thread does what many threads can do at the "
        "same time: share it out among them.",
        "global stores per block: at most 1024": "That is far more than one block's share: all "
        "blocks are to work.",
        "calls of cudaMemcpy per call: at most 2": "Each call takes microseconds, however little "
        "it copies: one call for each direction.",
    },
    starter_fails={"part": "results", "says": "expected"},
    hints=[
        """Which memory can the kernel reach, and who allocates it?""",
        """`cudaMalloc` and `cudaMemcpy` count bytes, and not elements. A grid of 0 blocks is an
        error.""",
        """Write a function that takes a `cudaError_t`, and give it what each call returns; after
        the launch, what `cudaGetLastError()` returns.""",
    ],
)

COUNTS = [0, 1, 33, 256, 257, 1000, 10000]


def case(random, count, counted):
    first = random.randrange(-1000, 1000)
    return program_run(
        f"COUNT = {count:,}",
        [count, first],
        printed("doubled", "int", [2 * (first + i) for i in range(count)]),
        races=count == 33,
        counted=counted,
        elements=count,
    )


def cases(random):
    for count in COUNTS:
        yield case(random, count, counted=count == 10000)


def case_of_another_size(random):
    """The counted case once more, for a grade: no student knows its size."""
    return case(random, random.randrange(8000, 10000, 16), counted=True)

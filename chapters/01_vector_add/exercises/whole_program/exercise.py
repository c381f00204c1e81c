# SPDX-License-Identifier: MIT
from grader.exercises.cases import exercise, printed, program_run

exercise(
    number=5,
    kind="program",
    minutes=25,
    points={"results": 5, "races": 1, "limits": 6},
    builds_on=["01.1"],
    limits={
        "global stores per element: at least 1": "The sums are to come from the GPU: launch the "
        "kernel, and copy back what it has stored.",
        "calls of cudaMemcpy per call: at most 3": "Each call takes microseconds, however little "
        "it copies: one call for each array.",
        "global stores per block: at most 1024": "A block runs on one SM only: launch enough "
        "blocks for all elements, so that each has its part.",
        "global stores per thread: at most 64": "One thread does what many threads can do at the "
        "same time: share it out among them.",
    },
    starter_fails={"part": "results", "says": "sums: got 0, expected"},
    hints=[
        """`a.data()` is memory of the host, which the kernel can't reach. What does the kernel need
        instead, and how do the numbers get there? How many bytes are `count` numbers?""",
        """`cudaMalloc` takes the address of your pointer, because it writes the new address into
        it. `cudaMemcpy` takes the target first, then the source, the number of bytes and the
        direction. Declare one function that takes a `cudaError_t`, and wrap every call into it. A
        grid of 0 blocks is an error as well: with COUNT 0, leave the launch out.""",
        """For each of the three arrays: declare an `int*`, pass its address and `count *
        sizeof(int)` to `cudaMalloc`. Round the number of blocks up as in 01.1. After the launch,
        pass `cudaGetLastError()` to your function. Then copy from the third array to `sums.data()`,
        and free the three pointers.""",
    ],
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

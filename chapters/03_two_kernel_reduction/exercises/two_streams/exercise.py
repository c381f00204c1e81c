# SPDX-License-Identifier: MIT
from grader.exercises.cases import Case, exercise, given, grid, returned, several, updated

exercise(
    number=2,
    kind="repair",
    minutes=20,
    points={"results": 3, "races": 7},
    streams=True,
    builds_on=["03_two_kernel_reduction"],
    limits={
        "global loads per thread: at most 128": "One thread does what many threads can do at the "
        "same time: share it out among them.",
        "global loads per block: at most 1000": "That is far more than one block's share: all "
        "blocks are to work.",
    },
    starter_fails={"part": "races", "says": "kernel merge_parts in stream first reads"},
    hints=[
        """The last kernel reads partial sums of two kernels. Which of the two is surely done when
        it starts, and why?""",
        """What orders two streams is an event. It is recorded in one stream, and another stream
        waits for it. Which of your two streams has to wait, and for which work of the other
        one?""",
        """Create an event. Record it in `second` after that stream's kernel. Then make `first` wait
        for it, and only then launch the merge. The host waits for nothing, and may destroy the
        event directly after the launch.""",
    ],
)


def case(random, count, blocks, threads, **more):
    # The second half's values are larger, so a sum that is wrong says which half is missing.
    values = [random.randrange(1, 10) + 1000 * (i >= count // 2) for i in range(count)]
    return Case(
        f"{several(count, 'value')}, 2 times {grid(blocks, threads)}",
        [
            given("values", "int", values),
            count,
            updated("partials", "long long", [0] * (2 * blocks)),  # what is missing counts as 0
            returned("sum", "long long", [sum(values)]),
            blocks,
            threads,
        ],
        function="sum_in_two_streams",
        **more,
    )


def cases(random):
    yield case(random, 2, 1, 1)
    yield case(random, 1, 1, 32, question="One of the halves is empty.")
    yield case(random, 0, 2, 32)
    yield case(random, 33, 1, 32)
    yield case(random, 63, 3, 31)
    yield case(random, 5, 16, 64)
    yield case(random, 1000, 4, 64, races=True)
    yield case(random, 1023, 2, 96, races=True)
    yield case(random, 2049, 1, 1024)
    yield case(random, 20011, 33, 100, launches=3, counted=True)


def case_of_another_size(random):
    return case(random, random.randrange(15_001, 20_000, 2), 33, 100)

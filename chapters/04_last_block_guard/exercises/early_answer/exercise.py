# SPDX-License-Identifier: MIT
from grader.exercises.cases import Case, exercise, given, returned, several, updated

exercise(
    number=4,
    kind="repair",
    minutes=15,
    points={"results": 3, "races": 7},
    builds_on=["04_last_block_guard"],
    limits={
        "launches per call: at most 1": "Two kernels would order the two blocks; here a flag does.",
        "global loads per thread: at most 40": "One thread works and the others of its block "
        "wait: each thread has one sum.",
        "global loads per block: at most 1300": "That is far more than one block's share: each "
        "pair has its own two blocks.",
        "global loads per call: at most 27500": "If the sums are there, the second block takes "
        "them and does not add up again.",
        "bytes loaded per call: at most 112000": "If the sums are there, the second block takes "
        "them and does not add up again, however wide its loads are.",
    },
    starter_fails={"part": "results or races", "says": "no synchronisation between the two blocks"},
    hints=[
        """When thread 0 sets the flag, which threads of its block have written their sums? And if
        another block sees the flag, what makes it see the sums?""",
        """Two orders are missing on each side. The block that writes needs a barrier and then a
        release; the block that reads needs an acquire and then a barrier, which also hands on what
        thread 0 has seen.""",
        """Take a `cuda::atomic_ref` with `cuda::thread_scope_device` for the flag. Thread 0 stores
        1 with `cuda::memory_order_release`, after the barrier. In the other block, thread 0 loads
        once with `cuda::memory_order_acquire` and puts the answer into shared memory.""",
    ],
)

EACH = 16  # numbers in one sum


def case(random, pairs, threads, **more):
    numbers = [random.randrange(-1000, 1000) for _ in range(pairs * threads * EACH)]
    sums = [sum(numbers[i : i + EACH]) for i in range(0, len(numbers), EACH)]
    answers = []
    for first in range(0, len(sums), threads):
        answers += reversed(sums[first : first + threads])
    return Case(
        f"{several(pairs, 'pair')} of blocks, {several(threads, 'thread')} each",
        [
            given("numbers", "int", numbers),
            pairs,
            threads,
            updated("flags", "unsigned", [0] * pairs),
            returned("sums", "long long", sums),
            returned("answers", "long long", answers),
        ],
        function="sum_both_ways",
        **more,
    )


def cases(random):
    yield case(random, 1, 1)
    yield case(random, 1, 2, every_execution=True)
    yield case(random, 2, 32)
    yield case(random, 2, 64, races=True)
    yield case(random, 3, 96, races=True)
    yield case(random, 5, 33)
    yield case(random, 16, 64, counted=True)
    yield case(random, 40, 256)


def case_of_another_size(random):
    """Nearly as many sums as in the counted case: the limits are numbers of loads. And as there, half of
    the pairs have the writer first."""
    shapes = [
        (pairs, threads)
        for pairs in (14, 18)
        for threads in range(48, 80)
        if 900 < pairs * threads < 1100
    ]
    return case(random, *random.choice(shapes))

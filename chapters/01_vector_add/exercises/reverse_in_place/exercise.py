# SPDX-License-Identifier: MIT
from grader.exercises.cases import Case, exercise, several, updated

exercise(
    number=2,
    kind="write",
    minutes=20,
    points={"results": 6, "races": 2, "limits": 3},
    builds_on=["01.1"],
    limits={
        "launches per call: at most 1": "One kernel is enough, and no copy of the array: the "
        "thread of a pair holds both values.",
        "barriers per block: at most 0": "A thread that has the whole pair does not wait.",
        "global loads per thread: at most 2": "Each pair shall have a thread of its own, which "
        "reads two values: launch more threads.",
        "global loads per element: at most 1": "Read each element once, into a variable of the "
        "thread.",
        "global stores per element: at most 1": "Write each element once.",
    },
    starter_fails={"part": "results", "says": "values[0]: got 10, expected 20"},
    hints=[
        """How many pairs are there among six elements, and how many among seven? What does a thread
        do whose number is that or more?""",
        """Let thread i have the pair of elements i and n - 1 - i, if i is less than the number of
        pairs. As soon as it has written the one, the old value is gone: keep it in a variable
        first. Count the blocks by pairs, not by elements.""",
        """The number of pairs is n divided by 2, rounded down, which also leaves the middle one
        alone. The comparison with it has to come before the first read of `values`. For the launch,
        divide by twice the threads per block, and round up.""",
    ],
)

SIZES = [1, 2, 3, 31, 32, 33, 255, 256, 257, 511, 513, 1025, 2051, 10_001, 20_000]
RACES = (3, 256, 2051)  # the last has 1,025 pairs: more than one block, whatever its size
QUESTIONS = {
    1: "One element is no pair: no thread has anything to do.",
    2: "There is one pair, and one thread that swaps it is enough.",
    3: "Element 1 stays where it is.",
}


def case(random, n, counted):
    # Rising, with a step of at least 1: no two elements are the same.
    values = [10 * (i + 1) + digit for i, digit in enumerate(random.choices(range(10), k=n))]
    if n <= 3:
        values = [10, 20, 30][:n]
    return Case(
        several(n, "element"),
        [updated("values", "int", values, values[::-1]), n],
        races=n in RACES,
        counted=counted,
        elements=n,
        question=QUESTIONS.get(n, ""),
    )


def cases(random):
    for n in SIZES:
        yield case(random, n, counted=n == 10_001)


def case_of_another_size(random):
    return case(random, random.randrange(8_001, 10_000, 2), counted=True)

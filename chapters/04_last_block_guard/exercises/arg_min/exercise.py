# SPDX-License-Identifier: MIT
from grader.exercises.cases import Case, exercise, given, grid, kept, returned, scratch

exercise(
    number=3,
    kind="write",
    minutes=30,
    points={"results": 5, "races": 5, "limits": 2},
    builds_on=["02_shared_memory_dot_product", "04.2"],
    limits={
        "global loads per element: at most 1.1": "Carry the value along with its index, and each "
        "element needs to be loaded only once.",
        "launches per call: at most 1": "The last block can finish the job: no second kernel is "
        "needed.",
        "global loads per thread: at most 64": "One thread does what many threads can do at the "
        "same time: share it out among them.",
        "bytes loaded per block: at most 8192": "That is far more than one block's share: all "
        "blocks are to work.",
    },
    starter_fails={"part": "results", "says": "place: nothing was written, expected 0"},
    hints=[
        """What does a thread bring that has no element at all? And if two candidates are equal,
        which of them has come first in the array?""",
        """An index that no element has can stand for "none". In `smaller`, deal with none first,
        then with the two comparisons that `<` can answer, then with equal values. The kernel is
        that of the lesson: share, block_reduce, store, last_block, and the same again for what the
        blocks have stored.""",
        """Start from `{T{}, none}`, and combine that with each element and its index. After
        `block_reduce` only thread 0 has the block's candidate, so only thread 0 stores it, and it
        does so before `last_block` is asked.""",
    ],
)

TYPES = {
    "ints": "int",
    "doubles": "double",
    "hits": ("float", "int", "int"),
}


def case(random, kind, count, blocks, threads, places=None, name="", **more):
    """An array whose smallest value stands at these places; of most arrays, at several."""
    places = places or sorted(random.sample(range(count // 3, count), 3))
    # The smallest is positive in some arrays and negative in others: no value of a T{} will do.
    lowest = random.choice((3, -40))
    numbers = [random.randrange(lowest + 1, 99) for _ in range(count)]
    for place in places:
        numbers[place] = lowest
    if kind == "hits":  # triangle and surface tempt who compares them
        values = [(float(n), -i, random.randrange(9)) for i, n in enumerate(numbers)]
        expected = min(range(count), key=lambda i: values[i][0])
    else:
        values = numbers
        expected = values.index(min(values))
    element = TYPES[kind] if kind == "hits" else (TYPES[kind],)
    return Case(
        f"{count:,} {name or kind}, {grid(blocks, threads)}",
        [
            given("values", TYPES[kind], values),
            count,
            scratch("of_blocks", (*element, "std::size_t"), blocks),
            kept("arrived", "unsigned", [0]),
            returned("place", "std::size_t", [expected]),
            blocks,
            threads,
        ],
        function=f"arg_min_of_{kind}",
        **more,
    )


def cases(random):
    tie = "Several values are equally small. Which of them is asked for?"
    yield case(random, "ints", 1, 1, 32, [0], name="int")
    yield case(random, "ints", 7, 1, 32, [4], question="Not every thread has an element.")
    yield case(random, "doubles", 33, 2, 32, [32])
    yield case(random, "doubles", 5, 4, 64, [4], question="Some blocks have no element.")
    yield case(random, "ints", 100, 1, 32, [37, 70, 99], question=tie)
    yield case(random, "hits", 64, 1, 32, [40, 41], question=tie)
    yield case(random, "hits", 255, 3, 33, [131, 200, 230])
    yield case(random, "ints", 7, 3, 2, every_execution=True)
    yield case(random, "ints", 1000, 4, 64, races=True)
    yield case(random, "hits", 1023, 5, 96, races=True)
    yield case(random, "ints", 4096, 8, 128, counted=True, elements=4096)
    yield case(random, "doubles", 500, 500, 1, name="equal doubles", places=list(range(500)))
    yield case(random, "hits", 5003, 2, 1024, launches=3)
    yield case(random, "doubles", 20011, 33, 100, [20010])


def case_of_another_size(random):
    blocks = random.choice((5, 6, 7, 9))
    count = 128 * blocks * random.randrange(4, 8)
    return case(random, "ints", count, blocks, 128, elements=count)

# SPDX-License-Identifier: MIT
from grader.exercises.cases import Case, exercise, given, returned, scratch, several

exercise(
    number=2,
    kind="repair",
    minutes=15,
    points={"results": 3, "races": 7},
    builds_on=["04_last_block_guard", "08_look_back_scan"],
    limits={
        "launches per call: at most 1": "A second kernel would order the tiles, too. Here the "
        "states do.",
        "global stores per element: at least 1.02": "Store the sums plainly: atomic sums have no "
        "race, and the reader may still get old ones.",
        "bytes loaded per element: at most 12": "Each value is loaded once. What comes before a tile "
        "is in the sums of the tiles before.",
        "global stores per thread's share: at most 25": "One thread works and the others of its "
        "block wait: let all of them take their part.",
        "global stores per block's share: at most 90": "Each block has one tile.",
    },
    starter_fails={"part": "races", "says": "missing release"},
    hints=[
        """A block sees the state 2. What makes it see the sum that was stored before that
        state?""",
        """The order of two lines in the source says nothing to another block. One of the two
        accesses to the state has to publish what its thread did before, and the other one has to
        make that visible to its own thread. Which is which?""",
        """Each of the two relaxed orders becomes a stronger one: that of the store publishes, and
        that of the load gets what was published. The sums stay plain.""",
    ],
)

# Elements, threads of a block.
SIZES = [
    (1, 32),
    (0, 32),
    (33, 32),
    (100, 1),
    (500, 33),
    (2000, 1024),
    (4500, 64),
]
RACES = [(150, 32), (450, 64)]
COUNTED = (768, 64)


def case(random, count, threads, **marks):
    values = [random.randint(1, 2**64 - 1) for _ in range(count)]
    totals, total = [], 0
    for value in values:
        total = (total + value) % 2**64
        totals.append(total)
    tiles = -(-count // threads)
    return Case(
        f"{several(count, 'value')} in {several(tiles, 'tile')} of {threads}",
        [
            given("values", "unsigned long long", values),
            returned("totals", "unsigned long long", totals),
            count,
            scratch("next_tile", "unsigned", 1),
            scratch("states", "unsigned", tiles),
            scratch("sums", "unsigned long long", 2 * tiles),
            threads,
        ],
        elements=count,
        question="The first total that is wrong: which sum did its tile read, and was it there yet?",
        **marks,
    )


def cases(random):
    for count, threads in SIZES:
        yield case(random, count, threads)
    yield case(random, 2, 1, every_execution=True)
    for count, threads in RACES:
        yield case(random, count, threads, races=True)
    yield case(random, *COUNTED, counted=True)


def case_of_another_size(random):
    return case(random, 64 * random.randrange(9, 40), 64, counted=True)

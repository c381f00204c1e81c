# SPDX-License-Identifier: MIT
from grader.exercises.cases import Case, exercise, given, kept, per_launch, returned, several

exercise(
    number=1,
    kind="write",
    minutes=35,
    points={"results": 5, "races": 5, "limits": 2},
    builds_on=["02_shared_memory_dot_product", "08_look_back_scan"],
    answers=["08_look_back_scan/look_back.cuh"],
    limits={
        "launches per call: at most 1": "One kernel does it: a tile finds what comes before it "
        "while the earlier tiles are at work.",
        "global loads per element: at most 1": "Each value is read once. What comes before a tile "
        "is in the status words, which are read by atomic loads.",
        "global stores per thread's share: at most 25": "One thread works and the others of its "
        "block wait: let all of them take their part.",
        "global stores per block's share: at most 90": "Each block has one tile.",
    },
    starter_fails={"part": "results", "says": "totals[32]: got"},
    hints=[
        """For which blocks may a block wait, and how does the number of its tile make sure that it
        waits for those only?""",
        """A ticket out of `counter` is the tile's number. In `sum_before` the thread stores the
        aggregate at once. Then it goes backwards through the status words, waits until each is no
        longer 0, and adds the lower 32 bits. Where may it stop? Which tile publishes a prefix
        without looking at anybody?""",
        """Stop after the first word that holds a prefix. Store the own prefix: what was found,
        plus `total`, in 32 bits. One word holds both parts, so relaxed order is enough. In the
        host function set the counter and the words of its own tiles back to 0 with
        `cudaMemsetAsync`.""",
    ],
)

# Elements, threads of a block.
SIZES = [
    (1, 32),
    (0, 32),
    (31, 32),
    (32, 32),
    (33, 32),
    (100, 1),
    (500, 33),
    (2000, 1024),
    (4500, 64),
]
AFTER_EARLIER = (150, 32, 5)
RACES = [(300, 32), (450, 64, 6)]
COUNTED = (768, 64)
SUMS = 2**32
AGGREGATE, PREFIX = SUMS, 2 * SUMS  # With a sum they are a status word.
STATES = {1: "aggregate", 2: "prefix"}


def in_words(word):
    state = STATES.get(word // SUMS)
    return f"{state} | {word % SUMS:,}" if state else f"{word:,}"


def words_of(random, earlier):
    """What the earlier tiles have published, and what they add up to: some prefixes among aggregates."""
    words, total = [], 0
    for tile in range(earlier):
        aggregate = random.randint(1, SUMS - 1)
        total = (total + aggregate) % SUMS
        is_prefix = tile == 0 or (tile % 2 == 0 and tile < earlier - 2)
        words.append(PREFIX + total if is_prefix else AGGREGATE + aggregate)
    return words, total


def judge_of(expected):
    def judge(words):
        for tile, (got, wanted) in enumerate(zip(words, expected)):
            if got != wanted:
                return f"status[{tile}]: got {in_words(got)}, expected {in_words(wanted)}"
        return None

    return judge


def case(
    random,
    count,
    threads,
    earlier=0,
    races=False,
    counted=False,
    second=None,
    every_execution=False,
):
    """`second`: the threads of the second launch, at most as many as of the first."""
    values = [random.randint(1, 2**32 - 1) for _ in range(count)]
    words, total = words_of(random, earlier)
    totals = []
    for value in values:
        total = (total + value) % 2**32
        totals.append(total)
    smaller = min(threads, second or threads)
    tiles = -(-count // smaller)
    grids = f"{threads}, then of {second}" if second else threads
    # A tile's prefix is the total of its last element.
    prefixes = [PREFIX + each for each in totals[threads - 1 :: threads]]
    if count % threads:
        prefixes.append(PREFIX + total)
    return Case(
        f"{several(count, 'value')} in {several(tiles, 'tile')} of {grids}"
        + (f", after {earlier} earlier ones" if earlier else ""),
        [
            given("values", "unsigned", values),
            returned("totals", "unsigned", totals),
            count,
            kept("counter", "unsigned", [0]),
            kept(
                "status",
                "unsigned long long",
                words + [0] * tiles,
                judge=judge_of(words + prefixes) if earlier else None,
            ),
            earlier,
            per_launch(threads, second) if second else threads,
        ],
        races=races,
        counted=counted,
        every_execution=every_execution,
        elements=count,
        question="The first total that is wrong: does its tile lack an earlier tile, or has it one twice?"
        + (" What is in a tile's word in the end?" if earlier else ""),
    )


def cases(random):
    for count, threads in SIZES:
        yield case(random, count, threads)
    yield case(random, 2, 1, every_execution=True)
    # What an earlier launch left in the status words is wrong for other tiles.
    yield case(random, 1000, 64, second=32)
    yield case(random, *AFTER_EARLIER)
    for sizes in RACES:
        yield case(random, *sizes, races=True)
    yield case(random, *COUNTED, counted=True)


def case_of_another_size(random):
    return case(random, 64 * random.randrange(9, 40), 64, counted=True)

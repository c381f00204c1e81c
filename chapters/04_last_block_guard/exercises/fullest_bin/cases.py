# SPDX-License-Identifier: MIT
from grader.exercises.cases import Case, given, kept, returned, updated


def several(count, what):
    """'1 block', '2 blocks'."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def case(name, values, blocks, threads, **more):
    bins = [0] * 256
    for value in values:
        bins[value] += 1
    return Case(
        f"{name}, {several(blocks, 'block')} of {several(threads, 'thread')}",
        [
            given("values", "unsigned char", values),
            len(values),
            updated("bins", "unsigned", [0] * 256, bins),
            kept("arrived", "unsigned", [0]),
            returned("fullest", "unsigned", [bins.index(max(bins))]),
            blocks,
            threads,
        ],
        **more,
    )


def cases(random):
    def some(count):
        """All bytes, and one that is chosen for each case more often than the others."""
        favourite = random.randrange(256)
        return [random.choice((favourite, *random.choices(range(256), k=7))) for _ in range(count)]

    yield case("1 value", [203], 1, 32)
    yield case("no value", [], 2, 64)
    yield case("31 values", some(31), 1, 32)
    yield case("33 values", some(33), 8, 64, question="Some blocks have nothing to count.")
    yield case(
        "256 values, each once",
        random.sample(range(256), 256),
        1,
        256,
        question="All bins are equally full. Which one is asked for?",
    )
    tied = [190, 17, 255] * 60 + [203] * 59 + list(range(256))
    yield case("495 values, three bins tie", random.sample(tied, len(tied)), 3, 96)
    yield case("1,000 values", some(1000), 4, 64, races=True)
    yield case("1,023 values", some(1023), 3, 256, races=True)
    yield case("4,096 values", some(4096), 8, 128, counted=True)
    yield case("4,097 values", some(4097), 2, 1024)
    yield case("30,011 equal values", [random.randrange(1, 256)] * 30011, 33, 96, launches=3)

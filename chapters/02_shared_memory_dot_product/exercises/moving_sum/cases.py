# SPDX-License-Identifier: MIT
from grader.exercises.cases import Case, given, returned

WINDOW = 8  # values in one sum


def case(random, count, threads, **more):
    values = [random.randrange(-1000, 1000) for _ in range(count + WINDOW - 1)]
    blocks = (count + threads - 1) // threads
    sums = [sum(values[i : i + WINDOW]) for i in range(count)]
    return Case(
        f"{count:,} sum{'' if count == 1 else 's'}, blocks of {threads:,}",
        [given("values", "int", values), count, returned("sums", "int", sums), blocks, threads],
        **more,
    )


def cases(random):
    yield case(random, 1, 1)
    yield case(random, 2, 32)
    yield case(random, 5, 3)
    yield case(random, 64, 32, races=True)
    yield case(random, 100, 64, races=True)
    yield case(random, 33, 32)
    yield case(random, 2000, 1024)
    yield case(random, 4096, 128, counted=True, elements=4096)


def case_of_another_size(random):
    """Whole blocks of 128, as in the counted case."""
    count = 128 * random.choice([k for k in range(26, 40) if k != 32])
    return case(random, count, 128, elements=count)

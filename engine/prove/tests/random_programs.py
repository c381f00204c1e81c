# SPDX-License-Identifier: MIT
"""Small programs from a seed: two to four threads in two blocks, data, strong words, fences, barriers."""

from engine.prove.memory_model.program import INITIAL, Kind, MemoryOrder, Program, ThreadScope

# Above these, an enumeration takes seconds. A program that exceeds one is not used.
LARGEST_OPERATION_COUNT = 14
LARGEST_FENCE_COUNT = 5
LARGEST_READ_COUNT = 5


def random_program(generator):
    """A program that is small enough to enumerate, made by this random.Random."""
    while True:
        made = _random_program(generator)
        operations = made.operations
        if (
            len(operations) <= LARGEST_OPERATION_COUNT
            and sum(one.order is MemoryOrder.seq_cst for one in operations) <= LARGEST_FENCE_COUNT
            and sum(one.reads for one in operations) <= LARGEST_READ_COUNT
        ):
            return made


def _random_program(generator):
    made = Program("random program")
    blocks = _random_blocks(generator)
    with_barriers = generator.random() < 0.5
    for thread in _positions(generator, made, blocks, with_barriers, (2, 5)):
        _random_operation(generator, thread)
    return made


def _random_blocks(generator):
    """The block of each thread."""
    return [generator.randrange(2) for _ in range(generator.choice((2, 2, 3, 3, 4)))]


def _positions(generator, made, blocks, with_barriers, lengths):
    """Adds the threads to the program, and yields one for each operation that it is to have. Threads of one
    block meet at most once."""
    for number, block in enumerate(blocks):
        thread = made.thread(f"P{number}", block)
        length = generator.randint(*lengths)
        barrier_at = None
        if with_barriers and blocks.count(block) > 1:
            barrier_at = generator.randrange(length + 1)
        for position in range(length + 1):
            if position == barrier_at:
                thread.barrier()
            if position < length:
                yield thread


def _random_operation(generator, thread):
    """Mostly what synchronises; the flag is accessed weakly at times, the data always."""
    scope = generator.choice((ThreadScope.device, ThreadScope.device, ThreadScope.block))
    what = generator.choices(
        ("fence", Kind.read_modify_write, "read flag", "write flag", "write data", "read data"),
        weights=(30, 20, 8, 8, 17, 17),
    )[0]
    weak, relaxed = MemoryOrder.weak, MemoryOrder.relaxed
    acquire, release, acq_rel = MemoryOrder.acquire, MemoryOrder.release, MemoryOrder.acq_rel
    if what == "fence":
        orders = (
            acq_rel,
            acq_rel,
            MemoryOrder.seq_cst,
            MemoryOrder.seq_cst,
            MemoryOrder.seq_cst,
        )
        thread.fence(generator.choice(orders), scope)
    elif what is Kind.read_modify_write:
        order = generator.choice((relaxed, relaxed, acquire, release, acq_rel))
        thread.read_modify_write("flag", order, scope)
    elif what == "read flag":
        thread.read("flag", generator.choice((relaxed, acquire, weak)), scope)
    elif what == "write flag":
        thread.write("flag", generator.choice((relaxed, release, weak)), scope)
    elif what == "write data":
        thread.write("data")
    else:
        thread.read("data")


# Above these, to enumerate all orders of the writes takes seconds.
LARGEST_OF_TWO_WORDS = {"operations": 9, "reads": 4, "writes": 5, "fences": 3}


def random_program_of_two_words(generator):
    """One with two words that only strong accesses use, and data at times: store buffering, IRIW, 2+2W."""
    while True:
        made = _random_program_of_two_words(generator)
        operations = made.operations
        counts = {
            "operations": len(operations),
            "reads": sum(one.reads for one in operations),
            "writes": sum(one.writes for one in operations),
            "fences": sum(one.order is MemoryOrder.seq_cst for one in operations),
        }
        if all(counts[what] <= most for what, most in LARGEST_OF_TWO_WORDS.items()):
            return made


def _random_program_of_two_words(generator):
    made = Program("random program of two words")
    blocks = _random_blocks(generator)
    with_barriers, with_data = generator.random() < 0.3, generator.random() < 0.4
    scopes = (ThreadScope.device,) * 9 + (ThreadScope.block,)
    relaxed, acquire = MemoryOrder.relaxed, MemoryOrder.acquire
    release, acq_rel = MemoryOrder.release, MemoryOrder.acq_rel
    for thread in _positions(generator, made, blocks, with_barriers, (1, 4)):
        scope, word = generator.choice(scopes), generator.choice("xy")
        what = generator.choices(
            ("fence", "update", "compare", "read", "write", "read data", "write data"),
            weights=(20, 10, 10, 35, 25, *((8, 8) if with_data else (0, 0))),
        )[0]
        if what == "fence":
            orders = (acq_rel, MemoryOrder.seq_cst, MemoryOrder.seq_cst)
            thread.fence(generator.choice(orders), scope)
        elif what == "update":
            order = generator.choice((relaxed, acquire, release, acq_rel))
            thread.read_modify_write(word, order, scope)
        elif what == "compare":
            order = generator.choice((relaxed, acquire, release, acq_rel))
            thread.compare_and_swap(word, order, scope)
        elif what == "read":
            thread.read(word, generator.choice((relaxed, acquire)), scope)
        elif what == "write":
            thread.write(word, generator.choice((relaxed, release)), scope)
        elif what == "read data":
            thread.read("data")
        else:
            thread.write("data")
    for one in made.comparisons:
        others = [
            each
            for each in made.operations
            if each.writes and each.location == one.location and each is not one
        ]
        made.expected[one] = generator.choice((INITIAL, *others))
    return made

# SPDX-License-Identifier: MIT
"""Who must start: whether a launch also ends if some of its blocks never do.

After libcu++'s execution model a thread that has taken a step goes on, and so do the other threads of its
block. Blocks of a plain launch that have not taken one need not take one as long as another block is there.
All blocks of a cooperative launch go on. So a plain launch may hang if there are blocks that come, without
any other one, to where they wait for ever.
"""

import itertools


def sets_of_blocks(blocks):
    """Those in which a block is missing, the largest first: then few are missing in the first that hangs."""
    for size in range(blocks - 1, 0, -1):
        yield from itertools.combinations(range(blocks), size)


def start_in_words(launch, blocks):
    """The word at the beginning of a list of decisions."""
    return f"{launch}:{','.join(map(str, blocks))}"


def first_hang(explored, explore_with):
    """An Exploration in which one block is missing, and the others wait for it; None if none is seen.

    That takes one run for each block of each plain launch. So what mostly hangs is known long before all
    executions are.
    """
    if explored.executions and not any(explored.executions):
        return None  # it has no strong access at which a thread could wait
    for launch, ((blocks, _), together) in enumerate(explored.launches, 1):
        if together or blocks == 1:
            continue
        for started in itertools.combinations(range(blocks), blocks - 1):
            part = explore_with(start_in_words(launch, started), only_first=True)
            if part.stuck:
                part.hang = hang_in_words(part, launch, blocks, started)
                return part
    return None


def explore_starts(explored, explore_with):
    """Explores the launches in which a thread has waited once more, with each set of blocks that may start.

    explore_with(start) makes an Exploration of the program with that word before all decisions. The first
    of them that does not end well is the result; None if all do.

    If no thread has ever waited, none waits with fewer blocks either: what those blocks do is the beginning
    of an execution with all of them.
    """
    for launch, blocks in sorted(explored.waits.items()):
        without_waits = []
        for started in sets_of_blocks(blocks):
            if any(each.issuperset(started) for each in without_waits):
                continue
            part = explore_with(start_in_words(launch, started))
            if part.failed or part.unfinished:
                part.hang = hang_in_words(part, launch, blocks, started)
                return part
            if launch not in part.waits:
                without_waits.append(frozenset(started))
    return None


def hang_in_words(part, launch, blocks, started):
    """Who waits for whom in the run that failed; "" if it has not failed so."""
    if not part.stuck:
        return ""
    others = [each for each in range(blocks) if each not in started]
    where = f"in launch {launch} " if len(part.launches) > 1 else ""
    verb = "waits" if len(part.stuck) == 1 else "wait"
    # With any one of the others it has ended: larger sets come first.
    whom = _named(others) if len(others) == 1 else f"one of {_named(others)}"
    return f"may hang: {where}{_named(part.stuck)} {verb} for {whom}, which need not have started"


def _named(blocks):
    words = [str(each) for each in blocks]
    return f"blocks {', '.join(words[:-1])} and {words[-1]}" if words[1:] else f"block {words[0]}"


def end_in_words(launches):
    """What has been shown of the launches' end."""
    kinds = {together for (blocks, _), together in launches if blocks > 1}
    if kinds == {False}:
        return "it ends even if not all blocks start together"
    if kinds == {True}:
        return "it ends, as all blocks of a cooperative launch start together"
    if kinds:
        return "it ends even if not all blocks of its plain launches start together"
    return "it ends"

# SPDX-License-Identifier: MIT
"""The orders in which the threads of a program can take turns, one operation at a time."""

from engine.prove.memory_model.program import INITIAL, Kind


def check_barriers(program):
    """Raises ValueError where some threads wait for ever, each group at another barrier."""
    next(interleavings(program), None)


def interleavings(program, given=None, reduced=True):
    """Yields interleavings: lists of steps, each a list of operations that happen together.

    A step is one operation, or all operations of a barrier that meet. Only interleavings in which
    each read in `given` comes right after the write that it saw, among writes of its location, are
    yielded. `reduced` leaves out those that differ from another one only in the order of neighbours
    that don't affect each other (sleep sets; P. Godefroid, Partial-Order Methods for the
    Verification of Concurrent Systems, 1996).
    """
    given = given or {}
    meeting_of = {one: meeting for meeting in program.meetings() for one in meeting}
    positions = dict.fromkeys(program.threads, 0)
    latest = {}  # of each location: its last write
    steps = []

    def next_operation(each):
        left = positions[each] < len(each.operations)
        return each.operations[positions[each]] if left else None

    def enabled_steps():
        waiting = [one for one in map(next_operation, program.threads) if one is not None]
        if waiting:
            current = min(one.thread.kernel for one in waiting)
            waiting = [one for one in waiting if one.thread.kernel == current]
        enabled = []
        for one in waiting:
            if one.kind is not Kind.barrier:
                enabled.append([one])
            elif one is meeting_of[one][0] and all(other in waiting for other in meeting_of[one]):
                enabled.append(meeting_of[one])
        if waiting and not enabled:
            raise ValueError(f"these barriers never meet: {', '.join(map(repr, waiting))}.")
        return enabled

    def go_on(asleep):
        enabled = enabled_steps()
        if not enabled:
            yield list(steps)
        for step in enabled:
            if reduced and step in asleep:
                continue
            if is_possible(step[0], latest, given):
                overwritten = take(step)
                yield from go_on([other for other in asleep if independent(step, other)])
                take_back(step, overwritten)
            asleep = [*asleep, step]

    def take(step):
        steps.append(step)
        for one in step:
            positions[one.thread] += 1
        overwritten = latest.get(step[0].location)
        if step[0].writes:
            latest[step[0].location] = step[0]
        return overwritten

    def take_back(step, overwritten):
        steps.pop()
        for one in step:
            positions[one.thread] -= 1
        if step[0].writes:
            latest[step[0].location] = overwritten

    yield from go_on([])


def is_possible(one, latest, given):
    """Whether an operation that comes now sees what `given` says."""
    return one not in given or (latest.get(one.location) or INITIAL) == given[one]


def independent(step, other):
    """Whether two steps lead to the same state in either order."""
    if {one.thread for one in step} & {one.thread for one in other}:
        return False
    return step[0].location != other[0].location or not (step[0].writes or other[0].writes)

# SPDX-License-Identifier: MIT
"""From the times of a submission and of the course's solution to points: nothing here runs or measures.

The times come out of the process that the submission is in, so each is looked at before it is believed.
"""

import math
import statistics
from typing import NamedTuple

ROUNDS = 10  # that are timed, after one for warming up
LONGEST = 10**12  # nanoseconds: far more than a process may take
# The solution may take so many times as long next to the submission as it takes next to itself. Beyond that
# the submission, or the machine, has slowed it down: a round counts as if it had taken no longer, and if it
# does so in most rounds, the times say nothing.
MOST_SLOWED = 1.2


class Speed(NamedTuple):
    """The submission's time, as a part of the solution's."""

    ratio: float  # of the medians
    low: float  # the quartiles of the ratios in all rounds
    high: float


def times_in(results):
    """[(the submission's nanoseconds, the solution's)] of the rounds that count, out of the CaseResults of
    one process; None if they are not what the runner writes."""
    found = [result.nanoseconds for result in results]
    if len(found) != ROUNDS + 1:
        return None
    for times in found:
        if times is None or len(times) != 2 or not all(0 < time <= LONGEST for time in times):
            return None
    return found[1:]


def speed_of(times, alone):
    """The Speed that such times come to; `alone` are times of a process in which the solution takes the
    submission's place as well."""
    most = MOST_SLOWED * _median(alone, 1)
    times = [(submission, min(solution, most)) for submission, solution in times]
    ratios = [submission / solution for submission, solution in times]
    low, _, high = statistics.quantiles(ratios, n=4, method="inclusive")
    ratio = _median(times, 0) / _median(times, 1)
    # So that what is told makes sense; it can only be in the student's favour.
    return Speed(round(ratio, 3), round(min(low, ratio), 3), round(max(high, ratio), 3))


def is_slowed(times, alone):
    """Whether the solution was slower next to the submission than it is `alone`, as in speed_of()."""
    return _median(times, 1) > MOST_SLOWED * _median(alone, 1)


def _median(times, place):
    return statistics.median(pair[place] for pair in times)


def points_for(speed, rule):
    """Points for the lower end of the Speed, by the rule of an exercise.json: so noise costs nothing.

    All up to `all_up_to` and none from `none_from`; between them they fall evenly, rounded up.
    """
    most, all_up_to, none_from = rule["points"], rule["all_up_to"], rule["none_from"]
    part = (none_from - speed.low) / (none_from - all_up_to)
    # Less than a thousandth of a point comes of how numbers are rounded, and of nothing else.
    return math.ceil(most * min(1, max(0, part)) - 1e-3)


def lines_about(speed, rule):
    """What the student is told."""
    return [
        f"Your code takes {speed.ratio:.2f} times as long as the course's solution "
        f"({speed.low:.2f} to {speed.high:.2f} in half of {ROUNDS} rounds).",
        f"All points up to {rule['all_up_to']:g}, none from {rule['none_from']:g}: the smaller of the two "
        "numbers in brackets counts.",
    ]

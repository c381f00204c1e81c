# SPDX-License-Identifier: MIT
"""All executions of an exercise's small case, where a sample of schedules has found nothing wrong."""

from typing import NamedTuple

from engine.driver.errors import CommandError
from engine.driver.proving import Exploration, shape_in_words

# A bound in runs and not in seconds: on every machine the same file gets the same verdict.
MOST_RUNS = 100


class Executions(NamedTuple):
    """What was found by running all of them, or those up to the first one that fails."""

    count: int
    failed: list  # the CheckedRun that has a race or does not come to its end; empty if none has
    results: list  # of each of those that came to its end its CaseResults, each once
    proved_for: str  # 'proved for 3 blocks of 2 threads'; "" if they are not known to be all


class TooManyRuns(Exception):
    """There are more executions than are run."""


def all_executions(run_once):
    """The Executions of a program's small case; None if they are too many, or can't be explored.

    run_once(decisions, orders_fences) runs it by this list of decisions, and returns a CheckedRun, a Trace
    and its CaseResults.
    """
    exploration, results, runs = Exploration(), {}, 0

    def run(decisions, orders_fences):
        nonlocal runs
        if runs == MOST_RUNS:
            raise TooManyRuns
        runs += 1
        checked, trace, made = run_once(decisions, orders_fences)
        # Not every run is an execution that the memory model allows: which are, the exploration knows, and
        # it keeps what these print.
        printed = str([vars(result) for result in made])
        results[printed] = made
        return checked._replace(output=printed), trace

    try:
        exploration.run_all(run, MOST_RUNS)
    except (CommandError, TooManyRuns):
        return None
    failed = [exploration.failed[0]] if exploration.failed else []
    is_proved = not (failed or exploration.unfinished or exploration.has_weak_writes)
    words = f"proved for {shape_in_words(exploration.kinds)}" if is_proved else ""
    made = [results[printed] for printed in exploration.results]
    return Executions(len(exploration.executions), failed, made, words)

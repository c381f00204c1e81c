# SPDX-License-Identifier: MIT
"""All executions of an exercise's small case, where a sample of schedules has found nothing wrong."""

import math
import textwrap
from typing import NamedTuple

from engine.command.errors import CommandError
from engine.prove.executions import Execution
from engine.prove.proving import Exploration, shape_in_words
from grader.judging.results import SCREEN

# Bounds in runs and accesses and not in seconds: on every machine the same file gets the same verdict.
MOST_RUNS = 100
MOST_EVENTS = 350  # of one run: its fences, and its atomic accesses to words that change
MOST_CHOICES = 10_000  # of all runs together: the writes that these accesses could take
NOT_EXPLORED = "not all executions explored"  # among the diagnoses of races
NOT_PROVED = "not proved: "  # begins what an exploration is ended by
FEWER = "Leave out atomics that change nothing, and let fewer threads use one word."
AS_IN_THE_LESSON = "Use atomics and fences as the lesson does."
PLAIN_STORE = "One word is assigned to and then used by atomics: store to it by an atomic."


class Executions(NamedTuple):
    """What was found by running all of them, or those up to the first one that is wrong."""

    count: int
    failed: list  # the CheckedRun that has a race or does not come to its end; empty if none has
    results: list  # of each of those that came to its end its CaseResults, each once
    proved_for: str  # 'proved for 3 blocks of 2 threads'; "" if they are not known to be all
    why_unknown: str  # a sentence, if they are not known to be all


class Incomplete(Exception):
    """Not all executions are run; its text is why."""


def all_executions(run_once):
    """The Executions of a program's small case.

    run_once(decisions, orders_fences) runs it by this list of decisions, and returns a CheckedRun, a Trace,
    its CaseResults and the Failure that is in these, or None.
    """
    exploration, results, runs, choices = Exploration(), {}, 0, 0

    def failures():
        # Not every run is an execution that the memory model allows: which are, the exploration knows, and
        # it keeps what these print.
        return [results[printed][1] for printed in exploration.results if results[printed][1]]

    def run(decisions, orders_fences):
        nonlocal runs, choices
        if failures():
            raise Incomplete(failures()[0].lines[0])
        if runs == MOST_RUNS:
            raise Incomplete(f"There are more than {MOST_RUNS}. {FEWER}")
        runs += 1
        checked, trace, made, failure = run_once(decisions, orders_fences)
        events, more = Execution(trace).choices()
        choices += more
        if events > MOST_EVENTS or choices > MOST_CHOICES:
            raise Incomplete(f"There are too many atomic accesses. {FEWER}")
        printed = str([vars(result) for result in made])
        results[printed] = made, failure
        return checked._replace(output=printed), trace

    why = AS_IN_THE_LESSON
    try:
        exploration.run_all(run, math.inf)
        if failures():
            why = failures()[0].lines[0]
        elif exploration.has_weak_writes:
            why = PLAIN_STORE
        elif exploration.results and not exploration.unfinished:
            why = ""
    except Incomplete as problem:
        why = str(problem)
    except CommandError as problem:
        why = f"{str(problem).removeprefix(NOT_PROVED)} {AS_IN_THE_LESSON}"
    failed = [exploration.failed[0]] if exploration.failed else []
    words = "" if failed or why else f"proved for {shape_in_words(exploration.kinds)}"
    made = [results[printed][0] for printed in exploration.results]
    return Executions(len(exploration.executions), failed, made, words, why)


def lines_of_unexplored(case, why):
    """What is said of a file that has no mistake in the executions that were run, which are not all."""
    known = f"No mistake was found, but not all executions of one case could be explored ({case})"
    return textwrap.wrap(f"{known}, so the code may still fail. {why}", SCREEN)

# SPDX-License-Identifier: MIT
"""Limits of what a thread and a block may do, and limits without points, which are a gate."""

import pytest

from grader.exercises.cases import Case
from grader.exercises.catalogue import chosen_exercise
from grader.exercises.limits import depends_on_schedule, lines_about, objections_to_uncounted
from grader.judging.submission import NO_POINTS, judgement_of
from grader.judging.verdict import FAILED, NOT_RUN, PASSED, JudgedCase, Verdict

EXERCISE = chosen_exercise("04.1")
CASE = Case("one", [], elements=100)
ADVICE = "Share it out."


def lines(limit, *schedules):
    facts = {**EXERCISE.facts, "limits": [{"advice": ADVICE, **limit}]}
    reports = [{"launch_counts": launches} for launches in schedules]
    return lines_about(EXERCISE._replace(facts=facts), reports, CASE)


def launch(total, block, thread, begun=1):
    counts = {"total": total, "most_per_block": block, "most_per_thread": thread}
    others = {"total": 1, "most_per_block": 1, "most_per_thread": 1}
    return {
        "global_stores": counts,
        "global_loads": others,
        "global_atomics": others,
        "blocks_begun": begun,
    }


def test_what_is_needed():
    limit = {"count": "global stores", "per": "call", "at_least": 40}
    assert lines(limit, [launch(40, 1, 1)]) == []
    assert lines(limit, [launch(39, 1, 1)])[:2] == [
        "Your code: 39 global stores per call; needed: 40 or more.",
        ADVICE,
    ]


def test_all_accesses_are_added_up():
    limit = {"count": "accesses to global memory", "per": "call", "at_least": 42}
    assert lines(limit, [launch(40, 1, 1)]) == []
    assert "41 accesses to global memory" in lines(limit, [launch(39, 1, 1)])[0]


def test_a_thread_is_held_to_its_share_of_its_block():
    limit = {"count": "global stores", "per": "thread's share", "at_most": 25}
    # One block has done everything, which a schedule may bring about.
    assert lines(limit, [launch(100, 100, 25)]) == []
    assert (
        lines(limit, [launch(100, 10, 5)])[0]
        == "Your code: one thread does 50 % of its block's global stores; allowed: 25 %."
    )
    assert lines(limit, [launch(0, 0, 0)]) == []


def test_launches_are_added_up():
    limit = {"count": "global stores", "per": "block", "at_most": 30}
    assert lines(limit, [launch(40, 15, 5), launch(40, 15, 5)]) == []
    assert (
        lines(limit, [launch(40, 20, 5), launch(40, 20, 5)])[0]
        == "Your code: 40 global stores per block; allowed: 30."
    )


def test_launches_that_were_not_counted_are_an_objection():
    counted = {"launches": 2, "launch_counts": [launch(1, 1, 1)] * 2}
    assert objections_to_uncounted([counted]) == []
    assert len(objections_to_uncounted([counted, {**counted, "launches": 3}])) == 1


def test_a_block_is_judged_by_the_schedule_in_which_the_blocks_share_best():
    limit = {"count": "global stores", "per": "block's share", "at_most": 90}
    alone, shared = [launch(100, 100, 1)], [launch(100, 60, 1)]
    assert lines(limit, alone, shared, alone) == []
    assert (
        lines(limit, alone, alone)[0]
        == "Your code: one block does 100 % of all global stores; allowed: 90 %."
    )
    assert depends_on_schedule(chosen_exercise("05.3"))
    assert not depends_on_schedule(chosen_exercise("02.1"))


def test_calls_of_the_host_are_counted_by_their_name():
    limit = {
        "count": "calls of cudaMemcpy", "per": "call", "at_most": 1, "advice": "Copy once.",
    }  # fmt: skip
    facts = {**EXERCISE.facts, "limits": [limit]}
    exercise = EXERCISE._replace(facts=facts)
    report = {
        "launch_counts": [],
        "runtime_calls": ["cudaMalloc", "cudaMemcpy", "cudaMemcpyAsync"],
    }
    assert lines_about(exercise, [report], CASE) == []
    report["runtime_calls"].append("cudaMemcpy")
    assert (
        lines_about(exercise, [report], CASE)[0] == "Your code: 2 calls of cudaMemcpy; allowed: 1."
    )
    limit.update({"at_least": 3})
    del limit["at_most"]
    assert "needed: 3 or more" in lines_about(exercise, [report], CASE)[0]


def test_blocks_that_another_one_has_taken_over_never_begin():
    limit = {"count": "blocks begun", "per": "call", "at_most": 100}
    assert lines(limit, [launch(1, 1, 1, begun=100)]) == []
    assert "101 blocks begun per call" in lines(limit, [launch(1, 1, 1, begun=101)])[0]


def judgement(number, state):
    exercise = chosen_exercise(number)
    parts = {"results": PASSED, "races": PASSED, "limits": state}
    lines_of = {"results": [], "races": [], "limits": ["Your code: 2 launches."]}
    cases = (JudgedCase("one", True, []),)
    return judgement_of(Verdict(parts, [], lines_of, cases), exercise)


def test_who_does_not_pass_it_gets_no_points_and_is_told_why():
    found = judgement("04.1", FAILED)
    assert found.points == 0
    assert [row["part"] for row in found.parts] == ["results", "races"]
    assert found.parts[0]["lines"] == [NO_POINTS, "", "Your code: 2 launches."]
    assert found.parts[1]["lines"] == []


@pytest.mark.parametrize("state", (PASSED, NOT_RUN))
def test_who_passes_it_or_is_not_judged_by_it_keeps_the_points(state):
    found = judgement("04.1", state)
    assert found.points == sum(EXERCISE.points.values())
    assert [row["part"] for row in found.parts] == ["results", "races"]


def test_limits_with_points_cost_those_points_alone():
    found = judgement("04.2", FAILED)
    assert [row["points"] for row in found.parts] == [5, 5, 0]

# SPDX-License-Identifier: MIT
"""Limits of what a thread and a block may do, and limits without points, which are a gate."""

import unittest

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


class LimitsTest(unittest.TestCase):
    def test_what_is_needed(self):
        limit = {"count": "global stores", "per": "call", "at_least": 40}
        self.assertEqual(lines(limit, [launch(40, 1, 1)]), [])
        self.assertEqual(
            lines(limit, [launch(39, 1, 1)])[:2],
            ["Your code: 39 global stores per call; needed: 40 or more.", ADVICE],
        )

    def test_all_accesses_are_added_up(self):
        limit = {"count": "accesses to global memory", "per": "call", "at_least": 42}
        self.assertEqual(lines(limit, [launch(40, 1, 1)]), [])
        self.assertIn("41 accesses to global memory", lines(limit, [launch(39, 1, 1)])[0])

    def test_a_thread_is_held_to_its_share_of_its_block(self):
        limit = {"count": "global stores", "per": "thread's share", "at_most": 25}
        # One block has done everything, which a schedule may bring about.
        self.assertEqual(lines(limit, [launch(100, 100, 25)]), [])
        self.assertEqual(
            lines(limit, [launch(100, 10, 5)])[0],
            "Your code: one thread does 50 % of its block's global stores; allowed: 25 %.",
        )
        self.assertEqual(lines(limit, [launch(0, 0, 0)]), [])

    def test_launches_are_added_up(self):
        limit = {"count": "global stores", "per": "block", "at_most": 30}
        self.assertEqual(lines(limit, [launch(40, 15, 5), launch(40, 15, 5)]), [])
        self.assertEqual(
            lines(limit, [launch(40, 20, 5), launch(40, 20, 5)])[0],
            "Your code: 40 global stores per block; allowed: 30.",
        )

    def test_launches_that_were_not_counted_are_an_objection(self):
        counted = {"launches": 2, "launch_counts": [launch(1, 1, 1)] * 2}
        self.assertEqual(objections_to_uncounted([counted]), [])
        self.assertEqual(len(objections_to_uncounted([counted, {**counted, "launches": 3}])), 1)

    def test_a_block_is_judged_by_the_schedule_in_which_the_blocks_share_best(self):
        limit = {"count": "global stores", "per": "block's share", "at_most": 90}
        alone, shared = [launch(100, 100, 1)], [launch(100, 60, 1)]
        self.assertEqual(lines(limit, alone, shared, alone), [])
        self.assertEqual(
            lines(limit, alone, alone)[0],
            "Your code: one block does 100 % of all global stores; allowed: 90 %.",
        )
        self.assertTrue(depends_on_schedule(chosen_exercise("05.3")))
        self.assertFalse(depends_on_schedule(chosen_exercise("04.1")))

    def test_calls_of_the_host_are_counted_by_their_name(self):
        limit = {
            "count": "calls of cudaMemcpy", "per": "call", "at_most": 1, "advice": "Copy once.",
        }  # fmt: skip
        facts = {**EXERCISE.facts, "limits": [limit]}
        exercise = EXERCISE._replace(facts=facts)
        report = {
            "launch_counts": [],
            "runtime_calls": ["cudaMalloc", "cudaMemcpy", "cudaMemcpyAsync"],
        }
        self.assertEqual(lines_about(exercise, [report], CASE), [])
        report["runtime_calls"].append("cudaMemcpy")
        self.assertEqual(
            lines_about(exercise, [report], CASE)[0],
            "Your code: 2 calls of cudaMemcpy; allowed: 1.",
        )
        limit.update({"at_least": 3})
        del limit["at_most"]
        self.assertIn("needed: 3 or more", lines_about(exercise, [report], CASE)[0])

    def test_blocks_that_another_one_has_taken_over_never_begin(self):
        limit = {"count": "blocks begun", "per": "call", "at_most": 100}
        self.assertEqual(lines(limit, [launch(1, 1, 1, begun=100)]), [])
        self.assertIn("101 blocks begun per call", lines(limit, [launch(1, 1, 1, begun=101)])[0])


class GateTest(unittest.TestCase):
    def judgement(self, number, state):
        exercise = chosen_exercise(number)
        parts = {"results": PASSED, "races": PASSED, "limits": state}
        lines_of = {"results": [], "races": [], "limits": ["Your code: 2 launches."]}
        cases = (JudgedCase("one", True, []),)
        return judgement_of(Verdict(parts, [], lines_of, cases), exercise)

    def test_who_does_not_pass_it_gets_no_points_and_is_told_why(self):
        found = self.judgement("04.1", FAILED)
        self.assertEqual(found.points, 0)
        self.assertEqual([row["part"] for row in found.parts], ["results", "races"])
        self.assertEqual(found.parts[0]["lines"], [NO_POINTS, "", "Your code: 2 launches."])
        self.assertEqual(found.parts[1]["lines"], [])

    def test_who_passes_it_or_is_not_judged_by_it_keeps_the_points(self):
        for state in (PASSED, NOT_RUN):
            found = self.judgement("04.1", state)
            self.assertEqual(found.points, sum(EXERCISE.points.values()))
            self.assertEqual([row["part"] for row in found.parts], ["results", "races"])

    def test_limits_with_points_cost_those_points_alone(self):
        found = self.judgement("04.2", FAILED)
        self.assertEqual([row["points"] for row in found.parts], [5, 5, 0])

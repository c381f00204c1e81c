# SPDX-License-Identifier: MIT
"""Points for speed, from a submission to its row: with the CPU backend in the GPU's place, where times mean
nothing, and everything else is as it is there. With a GPU, speed_gpu_test.py looks at the times as well."""

import functools
import random
import runpy
import statistics
import threading
import time
import unittest
from unittest import mock

from cheats import timing_cheats
from grading_runs import BUILDS, CAN_GRADE, real_sandboxes, solution_text, words_of, written

from grader.exercises.catalogue import SPEED, chosen_exercise, with_speed
from grader.judging import speed, submission
from grader.judging.sandboxed import GpuTurns, SandboxRunner
from grader.judging.speed import ROUNDS, Speed, points_for, speed_row, times_in
from grader.judging.submission import SubmissionJudge, judge
from grader.judging.verdict import FAILED, PASSED, Verdict
from grader.sandbox.sandbox import Sandbox
from grader.submissions.grading_run import Tools, measured_cases
from this_build import ROOT

NUMBER = "01.1"
SIZE = 301_000  # elements
RULE = {"points": 2, "all_up_to": 1.1, "none_from": 2}
COUNTED_WHOLE = "its time is the whole of it"  # instead of a refusal
LEAST_RATIO = 3  # of those, whose kernels do far more than the solution's


def timed_exercise():
    exercise = chosen_exercise(NUMBER)
    return with_speed(exercise._replace(facts={**exercise.facts, SPEED: RULE}))


class Seed:
    seed = "a-seed-of-the-tests"


def smaller_cases(exercise, seed):
    """Large enough for those that are honest at small sizes."""
    case = runpy.run_path(str(exercise.file))["case"]
    drawn = [case(random.Random(f"{seed} {number}"), SIZE, False) for number in range(ROUNDS + 1)]
    return [each._replace(launches=1) for each in drawn]


@functools.lru_cache(None)
def timed_cases():
    with mock.patch.object(submission, "cases_to_time", smaller_cases):
        return measured_cases(Tools(sandbox(), on_gpu()), Seed(), [timed_exercise()])[NUMBER]


def sandbox():
    return Sandbox(real_sandboxes()[0])


def on_gpu():
    return BUILDS._replace(gpu=BUILDS.cpu)


class Watched(SubmissionJudge):
    """Remembers what came out of each process in which calls were timed."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.timed = []

    def run_cases(self, program, cases, settings, limits, options=(), loads=None):
        if options == [speed.IN_TURN]:
            # What nobody waits for comes late, as on a GPU.
            settings = {**settings, "LAB_STREAM_ORDER": "last"}
        run = super().run_cases(program, cases, settings, limits, options, loads)
        if options == [speed.IN_TURN]:
            self.timed.append(run.results)
        return run


def timed_alone(text, states=(PASSED,)):
    """(the row of speed that this text gets if its other parts are in these states, the judge of it)."""
    cases, box = timed_cases(), sandbox()
    with written(NUMBER, text) as file, box.folder() as folder:
        runner = SandboxRunner(box, on_gpu(), cases.exercise, file, folder)
        judging = Watched(cases, runner, every_case=True)
        verdict = Verdict(dict(enumerate(states)), [])
        return speed_row(judging, verdict, cases.timed, RULE), judging


def ratio_of(judging):
    """Of the medians in the first process, whatever was made of them."""
    pairs = times_in(judging.timed[0])
    return statistics.median(pair[0] for pair in pairs) / statistics.median(p[1] for p in pairs)


@unittest.skipUnless(CAN_GRADE and real_sandboxes(), "grading takes the race checker and a sandbox")
class SpeedTest(unittest.TestCase):
    def test_the_solution_is_as_fast_as_itself(self):
        """From a text to its row, with all parts."""
        any_speed = mock.patch.object(speed, "is_slowed", lambda times, alone: False)
        with written(NUMBER, solution_text(NUMBER)) as file, any_speed:
            found = judge(sandbox(), on_gpu(), timed_cases(), file)
        self.assertEqual((found.status, [part["part"] for part in found.parts][-1]), ("OK", SPEED))
        row = found.parts[-1]
        self.assertIn("times as long as the course's solution", row["lines"][0])
        self.assertEqual(set(row["speed"]), {"ratio", "low", "high"})
        self.assertEqual(row["points"], points_for(Speed(**row["speed"]), RULE))
        self.assertEqual(sum(part["points"] for part in found.parts[:-1]), 11, words_of(found))

    def test_each_cheat_is_found(self):
        self.assertGreaterEqual(len(timing_cheats()), 6)
        for name, cheat in timing_cheats().items():
            with self.subTest(name):
                row, judging = timed_alone(cheat.text)
                if cheat.says == COUNTED_WHOLE:
                    self.assertGreater(ratio_of(judging), LEAST_RATIO, row)
                else:
                    self.assertEqual(row["points"], 0, row)
                    self.assertNotIn("speed", row)
                    self.assertIn(cheat.says, "\n".join(row["lines"]))

    def test_the_page_has_each_cheat(self):
        page = (ROOT / "docs/grading-security.md").read_text(encoding="utf-8")
        for name, cheat in timing_cheats().items():
            self.assertIn(f"| `{name}` | {cheat.what} | {cheat.says} |\n", page)

    def test_who_is_not_right_is_not_timed(self):
        row, judging = timed_alone(solution_text(NUMBER), (PASSED, FAILED))
        self.assertEqual((row["points"], row["lines"]), (0, [speed.NOT_TIMED]))
        self.assertEqual(judging.timed, [])

    def test_a_solution_that_is_slowed_down_gives_no_points(self):
        with mock.patch.object(speed, "is_slowed", lambda times, alone: True):
            row, judging = timed_alone(solution_text(NUMBER))
        self.assertEqual((row["points"], row["lines"]), (0, [speed.SLOWED]))
        self.assertEqual(len(judging.timed), 2 * speed.TRIES)  # each time alone as well

    def test_the_inputs_are_others_in_each_round(self):
        inputs = [case.arguments[1].content for case in timed_cases().timed.cases]
        self.assertEqual(len(inputs), ROUNDS + 1)
        self.assertEqual(len({tuple(content[:100]) for content in inputs}), ROUNDS + 1)


class TurnsTest(unittest.TestCase):
    def test_who_is_timed_has_the_gpu_alone(self):
        turns, inside, most = GpuTurns(), [], []

        def use(taken, name):
            with taken():
                inside.append(name)
                most.append(sorted(inside))
                time.sleep(0.01)
                inside.remove(name)

        names = ["shared", "shared", "alone"] * 5
        threads = [threading.Thread(target=use, args=(getattr(turns, n), n)) for n in names]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(most), len(names))
        for together in most:
            self.assertTrue("alone" not in together or together == ["alone"], together)

    def test_others_share_it(self):
        turns, both = GpuTurns(), threading.Barrier(2, timeout=60)

        def use():
            with turns.shared():
                both.wait()  # fails if the other one is not in at the same time

        other = threading.Thread(target=use)
        other.start()
        use()
        other.join()

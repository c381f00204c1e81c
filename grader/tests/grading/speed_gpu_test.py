# SPDX-License-Identifier: MIT
"""What is timed on a GPU: the solution is as fast as itself, and no cheat is faster than it is."""

import concurrent.futures
import contextlib
import unittest

from cheats import timing_cheats
from grading_runs import BUILDS, real_sandboxes, solution_text
from speed_test import COUNTED_WHOLE, LEAST_RATIO, NUMBER, RULE, timed_exercise

from engine.command.processes import output_of
from grader.judging.judge import ExerciseCases
from grader.judging.sandboxed import SandboxRunner
from grader.judging.speed import timed_row
from grader.judging.submission import SubmissionJudge, timed
from grader.sandbox.sandbox import NONE, Sandbox

SEEN_BY_THE_CHECKER = "races"  # and by nobody here


@unittest.skipIf(output_of(["nvidia-smi"]) is None, "there is no GPU to time on")
class SpeedGpuTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.sandbox = Sandbox(next(iter(real_sandboxes()), NONE))
        cls.builds = BUILDS._replace(gpu=BUILDS.cpu)  # this build, which has nvcc
        cls.cases = ExerciseCases(timed_exercise(), [])
        cls.folders = contextlib.ExitStack()
        cls.addClassCleanup(cls.folders.close)
        folder = cls.folders.enter_context(cls.sandbox.folder())
        text = solution_text(NUMBER)
        cls.timed = timed(cls.sandbox, cls.builds, cls.cases, text, "a-seed", folder)

    def row(self, text):
        with self.sandbox.folder() as folder:
            source = folder / self.cases.exercise.file_name
            source.write_text(text, encoding="utf-8")
            runner = SandboxRunner(self.sandbox, self.builds, self.cases.exercise, source, folder)
            return timed_row(SubmissionJudge(self.cases, runner, True), self.timed, RULE)

    def test_the_solution_gets_all_points_each_time(self):
        for _ in range(3):
            row = self.row(solution_text(NUMBER))
            print(row)
            self.assertEqual(row["points"], RULE["points"], row)

    def test_no_cheat_gets_points(self):
        cheats = {
            name: cheat
            for name, cheat in timing_cheats().items()
            if SEEN_BY_THE_CHECKER not in name
        }
        with concurrent.futures.ThreadPoolExecutor() as pool:
            rows = list(pool.map(self.row, [cheat.text for cheat in cheats.values()]))
        for (name, cheat), row in zip(cheats.items(), rows):
            with self.subTest(name):
                print(name, row)
                self.assertEqual(row["points"], 0, row)
                if cheat.says == COUNTED_WHOLE:
                    self.assertGreater(row["speed"]["ratio"], LEAST_RATIO)
                else:
                    self.assertIn(cheat.says, "\n".join(row["lines"]))

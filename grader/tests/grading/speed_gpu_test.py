# SPDX-License-Identifier: MIT
"""What is timed on a GPU: the solution is as fast as itself, and no cheat is faster than it is."""

import concurrent.futures

import pytest
from cheats import timing_cheats
from grading_runs import BUILDS, real_sandboxes, solution_text
from speed_test import COUNTED_WHOLE, LEAST_RATIO, NUMBER, RULE, timed_exercise

from engine.command.processes import output_of
from grader.judging.judge import CaseRuns, ExerciseCases
from grader.judging.sandboxed import SandboxRunner
from grader.judging.speed import timed_row
from grader.judging.submission import timed
from grader.sandbox.sandbox import NONE, Sandbox

SEEN_BY_THE_CHECKER = "races"  # which is not asked here


class SpeedGpu:
    def __init__(self, sandbox, folder):
        self.sandbox = sandbox
        self.builds = BUILDS._replace(gpu=BUILDS.cpu)  # this build, which has nvcc
        self.cases = ExerciseCases(timed_exercise(), [])
        text = solution_text(NUMBER)
        self.timed = timed(self.sandbox, self.builds, self.cases, text, "a-seed", folder)

    def row(self, text):
        with self.sandbox.folder() as folder:
            source = folder / self.cases.exercise.file_name
            source.write_text(text, encoding="utf-8")
            runner = SandboxRunner(self.sandbox, self.builds, self.cases.exercise, source, folder)
            return timed_row(CaseRuns(self.cases, runner), self.timed, RULE)


@pytest.fixture(scope="module")
def speed_gpu():
    sandbox = Sandbox(next(iter(real_sandboxes()), NONE))
    with sandbox.folder() as folder:
        yield SpeedGpu(sandbox, folder)


@pytest.mark.skipif(output_of(["nvidia-smi"]) is None, reason="there is no GPU to time on")
def test_the_solution_gets_all_points_each_time(speed_gpu):
    for _ in range(3):
        row = speed_gpu.row(solution_text(NUMBER))
        print(row)
        assert row["points"] == RULE["points"], row


@pytest.mark.skipif(output_of(["nvidia-smi"]) is None, reason="there is no GPU to time on")
def test_no_cheat_gets_points(speed_gpu):
    cheats = {
        name: cheat for name, cheat in timing_cheats().items() if SEEN_BY_THE_CHECKER not in name
    }
    with concurrent.futures.ThreadPoolExecutor() as pool:
        rows = list(pool.map(speed_gpu.row, [cheat.text for cheat in cheats.values()]))
    for (name, cheat), row in zip(cheats.items(), rows):
        print(name, row)
        assert row["points"] == 0, row
        if cheat.says == COUNTED_WHOLE:
            assert row["speed"]["ratio"] > LEAST_RATIO
        else:
            assert cheat.says in "\n".join(row["lines"])

# SPDX-License-Identifier: MIT
"""The same mistake gets the same words at home and in the sandbox: every wrong solution of two exercises,
with the same seed and in the same detail."""

import pathlib
import tempfile
import unittest

from grading_runs import BUILDS, CAN_GRADE, real_sandboxes, written

from grader.exercises.catalogue import chosen_exercise
from grader.judging.compile import CONCURRENT, SCHEDULED
from grader.judging.judge import ExerciseCases, Judge
from grader.judging.results import cases_of
from grader.judging.runner import HomeRunner
from grader.judging.sandboxed import SandboxRunner
from grader.judging.submission import judgement_of
from grader.judging.verdict import FAILED
from grader.sandbox.sandbox import Sandbox
from lab_tool.authoring.trials import solution, trials_of

NUMBERS = ("02.1", "04.2")
OF_A_PROGRAM = (
    "solution", "starter", "no_copy_back", "freed_twice", "end_not_checked_in_small_blocks",
    "sums_not_freed", "launch_not_checked", "copied_in_pieces", "copied_one_by_one",
)  # fmt: skip


# Mistakes that none of the 20 schedules shows, since they are made in the small case alone:
# {what: (exercise, a piece of the solution, what stands there instead, what is said)}.
IN_SMALL_CASE = {
    "no release": (
        "04.1",
        "__threadfence();\n    last",
        "if (gridDim.x != 3 || blockDim.x != 2) __threadfence();\n    last",
        "two threads race, in one order of the atomic operations (6 rows, 2 columns, 3 blocks)",
    ),
    "two steps in place of one": (
        "04.1",
        "last = atomicInc(counter, gridDim.x - 1) == gridDim.x - 1;",
        "if (gridDim.x != 3 || blockDim.x != 2) {\n"
        "      last = atomicInc(counter, gridDim.x - 1) == gridDim.x - 1;\n"
        "    } else {\n"
        "      const unsigned before = atomicAdd(counter, 0);\n"
        "      last = before == gridDim.x - 1;\n"
        "      atomicExch(counter, last ? 0 : before + 1);\n"
        "    }",
        "orders of the atomic operations a result is wrong (6 rows, 2 columns, 3 blocks):",
    ),
}


# What can't be explored: {what: (what 04.1's solution does first, besides its own; what is said)}. No
# schedule shows a mistake.
NOT_EXPLORED = {
    "too many executions": (
        "__shared__ unsigned busy;\n  if (threadIdx.x == 0) busy = 0;\n  __syncthreads();\n"
        "  for (int i = 0; i < 2; ++i) atomicAdd(&busy, 1);\n",
        "There are more than 100. Leave out atomics that change nothing",
    ),
    "too many accesses": (
        "__shared__ unsigned busy;\n"
        "  for (int i = 0; i < 200 && threadIdx.x == 0; ++i) atomicExch(&busy, i);\n",
        "There are too many atomic accesses. Leave out",
    ),
    "assigned to and then used by atomics": (
        "__shared__ unsigned busy;\n  if (threadIdx.x == 0) {\n    atomicExch(&busy, 0);\n"
        "    busy = 1;\n    atomicAdd(&busy, 1);\n  }\n",
        "One word is assigned to and then used by atomics: store to it by an atomic.",
    ),
    "what the exploration refuses": (
        "__shared__ unsigned long long busy;\n  if (threadIdx.x == 0) {\n    atomicExch(&busy, 0);\n"
        "    atomicAdd(reinterpret_cast<unsigned*>(&busy), 1);\n  }\n",
        "two sizes to the same bytes are not explored yet. Use atomics and fences as the lesson does.",
    ),
}

# Other files that can be no solution: {name: text}.
WRONG_FILES = {
    "empty": "",
    "no such function": "int unrelated;\n",
    "another signature": "void fullest_bin(int) {}\n",
    "a main of its own": "int main() {}\n",
    "no C++": "this is no C++\n",
}


@unittest.skipUnless(CAN_GRADE and real_sandboxes(), "grading takes the race checker and a sandbox")
class SameWordsTest(unittest.TestCase):
    def verdicts(self, number, text, results_form=CONCURRENT, every_case=False):
        """What is said of a text at home, with its results judged in this form, and in the sandbox."""
        exercise = chosen_exercise(number)
        cases = ExerciseCases(exercise, cases_of(exercise))
        sandbox = Sandbox(real_sandboxes()[0])
        with (
            written(number, text) as file,
            tempfile.TemporaryDirectory() as programs,
            sandbox.folder() as folder,
        ):
            build = BUILDS.cpu._replace(files=pathlib.Path(programs))
            with HomeRunner(build, exercise, file) as runner:
                runner.results_form = results_form
                at_home = Judge(cases, runner, every_case).verdict()
            runner = SandboxRunner(sandbox, BUILDS, exercise, file, folder)
            return at_home, Judge(cases, runner, every_case).verdict()

    def same_verdict(self, *words, **names):
        at_home, in_sandbox = self.verdicts(*words, **names)
        self.assertEqual(in_sandbox.parts, at_home.parts)
        self.assertEqual(in_sandbox.lines, at_home.lines)
        self.assertEqual(in_sandbox.lines_of, at_home.lines_of)
        self.assertEqual(in_sandbox.cases, at_home.cases)
        self.assertEqual(in_sandbox.proved_for, at_home.proved_for)
        return at_home

    def test_every_wrong_solution(self):
        rejected_by = set()
        for number in NUMBERS:
            for trial in trials_of(chosen_exercise(number)):
                # What a wrong result is may depend on memory that nobody has written: then it is the
                # same for the same bytes and the same schedule only.
                may_be_wrong = trial.part and "results" in trial.part
                form = SCHEDULED if may_be_wrong else CONCURRENT
                with self.subTest(f"{number} {trial.name}"):
                    verdict = self.same_verdict(number, trial.text, form)
                    self.assertEqual(verdict.is_solved, trial.name == "solution")
                    rejected_by |= {part for part, each in verdict.parts.items() if each == FAILED}
        self.assertEqual(rejected_by, {"results", "races", "limits"})

    def test_some_wrong_solutions_of_a_whole_program(self):
        """Those in which no address is told, which is another one at home each time."""
        trials = {each.name: each for each in trials_of(chosen_exercise("01.5"))}
        for name in OF_A_PROGRAM:
            with self.subTest(name):
                verdict = self.same_verdict("01.5", trials[name].text)
                self.assertEqual(verdict.is_solved, name == "solution")
                self.assertTrue(verdict.lines)

    def test_every_case_of_some(self):
        trials = {each.name: each for each in trials_of(chosen_exercise("04.2"))}
        for name in ("counter_not_reset", "fence_on_one_side_only", "counts_in_global_memory"):
            with self.subTest(name):
                verdict = self.same_verdict("04.2", trials[name].text, SCHEDULED, every_case=True)
                self.assertTrue(any(verdict.lines_of.values()))
                self.assertEqual(len(verdict.cases), len(cases_of(chosen_exercise("04.2"))))

    def test_a_mistake_that_only_all_executions_of_the_small_case_show(self):
        for name, (number, right, wrong, said) in IN_SMALL_CASE.items():
            with self.subTest(name):
                text = solution(chosen_exercise(number))
                self.assertEqual(text.count(right), 1)
                verdict = self.same_verdict(number, text.replace(right, wrong))
                self.assertEqual(verdict.parts["races"], FAILED)
                self.assertIn(said, " ".join(verdict.lines))
                self.assertEqual(verdict.proved_for, "")

    def test_what_can_not_be_explored_gets_no_points_for_races(self):
        exercise = chosen_exercise("04.1")
        begins = "  bool last = false;\n"
        for name, (more, said) in NOT_EXPLORED.items():
            with self.subTest(name):
                text = solution(exercise).replace(begins, f"  {more}{begins}")
                verdict = self.same_verdict("04.1", text, SCHEDULED, every_case=True)
                self.assertEqual(verdict.parts["races"], FAILED)
                words = " ".join(verdict.lines_of["races"])
                self.assertIn("No mistake was found, but not all executions of one case", words)
                self.assertIn(said, words)
                self.assertEqual(verdict.diagnoses, ("not all executions explored",))
                rows = {part["part"]: part for part in judgement_of(verdict, exercise).parts}
                self.assertEqual(rows["races"]["points"], 0)

    def test_what_is_proved_is_said(self):
        exercise = chosen_exercise("04.1")
        verdict = self.same_verdict("04.1", solution(exercise), SCHEDULED, every_case=True)
        self.assertEqual(verdict.proved_for, "proved for 3 blocks of 2 threads")
        rows = {part["part"]: part["lines"] for part in judgement_of(verdict, exercise).parts}
        self.assertEqual(rows["races"], ["Proved for 3 blocks of 2 threads."])

    def test_files_that_can_be_no_solution(self):
        for name, text in WRONG_FILES.items():
            with self.subTest(name):
                verdict = self.same_verdict("04.2", text)
                self.assertFalse(verdict.compiles)
                self.assertTrue(verdict.lines)

# SPDX-License-Identifier: MIT
"""One exercise, named by EXERCISE: its starter fails as it must, its solution is right and free of
races, so are solutions in other styles, and each of its wrong solutions is rejected by what it names."""

import os
import pathlib
import re
import shutil
import unittest
from typing import NamedTuple
from unittest import mock

from other_right_solutions import STYLES

from engine.command.build_folder import BuildFolder, settings_of
from grader.exercises.catalogue import DRIVER, KINDS, chosen_exercise
from grader.exercises.driver_source import driver_source
from grader.exercises.limits import CALLS_OF, COUNTS, PER
from grader.exercises.solutions import solution_lines, starter
from grader.judging.check import check, verdict_on
from grader.judging.compile import ExerciseBuild
from grader.judging.judge import ExerciseCases, Judge
from grader.judging.results import NO_DEVICE, cases_of, secret_case
from grader.judging.runner import LocalRunner
from grader.judging.submission import NOT_KEPT, objections_at_secret_size
from grader.judging.verdict import Verdict
from lab_tool.authoring.trials import (
    OR,
    deviation,
    missing_mutants,
    mutants_of,
    solution,
    trials_of,
)
from this_build import BUILD

EXERCISE = chosen_exercise(os.environ["EXERCISE"])
EXERCISE_BUILD = ExerciseBuild(BuildFolder(BUILD, {}), settings_of(BUILD))
# What the results reject need not be compiled for the race checker, unless it is one of OWN: only so is
# it said whether a grade would refuse the file.
RESULTS_ALONE = EXERCISE_BUILD._replace(
    settings={**EXERCISE_BUILD.settings, "scheduled_libraries": ""}
)
IS_BRIEF = (
    os.environ.get("LAB_BRIEF_TESTS") == "1"
)  # other compilers see starter and solution alone
SCHEDULES = 20 if IS_BRIEF else 100
OWN = ("starter", "solution")
LEAST_MUTANTS = 5
SECRET_SIZES = 6
COMMON_LINE = re.compile(r"[\s{};()]*|__syncthreads\(\);|return;|\} else \{")


class Tried(NamedTuple):
    """One of the exercise's own files, with its programs beside it: it is compiled once for all tests."""

    build: ExerciseBuild
    file: pathlib.Path
    verdict: Verdict


class OwnFilesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tries = {}

    def tried(self, trial):
        if trial.name not in self.tries:
            file = file_of(trial.name, trial.text)
            is_seen = trial.name in OWN or trial.part not in ("results", "compiling")
            build = EXERCISE_BUILD if is_seen else RESULTS_ALONE
            build = build._replace(files=file.parent / "programs")
            verdict = check(build, EXERCISE, file)
            if verdict.warnings:  # which are told only of what is compiled anew
                shutil.rmtree(build.files)
            self.tries[trial.name] = Tried(build, file, verdict)
        return self.tries[trial.name]

    def judge(self, trial, cases):
        """A Judge of these cases, to be used in the test that asks for it."""
        tried = self.tried(trial)
        runner = LocalRunner(tried.build, EXERCISE, tried.file).__enter__()
        self.addCleanup(runner.__exit__)
        return Judge(ExerciseCases(EXERCISE, cases), runner)

    def on_cpu(self):
        if EXERCISE_BUILD.settings["backend"] != "cpu":
            self.skipTest("the CPU backend judges")

    def test_the_solution_is_right_on_a_gpu(self):
        if EXERCISE_BUILD.settings["backend"] == "cpu":
            self.skipTest("this is about the cuda backend")
        verdict = verdict_on(EXERCISE_BUILD, EXERCISE, solution(EXERCISE))
        if NO_DEVICE in "\n".join(verdict.lines):
            self.skipTest(NO_DEVICE)
        self.assertEqual(verdict.parts["results"], "passed", verdict.lines)
        self.assertEqual(verdict.warnings, ())

    def test_starter_solution_and_wrong_solutions_are_judged_as_they_must_be(self):
        self.on_cpu()
        judged = 0
        for trial in trials_of(EXERCISE):
            is_own = trial.name in OWN
            needed = (trial.part or "").split(OR)[-1]
            if not EXERCISE_BUILD.can_observe and needed in ("races", "limits"):
                continue  # nothing here sees them
            if IS_BRIEF and not is_own:
                continue
            with self.subTest(trial.name):
                verdict = self.tried(trial).verdict
                if EXERCISE_BUILD.can_observe or trial.part:
                    self.assertIsNone(deviation(trial, verdict), "\n".join(verdict.lines))
                else:
                    self.assertEqual(verdict.parts["results"], "passed", verdict.lines)
                if is_own:
                    self.assertEqual((verdict.warnings, verdict.refusals), ((), ()))
                if trial.name == "solution" and EXERCISE_BUILD.can_observe:
                    small = any(case.every_execution for case in cases_of(EXERCISE))
                    self.assertEqual(verdict.proved_for.startswith("proved for "), small)
                judged += 1
        self.assertGreater(judged, 0)

    def test_the_solution_is_free_of_races(self):
        self.on_cpu()
        if not EXERCISE_BUILD.can_observe:
            self.skipTest("this build has no race checker")
        cases = [case for case in cases_of(EXERCISE) if case.races]
        self.assertTrue(cases)
        own = next(trial for trial in trials_of(EXERCISE) if trial.name == "solution")
        found = self.judge(own, cases).found_races(cases, SCHEDULES)
        self.assertTrue(found.is_free, (found.findings, found.problem))

    def test_limits_hold_at_every_size_that_a_grade_may_draw(self):
        """The solution keeps them there, and what the limits reject is rejected there as well."""
        self.on_cpu()
        if not EXERCISE_BUILD.can_observe or IS_BRIEF:
            self.skipTest("this build has no race checker, or is about other things")
        for trial in trials_of(EXERCISE):
            if trial.part not in (None, "limits"):
                continue
            with self.subTest(trial.name):
                judge = self.judge(trial, cases_of(EXERCISE))
                for seed in range(2 if trial.part else SECRET_SIZES):
                    secret = secret_case(EXERCISE, seed)
                    lines = objections_at_secret_size(judge, secret)
                    if trial.part:
                        self.assertIn(NOT_KEPT, lines, secret.case.name)
                    else:
                        self.assertEqual(lines, [], secret.case.name)

    def test_right_solutions_in_other_styles_are_solved(self):
        self.on_cpu()
        if not EXERCISE_BUILD.can_observe or IS_BRIEF:
            self.skipTest("this build has no race checker, or is about other things")
        for place, (number, style, changes) in enumerate(STYLES):
            if number != EXERCISE.number:
                continue
            with self.subTest(style=style):
                text = solution(EXERCISE)
                for ours, theirs in changes:
                    self.assertEqual(text.count(ours), 1, ours)
                    text = text.replace(ours, theirs)
                file = file_of(f"style_{place}", text)
                build = EXERCISE_BUILD._replace(files=file.parent / "programs")
                with mock.patch("grader.judging.check.ExerciseCases", as_in_a_grade):
                    verdict = check(build, EXERCISE, file)
                self.assertTrue(verdict.is_solved, "\n".join([*verdict.lines, *verdict.remedy]))


class FactsTest(unittest.TestCase):
    def test_the_facts_are_complete(self):
        facts = EXERCISE.facts
        self.assertIn(facts["kind"], KINDS)
        self.assertTrue(10 <= facts["minutes"] <= 45)
        self.assertIn("results", facts["points"])
        self.assertTrue(all(isinstance(points, int) for points in facts["points"].values()))
        self.assertTrue(10 <= sum(facts["points"].values()) <= 12)
        self.assertTrue(
            EXERCISE.limits, "how much a thread may do is limited, with or without points"
        )
        self.assertEqual(missing_mutants(EXERCISE), [])
        for limit in EXERCISE.limits:
            if not (EXERCISE.is_program and CALLS_OF.fullmatch(limit["count"])):
                self.assertIn(limit["count"], COUNTS)
            self.assertIn(limit["per"], PER)
            self.assertEqual(("at_most" in limit) + ("at_least" in limit), 1)
            self.assertRegex(limit["advice"], r"[.?]$")

    def test_the_cases_are_as_check_needs_them(self):
        cases = cases_of(EXERCISE)
        self.assertEqual(len({case.name for case in cases}), len(cases))
        self.assertEqual(sum(case.counted for case in cases), 1 if EXERCISE.limits else 0)
        self.assertTrue(6 <= len(cases) <= 20)
        self.assertLessEqual(sum(case.every_execution for case in cases), 1)
        if EXERCISE.is_program:  # each schedule is a process
            self.assertEqual(sum(case.races for case in cases), 1)
        numbers = _numbers(cases)
        self.assertTrue(_numbers(cases_of(EXERCISE)) == numbers, "a seed draws other numbers again")
        drawn = cases_of(EXERCISE, seed=2)
        self.assertEqual([case.name for case in drawn], [case.name for case in cases])
        self.assertTrue(_numbers(drawn) != numbers, "another seed draws the same numbers")

    def test_the_size_that_is_counted_in_a_grade_is_another_one(self):
        if not EXERCISE.limits:
            self.skipTest("nothing is counted")
        names = [secret_case(EXERCISE, seed).case.name for seed in range(20)]
        self.assertGreater(len(set(names)), 3)
        self.assertEqual(secret_case(EXERCISE, 3).case.name, names[3])
        counted = next(case.name for case in cases_of(EXERCISE) if case.counted)
        self.assertLess(names.count(counted), 2)

    def test_no_line_of_the_solution_is_where_a_student_may_read(self):
        text = EXERCISE.source.read_text(encoding="utf-8")
        secret = [line.strip() for line in solution_lines(text)]
        secret = [line for line in secret if not COMMON_LINE.fullmatch(line)]
        # A repair may be a barrier alone, which is no secret: then it is its place that counts.
        self.assertTrue(secret or starter(EXERCISE) != solution(EXERCISE))
        given = [starter(EXERCISE), *EXERCISE.hints]
        given.append((EXERCISE.folder / "README.md").read_text(encoding="utf-8"))
        for line in secret:
            for other in given:
                self.assertNotIn(line, (each.strip() for each in other.splitlines()))

    def test_the_starter_says_what_to_do(self):
        self.assertIn("TODO", starter(EXERCISE))

    def test_the_text_has_the_number_and_the_signature(self):
        text = (EXERCISE.folder / "README.md").read_text(encoding="utf-8")
        self.assertRegex(text, rf"(?m)^# {re.escape(EXERCISE.title)}: ")
        if EXERCISE.is_program:
            self._has_command_line(text)
            return
        own = EXERCISE.folder / DRIVER
        driver = own.read_text("utf-8") if own.is_file() else driver_source(text, "README.md")
        declarations = re.findall(r"^void (\w+\([^;]*\));", driver, re.MULTILINE)
        self.assertTrue(declarations)
        flat = " ".join(text.split())
        for declaration in declarations:
            self.assertIn(" ".join(declaration.split()), flat)

    def _has_command_line(self, text):
        """As in `whole_program COUNT FIRST STEP`, with a word for each number of a case."""
        command = re.search(rf"`{EXERCISE.name}((?: [A-Z]+)+)`", " ".join(text.split()))
        self.assertTrue(command)
        for case in cases_of(EXERCISE):
            *words, printed = case.arguments
            self.assertEqual(len(words), len(command[1].split()), case.name)
            self.assertEqual((printed.kind, case.launches), ("printed", 1), case.name)

    def test_there_are_enough_wrong_solutions(self):
        mutants = mutants_of(EXERCISE)
        self.assertGreaterEqual(len(mutants), LEAST_MUTANTS)
        rejected_by = {mutant.fields["Rejected by"] for mutant in mutants}
        self.assertLessEqual(set(EXERCISE.parts), rejected_by)


def file_of(name, text):
    """A file of this text, where it always is: its programs beside it are made again only if they
    must be."""
    folder = BUILD / "own_files" / EXERCISE.name / name
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / EXERCISE.file_name
    file.write_text(text, encoding="utf-8")
    return file


def as_in_a_grade(exercise, cases):
    """ExerciseCases with a size that only a grade counts, for a check."""
    return ExerciseCases(exercise, cases, secret=secret_case(exercise, "other solutions"))


def _numbers(cases):
    """All that the cases' arguments are made of."""
    return [
        [getattr(argument, "content", argument) for argument in case.arguments] for case in cases
    ]

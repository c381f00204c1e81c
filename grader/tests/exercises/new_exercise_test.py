# SPDX-License-Identifier: MIT
"""./lab new exercise: what it makes is judged as it must be, and nothing else changes."""

import shutil
import subprocess
import unittest

from engine.command.build_folder import BuildFolder, settings_of
from engine.command.errors import CommandError
from grader.exercises.catalogue import all_exercises
from grader.exercises.driver_source import driver_source
from grader.judging.check import verdict_on
from grader.judging.compile import ExerciseBuild
from lab_tool.authoring.new_exercise import make_exercise
from lab_tool.authoring.trials import deviation, trials_of
from test_setup import temporary_folder
from this_build import BUILD, ROOT

NAME = "made_by_a_test"


class NewExerciseTest(unittest.TestCase):
    def setUp(self):
        self.root = temporary_folder(self)
        table = self.root / "chapters/meson.build"
        table.parent.mkdir()
        shutil.copyfile(ROOT / "chapters/meson.build", table)

    def files(self):
        return {path for path in self.root.rglob("*") if path.is_file()}

    def test_what_it_makes_is_judged_as_it_must_be(self):
        settings = settings_of(BUILD)
        if not settings.get("scheduled_libraries"):
            self.skipTest("this build has no race checker")
        before = self.files()
        number, made = make_exercise("04", NAME, self.root)
        self.assertEqual(number, "04.1")
        self.assertEqual(self.files() - before, set(made))
        (exercise,) = all_exercises(self.root)
        driver = BUILD / exercise.driver
        self.addCleanup(driver.unlink, missing_ok=True)
        compiled = self.root / "driver.o"
        compiler = settings["compiler"].split("\n")
        command = [*compiler, "-std=c++20", "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'grader'}"]
        source = self.root / "driver.cpp"
        source.write_text(driver_source(exercise.text, "README.md"), encoding="utf-8")
        subprocess.run([*command, "-c", str(source), "-o", str(compiled)], check=True)
        subprocess.run(["ar", "rc", str(driver), str(compiled)], check=True)
        build = ExerciseBuild(BuildFolder(BUILD, {}), settings)
        for trial in trials_of(exercise):
            with self.subTest(trial.name):
                verdict = verdict_on(build, exercise, trial.text)
                self.assertIsNone(deviation(trial, verdict), "\n".join(verdict.lines))

    def test_a_whole_program_is_judged_as_it_must_be(self):
        settings = settings_of(BUILD)
        if not settings.get("scheduled_libraries"):
            self.skipTest("this build has no race checker")
        make_exercise("01", NAME, self.root, kind="program")
        (exercise,) = all_exercises(self.root)
        self.assertTrue(exercise.is_program)
        build = ExerciseBuild(BuildFolder(BUILD, {}), settings)
        for trial in trials_of(exercise):
            with self.subTest(trial.name):
                verdict = verdict_on(build, exercise, trial.text)
                self.assertIsNone(deviation(trial, verdict), "\n".join(verdict.lines))

    def test_an_unknown_kind_is_refused(self):
        with self.assertRaisesRegex(CommandError, "kind is write, repair or program"):
            make_exercise("01", NAME, self.root, kind="programm")

    def test_numbers_go_on(self):
        make_exercise("04", NAME, self.root)
        number, _ = make_exercise("4", "another", self.root)
        self.assertEqual(number, "04.2")
        self.assertEqual([each.facts["number"] for each in all_exercises(self.root)], [1, 2])

    def test_names_that_can_be_none_are_refused(self):
        make_exercise("04", NAME, self.root)
        for name in ("Name", "", "a-b", "1st", "../x", "_x", "int"):
            with (
                self.subTest(name),
                self.assertRaisesRegex(CommandError, "can't be an exercise's name"),
            ):
                make_exercise("04", name, self.root)
        with self.assertRaisesRegex(
            CommandError, "there is an exercise 04.1 made_by_a_test already"
        ):
            make_exercise("05", NAME, self.root)

    def test_a_name_whose_target_the_build_has_is_refused(self):
        table = self.root / "chapters/meson.build"
        text = table.read_text(encoding="utf-8")
        table.write_text(text.replace("'vector_add'", "'a_driver'"), encoding="utf-8")
        with self.assertRaisesRegex(CommandError, "the build has a target a_driver already"):
            make_exercise("04", "a", self.root)

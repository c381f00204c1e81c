# SPDX-License-Identifier: MIT
"""A file that is saved while it is checked: no verdict is about a text that is not there any more."""

import concurrent.futures
import contextlib
import io
import pathlib
import threading
import time
import unittest
from unittest import mock

from engine.command import recipe as single_file
from engine.command.build_folder import BuildFolder, settings_of
from engine.command.drawing import Figure
from engine.command.errors import CommandError
from grader.exercises.catalogue import chosen_exercise
from grader.exercises.work_folder import CHECKED, DONE, WorkFolder
from grader.judging import check as home_check
from grader.judging.compile import SCHEDULED, ExerciseBuilds
from grader.judging.runner import HomeRunner
from grader.judging.verdict import COMPILE_ERROR, FAILED, PASSED, Verdict
from test_setup import temporary_folder
from this_build import BUILD

EXERCISE = chosen_exercise("01.1")
BUILDS = ExerciseBuilds(None, None)


class PictureTest(unittest.TestCase):
    """The picture of a race lies next to the student's file, among files of theirs."""

    def setUp(self):
        self.picture = temporary_folder(self) / "01_saxpy.svg"

    def check(self, drawn):
        verdict = Verdict({"races": FAILED}, ["a race"], status=COMPILE_ERROR, race_picture=drawn)
        with (
            mock.patch.object(home_check, "HomeRunner"),
            mock.patch.object(home_check, "Judge") as judge,
            mock.patch.object(home_check, "cases_of"),
            mock.patch.object(home_check, "ExerciseCases"),
        ):
            judge.return_value.verdict.return_value = verdict
            return home_check.check(None, EXERCISE, pathlib.Path("01_saxpy.cu"), self.picture)

    def test_it_replaces_and_removes_that_of_an_earlier_check(self):
        drawn = Figure(100, "title", "description").svg()
        for _ in range(2):
            self.assertEqual(self.check(drawn).picture, self.picture)
            self.assertEqual(self.picture.read_text(encoding="utf-8"), drawn)
        self.check("")
        self.assertFalse(self.picture.exists())

    def test_it_neither_replaces_nor_removes_a_picture_of_the_students(self):
        self.picture.write_text("<svg>mine</svg>", encoding="utf-8")
        for drawn in ("", "<svg/>"):
            verdict = self.check(drawn)
            self.assertIsNone(verdict.picture)
            self.assertEqual(self.picture.read_text(encoding="utf-8"), "<svg>mine</svg>")
        self.assertRegex(verdict.lines[-1], "01_saxpy.svg: a file of another kind is there")


class SavedMeanwhileTest(unittest.TestCase):
    def setUp(self):
        self.work = WorkFolder(temporary_folder(self))
        self.file = self.work.file_of(EXERCISE)

    def checked(self, saves):
        """The Verdict if the file has these texts, one after the other, at each check."""
        texts = iter(saves)
        self.file.write_text(next(texts), encoding="utf-8")

        def check(build, exercise, source, *_):
            is_right = source.read_text(encoding="utf-8") == "right"
            with contextlib.suppress(StopIteration):
                source.write_text(next(texts), encoding="utf-8")
            return Verdict({"results": PASSED if is_right else FAILED}, [])

        with mock.patch.object(home_check, "check", check):
            return home_check.checked(BUILDS, EXERCISE, self.file, self.work)

    def test_a_right_text_that_is_gone_does_not_count(self):
        self.assertFalse(self.checked(["right", "wrong"]).is_solved)
        self.assertEqual(self.work.state(EXERCISE), CHECKED)

    def test_a_wrong_text_that_is_gone_does_not_count(self):
        self.assertTrue(self.checked(["wrong", "right"]).is_solved)
        self.assertEqual(self.work.state(EXERCISE), DONE)

    def test_a_file_that_never_rests(self):
        with self.assertRaisesRegex(CommandError, "changes all the time"):
            self.checked([str(number) for number in range(100)])


class CompiledOnceTest(unittest.TestCase):
    """Runs of a schedule each ask for their program at the same moment."""

    def test_all_that_ask_at_once_get_the_form_that_they_ask_for(self):
        build = mock.Mock(can_observe=True, settings={"backend": "cpu"})
        runs = 20
        all_are_there = threading.Barrier(runs)
        begun = []

        def submit(put, ended, form, *_):
            begun.append(form)
            time.sleep(0.01)  # as the first of them does while it starts its thread
            put(ended, form, lambda: form)

        with (
            HomeRunner(build, EXERCISE, None) as runner,
            mock.patch.object(runner, "pool", mock.Mock(submit=submit)),
        ):

            def ask(_):
                all_are_there.wait()
                return runner.compiled(SCHEDULED)

            with concurrent.futures.ThreadPoolExecutor(runs) as pool:
                self.assertEqual(list(pool.map(ask, range(runs))), [SCHEDULED] * runs)
        self.assertEqual(len(begun), 2)


class CompiledMeanwhileTest(unittest.TestCase):
    def setUp(self):
        folder = temporary_folder(self)
        self.source = folder / "saved.cu"
        self.save(0)
        self.recipe = single_file.Recipe(
            BuildFolder(BUILD, {}),
            settings_of(BUILD),
            [str(self.source)],
            single_file.CONCURRENT,
            files=folder,
        )

    def save(self, result):
        self.source.write_text(f"int main() {{ return {result}; }}\n", encoding="utf-8")

    def test_a_program_of_an_older_text_is_not_current(self):
        def watch(step, read_line):
            code = real_watch(step, read_line)
            self.save(1)
            return code

        real_watch = single_file.watch
        with contextlib.redirect_stderr(io.StringIO()):
            self.recipe.compile()
            self.assertTrue(self.recipe.is_current())
            self.save(2)
            with mock.patch.object(single_file, "watch", watch):
                self.recipe.compile()
        self.assertFalse(self.recipe.is_current())

    def test_two_at_once_compile_it_once(self):
        steps = []

        def watch(step, read_line):
            steps.append(step)
            return real_watch(step, read_line)

        real_watch = single_file.watch
        with mock.patch.object(single_file, "watch", watch):
            both = [threading.Thread(target=self.recipe.compile) for _ in range(2)]
            for one in both:
                one.start()
            for one in both:
                one.join()
        self.assertTrue(self.recipe.is_current())
        self.assertEqual(len(steps), len(self.recipe._steps()))

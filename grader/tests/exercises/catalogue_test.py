# SPDX-License-Identifier: MIT
"""The course's exercises, and the few that the grader's tests have in their place."""

import os
import unittest
from unittest import mock

from other_right_solutions import STYLES

from engine.command.errors import CommandError
from grader.exercises.catalogue import all_exercises, chosen_exercise
from this_build import ROOT


class CatalogueTest(unittest.TestCase):
    def test_there_are_twenty_eight_in_order(self):
        numbers = [each.number for each in all_exercises()]
        self.assertEqual(len(numbers), 28)
        self.assertEqual(numbers, sorted(set(numbers)))
        self.assertLessEqual({number for number, *_ in STYLES}, set(numbers))

    def test_each_builds_on_chapters_and_exercises_that_are_there(self):
        for exercise in all_exercises():
            for name in exercise.facts["builds_on"]:
                if not (ROOT / "chapters" / name).is_dir():
                    self.assertEqual(chosen_exercise(name).number, name, exercise.title)

    def test_a_chapter_is_no_exercise(self):
        for wanted, says in [
            ("01", "01 is a chapter, and its exercises are 01.1, 01.2, 01.3, 01.4 and 01.5."),
            ("4", "4 is a chapter, and its exercises are 04.1, 04.2 and 04.3."),
        ]:
            with self.subTest(wanted), self.assertRaises(CommandError) as refusal:
                chosen_exercise(wanted)
            self.assertEqual(str(refusal.exception), says)

    def test_samples_take_the_place_of_the_courses(self):
        samples = ROOT / "grader/tests/samples"
        with mock.patch.dict(os.environ, LAB_SAMPLE_EXERCISES=str(samples)):
            found = all_exercises()
            self.assertEqual(chosen_exercise("saxpy"), found[0])
        self.assertTrue(all(samples in each.folder.parents for each in found))
        numbers = [each.number for each in found]
        self.assertEqual(numbers, ["01.1", "01.5", "02.1", "03.2", "04.1", "04.2"])
        of_course = {each.title for each in all_exercises()}
        self.assertLessEqual({each.title for each in found}, of_course)

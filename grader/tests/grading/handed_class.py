# SPDX-License-Identifier: MIT
"""What the tests of submissions share: a folder for a class, and what is found in it."""

import os
import unittest

from grader.exercises.catalogue import chosen_exercise
from grader.submissions.submissions import submissions_of
from test_setup import temporary_folder

EXERCISES = [chosen_exercise("01.1"), chosen_exercise("04.2")]
SAXPY, BIN = (exercise.file_name for exercise in EXERCISES)


class HandedClass(unittest.TestCase):
    """Hands in files, and finds the students in them."""

    def setUp(self):
        self.folder = temporary_folder(self)

    def write(self, path, text="text", when=None):
        file = self.folder / "class" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        if when:
            os.utime(file, (when, when))
        return file

    def found_students(self, place="class", **options):
        return submissions_of(self.folder / place, EXERCISES, **options)

    def students(self, **options):
        return {student.name: student for student in self.found_students(**options).students}

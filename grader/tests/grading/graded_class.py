# SPDX-License-Identifier: MIT
"""What the tests of whole grading runs share: a class that hands in, and `lab grade` in this process."""

import contextlib
import io
import json
import unittest

from grader.exercises.catalogue import chosen_exercise
from lab_tool.command_line import main
from test_setup import temporary_folder
from this_build import BUILD

NUMBER = "01.1"
FILE = chosen_exercise(NUMBER).file_name


def grade(place, output, *options, number=NUMBER):
    """(exit code, what was printed) of lab grade in this process."""
    words = [
        "grade",
        str(place),
        "--exercises",
        number,
        "--output",
        str(output),
        "--build",
        str(BUILD),
    ]
    text = io.StringIO()
    with contextlib.redirect_stdout(text), contextlib.redirect_stderr(text):
        code = main([*words, *options])
    return code, text.getvalue()


def of_student(output, name):
    marks = json.loads((output / "results.json").read_text(encoding="utf-8"))
    return next(student for student in marks["students"] if student["student"] == name)


class GradedClass(unittest.TestCase):
    """Hands in files for one exercise."""

    def setUp(self):
        self.folder = temporary_folder(self).resolve()
        self.place = self.folder / "class"

    def hand_in(self, **texts):
        for name, text in texts.items():
            (self.place / name).mkdir(parents=True)
            (self.place / name / FILE).write_text(text, encoding="utf-8")

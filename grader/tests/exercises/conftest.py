# SPDX-License-Identifier: MIT
"""Fixtures of the tests of exercises."""

import json

import pytest

from lab_runs import lab
from this_build import BUILD


class Student:
    """A student's folder of work, in which nothing is begun yet, and lab's commands about it."""

    def __init__(self, work, exercise):
        self.work, self.exercise = work, exercise
        self.file = work / exercise.file_name

    def lab(self, verb, *words):
        return lab(verb, *words, "--work", str(self.work))

    def check(self, *words):
        if json.loads((BUILD / "single_file.json").read_text("utf-8"))["backend"] != "cpu":
            pytest.skip("the CPU backend judges")
        return self.lab("check", *words, "--build", str(BUILD))

    def check_of(self, text, *words):
        """A check of the exercise, after the student has written this text."""
        self.file.write_text(text, encoding="utf-8")
        return self.check(self.exercise.number, *words)

    def said_of(self, text, *words):
        """What such a check prints, as one line."""
        return " ".join(self.check_of(text, *words).stdout.split())


@pytest.fixture
def student(tmp_path, request):
    """A student who does the EXERCISE of the test's file."""
    return Student(tmp_path, request.module.EXERCISE)

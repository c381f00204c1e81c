# SPDX-License-Identifier: MIT
"""What the tests of grading share: this build, its sandboxes, the cases of exercises, texts to judge, and
classes that hand in."""

import contextlib
import functools
import io
import json
import os
import pathlib
import tempfile

import pytest

from engine.command.build_folder import BuildFolder, settings_of
from grader.exercises.catalogue import chosen_exercise
from grader.judging.compile import ExerciseBuild, ExerciseBuilds
from grader.judging.submission import judge
from grader.sandbox.sandbox import BUBBLEWRAP, LANDLOCK, Sandbox, works
from grader.submissions.grading_run import Tools, measured_cases
from grader.submissions.submissions import submissions_of
from lab_tool.authoring.trials import solution
from lab_tool.command_line import main
from this_build import BUILD

SEED = "a-seed-of-the-tests"
BUILDS = ExerciseBuilds(ExerciseBuild(BuildFolder(BUILD, {}), settings_of(BUILD)), None)
CAN_GRADE = BUILDS.cpu.settings["backend"] == "cpu" and BUILDS.cpu.can_observe


@functools.lru_cache(None)
def real_sandboxes():
    """The kinds of sandbox that work here."""
    return [kind for kind in (BUBBLEWRAP, LANDLOCK) if works(kind)]


can_grade = pytest.mark.skipif(
    not (CAN_GRADE and real_sandboxes()), reason="grading takes the race checker and a sandbox"
)
EXERCISES = [chosen_exercise("01.1"), chosen_exercise("04.2")]
SAXPY, BIN = (exercise.file_name for exercise in EXERCISES)


class _Seed:
    seed = SEED


@functools.lru_cache(None)
def cases_with_work(number, seed=SEED):
    tools = Tools(Sandbox(real_sandboxes()[0]), BUILDS)
    of_seed = _Seed()
    of_seed.seed = seed
    return measured_cases(tools, of_seed, [chosen_exercise(number)])[number]


def judged(number, text, kind=None):
    """The Judgement on a text, in this kind of sandbox or in the strongest."""
    with written(number, text) as file:
        return judge(Sandbox(kind or real_sandboxes()[0]), BUILDS, cases_with_work(number), file)


@contextlib.contextmanager
def written(number, text):
    """The text in a file of the name that a student's has."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder).resolve() / chosen_exercise(number).file_name
        file.write_text(text, encoding="utf-8")
        yield file


def solution_text(number):
    return solution(chosen_exercise(number))


def words_of(judgement):
    """All that a judgement says, in one text."""
    lines = []
    for part in judgement.parts:
        lines += part["lines"]
        for case in part["cases"]:
            lines += case["lines"]
    return "\n".join(lines)


class Handed:
    """A folder for a class, and what is found in it."""

    def __init__(self, folder):
        self.folder = folder

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


class Graded:
    """A class that hands in files for 01.1, and `lab grade` in this process."""

    def __init__(self, folder):
        self.folder = folder.resolve()
        self.place = self.folder / "class"
        self.output = self.folder / "output"

    def hand_in(self, **texts):
        for name, text in texts.items():
            (self.place / name).mkdir(parents=True)
            (self.place / name / SAXPY).write_text(text, encoding="utf-8")


def grade(place, output, *options, number="01.1"):
    """(exit code, what was printed) of lab grade in this process."""
    words = ["grade", str(place), "--exercises", number, "--output", str(output)]
    text = io.StringIO()
    with contextlib.redirect_stdout(text), contextlib.redirect_stderr(text):
        code = main([*words, "--build", str(BUILD), *options])
    return code, text.getvalue()


def of_student(output, name):
    marks = json.loads((output / "results.json").read_text(encoding="utf-8"))
    return next(student for student in marks["students"] if student["student"] == name)

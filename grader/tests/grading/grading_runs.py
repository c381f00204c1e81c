# SPDX-License-Identifier: MIT
"""What the tests of grading share: this build, its sandboxes, the cases of exercises, and texts to judge."""

import contextlib
import functools
import pathlib
import tempfile

from engine.command.build_folder import BuildFolder, settings_of
from grader.exercises.catalogue import chosen_exercise
from grader.judging.compile import ExerciseBuild, ExerciseBuilds
from grader.judging.submission import judge
from grader.sandbox.sandbox import BUBBLEWRAP, LANDLOCK, Sandbox, works
from grader.submissions.grading_run import Tools, measured_cases
from lab_tool.authoring.trials import solution
from this_build import BUILD

SEED = "a-seed-of-the-tests"
BUILDS = ExerciseBuilds(ExerciseBuild(BuildFolder(BUILD, {}), settings_of(BUILD)), None)
CAN_GRADE = BUILDS.cpu.settings["backend"] == "cpu" and BUILDS.cpu.can_observe


@functools.lru_cache(None)
def real_sandboxes():
    """The kinds of sandbox that work here."""
    return [kind for kind in (BUBBLEWRAP, LANDLOCK) if works(kind)]


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

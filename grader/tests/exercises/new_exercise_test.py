# SPDX-License-Identifier: MIT
"""./lab new exercise: what it makes is judged as it must be, and nothing else changes."""

import shutil
import subprocess

import pytest

from engine.command.build_folder import BuildFolder, settings_of
from engine.command.errors import CommandError
from grader.exercises.catalogue import all_exercises
from grader.exercises.driver_source import driver_source
from grader.judging.check import verdict_on
from grader.judging.compile import ExerciseBuild
from lab_tool.authoring.new_exercise import make_exercise
from lab_tool.authoring.trials import deviation, trials_of
from this_build import BUILD, ROOT

NAME = "made_by_a_test"


@pytest.fixture
def root(tmp_path):
    table = tmp_path / "chapters/meson.build"
    table.parent.mkdir()
    shutil.copyfile(ROOT / "chapters/meson.build", table)
    return tmp_path


def files_of(root):
    return {path for path in root.rglob("*") if path.is_file()}


@pytest.fixture
def build():
    if not settings_of(BUILD).get("scheduled_libraries"):
        pytest.skip("this build has no race checker")
    return ExerciseBuild(BuildFolder(BUILD, {}), settings_of(BUILD))


def are_judged_as_they_must_be(build, exercise):
    for trial in trials_of(exercise):
        verdict = verdict_on(build, exercise, trial.text)
        assert deviation(trial, verdict) is None, "\n".join([trial.name, *verdict.lines])


def test_what_it_makes_is_judged_as_it_must_be(root, build, request):
    before = files_of(root)
    number, made = make_exercise("04", NAME, root)
    assert number == "04.1"
    assert files_of(root) - before == set(made)
    (exercise,) = all_exercises(root)
    driver = BUILD / exercise.driver
    request.addfinalizer(lambda: driver.unlink(missing_ok=True))
    compiled = root / "driver.o"
    compiler = build.settings["compiler"].split("\n")
    command = [*compiler, "-std=c++20", "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'grader'}"]
    source = root / "driver.cpp"
    source.write_text(driver_source(exercise.text, "README.md"), encoding="utf-8")
    subprocess.run([*command, "-c", str(source), "-o", str(compiled)], check=True)
    subprocess.run(["ar", "rc", str(driver), str(compiled)], check=True)
    are_judged_as_they_must_be(build, exercise)


def test_a_whole_program_is_judged_as_it_must_be(root, build):
    make_exercise("01", NAME, root, kind="program")
    (exercise,) = all_exercises(root)
    assert exercise.is_program
    are_judged_as_they_must_be(build, exercise)


def test_an_unknown_kind_is_refused(root):
    with pytest.raises(CommandError, match="kind is write, repair or program"):
        make_exercise("01", NAME, root, kind="programm")


def test_numbers_go_on(root):
    make_exercise("04", NAME, root)
    number, _ = make_exercise("4", "another", root)
    assert number == "04.2"
    assert [each.facts["number"] for each in all_exercises(root)] == [1, 2]


@pytest.mark.parametrize("name", ("Name", "", "a-b", "1st", "../x", "_x", "int"))
def test_names_that_can_be_none_are_refused(root, name):
    make_exercise("04", NAME, root)
    with pytest.raises(CommandError, match="can't be an exercise's name"):
        make_exercise("04", name, root)


def test_a_name_that_is_taken_is_refused(root):
    make_exercise("04", NAME, root)
    with pytest.raises(CommandError, match=r"there is an exercise 04\.1 made_by_a_test already"):
        make_exercise("05", NAME, root)


def test_a_name_whose_target_the_build_has_is_refused(root):
    table = root / "chapters/meson.build"
    text = table.read_text(encoding="utf-8")
    table.write_text(text.replace("'vector_add'", "'a_driver'"), encoding="utf-8")
    with pytest.raises(CommandError, match="the build has a target a_driver already"):
        make_exercise("04", "a", root)

# SPDX-License-Identifier: MIT
"""One exercise, named by EXERCISE: its starter fails as it must, its solution is right and free of
races, so are solutions in other styles, and each of its wrong solutions is rejected by what it names."""

import contextlib
import functools
import os
import pathlib
import re
import shutil
from typing import NamedTuple
from unittest import mock

import pytest
from other_right_solutions import STYLES

from engine.command.build_folder import BuildFolder, settings_of
from grader.exercises.catalogue import DRIVER, KINDS, chosen_exercise
from grader.exercises.driver_source import driver_source
from grader.exercises.limits import CALLS_OF, COUNTS, PER
from grader.exercises.solutions import solution_lines, starter
from grader.judging.check import check, verdict_on
from grader.judging.compile import ExerciseBuild
from grader.judging.judge import CaseRuns, ExerciseCases
from grader.judging.limits import NOT_KEPT, objections_at_secret_size
from grader.judging.races import MOST_RUNS
from grader.judging.results import NO_DEVICE, cases_of, secret_case
from grader.judging.runner import LocalRunner
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
TRIALS = trials_of(EXERCISE)
IS_CPU = EXERCISE_BUILD.settings["backend"] == "cpu"


def is_judged(trial):
    """Whether something here sees what rejects it."""
    needed = (trial.part or "").split(OR)[-1]
    if not EXERCISE_BUILD.can_observe and needed in ("races", "limits"):
        return False
    return trial.name in OWN or not IS_BRIEF


JUDGED = [trial for trial in TRIALS if is_judged(trial)]
LEAST_MUTANTS = 5
SECRET_SIZES = 6
# Whether all executions of one case are run, since threads hand something over. The kernels of 03 have one
# execution, blocks of 06 cancel others, which is not explored, and 02.2 takes whole warps.
HANDS_OVER = EXERCISE.chapter[:2] in ("02", "04", "05", "07", "08") and EXERCISE.number != "02.2"
MOST_RUNS_OF_A_STYLE = MOST_RUNS // 2
COMMON_LINE = re.compile(r"[\s{};()]*|__syncthreads\(\);|return;|\} else \{")


class Tried(NamedTuple):
    """One of the exercise's own files, with its programs beside it: it is compiled once for all tests."""

    build: ExerciseBuild
    file: pathlib.Path
    verdict: Verdict


@functools.cache
def tried(trial):
    file = file_of(trial.name, trial.text)
    is_seen = trial.name in OWN or trial.part not in ("results", "compiling")
    build = EXERCISE_BUILD if is_seen else RESULTS_ALONE
    build = build._replace(files=file.parent / "programs")
    verdict = check(build, EXERCISE, file)
    if verdict.warnings:  # which are told only of what is compiled anew
        shutil.rmtree(build.files)
    return Tried(build, file, verdict)


@contextlib.contextmanager
def runs_of(trial, cases):
    build, file, _ = tried(trial)
    with LocalRunner(build, EXERCISE, file) as runner:
        yield CaseRuns(ExerciseCases(EXERCISE, cases), runner)


ON_CPU = pytest.mark.skipif(not IS_CPU, reason="the CPU backend judges")
WITH_RACE_CHECKER = pytest.mark.skipif(
    not IS_CPU or not EXERCISE_BUILD.can_observe, reason="this build has no race checker"
)
IN_FULL = pytest.mark.skipif(IS_BRIEF, reason="these tests are about other things")


@pytest.mark.skipif(IS_CPU, reason="this is about the cuda backend")
def test_the_solution_is_right_on_a_gpu():
    verdict = verdict_on(EXERCISE_BUILD, EXERCISE, solution(EXERCISE))
    if NO_DEVICE in "\n".join(verdict.lines):
        pytest.skip(NO_DEVICE)
    assert verdict.parts["results"] == "passed", verdict.lines
    assert verdict.warnings == ()


@ON_CPU
@pytest.mark.parametrize("trial", JUDGED, ids=lambda trial: trial.name)
def test_starter_solution_and_wrong_solutions_are_judged_as_they_must_be(trial):
    verdict = tried(trial).verdict
    if EXERCISE_BUILD.can_observe or trial.part:
        assert deviation(trial, verdict) is None, "\n".join(verdict.lines)
    else:
        assert verdict.parts["results"] == "passed", verdict.lines
    if trial.name in OWN:
        assert (verdict.warnings, verdict.refusals) == ((), ())
    if trial.name == "solution" and EXERCISE_BUILD.can_observe:
        small = any(case.every_execution for case in cases_of(EXERCISE))
        assert verdict.proved_for.startswith("proved for ") == small


@WITH_RACE_CHECKER
def test_the_solution_is_free_of_races():
    cases = [case for case in cases_of(EXERCISE) if case.races]
    assert cases
    own = next(trial for trial in TRIALS if trial.name == "solution")
    with runs_of(own, cases) as runs:
        found = runs.found_races(cases, SCHEDULES)
    assert found.is_free, (found.findings, found.problem)


@WITH_RACE_CHECKER
@IN_FULL
@pytest.mark.parametrize(
    "trial",
    [trial for trial in TRIALS if trial.part in (None, "limits")],
    ids=lambda trial: trial.name,
)
def test_limits_hold_at_every_size_that_a_grade_may_draw(trial):
    """The solution keeps them there, and what the limits reject is rejected there as well."""
    with runs_of(trial, cases_of(EXERCISE)) as runs:
        for seed in range(2 if trial.part else SECRET_SIZES):
            secret = secret_case(EXERCISE, seed)
            lines = objections_at_secret_size(runs, secret)
            if trial.part:
                assert NOT_KEPT in lines, secret.case.name
            else:
                assert lines == [], secret.case.name


@WITH_RACE_CHECKER
@IN_FULL
@pytest.mark.parametrize(
    "place, changes",
    [
        pytest.param(place, changes, id=style)
        for place, (number, style, changes) in enumerate(STYLES)
        if number == EXERCISE.number
    ],
)
def test_right_solutions_in_other_styles_are_solved(place, changes):
    text = solution(EXERCISE)
    for ours, theirs in changes:
        assert text.count(ours) == 1, ours
        text = text.replace(ours, theirs)
    file = file_of(f"style_{place}", text)
    build = EXERCISE_BUILD._replace(files=file.parent / "programs")
    with (
        mock.patch("grader.judging.check.ExerciseCases", as_in_a_grade),
        mock.patch("grader.judging.races.MOST_RUNS", MOST_RUNS_OF_A_STYLE),
    ):
        verdict = check(build, EXERCISE, file)
    assert verdict.is_solved, "\n".join([*verdict.lines, *verdict.remedy])


def test_the_facts_are_complete():
    facts = EXERCISE.facts
    assert facts["kind"] in KINDS
    assert 10 <= facts["minutes"] <= 45
    assert "results" in facts["points"]
    assert all(isinstance(points, int) for points in facts["points"].values())
    assert 10 <= sum(facts["points"].values()) <= 12
    assert EXERCISE.limits, "how much a thread may do is limited, with or without points"
    assert missing_mutants(EXERCISE) == []
    for limit in EXERCISE.limits:
        if not (EXERCISE.is_program and CALLS_OF.fullmatch(limit["count"])):
            assert limit["count"] in COUNTS
        assert limit["per"] in PER
        assert ("at_most" in limit) + ("at_least" in limit) == 1
        assert re.search(r"[.?]$", limit["advice"])


def test_the_cases_are_as_check_needs_them():
    cases = cases_of(EXERCISE)
    assert len({case.name for case in cases}) == len(cases)
    assert sum(case.counted for case in cases) == (1 if EXERCISE.limits else 0)
    assert 6 <= len(cases) <= 20
    assert sum(case.every_execution for case in cases) == HANDS_OVER
    if EXERCISE.is_program:  # each schedule is a process
        assert sum(case.races for case in cases) == 1
    numbers = _numbers(cases)
    assert _numbers(cases_of(EXERCISE)) == numbers, "a seed draws other numbers again"
    drawn = cases_of(EXERCISE, seed=2)
    assert [case.name for case in drawn] == [case.name for case in cases]
    assert _numbers(drawn) != numbers, "another seed draws the same numbers"


def test_the_size_that_is_counted_in_a_grade_is_another_one():
    if not EXERCISE.limits:
        pytest.skip("nothing is counted")
    names = [secret_case(EXERCISE, seed).case.name for seed in range(20)]
    assert len(set(names)) > 3
    assert secret_case(EXERCISE, 3).case.name == names[3]
    counted = next(case.name for case in cases_of(EXERCISE) if case.counted)
    assert names.count(counted) < 2


def test_no_line_of_the_solution_is_where_a_student_may_read():
    text = EXERCISE.source.read_text(encoding="utf-8")
    secret = [line.strip() for line in solution_lines(text)]
    secret = [line for line in secret if not COMMON_LINE.fullmatch(line)]
    # A repair may be a barrier alone, which is no secret: then it is its place that counts.
    assert secret or starter(EXERCISE) != solution(EXERCISE)
    given = [starter(EXERCISE), *EXERCISE.hints]
    given.append((EXERCISE.folder / "README.md").read_text(encoding="utf-8"))
    for line in secret:
        for other in given:
            assert line not in (each.strip() for each in other.splitlines())


def test_the_starter_says_what_to_do():
    assert "TODO" in starter(EXERCISE)


def test_the_text_has_the_number_and_the_signature():
    text = (EXERCISE.folder / "README.md").read_text(encoding="utf-8")
    assert re.search(rf"(?m)^# {re.escape(EXERCISE.title)}: ", text)
    if EXERCISE.is_program:
        _has_command_line(text)
        return
    own = EXERCISE.folder / DRIVER
    driver = own.read_text("utf-8") if own.is_file() else driver_source(text, "README.md")
    declarations = re.findall(r"^void (\w+\([^;]*\));", driver, re.MULTILINE)
    assert declarations
    flat = " ".join(text.split())
    for declaration in declarations:
        assert " ".join(declaration.split()) in flat


def _has_command_line(text):
    """As in `whole_program COUNT FIRST STEP`, with a word for each number of a case."""
    command = re.search(rf"`{EXERCISE.name}((?: [A-Z]+)+)`", " ".join(text.split()))
    assert command
    for case in cases_of(EXERCISE):
        *words, printed = case.arguments
        assert len(words) == len(command[1].split()), case.name
        assert (printed.kind, case.launches) == ("printed", 1), case.name


def test_there_are_enough_wrong_solutions():
    assert JUDGED
    mutants = mutants_of(EXERCISE)
    assert len(mutants) >= LEAST_MUTANTS
    rejected_by = {mutant.fields["Rejected by"] for mutant in mutants}
    assert set(EXERCISE.parts) <= rejected_by


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

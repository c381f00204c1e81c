# SPDX-License-Identifier: MIT
"""A grading run: its folder and seed, what ends it, one student again, and how long a class takes."""

import argparse
import contextlib
import csv
import io
import json
import os
import pathlib
import re
import resource
import tempfile
import types
from unittest import mock

import pytest
from grading_runs import (
    BUILDS,
    SAXPY,
    SEED,
    Graded,
    can_grade,
    cases_with_work,
    grade,
    of_student,
    real_sandboxes,
    solution_text,
    words_of,
    written,
)

from engine.command.build_folder import BuildFolder
from engine.command.errors import CommandError
from grader.exercises.catalogue import chosen_exercise
from grader.judging.submission import INTERNAL, judge
from grader.sandbox.sandbox import Sandbox
from grader.sandbox.sandboxed_run import SandboxedRun
from grader.submissions import grading_run
from grader.submissions.grading_run import Tools, at_once, judge_unit, measured_cases
from grader.submissions.run_folder import course_digest, opened_run
from grader.submissions.times_ahead import main, sample_of
from lab_tool.authoring.trials import trials_of
from lab_tool.builds import program_builds

CONDITIONS = ("none", "cpu")


class Seed:
    def __init__(self, folder):
        self.folder = folder / "output"

    def opened(self, seed=None):
        return opened_run(self.folder, seed, CONDITIONS)


@pytest.fixture
def seed(tmp_path):
    return Seed(tmp_path)


def test_a_disk_that_is_full_leaves_no_seed_that_could_be_guessed(seed):
    most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, most[1]))  # no file can be written
    try:
        with pytest.raises(CommandError, match="seed can't be written: File too large"):
            seed.opened()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, most)
    run = seed.opened()
    assert re.search("^[0-9a-f]{32}$", run.seed)
    assert seed.opened().seed == run.seed
    assert (seed.folder / "seed").stat().st_mode & 0o777 == 0o600


def test_what_a_killed_call_has_left_is_no_seed(seed):
    seed.folder.mkdir()
    (seed.folder / "seedabc123").write_text("", encoding="utf-8")
    assert re.search("^[0-9a-f]{32}$", seed.opened().seed)


def test_a_file_without_a_seed_is_refused(seed):
    seed.folder.mkdir()
    for content in (b"", b"\n", b"a b\n", b"\xff\n", b"x" * 65):
        (seed.folder / "seed").write_bytes(content)
        with pytest.raises(CommandError, match=r"no seed|can't be read"):
            seed.opened()


def test_another_persons_folder_stays_as_it_is(seed):
    seed.folder.mkdir(mode=0o755)
    seed.folder.chmod(0o755)
    (seed.folder / "thesis.tex").touch()
    with pytest.raises(CommandError, match="is not empty"):
        seed.opened()
    assert seed.folder.stat().st_mode & 0o777 == 0o755


def test_it_changes_with_the_files_that_judge_and_that_are_compiled():
    names = ("common/a.hpp", "lab_tool/b.py", "chapters/01/c.cuh", "chapters/01/README.md")
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name in names:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text("before", encoding="utf-8")
        seen = [course_digest(root)]
        for name in names:
            (root / name).write_text("after", encoding="utf-8")
            course_digest.cache_clear()  # a run reads them once
            seen.append(course_digest(root))
    assert [a != b for a, b in zip(seen, seen[1:])] == [True, True, True, False]


NO_DEVICE = SandboxedRun(77, None, None, "")


class PlayedGpu(Sandbox):
    """Programs for a GPU run on the CPU backend; the first of them end as if there were none."""

    def __init__(self, absent):
        super().__init__(real_sandboxes()[0])
        self.absent = absent  # in so many runs

    def run(self, command, access, environment=None, limits=None, given=None):
        if access.gpu and self.absent > 0:
            self.absent -= 1
            return NO_DEVICE
        return super().run(command, access._replace(gpu=False), environment, limits, given)


def test_no_more_are_judged_at_once_than_keep_their_time():
    with (
        mock.patch.object(os, "sched_getaffinity", lambda _: {0, 1}),
        contextlib.redirect_stderr(io.StringIO()) as said,
    ):
        assert at_once(8) == 8
        assert said.getvalue() == ""
        assert at_once(1024) == 8
    assert "--jobs 1024: 8 are judged at once, 4 per processor." in said.getvalue()


def test_each_solution_is_named_before_it_runs():
    begun, exercise = [], chosen_exercise("01.1")
    run = types.SimpleNamespace(seed=None)
    tools = Tools(None, types.SimpleNamespace(cpu=None, gpu=None, nvcc=None))
    with (
        mock.patch.object(grading_run, "exercise_cases"),
        mock.patch.object(grading_run, "solution_work", side_effect=CommandError("begun")),
        pytest.raises(CommandError, match="begun"),
    ):
        measured_cases(tools, run, [exercise], lambda each: begun.append(each.title))
    assert begun == ["01.1 saxpy"]


@can_grade
def test_what_a_full_disk_has_broken_is_judged_again():
    """A compiler that can't write its output fails as it does over a mistake of the student's."""
    cases, kept = cases_with_work("01.1"), []
    with (
        written("01.1", solution_text("01.1")) as file,
        contextlib.redirect_stderr(io.StringIO()),
    ):
        run = types.SimpleNamespace(source_of=lambda _: file, keep=lambda *of: kept.append(of))
        unit = types.SimpleNamespace(exercise=chosen_exercise("01.1"))
        tools = Tools(Sandbox(real_sandboxes()[0]), BUILDS)
        with mock.patch("grader.sandbox.sandbox.free_bytes", lambda _: 4096):
            found = judge_unit(tools, run, cases, unit)
        assert (found.status, kept) == (INTERNAL, [])
        assert judge_unit(tools, run, cases, unit).status == "OK"
        assert len(kept) == 1


def test_on_a_gpu_the_folder_that_was_asked_for_is_still_known():
    arguments = argparse.Namespace(backend="cuda", build="build-mine", verbose=False)
    places = []

    def place(asked):
        places.append((asked.backend, asked.build))
        return BuildFolder(pathlib.Path(asked.build or "build-cpu"), {})

    with (
        mock.patch.object(program_builds, "configured", place),
        mock.patch.object(program_builds, "settings_of", lambda _: {"backend": "cuda"}),
        mock.patch.object(program_builds, "exercise_build", lambda folder, _: folder),
    ):
        builds = program_builds.exercise_builds(arguments, [])
    assert places == [("cuda", "build-mine"), ("cpu", None)]
    assert str(builds.gpu.folder) == "build-mine"
    assert (arguments.backend, arguments.build) == ("cuda", "build-mine")


WITH_GPU = BUILDS._replace(gpu=BUILDS.cpu)


@can_grade
def test_without_a_gpu_nothing_begins():
    class Run:
        seed = "any"

    with pytest.raises(CommandError, match="--backend cuda: There is no GPU"):
        measured_cases(Tools(PlayedGpu(9), WITH_GPU), Run, [chosen_exercise("01.1")])


@can_grade
def test_a_submission_that_ends_as_if_there_were_none_is_its_own_fault():
    with written("01.1", solution_text("01.1")) as file:
        found = judge(PlayedGpu(1), WITH_GPU, cases_with_work("01.1"), file)
        assert found.status == "RE", words_of(found)
        assert "The program ended with 77." in words_of(found)
        failed = [row["name"] for row in found.parts[0]["cases"] if not row["passed"]]
        assert len(failed) == 1, failed


@can_grade
def test_a_gpu_that_goes_away_ends_the_run():
    with (
        written("01.1", solution_text("01.1")) as file,
        pytest.raises(CommandError, match="--backend cuda: There is no GPU"),
    ):
        judge(PlayedGpu(9), WITH_GPU, cases_with_work("01.1"), file)


TABLES = ("results.json", "grades.csv", "junit.xml", "summary.html", "timings.json")


class GradeAgain(Graded):
    def __init__(self, folder):
        super().__init__(folder)
        self.output = self.folder / "output"
        self.right = solution_text("01.1")
        self.starter = trials_of(chosen_exercise("01.1"))[0].text

    def graded(self, *options, code=0, place=None):
        found, said = grade(place or self.place, self.output, "--seed", SEED, *options)
        assert found == code, said
        return said

    def files(self):
        """{its path in the output folder: its bytes} of all but the times and what is judged."""
        return {
            path.relative_to(self.output).as_posix(): path.read_bytes()
            for path in sorted(self.output.rglob("*"))
            if path.is_file() and path.parent.name != "judged"
        }

    def refused(self, options, said):
        before = self.files()
        text = self.graded(*options, code=2)
        assert said in text
        assert len(text.strip().splitlines()) == 1, text
        assert self.files() == before


@pytest.fixture
def grade_again(tmp_path):
    return GradeAgain(tmp_path)


@can_grade
def test_only_this_student_is_judged_and_only_their_row_changes(grade_again):
    grade_again.hand_in(ann=grade_again.right, bob=grade_again.starter, cy=grade_again.right)
    grade_again.graded()
    before = grade_again.files()
    (grade_again.place / "bob" / SAXPY).write_text(
        f"{grade_again.right}// at last\n", encoding="utf-8"
    )
    (grade_again.place / "cy" / SAXPY).write_text("now broken\n", encoding="utf-8")
    with mock.patch.object(grading_run, "judge", wraps=grading_run.judge) as judged:
        said = grade_again.graded("--student", "bob")
    assert judged.call_count == 1
    assert "bob: 11 of 11 points, 0 before; 2 other students as before." in said
    marks = [json.loads(each["results.json"]) for each in (before, grade_again.files())]
    was, now = ({row["student"]: row for row in each["students"]} for each in marks)
    assert (was["bob"]["points"], now["bob"]["points"]) == (0, 11)
    assert [now["ann"], now["cy"]] == [was["ann"], was["cy"]]
    after = grade_again.files()
    changed = {name for name in before | after if before.get(name) != after.get(name)}
    pages = {f"feedback/bob/feedback.{end}" for end in ("md", "html")}
    new = {name for name in after if name.startswith("submitted/") and name not in before}
    assert changed == {*TABLES, *pages, *new}
    assert len(new) == 1
    with open(grade_again.output / "grades.csv", newline="", encoding="utf-8-sig") as file:
        points = {row["student"]: row["points"] for row in csv.DictReader(file)}
    assert points == {"ann": "11", "bob": "11", "cy": "11"}
    timings = json.loads(after["timings.json"])
    assert [row["student"] for row in timings] == ["ann", "bob", "cy"]
    lines = grade_again.right.count("\n")
    assert [row["lines"] for row in timings] == [lines, lines + 1, lines]


@can_grade
def test_the_same_text_is_judged_again_and_comes_to_the_same(grade_again):
    grade_again.hand_in(ann=grade_again.right, bob=grade_again.right)
    grade_again.graded()
    before = grade_again.files()
    with mock.patch.object(grading_run, "judge", wraps=grading_run.judge) as judged:
        grade_again.graded("--student", "ann")
    assert judged.call_count == 1
    after = grade_again.files()
    for name in before.keys() - {"timings.json", "summary.html"}:
        assert after[name] == before[name], name


@can_grade
def test_a_page_that_this_run_does_not_make_is_none_of_an_earlier_run(grade_again):
    grade_again.hand_in(ann=grade_again.right, bob=grade_again.right)
    grade_again.graded()
    page = grade_again.output / "leaderboard.html"
    page.write_text("of a run with points for speed", encoding="utf-8")
    grade_again.graded("--student", "ann")
    assert not page.exists()


@can_grade
def test_a_later_student_gets_an_own_row_and_folder(grade_again):
    grade_again.hand_in(**{"a_b": grade_again.right})
    grade_again.graded()
    before = grade_again.files()
    late = grade_again.folder / "late"
    for name in ("a b", "other"):
        (late / name).mkdir(parents=True)
        (late / name / SAXPY).write_text(grade_again.right, encoding="utf-8")
    said = grade_again.graded("--student", "a b", place=late)
    assert "a b: 11 of 11 points, not in the table before; 1 other student as" in said
    assert of_student(grade_again.output, "a b")["folder"] == "a_b_2"
    page = "feedback/a_b/feedback.html"
    assert grade_again.files()[page] == before[page]
    assert (grade_again.output / "feedback/a_b_2/feedback.md").is_file()


@can_grade
def test_wrong_use_is_one_sentence_and_changes_nothing(grade_again):
    grade_again.hand_in(ann=grade_again.right)
    said = grade_again.graded("--student", "ann", code=2)
    assert "no finished run of lab grade is in --output" in said
    assert not grade_again.output.exists()
    grade_again.graded()
    grade_again.hand_in(anna=grade_again.right)
    grade_again.refused(
        ("--student", "anne"),
        "lab: --student anne: there is no such student; did you mean ann or anna?",
    )
    grade_again.refused(("--student", "xyz"), "no such student; grades.csv lists the class.")
    grade_again.refused(
        ("--student", "ann", "--exercises", "01.5"),
        "was made with other exercises or other points; grade",
    )
    (grade_again.place / "ann" / SAXPY).unlink()
    (grade_again.place / "ann").rmdir()
    grade_again.refused(
        ("--student", "ann"), f"--student ann: nothing in {grade_again.place} is theirs."
    )
    grade_again.refused(("--student", "ann"), "Was the class graded with a --roster? Repeat it.")
    (grade_again.output / "results.json").write_text('{"schema": "of another program"}')
    grade_again.refused(("--student", "anna"), "no finished run of lab grade")


@can_grade
def test_where_the_grader_fails_only_this_student_has_no_points(grade_again):
    grade_again.hand_in(ann=grade_again.right, bob=grade_again.starter)
    grade_again.graded()
    with mock.patch.object(grading_run, "judge", side_effect=ZeroDivisionError):
        said = grade_again.graded("--student", "ann", code=1)
    assert "failed on 1 submission: status XX." in said
    assert of_student(grade_again.output, "bob")["exercises"][0]["status"] == "OK"
    grade_again.graded("--student", "ann")
    assert of_student(grade_again.output, "ann")["points"] == 11


class TimesAhead:
    def __init__(self, folder):
        self.folder = folder
        (self.folder / "judged").mkdir()
        for number, seconds in enumerate([4.0, 6.0, 8.0]):
            file = self.folder / f"judged/{number}.json"
            file.write_text(json.dumps({"seconds": seconds}), encoding="utf-8")
        handed = [{"file": "a.cu"}, {"file": "b.cu"}, {"file": None}]
        marks = {"students": [{"exercises": handed}, {"exercises": handed}]}
        (self.folder / "results.json").write_text(json.dumps(marks), encoding="utf-8")

    def told(self, *words):
        with (
            mock.patch("sys.stdout", new_callable=io.StringIO) as said,
            mock.patch("sys.stderr", new_callable=io.StringIO) as problem,
        ):
            return main(list(words)), said.getvalue(), problem.getvalue()


@pytest.fixture
def times_ahead(tmp_path):
    return TimesAhead(tmp_path)


def test_each_different_text_takes_its_seconds(times_ahead):
    sample = sample_of([times_ahead.folder])
    assert (sample.handed_in, sample.different, sample.mean) == (4, 0.75, 6.0)
    seconds, error = sample.ahead(1000, 2)
    assert seconds == pytest.approx(1000 * 0.75 * 6 / 2)
    assert error == pytest.approx(375 * 2 / 3**0.5)
    assert sample.ahead(1000, 10_000)[0] == 8.0
    assert sample_of([times_ahead.folder, times_ahead.folder]).handed_in == 8


def test_what_it_says(times_ahead):
    code, said, _ = times_ahead.told(
        str(times_ahead.folder), "--submissions", "2000", "--at-once", "1"
    )
    assert code == 0
    assert "3 judgements of 4 submissions: 6.0 s each (from 4.0 to 8.0 s)" in said
    assert "    2,000 on    1: 2 h 30 min, give or take 0 h 29 min" in said


def test_what_it_refuses(times_ahead):
    (times_ahead.folder / "judged/0.json").write_text("{}", encoding="utf-8")
    code, said, problem = times_ahead.told(str(times_ahead.folder))
    assert (code, said) == (2, "")
    assert "is no output folder of a finished lab grade" in problem
    for path in (times_ahead.folder / "judged").iterdir():
        path.unlink()
    assert times_ahead.told(str(times_ahead.folder))[0] == 2

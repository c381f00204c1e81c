# SPDX-License-Identifier: MIT
"""./lab grade from the folder of a class to its marks: what is written, that it is the same every time,
and that nothing which is finished gets lost."""

import contextlib
import csv
import datetime
import errno
import io
import json
import os
import pathlib
import re
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from unittest import mock

import pytest
from grading_runs import (
    SAXPY,
    SEED,
    can_grade,
    grade,
    judged,
    of_student,
    real_sandboxes,
    solution_text,
    words_of,
)

from engine.command.paths import shown
from grader.exercises.cases import read_results
from grader.exercises.catalogue import chosen_exercise
from grader.judging.races import race_lines
from grader.reports.marks import folders_of
from grader.submissions import grading_run
from lab_runs import interrupt_alone, started
from lab_tool.authoring.trials import trials_of
from lab_tool.command_line import main
from lab_tool.grading.class_grading import due_time
from lab_tool.paths import ROOT
from test_setup import captured
from this_build import BUILD

SAME = ("results.json", "grades.csv", "junit.xml")  # whatever --jobs is, and however long it took


@can_grade
def test_what_every_submission_may_read_holds_no_secret(graded):
    graded.hand_in(ann=solution_text("01.1"))
    output = pathlib.Path("/usr/share/grades-of-a-test")
    seed = pathlib.Path("/bin/sh")  # /bin leads to /usr/bin
    for place, words, says in (
        (graded.place, {"output": output}, "--output /usr/share/grades-of-a-test is below /usr"),
        (pathlib.Path("/usr/share"), {}, "SUBMISSIONS /usr/share is below /usr"),
        (graded.place, {"options": ("--seed", str(seed))}, "--seed /bin/sh is below /usr"),
    ):
        code, text = grade(
            place, words.get("output", graded.folder / "grades"), *words.get("options", ())
        )
        assert code == 2, text
        assert f"{says}, which every submission may read" in text
    assert not output.exists()
    with mock.patch("lab_tool.grading.class_grading.ROOT", pathlib.Path("/usr/src/app")):
        code, text = grade(graded.place, graded.folder / "grades")
    assert code == 2, text
    assert "the course /usr/src/app is below /usr, which every submission" in text
    assert not (graded.folder / "grades").exists()


@can_grade
def test_a_class(graded):
    jsonschema = pytest.importorskip("jsonschema")
    right = solution_text("01.1")
    starter = trials_of(chosen_exercise("01.1"))[0].text
    graded.hand_in(ann=right, bob=starter, cy="int nonsense =;\n", di=right, **{"=eve": "\n"})
    (graded.place / "fay").mkdir()
    (graded.place / "fay/notes.cu").write_text("", encoding="utf-8")
    outputs = [graded.folder / "one", graded.folder / "four"]
    for output, jobs in zip(outputs, ("1", "4")):
        code, text = grade(graded.place, output, "--seed", SEED, "--jobs", jobs)
        assert code == 0, text
    one, four = outputs
    assert "6 students, 5 submissions, 4 of them different" in text
    kind = real_sandboxes()[0]
    assert text.splitlines()[0] == f"Sandbox: {kind}."
    assert f"sandbox: {kind}." in text
    assert f"Sandbox: {kind}." in (one / "summary.html").read_text(encoding="utf-8")
    assert json.loads((one / "results.json").read_text("utf-8"))["sandbox"] == kind
    same = [*SAME, *(path.relative_to(one) for path in one.glob("feedback/*/*"))]
    assert len(same) > 10
    for name in same:
        assert (one / name).read_bytes() == (four / name).read_bytes(), name

    marks = json.loads((one / "results.json").read_text(encoding="utf-8"))
    schema = json.loads((ROOT / "grader/reports/grades_schema.json").read_text(encoding="utf-8"))
    follows = jsonschema.Draft202012Validator(schema)
    assert [error.message for error in follows.iter_errors(marks)] == []
    assert not follows.is_valid({**marks, "schema": "other"})
    statuses = {each["student"]: each["exercises"][0]["status"] for each in marks["students"]}
    assert statuses == {
        "=eve": "CE",
        "ann": "OK",
        "bob": "OK",
        "cy": "CE",
        "di": "OK",
        "fay": "missing",
    }
    points = {each["student"]: each["points"] for each in marks["students"]}
    assert points == {"=eve": 0, "ann": 11, "bob": 0, "cy": 0, "di": 11, "fay": 0}
    cy = of_student(one, "cy")["exercises"][0]["parts"][0]["lines"]
    assert re.search(r"^01_saxpy\.cu:1:\d+: error: ", cy[0])

    with open(one / "grades.csv", newline="", encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    assert rows[0]["student"] == "'=eve"  # a spreadsheet takes =eve for a formula
    assert {row["student"]: row["01.1"] for row in rows}["ann"] == "11"
    assert rows[1]["01.1 races"] == "2"
    tests = list(ElementTree.parse(one / "junit.xml").iter("testcase"))
    names = [(test.get("classname"), test.get("name")) for test in tests]
    assert len(names) == len(set(names))
    failed = [test.find("failure") for test in tests if test.find("failure") is not None]
    assert failed and all(each.text.strip() for each in failed)
    for page in (one / "summary.html", one / "feedback/bob/feedback.html"):
        text = page.read_text(encoding="utf-8")
        assert "<script" not in text
        assert "default-src 'none'" in text
    assert "y: got 7, expected 13" in (one / "feedback/bob/feedback.md").read_text(encoding="utf-8")
    assert (one / "seed").stat().st_mode & 0o777 == 0o600
    assert one.stat().st_mode & 0o777 == 0o700

    with mock.patch.object(grading_run, "judge", side_effect=AssertionError("judged again")):
        code, text = grade(graded.place, one)
    assert code == 0, text


@can_grade
def test_a_race_is_drawn_in_the_feedback(graded):
    racy = trials_of(chosen_exercise("04.1"))
    text = next(each.text for each in racy if each.name == "fence_in_place_of_the_barrier")
    (graded.place / "ann").mkdir(parents=True)
    (graded.place / "ann" / chosen_exercise("04.1").file_name).write_text(text, encoding="utf-8")
    output, again = graded.folder / "output", graded.folder / "again"
    for each in (output, again):
        code, said = grade(graded.place, each, "--seed", SEED, number="04.1")
        assert code == 0, said
    row = of_student(output, "ann")["exercises"][0]
    assert row["picture"] == "feedback/ann/04_classic_guard.svg"
    drawn = (output / row["picture"]).read_bytes()
    assert b"<svg" in drawn
    assert drawn == (again / row["picture"]).read_bytes()
    assert "<svg" in (output / "feedback/ann/feedback.html").read_text(encoding="utf-8")
    assert row["diagnoses"] == ["missing barrier before the atomic"]
    assert "missing barrier before" in (output / "summary.html").read_text(encoding="utf-8")


@can_grade
def test_a_race_is_the_reason_that_is_told_for_a_second_launch_that_is_wrong():
    for name, has_race in (
        ("no_barrier_before_the_ticket", True),
        ("counter_not_reset", False),
    ):
        trials = trials_of(chosen_exercise("04.2"))
        said = words_of(judged("04.2", next(each.text for each in trials if each.name == name)))
        assert ("The first launch was right." in said) == (not has_race), said
        reason = "Two threads race, which may be the reason: see the part races."
        assert (reason in said) == has_race, said


@can_grade
def test_an_interrupted_run_goes_on_where_it_was(graded):
    text = solution_text("01.1")
    graded.hand_in(**{f"student{n}": f"{text}// {n}\n" for n in range(6)})
    output = graded.folder / "output"
    command = [sys.executable, ROOT / "lab", "grade", graded.place, "--exercises", "01.1"]
    command += ["--output", output, "--build", str(BUILD), "--jobs", "1"]
    process = started(command, graded.folder)
    end = time.monotonic() + 300
    while not list(output.glob("judged/*.json")) and time.monotonic() < end:
        time.sleep(0.05)
    _, errors = interrupt_alone(process)
    assert process.returncode == 130, errors
    assert "Traceback" not in errors
    kept = len(list(output.glob("judged/*.json")))
    assert re.search(
        rf"{kept} of 6 different submissions (is|are) judged; the same command goes on from there\.",
        errors,
    )
    finished = {path: path.stat().st_mtime_ns for path in output.glob("judged/*.json")}
    assert 0 < len(finished) < 6, finished
    again = captured(command, timeout=500)
    assert again.returncode == 0, again.stderr
    assert len(list(output.glob("judged/*.json"))) == 6
    for path, when in finished.items():
        assert path.stat().st_mtime_ns == when


@can_grade
def test_what_breaks_the_grader_is_marked_and_the_rest_goes_on(graded):
    text = solution_text("01.1")
    graded.hand_in(ann=text, bob=f"{text}// breaks\n")
    real = grading_run.judge

    def judge(sandbox, builds, cases, source):
        if "breaks" in source.read_text(encoding="utf-8"):
            raise ZeroDivisionError("a mistake of the grader's")
        return real(sandbox, builds, cases, source)

    output = graded.folder / "output"
    with mock.patch.object(grading_run, "judge", judge):
        code, said = grade(graded.place, output)
    assert code == 1, said
    assert "failed on 1 submission: status XX." in said
    assert of_student(output, "bob")["exercises"][0]["status"] == "XX"
    assert of_student(output, "ann")["points"] == 11
    code, said = grade(graded.place, output)  # the grader is fixed: only bob's is judged
    assert (code, of_student(output, "bob")["points"]) == (0, 11), said


@can_grade
def test_a_full_disk_is_one_sentence_and_loses_nothing(graded):
    text = solution_text("01.1")
    output = graded.folder / "output"
    graded.hand_in(ann=text)
    code, said = grade(graded.place, output)
    assert code == 0, said
    assert "1 student, 1 submission, 1 of them different" in said
    finished = {path: path.stat().st_mtime_ns for path in output.glob("judged/*.json")}
    assert len(finished) == 1
    graded.hand_in(bob=f"{text}// another\n")
    full = OSError(errno.ENOSPC, "No space left on device")
    with mock.patch("grader.submissions.run_folder.write_whole", side_effect=full):
        code, said = grade(graded.place, output, "--jobs", "1")
    assert code == 1
    where = shown(output)
    sentence = f"lab: a judgement can't be written in {where}: No space left on device."
    assert sentence in said
    assert "Traceback" not in said
    assert len(list(output.glob("judged/*.json"))) == 1
    graded.hand_in(cy=f"{text}// a third\n")
    with mock.patch("grader.submissions.run_folder.write_new", side_effect=full):
        code, said = grade(graded.place, output)
    assert code == 1
    nothing = f"lab: nothing can be written in {where}: No space left on device."
    assert said.splitlines()[-1] == nothing
    assert len(list(output.glob("judged/*.json"))) == 1
    (graded.place / "cy" / SAXPY).unlink()
    assert grade(graded.place, output)[0] == 0
    assert len(list(output.glob("judged/*.json"))) == 2
    for path, when in finished.items():
        assert path.stat().st_mtime_ns == when, "what was finished was judged again"


@can_grade
def test_another_seed_gives_other_numbers(graded):
    graded.hand_in(ann=trials_of(chosen_exercise("01.1"))[0].text)
    said = []
    for seed in ("one", "two"):
        assert grade(graded.place, graded.folder / seed, "--seed", seed)[0] == 0
        said.append(
            of_student(graded.folder / seed, "ann")["exercises"][0]["parts"][0]["cases"][4]["lines"]
        )
    one, two = said
    assert one != two
    code, text = grade(graded.place, graded.folder / "one", "--seed", "two")
    assert code == 2
    assert "another seed" in text


@can_grade
def test_wrong_use_is_one_sentence(graded):
    graded.hand_in(ann="text")
    (graded.folder / "empty").mkdir()
    (graded.folder / "full").mkdir()
    (graded.folder / "full/file").write_text("", encoding="utf-8")
    (graded.folder / "loose").mkdir()
    (graded.folder / "loose" / SAXPY).write_text("", encoding="utf-8")
    output = graded.folder / "output"
    for place, where, options, said in (
        ("nowhere", output, (), "there is no folder and no zip"),
        ("empty", output, (), "no student's file is in it"),
        ("class", graded.folder / "full", (), "is not empty"),
        ("class", output, ("--due", "tomorrow"), "--due tomorrow: a time is expected"),
        ("class", output, ("--roster", "nowhere.csv"), "--roster nowhere.csv can't be read"),
        ("class", output, ("--seed", "a b"), "--seed: a file or a word"),
        ("class", output, ("--executor", "cloud"), "there are local and slurm"),
        ("class", output, ("--jobs", "0"), "from 1 to"),
        ("class", output, ("--roster", "."), "--roster . can't be read: Is a directory."),
        ("class", output, ("--exercises", "99.9"), "no exercise 99.9"),
        ("class", output, ("--exercises", ","), "nothing between two commas"),
        ("class", output, ("--exercises", "01.1,saxpy"), "01.1 is there twice"),
        ("class", graded.place, (), "is in "),
        ("class", graded.place / "grades", (), "would be taken for a student's folder"),
        ("loose", output, (), f"{SAXPY}: whose it is can't be told from its name."),
    ):
        code, text = grade(graded.folder / place, where, *options)
        assert code == 2, text
        assert said in text
        assert len(text.strip().splitlines()) == 1, text


@can_grade
def test_the_backends_that_are_named_are_those_that_there_are(graded):
    words = [str(graded.place), "--exercises", "01.1", "--output", str(graded.folder / "output")]
    for backend in ("auto", "gpu"):
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            code = main(["grade", *words, "--backend", backend])
        assert code == 2
        sentence = f"lab: lab grade has no backend {backend}; there are cpu and cuda.\n"
        assert said.getvalue() == sentence


def test_students_folders_are_plain_and_different():
    found = folders_of(["Ann Lee", "ann/lee", "../..", "Ärla", "Ann_Lee"])
    assert len({folder.lower() for folder in found.values()}) == 5
    for folder in found.values():
        assert re.search(r"^\w[\w.-]*$", folder)


def test_a_day_without_a_time_lasts_until_its_end():
    for text, last in (
        ("2026-12-01", "2026-12-01T23:59:59"),
        ("2026-12-01T23:59", "2026-12-01T23:59:00"),
        ("2026-12-01T00:00", "2026-12-01T00:00:00"),
    ):
        last = datetime.datetime.fromisoformat(last).timestamp()
        assert int(due_time(text)) == last, text


def test_a_forged_file_of_results_is_read_to_its_end():
    for content in (
        b"case 0\nlaunch 0\narray 0 -9\n",
        b"case 0\narray 0 4\nabcd",
        b"case 0\nlaunch 0\narray 0 99999999999999999999\n",
        b"done\n", b"case 0\nlaunch 0\nchanged\n", b"\xff\xfe\n" * 100, b"case 0\nmicroseconds x\n",
    ):  # fmt: skip
        assert len(read_results(content)) <= 1


def test_a_forged_report_names_a_file_that_cannot_be_read():
    with tempfile.TemporaryDirectory() as folder:
        pipe = pathlib.Path(folder, "pipe")
        os.mkfifo(pipe)
        huge = pathlib.Path(folder, "huge")
        huge.touch()
        os.truncate(huge, 1 << 40)
        for file in (str(huge), str(pipe), "no\0name", "/dev/zero", folder, f"{folder}/none"):
            party = {
                "block": [0, 0, 0], "thread": [0, 0, 0], "does": "writes", "manner": "",
                "file": file, "line": 1, "text": "",
            }  # fmt: skip
            finding = {
                "kind": "race", "seeds": 1, "first": party, "second": party, "heading": "",
                "element_of_dynamic_memory": 3, "advice": [{"text": "put an atomic there"}],
            }  # fmt: skip
            found = mock.Mock(findings=[finding], problem="", schedules=1, diagnostics=())
            lines = race_lines(found, None, 1, 1)
            assert "element 3 of dynamic shared memory" in "\n".join(lines), file

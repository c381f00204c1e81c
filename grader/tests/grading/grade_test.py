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
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree as ElementTree
from unittest import mock

import pytest
from graded_class import FILE, NUMBER, GradedClass, grade, of_student
from grading_runs import CAN_GRADE, SEED, judged, real_sandboxes, solution_text, words_of

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


@unittest.skipUnless(CAN_GRADE and real_sandboxes(), "grading takes the race checker and a sandbox")
class GradeTest(GradedClass):
    def test_what_every_submission_may_read_holds_no_secret(self):
        self.hand_in(ann=solution_text(NUMBER))
        output = pathlib.Path("/usr/share/grades-of-a-test")
        seed = pathlib.Path("/bin/sh")  # /bin leads to /usr/bin
        for place, words, says in (
            (self.place, {"output": output}, "--output /usr/share/grades-of-a-test is below /usr"),
            (pathlib.Path("/usr/share"), {}, "SUBMISSIONS /usr/share is below /usr"),
            (self.place, {"options": ("--seed", str(seed))}, "--seed /bin/sh is below /usr"),
        ):
            with self.subTest(says):
                code, text = grade(
                    place, words.get("output", self.folder / "grades"), *words.get("options", ())
                )
                self.assertEqual(code, 2, text)
                self.assertIn(f"{says}, which every submission may read", text)
        self.assertFalse(output.exists())
        with mock.patch("lab_tool.grading.class_grading.ROOT", pathlib.Path("/usr/src/app")):
            code, text = grade(self.place, self.folder / "grades")
        self.assertEqual(code, 2, text)
        self.assertIn("the course /usr/src/app is below /usr, which every submission", text)
        self.assertFalse((self.folder / "grades").exists())

    def test_a_class(self):
        jsonschema = pytest.importorskip("jsonschema")
        right = solution_text(NUMBER)
        starter = trials_of(chosen_exercise(NUMBER))[0].text
        self.hand_in(ann=right, bob=starter, cy="int nonsense =;\n", di=right, **{"=eve": "\n"})
        (self.place / "fay").mkdir()
        (self.place / "fay/notes.cu").write_text("", encoding="utf-8")
        outputs = [self.folder / "one", self.folder / "four"]
        for output, jobs in zip(outputs, ("1", "4")):
            code, text = grade(self.place, output, "--seed", SEED, "--jobs", jobs)
            self.assertEqual(code, 0, text)
        one, four = outputs
        self.assertIn("6 students, 5 submissions, 4 of them different", text)
        kind = real_sandboxes()[0]
        self.assertEqual(text.splitlines()[0], f"Sandbox: {kind}.")
        self.assertIn(f"sandbox: {kind}.", text)
        self.assertIn(f"Sandbox: {kind}.", (one / "summary.html").read_text(encoding="utf-8"))
        self.assertEqual(json.loads((one / "results.json").read_text("utf-8"))["sandbox"], kind)
        same = [*SAME, *(path.relative_to(one) for path in one.glob("feedback/*/*"))]
        self.assertGreater(len(same), 10)
        for name in same:
            self.assertEqual((one / name).read_bytes(), (four / name).read_bytes(), name)

        marks = json.loads((one / "results.json").read_text(encoding="utf-8"))
        schema = json.loads(
            (ROOT / "grader/reports/grades_schema.json").read_text(encoding="utf-8")
        )
        follows = jsonschema.Draft202012Validator(schema)
        self.assertEqual([error.message for error in follows.iter_errors(marks)], [])
        self.assertFalse(follows.is_valid({**marks, "schema": "other"}))
        statuses = {each["student"]: each["exercises"][0]["status"] for each in marks["students"]}
        self.assertEqual(
            statuses,
            {"=eve": "CE", "ann": "OK", "bob": "OK", "cy": "CE", "di": "OK", "fay": "missing"},
        )
        points = {each["student"]: each["points"] for each in marks["students"]}
        self.assertEqual(points, {"=eve": 0, "ann": 11, "bob": 0, "cy": 0, "di": 11, "fay": 0})
        cy = of_student(one, "cy")["exercises"][0]["parts"][0]["lines"]
        self.assertRegex(cy[0], r"^01_saxpy\.cu:1:\d+: error: ")

        with open(one / "grades.csv", newline="", encoding="utf-8-sig") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(rows[0]["student"], "'=eve")  # a spreadsheet takes =eve for a formula
        self.assertEqual({row["student"]: row["01.1"] for row in rows}["ann"], "11")
        self.assertEqual(rows[1]["01.1 races"], "2")
        tests = list(ElementTree.parse(one / "junit.xml").iter("testcase"))
        names = [(test.get("classname"), test.get("name")) for test in tests]
        self.assertEqual(len(names), len(set(names)))
        failed = [test.find("failure") for test in tests if test.find("failure") is not None]
        self.assertTrue(failed and all(each.text.strip() for each in failed))
        for page in (one / "summary.html", one / "feedback/bob/feedback.html"):
            text = page.read_text(encoding="utf-8")
            self.assertNotIn("<script", text)
            self.assertIn("default-src 'none'", text)
        self.assertIn(
            "y: got 7, expected 13", (one / "feedback/bob/feedback.md").read_text(encoding="utf-8")
        )
        self.assertEqual((one / "seed").stat().st_mode & 0o777, 0o600)
        self.assertEqual(one.stat().st_mode & 0o777, 0o700)

        with mock.patch.object(grading_run, "judge", side_effect=AssertionError("judged again")):
            code, text = grade(self.place, one)
        self.assertEqual(code, 0, text)

    def test_a_race_is_drawn_in_the_feedback(self):
        racy = trials_of(chosen_exercise("04.1"))
        text = next(each.text for each in racy if each.name == "fence_in_place_of_the_barrier")
        (self.place / "ann").mkdir(parents=True)
        (self.place / "ann" / chosen_exercise("04.1").file_name).write_text(text, encoding="utf-8")
        output, again = self.folder / "output", self.folder / "again"
        for each in (output, again):
            code, said = grade(self.place, each, "--seed", SEED, number="04.1")
            self.assertEqual(code, 0, said)
        row = of_student(output, "ann")["exercises"][0]
        self.assertEqual(row["picture"], "feedback/ann/04_classic_guard.svg")
        drawn = (output / row["picture"]).read_bytes()
        self.assertIn(b"<svg", drawn)
        self.assertEqual(drawn, (again / row["picture"]).read_bytes())
        self.assertIn("<svg", (output / "feedback/ann/feedback.html").read_text(encoding="utf-8"))
        self.assertEqual(row["diagnoses"], ["missing barrier before the atomic"])
        self.assertIn(
            "missing barrier before", (output / "summary.html").read_text(encoding="utf-8")
        )

    def test_a_race_is_the_reason_that_is_told_for_a_second_launch_that_is_wrong(self):
        for name, has_race in (
            ("no_barrier_before_the_ticket", True),
            ("counter_not_reset", False),
        ):
            trials = trials_of(chosen_exercise("04.2"))
            said = words_of(judged("04.2", next(each.text for each in trials if each.name == name)))
            with self.subTest(name):
                self.assertEqual("The first launch was right." in said, not has_race, said)
                reason = "Two threads race, which may be the reason: see the part races."
                self.assertEqual(reason in said, has_race, said)

    def test_an_interrupted_run_goes_on_where_it_was(self):
        text = solution_text(NUMBER)
        self.hand_in(**{f"student{n}": f"{text}// {n}\n" for n in range(6)})
        output = self.folder / "output"
        command = [sys.executable, ROOT / "lab", "grade", self.place, "--exercises", NUMBER]
        command += ["--output", output, "--build", str(BUILD), "--jobs", "1"]
        process = started(command, self.folder)
        end = time.monotonic() + 300
        while not list(output.glob("judged/*.json")) and time.monotonic() < end:
            time.sleep(0.05)
        _, errors = interrupt_alone(process)
        self.assertEqual(process.returncode, 130, errors)
        self.assertNotIn("Traceback", errors)
        kept = len(list(output.glob("judged/*.json")))
        self.assertRegex(
            errors,
            rf"{kept} of 6 different submissions (is|are) judged; the same command goes on from there\.",
        )
        finished = {path: path.stat().st_mtime_ns for path in output.glob("judged/*.json")}
        self.assertTrue(0 < len(finished) < 6, finished)
        again = captured(command, timeout=500)
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual(len(list(output.glob("judged/*.json"))), 6)
        for path, when in finished.items():
            self.assertEqual(path.stat().st_mtime_ns, when)

    def test_what_breaks_the_grader_is_marked_and_the_rest_goes_on(self):
        text = solution_text(NUMBER)
        self.hand_in(ann=text, bob=f"{text}// breaks\n")
        real = grading_run.judge

        def judge(sandbox, builds, cases, source):
            if "breaks" in source.read_text(encoding="utf-8"):
                raise ZeroDivisionError("a mistake of the grader's")
            return real(sandbox, builds, cases, source)

        output = self.folder / "output"
        with mock.patch.object(grading_run, "judge", judge):
            code, said = grade(self.place, output)
        self.assertEqual(code, 1, said)
        self.assertIn("failed on 1 submission: status XX.", said)
        self.assertEqual(of_student(output, "bob")["exercises"][0]["status"], "XX")
        self.assertEqual(of_student(output, "ann")["points"], 11)
        code, said = grade(self.place, output)  # the grader is fixed: only bob's is judged
        self.assertEqual((code, of_student(output, "bob")["points"]), (0, 11), said)

    def test_a_full_disk_is_one_sentence_and_loses_nothing(self):
        text = solution_text(NUMBER)
        output = self.folder / "output"
        self.hand_in(ann=text)
        code, said = grade(self.place, output)
        self.assertEqual(code, 0, said)
        self.assertIn("1 student, 1 submission, 1 of them different", said)
        finished = {path: path.stat().st_mtime_ns for path in output.glob("judged/*.json")}
        self.assertEqual(len(finished), 1)
        self.hand_in(bob=f"{text}// another\n")
        full = OSError(errno.ENOSPC, "No space left on device")
        with mock.patch("grader.submissions.run_folder.write_whole", side_effect=full):
            code, said = grade(self.place, output, "--jobs", "1")
        self.assertEqual(code, 1)
        where = shown(output)
        sentence = f"lab: a judgement can't be written in {where}: No space left on device."
        self.assertIn(sentence, said)
        self.assertNotIn("Traceback", said)
        self.assertEqual(len(list(output.glob("judged/*.json"))), 1)
        self.hand_in(cy=f"{text}// a third\n")
        with mock.patch("grader.submissions.run_folder.write_new", side_effect=full):
            code, said = grade(self.place, output)
        self.assertEqual(code, 1)
        nothing = f"lab: nothing can be written in {where}: No space left on device."
        self.assertEqual(said.splitlines()[-1], nothing)
        self.assertEqual(len(list(output.glob("judged/*.json"))), 1)
        (self.place / "cy" / FILE).unlink()
        self.assertEqual(grade(self.place, output)[0], 0)
        self.assertEqual(len(list(output.glob("judged/*.json"))), 2)
        for path, when in finished.items():
            self.assertEqual(path.stat().st_mtime_ns, when, "what was finished was judged again")

    def test_another_seed_gives_other_numbers(self):
        self.hand_in(ann=trials_of(chosen_exercise(NUMBER))[0].text)
        said = []
        for seed in ("one", "two"):
            self.assertEqual(grade(self.place, self.folder / seed, "--seed", seed)[0], 0)
            said.append(
                of_student(self.folder / seed, "ann")["exercises"][0]["parts"][0]["cases"][4][
                    "lines"
                ]
            )
        self.assertNotEqual(*said)
        code, text = grade(self.place, self.folder / "one", "--seed", "two")
        self.assertEqual(code, 2)
        self.assertIn("another seed", text)

    def test_wrong_use_is_one_sentence(self):
        self.hand_in(ann="text")
        (self.folder / "empty").mkdir()
        (self.folder / "full").mkdir()
        (self.folder / "full/file").write_text("", encoding="utf-8")
        (self.folder / "loose").mkdir()
        (self.folder / "loose" / FILE).write_text("", encoding="utf-8")
        output = self.folder / "output"
        for place, where, options, said in (
            ("nowhere", output, (), "there is no folder and no zip"),
            ("empty", output, (), "no student's file is in it"),
            ("class", self.folder / "full", (), "is not empty"),
            ("class", output, ("--due", "tomorrow"), "--due tomorrow: a time is expected"),
            ("class", output, ("--roster", "nowhere.csv"), "--roster nowhere.csv can't be read"),
            ("class", output, ("--seed", "a b"), "--seed: a file or a word"),
            ("class", output, ("--executor", "cloud"), "there are local and slurm"),
            ("class", output, ("--jobs", "0"), "from 1 to"),
            ("class", output, ("--roster", "."), "--roster . can't be read: Is a directory."),
            ("class", output, ("--exercises", "99.9"), "no exercise 99.9"),
            ("class", output, ("--exercises", ","), "nothing between two commas"),
            ("class", output, ("--exercises", "01.1,saxpy"), "01.1 is there twice"),
            ("class", self.place, (), "is in "),
            ("class", self.place / "grades", (), "would be taken for a student's folder"),
            ("loose", output, (), f"{FILE}: whose it is can't be told from its name."),
        ):
            code, text = grade(self.folder / place, where, *options)
            self.assertEqual(code, 2, text)
            self.assertIn(said, text)
            self.assertEqual(len(text.strip().splitlines()), 1, text)

    def test_the_backends_that_are_named_are_those_that_there_are(self):
        words = [str(self.place), "--exercises", NUMBER, "--output", str(self.folder / "output")]
        for backend in ("auto", "gpu"):
            said = io.StringIO()
            with contextlib.redirect_stderr(said):
                code = main(["grade", *words, "--backend", backend])
            self.assertEqual(code, 2)
            sentence = f"lab: lab grade has no backend {backend}; there are cpu and cuda.\n"
            self.assertEqual(said.getvalue(), sentence)


class FormsTest(unittest.TestCase):
    def test_students_folders_are_plain_and_different(self):
        found = folders_of(["Ann Lee", "ann/lee", "../..", "Ärla", "Ann_Lee"])
        self.assertEqual(len({folder.lower() for folder in found.values()}), 5)
        for folder in found.values():
            self.assertRegex(folder, r"^\w[\w.-]*$")

    def test_a_day_without_a_time_lasts_until_its_end(self):
        for text, last in (
            ("2026-12-01", "2026-12-01T23:59:59"),
            ("2026-12-01T23:59", "2026-12-01T23:59:00"),
            ("2026-12-01T00:00", "2026-12-01T00:00:00"),
        ):
            last = datetime.datetime.fromisoformat(last).timestamp()
            self.assertEqual(int(due_time(text)), last, text)

    def test_a_forged_file_of_results_is_read_to_its_end(self):
        for content in (
            b"case 0\nlaunch 0\narray 0 -9\n",
            b"case 0\narray 0 4\nabcd",
            b"case 0\nlaunch 0\narray 0 99999999999999999999\n",
            b"done\n", b"case 0\nlaunch 0\nchanged\n", b"\xff\xfe\n" * 100, b"case 0\nmicroseconds x\n",
        ):  # fmt: skip
            self.assertLessEqual(len(read_results(content)), 1)

    def test_a_forged_report_names_a_file_that_cannot_be_read(self):
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
                self.assertIn("element 3 of dynamic shared memory", "\n".join(lines), file)

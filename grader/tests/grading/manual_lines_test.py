# SPDX-License-Identifier: MIT
"""Lines of the rubric that are given by hand: they survive, stand everywhere, and mistakes are refused."""

import csv
import json
import unittest
import xml.etree.ElementTree as ElementTree

import pytest
from graded_class import FILE, NUMBER, GradedClass, grade, of_student
from grading_runs import CAN_GRADE, SEED, real_sandboxes, solution_text

from grader.reports.conversions import feedback_lines, for_autolab, for_classroom50, for_gradescope
from lab_tool.paths import ROOT

TITLES = "student;01.1 explanation of 3;01.1 explanation comment;01.1 style of 2"
COMMENT = "Say <why>\nthe index is right."


@unittest.skipUnless(CAN_GRADE and real_sandboxes(), "grading takes the race checker and a sandbox")
class ManualLinesTest(GradedClass):
    def setUp(self):
        super().setUp()
        self.output = self.folder / "output"
        self.hand_in(**{"ann": solution_text(NUMBER), "=eve": "no code"})
        (self.place / "fay").mkdir()

    def graded(self, *options, code=0):
        found, said = grade(self.place, self.output, "--seed", SEED, *options)
        self.assertEqual(found, code, said)
        return said

    def write(self, *rows, titles=TITLES):
        text = "\r\n".join([titles, *rows])
        (self.output / "manual.csv").write_text(text, encoding="utf-8")

    def test_they_survive_and_stand_everywhere(self):
        self.graded()
        before = (self.output / "grades.csv").read_bytes()
        self.assertEqual(of_student(self.output, "ann")["points"], 11)
        # The name of =eve is written as it stands in grades.csv.
        self.write(f'ANN;2;"{COMMENT}";', "'=eve;3", "fay;;;1")
        written = (self.output / "manual.csv").read_bytes()
        for options in ((), (), ("--student", "ann")):
            self.graded(*options)
            points = {name: of_student(self.output, name) for name in ("ann", "=eve", "fay")}
            self.assertEqual(
                {name: row["points"] for name, row in points.items()},
                {"ann": 13, "=eve": 3, "fay": 1},
            )
            self.assertEqual((self.output / "manual.csv").read_bytes(), written)
        self.assertEqual(points["ann"]["exercises"][0]["of"], 16)

        with open(self.output / "grades.csv", newline="", encoding="utf-8-sig") as file:
            rows = {row["student"]: row for row in csv.DictReader(file)}
        self.assertEqual((rows["ann"]["01.1"], rows["ann"]["01.1 explanation"]), ("13", "2"))
        self.assertEqual(rows["ann"]["01.1 explanation comment"], COMMENT)
        self.assertEqual(rows["ann"]["01.1 style comment"], "Not marked yet.")
        self.assertEqual((rows["fay"]["01.1 status"], rows["fay"]["01.1 style"]), ("missing", "1"))
        page = (self.output / "feedback/ann/feedback.md").read_text(encoding="utf-8")
        self.assertIn("## 01.1 saxpy: 13 of 16 points", page)
        self.assertIn(f"**explanation: 2 of 3 points**\n\n```text\n{COMMENT}\n```", page)
        self.assertIn("**style: 0 of 2 points**\n\n```text\nNot marked yet.", page)
        page = (self.output / "feedback/ann/feedback.html").read_text(encoding="utf-8")
        self.assertIn('<h3 class="less">explanation: 2 of 3 points</h3>', page)
        self.assertIn("Say &lt;why&gt;\nthe index", page)
        page = (self.output / "summary.html").read_text(encoding="utf-8")
        self.assertIn("Of 16 points:", page)
        tests = {
            (test.get("classname"), test.get("name")): test
            for test in ElementTree.parse(self.output / "junit.xml").iter("testcase")
        }
        failed = tests["ann.01.1 saxpy", "explanation"].find("failure")
        self.assertEqual(failed.text, f"2 of 3 points\n{COMMENT}")
        self.assertIsNone(tests["eve.01.1 saxpy", "explanation"].find("failure"))

        marks = json.loads((self.output / "results.json").read_text(encoding="utf-8"))
        for name, row in points.items():
            answer = for_gradescope(marks, row)
            self.assertEqual(sum(test["score"] for test in answer["tests"]), answer["score"], name)
            self.assertEqual(sum(test["max_score"] for test in answer["tests"]), 16, name)
            identity = dict.fromkeys(
                ("CLASSROOM", "ASSIGNMENT", "SUBMISSION_TAG", "COMMIT_URL", "RELEASE_URL"), "x"
            )
            answer = for_classroom50(marks, row, identity, "now")
            self.assertEqual((answer["score"], answer["max-score"]), (row["points"], 16), name)
            self.assertEqual(json.loads(for_autolab(row))["scores"], {NUMBER: row["points"]})
        lines = feedback_lines(marks, points["ann"])
        self.assertIn("|   explanation: 2 of 3", lines)
        self.assertIn("|     Say <why>", lines)
        jsonschema = pytest.importorskip("jsonschema")
        schema = json.loads((ROOT / "grader/reports/grades_schema.json").read_text("utf-8"))
        follows = jsonschema.Draft202012Validator(schema)
        self.assertEqual([error.message for error in follows.iter_errors(marks)], [])

        (self.output / "manual.csv").unlink()
        self.graded()
        self.assertEqual((self.output / "grades.csv").read_bytes(), before)

    def test_a_late_file_loses_points_of_them_too(self):
        (self.folder / "late.json").write_text(
            '{"due": "2020-01-01", "time_zone": "UTC", "grace_minutes": 0, "percent": 50, "per": "day",'
            ' "most_percent": 50}',
            encoding="utf-8",
        )
        rule = ("--late-rule", str(self.folder / "late.json"))
        self.graded(*rule)
        self.write("ann;3;;2")
        self.graded(*rule)
        row = of_student(self.output, "ann")["exercises"][0]
        self.assertEqual((row["points"], row["penalty"]["points_before"]), (8, 16))

    def test_mistakes_are_one_sentence_and_change_nothing(self):
        self.graded()
        before = (self.output / "results.json").read_bytes()
        (self.place / "ann" / FILE).write_text("not judged", encoding="utf-8")
        for row, said in (
            ("anne;1", "there is no student anne; did you mean ann?"),
            ("ann;4", "ann has 4 for 01.1 explanation, and a whole number from 0 to 3"),
            ("ann;-1", "ann has -1 for 01.1 explanation"),
            ("ann;two", "ann has two for 01.1 explanation"),
            ("ann;1.5", "ann has 1.5 for"),
            ("ann;;;9", "ann has 9 for 01.1 style, and a whole number from 0 to 2"),
            ("ann;1;;1;1", "ann has more cells than there are titles."),
            ("ann;1\r\nANN;2", "ANN is there twice."),
            (";1", "a line has no name."),
        ):
            self.write(row)
            self.refused(said, before)
        for titles, said in (
            ("student;01.1 style", "the column 01.1 style is none that there is; a line has"),
            ("student;style of 3", "the column style of 3 is none that there is"),
            ("student;01.1 style of 0", "the column 01.1 style of 0 is none"),
            ("student;", "the column without a title is none that there is"),
            ("student;04.2 style of 3", "04.2 style of 3 is of an exercise that is not graded."),
            ("student;01.1 Races of 3", "01.1 Races of 3: Races is given by the grader."),
            ("student;01.1 a of 3;01.1 a of 4", "the column 01.1 a of 4 is there twice."),
            ("student;01.1 a comment", "a comment on 01.1 a, and no column with its points."),
            ("01.1 a of 3;student", "the first column must be `student`."),
        ):
            self.write("ann;1", titles=titles)
            self.refused(said, before)
        (self.output / "manual.csv").write_bytes("student;01.1 a of 3\nann;1".encode("utf-16"))
        self.refused("manual.csv is not in UTF-8: save it as UTF-8.", before)
        (self.output / "manual.csv").unlink()
        (self.output / "manual.csv").symlink_to("nowhere.csv")
        self.refused("manual.csv can't be read: No such file", before)
        (self.output / "manual.csv").unlink()
        self.write("ann;1")
        self.refused("other lines in manual.csv", before, "--student", "ann")

    def refused(self, said, before, *options):
        text = self.graded(*options, code=2)
        self.assertIn(said, text)
        self.assertEqual(len(text.strip().splitlines()), 1, text)
        self.assertEqual((self.output / "results.json").read_bytes(), before)

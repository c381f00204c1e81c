# SPDX-License-Identifier: MIT
"""./lab grade --student: one student is graded again, and nothing of the others changes."""

import csv
import json
import unittest
from unittest import mock

from graded_class import FILE, NUMBER, GradedClass, grade, of_student
from grading_runs import CAN_GRADE, SEED, real_sandboxes, solution_text

from grader.exercises.catalogue import chosen_exercise
from grader.submissions import grading_run
from lab_tool.authoring.trials import trials_of

TABLES = ("results.json", "grades.csv", "junit.xml", "summary.html", "timings.json")


@unittest.skipUnless(CAN_GRADE and real_sandboxes(), "grading takes the race checker and a sandbox")
class GradeAgainTest(GradedClass):
    def setUp(self):
        super().setUp()
        self.output = self.folder / "output"
        self.right = solution_text(NUMBER)
        self.starter = trials_of(chosen_exercise(NUMBER))[0].text

    def graded(self, *options, code=0, place=None):
        found, said = grade(place or self.place, self.output, "--seed", SEED, *options)
        self.assertEqual(found, code, said)
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
        self.assertIn(said, text)
        self.assertEqual(len(text.strip().splitlines()), 1, text)
        self.assertEqual(self.files(), before)

    def test_only_this_student_is_judged_and_only_their_row_changes(self):
        self.hand_in(ann=self.right, bob=self.starter, cy=self.right)
        self.graded()
        before = self.files()
        (self.place / "bob" / FILE).write_text(f"{self.right}// at last\n", encoding="utf-8")
        (self.place / "cy" / FILE).write_text("now broken\n", encoding="utf-8")
        with mock.patch.object(grading_run, "judge", wraps=grading_run.judge) as judged:
            said = self.graded("--student", "bob")
        self.assertEqual(judged.call_count, 1)
        self.assertIn("bob: 11 of 11 points, 0 before; 2 other students as before.", said)
        marks = [json.loads(each["results.json"]) for each in (before, self.files())]
        was, now = ({row["student"]: row for row in each["students"]} for each in marks)
        self.assertEqual((was["bob"]["points"], now["bob"]["points"]), (0, 11))
        self.assertEqual([now["ann"], now["cy"]], [was["ann"], was["cy"]])
        after = self.files()
        changed = {name for name in before | after if before.get(name) != after.get(name)}
        pages = {f"feedback/bob/feedback.{end}" for end in ("md", "html")}
        new = {name for name in after if name.startswith("submitted/") and name not in before}
        self.assertEqual(changed, {*TABLES, *pages, *new})
        self.assertEqual(len(new), 1)
        with open(self.output / "grades.csv", newline="", encoding="utf-8-sig") as file:
            points = {row["student"]: row["points"] for row in csv.DictReader(file)}
        self.assertEqual(points, {"ann": "11", "bob": "11", "cy": "11"})
        timings = json.loads(after["timings.json"])
        self.assertEqual([row["student"] for row in timings], ["ann", "bob", "cy"])
        lines = self.right.count("\n")
        self.assertEqual([row["lines"] for row in timings], [lines, lines + 1, lines])

    def test_the_same_text_is_judged_again_and_comes_to_the_same(self):
        self.hand_in(ann=self.right, bob=self.right)
        self.graded()
        before = self.files()
        with mock.patch.object(grading_run, "judge", wraps=grading_run.judge) as judged:
            self.graded("--student", "ann")
        self.assertEqual(judged.call_count, 1)
        after = self.files()
        for name in before.keys() - {"timings.json", "summary.html"}:
            self.assertEqual(after[name], before[name], name)

    def test_a_page_that_this_run_does_not_make_is_none_of_an_earlier_run(self):
        self.hand_in(ann=self.right, bob=self.right)
        self.graded()
        page = self.output / "leaderboard.html"
        page.write_text("of a run with points for speed", encoding="utf-8")
        self.graded("--student", "ann")
        self.assertFalse(page.exists())

    def test_who_comes_later_gets_a_row_and_a_folder_that_is_nobody_elses(self):
        self.hand_in(**{"a_b": self.right})
        self.graded()
        before = self.files()
        late = self.folder / "late"
        for name in ("a b", "other"):
            (late / name).mkdir(parents=True)
            (late / name / FILE).write_text(self.right, encoding="utf-8")
        said = self.graded("--student", "a b", place=late)
        self.assertIn("a b: 11 of 11 points, not in the table before; 1 other student as", said)
        self.assertEqual(of_student(self.output, "a b")["folder"], "a_b_2")
        page = "feedback/a_b/feedback.html"
        self.assertEqual(self.files()[page], before[page])
        self.assertTrue((self.output / "feedback/a_b_2/feedback.md").is_file())

    def test_wrong_use_is_one_sentence_and_changes_nothing(self):
        self.hand_in(ann=self.right)
        said = self.graded("--student", "ann", code=2)
        self.assertIn("no finished run of lab grade is in --output", said)
        self.assertFalse(self.output.exists())
        self.graded()
        self.hand_in(anna=self.right)
        self.refused(
            ("--student", "anne"),
            "lab: --student anne: there is no such student; did you mean ann or anna?",
        )
        self.refused(("--student", "xyz"), "no such student; grades.csv lists the class.")
        self.refused(
            ("--student", "ann", "--exercises", "01.5"),
            "was made with other exercises or other points; grade",
        )
        (self.place / "ann" / FILE).unlink()
        (self.place / "ann").rmdir()
        self.refused(("--student", "ann"), f"--student ann: nothing in {self.place} is theirs.")
        (self.output / "results.json").write_text('{"schema": "of somebody else"}')
        self.refused(("--student", "anna"), "no finished run of lab grade")

    def test_where_the_grader_fails_only_this_student_has_no_points(self):
        self.hand_in(ann=self.right, bob=self.starter)
        self.graded()
        with mock.patch.object(grading_run, "judge", side_effect=ZeroDivisionError):
            said = self.graded("--student", "ann", code=1)
        self.assertIn("failed on 1 submission: status XX.", said)
        self.assertEqual(of_student(self.output, "bob")["exercises"][0]["status"], "OK")
        self.graded("--student", "ann")
        self.assertEqual(of_student(self.output, "ann")["points"], 11)

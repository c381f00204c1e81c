# SPDX-License-Identifier: MIT
"""Points for late work: what a rule takes off, which rules are refused, and where both numbers stand."""

import csv
import json
import pathlib
import unittest

from handed_class import EXERCISES, SAXPY, HandedClass

from engine.command.errors import WRONG_USE, CommandError
from grader.judging.judgements import Judgement, part_row
from grader.reports.conversions import feedback_lines, for_autolab, for_classroom50, for_gradescope
from grader.reports.feedback import write_feedback
from grader.reports.marks import marks_of, write_marks
from grader.reports.tables import write_csv
from grader.submissions.late_rule import read_late_rule, shown_time, time_of
from grader.submissions.roster import read_roster
from grader.submissions.run_folder import Unit
from lab_tool.command_line import main
from lab_tool.paths import ROOT
from test_setup import temporary_folder

RULE = {
    **{"due": "2026-12-01T23:59", "time_zone": "Europe/Berlin", "grace_minutes": 15},
    **{"percent": 10, "per": "day", "most_percent": 50},
}
MINUTE, HOUR, DAY = 60, 3600, 86400
DUE = 1796165940  # 22:59 in UTC


def written(folder, **changes):
    file = pathlib.Path(folder, "late.json")
    rule = {key: value for key, value in {**RULE, **changes}.items() if value is not Ellipsis}
    file.write_text(json.dumps(rule), encoding="utf-8")
    return file


class RuleTest(unittest.TestCase):
    def setUp(self):
        self.folder = temporary_folder(self)

    def rule(self, **changes):
        return read_late_rule(written(self.folder, **changes))

    def test_what_is_taken_off(self):
        for changes, delay, points, started, percent, taken in (
            ({}, -1, 10, 0, 0, 0),
            ({}, 15 * MINUTE, 10, 0, 0, 0),
            ({}, 15 * MINUTE + 1, 10, 1, 10, 1),
            ({}, DAY, 10, 1, 10, 1),
            ({}, DAY + 1, 10, 2, 20, 2),
            ({}, 30 * DAY, 10, 30, 50, 5),
            ({}, DAY, 9, 1, 10, 0),  # rounded down, in the student's favour
            ({}, DAY, 0, 1, 10, 0),
            ({"per": "hour"}, 90 * MINUTE, 10, 2, 20, 2),
            ({"percent": 0.1, "per": "hour", "most_percent": 100}, 1000 * HOUR, 7, 1000, 100, 7),
            ({"percent": 0.7, "per": "hour"}, 10 * HOUR, 100, 10, 7, 7),  # as people write it
            ({"percent": 2.5}, DAY, 100, 1, 2.5, 2),
            ({"grace_minutes": 0}, 0, 10, 0, 0, 0),
            ({"due": "2026-12-01"}, 59, 10, 0, 0, 0),  # the day lasts until its end
            ({"due": "2026-12-01", "grace_minutes": 0}, 61, 10, 1, 10, 1),
            ({"due": "2026-12-01T22:59+00:00"}, DAY, 10, 1, 10, 1),
        ):
            with self.subTest(changes=changes, delay=delay, points=points):
                found = self.rule(**changes).penalty(DUE + delay, points)
                self.assertEqual(found is None, started == 0)
                if found:
                    self.assertEqual(
                        (found["started"], found["percent"], found["taken_off"]),
                        (started, percent, taken),
                    )
                    self.assertEqual(found["points_before"], points)

    def test_times_are_told_in_the_rules_own_zone(self):
        self.assertEqual(self.rule().penalty(DUE + DAY, 10)["handed_in"], "2026-12-02 23:59")
        self.assertEqual(time_of("2026-12-01T22:59Z"), DUE)
        self.assertIn("318857-05-", shown_time(10**13))  # no calendar has that year

    def test_a_bad_rule_is_refused_in_one_sentence(self):
        for changes, said in (
            ({"percent": ...}, 'late.json: it lacks "percent".'),
            ({"percents": 10}, 'has no use for a key "percents"; did you mean percent'),
            ({"percent": -1}, "percent is -1, and a number from 0 to 100 is expected."),
            ({"percent": True}, "percent is true, and a number from 0 to 100"),
            ({"percent": "10"}, 'percent is "10", and a number from 0 to 100'),
            ({"percent": float("nan")}, "percent is NaN, and a number"),
            ({"most_percent": 101}, "most_percent is 101, and a number from 0 to 100"),
            ({"grace_minutes": 10**9}, "grace_minutes is 1000000000, and a number from 0 to 10080"),
            ({"per": "week"}, 'per is "week", and "day" or "hour" is expected.'),
            ({"per": ["day"]}, 'per is ["day"], and "day" or "hour" is expected.'),
            ({"due": "tomorrow"}, 'due is "tomorrow", and a time, such as "2026-12-01T23:59",'),
            ({"due": 5}, "due is 5, and a time"),
            ({"time_zone": "Berlin"}, 'time_zone is "Berlin", and a name that this machine knows'),
            ({"time_zone": "../../etc/passwd"}, "and a name that this machine knows"),
        ):
            with self.subTest(said), self.assertRaises(CommandError) as raised:
                self.rule(**changes)
            self.assertEqual(raised.exception.code, WRONG_USE)
            self.assertIn(said, str(raised.exception))
            self.assertTrue(str(raised.exception).startswith("--late-rule "))

    def test_what_is_no_file_of_json_is_refused(self):
        file = pathlib.Path(self.folder, "late.json")
        for content, said in (("", "JSON"), ("[]", "no object"), ("[" * 100_000, "JSON")):
            file.write_text(content, encoding="utf-8")
            with self.assertRaisesRegex(CommandError, said):
                read_late_rule(file)
        for path, said in ((self.folder, "can't be read"), ("nowhere.json", "no such file")):
            with self.assertRaisesRegex(CommandError, said):
                read_late_rule(path)


class LateClassTest(HandedClass):
    def marks(self, roster=None):
        """The marks of the class, in which every file is worth 10 points of results and 1 of races."""
        rule = read_late_rule(written(self.folder))
        if roster:
            (self.folder / "roster.csv").write_text(roster, encoding="utf-8")
        listed = read_roster(self.folder / "roster.csv", rule.zone) if roster else None
        found = self.found_students(roster=listed, late_rule=rule)
        saxpy = EXERCISES[0]
        row = {**part_row(saxpy, "results", 10), "of": 10}
        judged = {"unit": Judgement("OK", [row, {**row, "part": "races", "points": 1}], "", [])}
        units = {
            (each.name, saxpy.number): Unit("unit", saxpy) for each in found.students if each.files
        }
        marks = marks_of(found, units, judged, EXERCISES, "none", late_rule=rule)
        return marks, {row["student"]: row for row in marks["students"]}

    def test_each_file_has_its_own_time_or_the_rosters(self):
        self.write(f"ann/{SAXPY}", when=DUE)
        self.write(f"bob/{SAXPY}", when=DUE + DAY)
        self.write(f"cy/{SAXPY}", when=DUE - DAY)
        self.write(f"di/{SAXPY}", when=DUE + 9 * DAY)
        _, rows = self.marks(
            "student,submitted at\nann,\nbob,\ncy,2026-12-04 23:59\ndi,2026-12-01 23:59\n"
        )
        self.assertEqual(
            {name: row["points"] for name, row in rows.items()},
            {"ann": 11, "bob": 10, "cy": 8, "di": 11},
        )
        late = {name for name, row in rows.items() if row["late"]}
        self.assertEqual(late, {"bob", "cy"})
        self.assertIn(
            "01.1 saxpy: late, 2026-12-02 23:59 by the file's time.", rows["bob"]["problems"]
        )
        self.assertIn("01.1 saxpy: late, 2026-12-04 23:59 by the roster.", rows["cy"]["problems"])
        self.assertEqual(rows["bob"]["exercises"][0]["penalty"]["points_before"], 11)
        self.assertNotIn("penalty", rows["ann"]["exercises"][0])

    def test_a_file_that_only_its_name_calls_late_costs_nothing(self):
        self.write(f"doejane_LATE_222_333_{SAXPY}", when=DUE)
        _, rows = self.marks()
        row = rows["doejane"]
        self.assertEqual((row["points"], row["late"]), (11, True))
        self.assertIn("nobody knows by how much, so nothing is taken off.", row["problems"][0])

    def test_a_time_that_is_none_in_the_roster_is_refused(self):
        self.write(f"ann/{SAXPY}")
        with self.assertRaises(CommandError) as raised:
            self.marks("student;submitted at\nann;yesterday\n")
        self.assertIn(
            "ann has yesterday as the time in the column `submitted at`", str(raised.exception)
        )

    def test_points_before_and_after_stand_everywhere(self):
        self.write(f"ann/{SAXPY}", when=DUE)
        self.write(f"bob/{SAXPY}", when=DUE + 2 * DAY)
        marks, rows = self.marks()
        write_csv(marks, self.folder / "grades.csv")
        with open(self.folder / "grades.csv", newline="", encoding="utf-8-sig") as file:
            ann, bob = csv.DictReader(file)
        self.assertEqual((ann["points"], ann["before penalty"]), ("11", "11"))
        self.assertEqual((bob["points"], bob["before penalty"], bob["late"]), ("9", "11", "late"))
        self.assertEqual((bob["01.1"], bob["01.1 before penalty"]), ("9", "11"))
        self.assertEqual((bob["01.1 results"], bob["04.2 before penalty"]), ("10", "0"))
        write_feedback(marks, {}, self.folder)
        sentence = (
            "Handed in late, 2026-12-03 23:59: 2 started days, 20 %. 11 points before, 2 taken off."
        )
        for end in ("md", "html"):
            page = (self.folder / f"feedback/bob/feedback.{end}").read_text(encoding="utf-8")
            self.assertIn(sentence, page)
            self.assertIn("01.1 saxpy: 9 of ", page)
            page = (self.folder / f"feedback/ann/feedback.{end}").read_text(encoding="utf-8")
            self.assertNotIn("taken off", page)
        identity = dict.fromkeys(
            ("CLASSROOM", "ASSIGNMENT", "SUBMISSION_TAG", "COMMIT_URL", "RELEASE_URL"), "x"
        )
        self.assertEqual(for_classroom50(marks, rows["bob"], identity, "now")["score"], 9)
        self.assertEqual(json.loads(for_autolab(rows["bob"]))["scores"]["01.1"], 9)
        answer = for_gradescope(marks, rows["bob"])
        self.assertEqual(answer["score"], 9)
        self.assertIn(f"01.1 saxpy: {sentence}", answer["output"])
        self.assertIn(f"|   {sentence}", feedback_lines(marks, rows["bob"]))
        write_marks(marks, self.folder)
        kept = json.loads((self.folder / "results.json").read_text(encoding="utf-8"))
        self.assertEqual(kept["late_rule"], RULE)

    def test_the_schema_has_it(self):
        self.write(f"bob/{SAXPY}", when=DUE + 2 * DAY)
        marks, rows = self.marks()
        schema = json.loads(
            (ROOT / "grader/reports/grades_schema.json").read_text(encoding="utf-8")
        )
        row = schema["properties"]["students"]["items"]["properties"]["exercises"]["items"]
        penalty = rows["bob"]["exercises"][0]["penalty"]
        self.assertEqual(set(row["properties"]["penalty"]["required"]), set(penalty))
        rule = schema["properties"]["late_rule"]
        self.assertEqual(rule["required"], list(marks["late_rule"]))

    def test_nothing_is_graded_by_a_bad_rule(self):
        self.write(f"ann/{SAXPY}")
        output = self.folder / "output"
        command = ["grade", str(self.folder / "class"), "--exercises", "01.1"]
        bad, good = written(self.folder / "class", percent=200), written(self.folder)
        for options in (
            ["--late-rule", str(bad)],
            ["--late-rule", str(good), "--due", "2026-12-01"],
        ):
            self.assertEqual(main([*command, "--output", str(output), *options]), WRONG_USE)
            self.assertFalse(output.exists())

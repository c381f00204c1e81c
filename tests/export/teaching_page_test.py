# SPDX-License-Identifier: MIT
"""The instructors' page says of the exercises and predictions what they say themselves."""

import json
import re
import unittest

from grader.exercises.catalogue import all_exercises
from lab_tool.chapters import Chapter, all_chapters
from this_build import ROOT

TEXT = (ROOT / "docs/teaching.md").read_text(encoding="utf-8")


class TeachingPage(unittest.TestCase):
    def test_every_exercise_has_its_row(self):
        rows = re.findall(r"^\| (\d\d\.\d \w+) \| (\d+) \|", TEXT, re.MULTILINE)
        self.assertEqual(
            rows, [(each.title, str(each.facts["minutes"])) for each in all_exercises()]
        )

    def test_the_minutes_of_a_chapter(self):
        self.assert_minutes(TEXT, all_chapters())

    def test_a_chapter_that_comes_with_its_row(self):
        last = [line for line in TEXT.splitlines() if line.startswith("| [")][-1]
        added = f"{last}\n| [97](../chapters/97_new/README.md) | do more | 0 |"
        chapters = [*all_chapters(), Chapter("97_new", "new")]
        self.assert_minutes(TEXT.replace(last, added), chapters)
        with self.assertRaises(AssertionError):
            self.assert_minutes(TEXT, chapters)

    def assert_minutes(self, text, chapters):
        """That each chapter has its row, with the minutes of its exercises."""
        rows = re.findall(r"^\| \[(\d\d)\]\(\S+\) \| .* \| (\d+) \|$", text, re.MULTILINE)
        self.assertEqual([number for number, _ in rows], [each.number for each in chapters])
        for number, minutes in rows:
            of_chapter = [each for each in all_exercises() if each.number.startswith(number)]
            self.assertEqual(
                sum(each.facts["minutes"] for each in of_chapter), int(minutes), number
            )

    def test_every_prediction_has_its_row(self):
        files = sorted(ROOT.glob("chapters/*/predictions/*.json"))
        if not files:
            self.skipTest("no predictions in this tree")
        expected = []
        for file in files:
            facts = json.loads(file.read_text(encoding="utf-8"))
            label = f"{file.parent.parent.name[:2]}.{facts['number']}"
            expected.append((facts["misconception"], f"{label} {file.stem}"))
        rows = re.findall(r"^\| (.*\.) \| (\d\d\.\d \w+) \|$", TEXT, re.MULTILINE)
        self.assertEqual(sorted(rows), sorted(expected))

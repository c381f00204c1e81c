# SPDX-License-Identifier: MIT
"""The instructors' page says of the exercises and predictions what they say themselves."""

import difflib
import re
import unittest

from engine.command.errors import CommandError
from grader.exercises.catalogue import all_exercises
from lab_tool.authoring.generated_files import generated_files
from lab_tool.chapters import Chapter, all_chapters
from lab_tool.predictions import all_predictions
from this_build import ROOT

PAGE = "docs/teaching.md"
TEXT = (ROOT / PAGE).read_text(encoding="utf-8")


def what_to_write(text):
    """For whoever sees a test fail: which lines this text of the page must get, and where."""
    try:
        wanted = generated_files()[PAGE]
    except CommandError as problem:
        return f"{PAGE} can't be generated: {problem}"
    if text == wanted:
        return f"{PAGE} is as lab_tool/authoring/generated_files.py makes it: the mistake is there."
    lines = difflib.unified_diff(
        text.splitlines(), wanted.splitlines(), PAGE, "as it must be", lineterm="", n=1
    )
    return "\n".join([f"./lab check-course --write changes {PAGE} as follows:", *lines])


class TeachingPage(unittest.TestCase):
    def test_every_exercise_has_its_row(self):
        self.assert_rows(TEXT)

    def test_a_failure_says_what_to_write(self):
        row = next(line for line in TEXT.splitlines() if line.startswith("| 04.2 fullest_bin |"))
        minutes = next(line for line in TEXT.splitlines() if line.startswith("| [04]"))
        for line, fails in (
            (row, self.assert_rows),
            (minutes, lambda text: self.assert_minutes(text, all_chapters())),
        ):
            with self.assertRaises(AssertionError) as problem:
                fails(TEXT.replace(f"{line}\n", ""))
            said = str(problem.exception)
            self.assertIn(f"./lab check-course --write changes {PAGE} as follows:\n", said)
            self.assertIn(f"\n+{line}\n", f"{said}\n")

    def assert_rows(self, text):
        """That each exercise has its row, with its minutes."""
        rows = re.findall(r"^\| (\d\d\.\d \w+) \| (\d+) \|", text, re.MULTILINE)
        self.assertEqual(
            rows,
            [(each.title, str(each.facts["minutes"])) for each in all_exercises()],
            what_to_write(text),
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
        self.assertEqual(
            [number for number, _ in rows],
            [each.number for each in chapters],
            what_to_write(text),
        )
        for number, minutes in rows:
            of_chapter = [each for each in all_exercises() if each.number.startswith(number)]
            self.assertEqual(
                sum(each.facts["minutes"] for each in of_chapter),
                int(minutes),
                f"{number}: {what_to_write(text)}",
            )

    def test_the_module_of_two_weeks(self):
        table = TEXT.partition("<!-- generated: module -->")[2].partition("<!-- end of")[0]
        rows = [line.split(" | ") for line in table.splitlines() if re.match(r"\| \d \|", line)]
        self.assertEqual(len(rows), 4, what_to_write(TEXT))
        exercises = {each.title: each for each in all_exercises()}
        all_together, all_graded = set(), set()
        for _, _, predicted, shown, together, minutes, homework in rows:
            together = [exercises[title] for title in together.split(", ")]
            titles, how_much = homework.removesuffix(" |").split(": ")
            graded = [exercises[title] for title in titles.split(", ")]
            taken = 10 * len(predicted.split(", ")) + 15 * shown.count("#see-it-fail")
            taken += sum(each.facts["minutes"] for each in together)
            self.assertEqual(int(minutes), taken)
            self.assertLessEqual(
                taken, 75, "a session of 90 minutes has a quarter of an hour for questions"
            )
            points = sum(sum(each.points.values()) for each in graded)
            time = sum(each.facts["minutes"] for each in graded)
            self.assertEqual(how_much, f"{time} minutes, {points} points")
            self.assertLessEqual(time, 60)
            all_together |= {each.number for each in together}
            all_graded |= {each.number for each in graded}
        self.assertEqual(all_together & all_graded, set())
        self.assertNotIn("04.1", all_graded, "the copy for students has its answer")
        options = {"export": all_together | all_graded, "grade": all_graded}
        for verb, numbers in options.items():
            named = re.findall(rf"^\./lab {verb} .* --exercises (\S+)", table, re.MULTILINE)
            self.assertEqual(",".join(named).split(","), sorted(numbers))

    def test_every_prediction_has_its_row(self):
        predictions = all_predictions()
        if not predictions:
            self.skipTest("no predictions in this tree")
        expected = [(each.misconception, f"{each.label} {each.name}") for each in predictions]
        rows = re.findall(r"^\| (.*\.) \| (\d\d\.\d \w+) \|$", TEXT, re.MULTILINE)
        self.assertEqual(sorted(rows), sorted(expected), what_to_write(TEXT))

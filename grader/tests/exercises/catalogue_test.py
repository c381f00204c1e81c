# SPDX-License-Identifier: MIT
"""The course's exercises."""

import pathlib
import tempfile
import unittest

from other_right_solutions import STYLES

from engine.command.errors import CommandError
from grader.exercises.catalogue import all_exercises, chosen_exercise
from grader.exercises.driver_source import driver_source
from this_build import ROOT

USABLE = """\
exercise(
    number=1,
    kind="write",
    minutes=15,
    points={"results": 9},
)
"""
UNUSABLE = [  # what is replaced in it, what is there instead, and what is said
    ("minutes", "minuts", ":4: exercise() has no argument minuts; did you mean minutes, "),
    ("minutes", "xyzzy", ":4: exercise() has no argument xyzzy; they are number, kind, "),
    ("    minutes=15,\n", "", ":1: exercise() lacks minutes."),
    ("15", '"15"', ":4: minutes must be a whole number."),
    ("15", "3 * 5", ":4: minutes must be a literal, because the file is not run for it."),
    ('{"results": 9}', "{[]: 9}", ":5: points must be a literal, because"),
    ("kind", "number", ":3: number stands there twice."),
    ("number=1", "**facts", ":1: each argument of exercise() must have its name."),
    ("number=1", "1", ":1: each argument of exercise() must have its name."),
    ("15,", '15, hints=["one"],', ":1: hints must be 3 texts, or none."),
    (
        "15,",
        '15, limits={"loads per element: 2": "Two."},',
        ":1: limits: 'loads per element: 2' must",
    ),
    ("15,", '15, limits={"loads per element: at most 2": ""},', ":1: limits: 'loads per element: "),
    ("},\n)", "}", ":1: this is no Python: "),
    ("15", "(" * 300 + ")" * 300, ":4: this is no Python: too many nested"),
    ("15", "-" * 90_000 + "1", ":1: this can't be read as Python: "),
    (USABLE, "\0", ":1: this "),
    (USABLE, "", ":1: exercise(...) must be called once, at the top level."),
    (USABLE, USABLE * 2, ":7: exercise(...) must be called once, at the top level."),
    (USABLE, "#" * (1 << 20), ":1: the file is too large: 100,000 bytes are the most."),
]


class CatalogueTest(unittest.TestCase):
    def test_there_are_twenty_eight_in_order(self):
        numbers = [each.number for each in all_exercises()]
        self.assertEqual(len(numbers), 28)
        self.assertEqual(numbers, sorted(set(numbers)))
        self.assertLessEqual({number for number, *_ in STYLES}, set(numbers))

    def test_each_builds_on_chapters_and_exercises_that_are_there(self):
        for exercise in all_exercises():
            for name in exercise.facts["builds_on"]:
                if not (ROOT / "chapters" / name).is_dir():
                    self.assertEqual(chosen_exercise(name).number, name, exercise.title)

    def test_a_chapter_is_no_exercise(self):
        for wanted, says in [
            ("01", "01 is a chapter, and its exercises are 01.1, 01.2, 01.3, 01.4 and 01.5."),
            ("4", "4 is a chapter, and its exercises are 04.1, 04.2 and 04.3."),
        ]:
            with self.subTest(wanted), self.assertRaises(CommandError) as refusal:
                chosen_exercise(wanted)
            self.assertEqual(str(refusal.exception), says)

    def test_an_exercise_py_that_can_t_be_used_gets_a_sentence_with_its_line(self):
        with tempfile.TemporaryDirectory() as folder:
            path = "chapters/04_last_block_guard/exercises/own/exercise.py"
            file = pathlib.Path(folder, path)
            file.parent.mkdir(parents=True)
            file.write_text(USABLE, encoding="utf-8")
            (own,) = all_exercises(pathlib.Path(folder))
            self.assertEqual((own.title, own.hints, own.limits), ("04.1 own", [], []))
            for right, wrong, says in UNUSABLE:
                with self.subTest(says), self.assertRaises(CommandError) as refusal:
                    file.write_text(USABLE.replace(right, wrong), encoding="utf-8")
                    all_exercises(pathlib.Path(folder))
                self.assertIn(f"{path}{says}", str(refusal.exception))
            file.write_bytes(b"\xff")
            with self.assertRaisesRegex(CommandError, ":1: the file is no text in UTF-8"):
                all_exercises(pathlib.Path(folder))
            file.unlink()
            file.mkdir()
            with self.assertRaisesRegex(CommandError, "it can't be read: Is a directory"):
                all_exercises(pathlib.Path(folder))

    def test_an_exercise_py_is_not_run_for_its_facts(self):
        with tempfile.TemporaryDirectory() as folder:
            sample = ROOT / "chapters/01_vector_add/exercises/saxpy/exercise.py"
            file = pathlib.Path(folder, "chapters/01_vector_add/exercises/saxpy/exercise.py")
            file.parent.mkdir(parents=True)
            file.write_text(f"raise SystemExit(9)\n{sample.read_text('utf-8')}", encoding="utf-8")
            self.assertEqual(
                [each.title for each in all_exercises(pathlib.Path(folder))], ["01.1 saxpy"]
            )

    def test_a_readme_that_declares_no_function_makes_no_driver(self):
        for text in ("# 04.1 own: none\n", "```cpp driver.cpp\nint own();\n```\n"):
            with self.assertRaisesRegex(
                ValueError, "README.md: a block .* must declare the student's"
            ):
                driver_source(text, "README.md")

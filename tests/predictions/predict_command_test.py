# SPDX-License-Identifier: MIT
"""`./lab predict` as a student uses it, and as a script does, right and wrong."""

import contextlib
import io
import json
import os
import pathlib
import pty
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

from engine.command.errors import CommandError
from lab_runs import lab
from lab_tool import command_line, predictions
from lab_tool.chapters import Chapter
from lab_tool.predictions import (
    all_predictions,
    chosen_prediction,
    letters_of,
    next_prediction,
    predictions_of,
)
from test_setup import captured
from this_build import BUILD, ROOT

HOLDER = tempfile.TemporaryDirectory()
WORK = pathlib.Path(HOLDER.name)  # and not the developer's own
COMMAND = [sys.executable, str(ROOT / "lab"), "predict", "--build", str(BUILD)]


def predict(*words, environment=None):
    return captured(
        [*COMMAND, *words, *([] if "--list" in words else ["--work", str(WORK)])],
        stdin=subprocess.DEVNULL,
        timeout=300,
        cwd=ROOT,
        env={**os.environ, **(environment or {})},
    )


def typed_on_a_terminal(typed, *words):
    """What the command writes on a terminal at which this is typed, and its exit code."""
    main, other = pty.openpty()
    os.write(main, typed.encode())
    command = [*COMMAND, *words, "--work", str(WORK)]
    with subprocess.Popen(command, stdin=other, stdout=other, stderr=other) as process:
        os.close(other)
        text = b""
        with contextlib.suppress(OSError):  # the other end is closed
            while part := os.read(main, 4096):
                text += part
        code = process.wait()
    os.close(main)
    return text.decode().replace("\r\n", "\n"), code


class WrongUse(unittest.TestCase):
    def refuses(self, *words, says):
        with self.subTest(words=words):
            result = predict(*words)
            self.assertEqual((result.returncode, result.stdout), (2, ""), result)
            self.assertRegex(result.stderr, r"\Alab: [^\n]+\n\Z")
            self.assertIn(says, result.stderr)

    def test_no_terminal(self):
        self.refuses(
            "04", says="lab predict asks on a terminal, and this is none: give your answer"
        )

    def test_no_such_prediction(self):
        self.refuses("fencs", "--answer", "a", says="no prediction fencs; did you mean fences?")
        self.refuses("04.9", "--answer", "a", says="no prediction 04.9; ")
        self.refuses("99", "--answer", "a", says="no prediction 99; ")
        self.refuses("x.cu", "--answer", "a", says="no prediction x.cu; ./lab predict --list")

    def test_no_answer(self):
        for answer in ("ae", "x", "a-b", "no", ","):
            self.refuses(
                "04", "--answer", answer, says=f"{answer} is no answer: it takes the letters"
            )
        self.refuses("04", "--answer", "", says="the value of --answer is empty")

    def test_list_goes_alone(self):
        self.refuses("04", "--list", says="--list goes alone")
        self.refuses("04", "--", "a", says="options of a program, after --, go with")


class Choosing(unittest.TestCase):
    def test_by_number_name_and_chapter(self):
        for wanted, label in (
            ("", "01.1"),
            ("04", "04.1"),
            ("4", "04.1"),
            ("last_block_guard", "04.1"),
            ("chapters/04_last_block_guard/", "04.1"),
            ("04.2", "04.2"),
            ("4.2", "04.2"),
            ("fences", "04.1"),
        ):
            with self.subTest(wanted=wanted):
                self.assertEqual(chosen_prediction(wanted).label, label)

    def test_what_was_answered_right_is_not_asked_again_unless_it_is_named(self):
        answered = {"fences"}
        self.assertEqual(chosen_prediction("04", answered).label, "04.2")
        self.assertEqual(chosen_prediction("04.1", answered).label, "04.1")
        self.assertEqual(chosen_prediction("fences", answered).label, "04.1")
        of_chapter = {each.name for each in all_predictions() if each.chapter == "04"}
        self.assertEqual(chosen_prediction("04", of_chapter).label, "04.1")
        self.assertEqual(chosen_prediction("", of_chapter).label, "01.1")
        first = chosen_prediction("01.1")
        self.assertEqual(chosen_prediction("", {first.name}).label, "01.2")
        last_of_03 = [each for each in all_predictions() if each.chapter == "03"][-1]
        self.assertEqual(next_prediction(last_of_03, answered).label, "04.2")
        every_name = {each.name for each in all_predictions()}
        self.assertEqual(next_prediction(last_of_03, every_name).label, "04.1")

    def test_a_chapter_without_predictions(self):
        others = [each for each in all_predictions() if each.chapter != "04"]
        with (
            mock.patch.object(predictions, "all_predictions", lambda: others),
            self.assertRaisesRegex(CommandError, "there is no prediction 04; "),
        ):
            chosen_prediction("04")

    def test_answers(self):
        for answer, letters in (
            ("ac", "ac"),
            (" C, a ", "ac"),
            ("a c", "ac"),
            ("aa", "a"),
            ("NONE", ""),
            ("all", "abcd"),
        ):
            self.assertEqual(letters_of(answer), letters)

    def test_list(self):
        result = predict("--list")
        self.assertEqual((result.returncode, result.stderr), (0, "Next: ./lab predict\n"))
        labels = [line.split()[0] for line in result.stdout.splitlines()]
        self.assertEqual(labels, [each.label for each in all_predictions()])


class Answered(unittest.TestCase):
    def test_right(self):
        result = predict("04.1", "--answer", "a d")
        self.assertEqual(result.returncode, 0, result)
        self.assertIn("Which of the four are free of races, and why?", result.stdout)
        self.assertIn("\na  right: free of races\n", result.stdout)
        self.assertIn("\nb  right: a race\n", result.stdout)
        self.assertIn("\n4 of 4 right: a and d are free of races.\n", result.stdout)
        self.assertNotIn("Read again", result.stdout)
        self.assertNotIn("A common mistake", result.stdout)
        self.assertTrue(result.stderr.endswith(f"Next: ./lab predict 04.2 --work {WORK}\n"), result)

    def test_wrong(self):
        picture = WORK / "04.1_fences.svg"
        picture.unlink(missing_ok=True)
        result = predict("04.1", "--answer", "ab")
        self.assertEqual(result.returncode, 1, result)
        for text in (
            "\na  right: free of races\n",
            "\nb  WRONG: a race\n",
            "\nc  right: a race\n",
            "\nd  WRONG: free of races\n",
            "\n     written by block 0 thread",
            " at line 3\n         words[blockIdx.x * 64 + threadIdx.x] = 1;\n",
            "\n     missing barrier before the atomic: block 0 signals",
            "README.md#why-it-is-correct\n",
            "\n2 of 4 right: a and d are free of races.\nA common mistake: ",
            "/04.1_fences.svg, one below the other.\n",
        ):
            self.assertIn(text, result.stdout)
        self.assertLess(max(map(len, result.stdout.splitlines())), 80)
        drawn = picture.read_text(encoding="utf-8")
        self.assertIn("b: race", drawn)
        self.assertIn("c: race", drawn)
        self.assertRegex(result.stderr, r"Next: ./lab racecheck \S+fences.cu -- b  \(all that")

    def test_a_chapter_goes_on_after_a_right_answer_and_not_after_a_wrong_one(self):
        with tempfile.TemporaryDirectory() as folder:

            def asked_in(folder, answer):
                words = [*COMMAND, "04", "--answer", answer, "--work", folder]
                return captured(words)

            for answer, label in (("ab", "04.1"), ("ad", "04.1"), ("none", "04.2")):
                self.assertTrue(asked_in(folder, answer).stdout.startswith(label), answer)
            remembered = pathlib.Path(folder, ".checked/predictions.json")
            self.assertEqual(json.loads(remembered.read_text(encoding="utf-8")), ["fences"])
            for content in ("", "[1, 2", '{"fences": 1}', "[[]]"):
                remembered.write_text(content, encoding="utf-8")
                self.assertTrue(asked_in(folder, "ab").stdout.startswith("04.1"), content)

    def test_all_four_race(self):
        result = predict("same_kernel", "--answer", "none")
        self.assertEqual(result.returncode, 0, result)
        self.assertIn("\n4 of 4 right: none is free of races.\n", result.stdout)

    def test_after_the_last_one_comes_the_first(self):
        last = all_predictions()[-1]
        result = predict(last.name, "--answer", last.answer)
        self.assertTrue(result.stderr.endswith(f"Next: ./lab predict 01.1 --work {WORK}\n"), result)

    def test_the_users_number_of_multiprocessors_does_not_count(self):
        """On one of them, one block would take over all tiles, and no two threads would race."""
        result = predict("06.3", "--answer", "abd", environment={"LAB_SMS": "1"})
        self.assertEqual(result.returncode, 0, result)


class Asked(unittest.TestCase):
    def test_until_there_is_an_answer(self):
        text, code = typed_on_a_terminal("?\nxy\n\nd, a\n", "04.1")
        self.assertEqual(code, 0, text)
        self.assertEqual(text.count("Free of races are (letters, none, ? or q): "), 4, text)
        self.assertIn("Type the letters of the variants that are free of races", text)
        self.assertIn("xy is no answer: ", text)
        self.assertIn("nothing is no answer: ", text)
        self.assertIn("4 of 4 right", text)

    def test_without_an_answer(self):
        for typed in ("q\n", "\x04"):
            with self.subTest(typed=typed):
                text, code = typed_on_a_terminal(typed, "04.1")
                self.assertEqual(code, 1, text)
                self.assertNotIn("right", text)
                self.assertIn("./lab predict 04.1", text.splitlines()[-1])


class Program(unittest.TestCase):
    """A prediction's program by itself: `./lab run` takes it as it takes any file."""

    def run_with(self, *words):
        source = chosen_prediction("01.1").source
        return lab("run", "--build", str(BUILD), source, "--", *words)

    def test_its_argument(self):
        self.assertEqual(self.run_with("d").returncode, 0)
        for words in ((), ("e",), ("A",), ("ab",), ("a", "b")):
            result = self.run_with(*words)
            sentence = "the one argument is the letter of a variant, from a to d\n"
            self.assertEqual((result.returncode, result.stdout), (2, sentence), words)


class OurMistakes(unittest.TestCase):
    def test_racecheck_contradicts_the_course(self):
        right = chosen_prediction("04.1")
        wrong = right._replace(
            variants={**right.variants, "c": right.variants["c"]._replace(diagnosis=[])}
        )
        stdout, stderr = io.StringIO(), io.StringIO()
        with (
            mock.patch("lab_tool.verbs.predict.chosen_prediction", lambda *_: wrong),
            contextlib.redirect_stdout(stdout),
            contextlib.redirect_stderr(stderr),
        ):
            words = ["predict", "04.1", "--answer", "acd", "--build", str(BUILD)]
            code = command_line.main(words)
        self.assertEqual(code, 3, stderr.getvalue())
        self.assertIn(
            "lab: internal error: 04.1 (fences), c: racecheck finds missing acquire, and not nothing.",
            stderr.getvalue(),
        )
        self.assertNotIn("right", stdout.getvalue())

    def test_files_that_make_no_prediction(self):
        chapter = Chapter("04_last_block_guard", "last_block_guard")
        ours = ROOT / "chapters/04_last_block_guard/predictions"
        code = (ours / "fences.cu").read_text(encoding="utf-8")
        for old, new, says in (
            (code, "", "no comment as a prediction's"),
            ("Prediction ", "A prediction ", "no comment as a prediction's"),
            ("// A common mistake: ", "// ", "no comment as a prediction's"),
            ("// END b\n", "", "one line '// BEGIN b' and one"),
            ("// BEGIN d", "// BEGIN c", "one line '// BEGIN c' and one"),
            ("// No race\n", "// Right\n", "is not that of a variant"),
            ("// See ", "// Read ", "the comment before '// BEGIN a' is not"),
            (code, "\udcff", "can't decode byte"),
        ):
            self.assertIn(old, code)
            with self.subTest(says=says), tempfile.TemporaryDirectory() as root:
                folder = pathlib.Path(root, "chapters", chapter.folder, "predictions")
                folder.mkdir(parents=True)
                changed = code.replace(old, new).encode("utf-8", "surrogateescape")
                (folder / "fences.cu").write_bytes(changed)
                with self.assertRaises(CommandError) as problem:
                    predictions_of(chapter, pathlib.Path(root))
                self.assertIn("predictions/fences.cu is no prediction: ", str(problem.exception))
                self.assertIn(says, str(problem.exception))

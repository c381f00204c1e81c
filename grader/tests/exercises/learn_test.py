# SPDX-License-Identifier: MIT
"""./lab learn at a terminal: the loop, its keys, and that the terminal is as before afterwards."""

import contextlib
import io
import json
import os
import pathlib
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import termios
import time
import unittest
from unittest import mock

from grader.exercises.catalogue import all_exercises, chosen_exercise
from grader.exercises.solutions import starter
from grader.exercises.work_folder import WorkFolder
from grader.judging.verdict import FAILED, PASSED, Verdict
from lab_tool import learning
from lab_tool.authoring.trials import solution
from lab_tool.learning import Lesson
from lab_tool.screen import verdict_lines
from test_setup import temporary_folder
from this_build import BUILD, ROOT

EXERCISE = chosen_exercise("01.1")
SETTINGS = json.loads((BUILD / "single_file.json").read_text(encoding="utf-8"))
PATIENCE = 120  # seconds for a check on a busy machine


class LearnTest(unittest.TestCase):
    def setUp(self):
        if SETTINGS["backend"] != "cpu":
            self.skipTest("the CPU backend judges")
        self.work = temporary_folder(self)
        self.file = self.work / EXERCISE.file_name
        self.terminal, other = pty.openpty()
        self.addCleanup(os.close, self.terminal)
        self.addCleanup(os.close, other)
        termios.tcsetwinsize(self.terminal, (24, 80)) if hasattr(termios, "tcsetwinsize") else None
        self.settings = termios.tcgetattr(other)
        self.other = other
        self.seen = ""
        self.process = subprocess.Popen(
            [
                sys.executable,
                ROOT / "lab",
                "learn",
                "01.1",
                "--work",
                str(self.work),
                "--build",
                str(BUILD),
            ],
            stdin=other,
            stdout=other,
            stderr=other,
            start_new_session=True,
            cwd=ROOT,  # from which it writes its paths
            env={**os.environ, "TERM": "xterm", "LINES": "24", "COLUMNS": "80", "EDITOR": "true"},
        )
        self.addCleanup(self.process.wait)
        self.addCleanup(self.process.kill)

    def until(self, words):
        """Reads the screen until the words are on it; returns all since the last call."""
        end = time.monotonic() + PATIENCE
        while words not in self.seen:
            self.assertLess(time.monotonic(), end, self.seen)
            if select.select([self.terminal], [], [], 0.2)[0]:
                self.seen += os.read(self.terminal, 1 << 16).decode(errors="replace")
        seen, self.seen = self.seen, ""
        return seen

    def pages(self):
        """All pages that are shown one after the other, and back again."""
        seen = ""
        while "any key goes back" not in seen:
            seen += self.until(" goes back")
            self.press(" ")
        self.until("q quit")
        return seen

    def press(self, key):
        os.write(self.terminal, key.encode())

    def test_from_the_starter_to_the_next_exercise(self):
        screen = self.until("q quit")
        self.assertRegex(screen, r"case \d+ of 14")
        self.assertIn("save it, and it is checked", screen)
        self.assertEqual(self.file.read_text(encoding="utf-8"), starter(EXERCISE))

        self.press("n")
        self.until("n goes on once this one is solved")
        self.press("h")
        self.until("hint 1 of 3")
        self.press("t")
        self.assertIn("The lesson: chapters/01_vector_add/README.md", self.pages())
        self.press("l")
        listed = self.pages()
        for each in all_exercises():
            self.assertIn(each.number, listed)

        self.file.write_text(solution(EXERCISE), encoding="utf-8")
        screen = self.until("n next")
        self.assertIn("Done: ", screen)

        self.press("s")
        self.assertIn("lines with + in ours", self.pages())

        self.press("x")
        self.until("Begin anew?")
        self.press("k")
        self.until("n next")
        self.assertEqual(self.file.read_text(encoding="utf-8"), solution(EXERCISE))

        self.press("n")
        screen = self.until("01.2 reverse_in_place")
        if "q quit" not in screen.rpartition("01.2 reverse_in_place")[2]:  # both in one look
            self.until("q quit")
        self.press("q")
        self.assertEqual(self.process.wait(PATIENCE), 0)
        self.assertEqual(termios.tcgetattr(self.other), self.settings)

    def test_an_interruption_leaves_the_terminal_as_it_was(self):
        self.until("q quit")
        self.process.send_signal(signal.SIGINT)
        self.assertEqual(self.process.wait(PATIENCE), 130)
        self.assertEqual(termios.tcgetattr(self.other), self.settings)

    def test_reset_and_a_file_that_is_gone(self):
        self.until("q quit")
        self.file.write_text("int mine;\n", encoding="utf-8")
        self.until("q quit")
        self.press("x")
        self.until("Begin anew?")
        self.press("y")
        self.until("Your text is kept in")
        kept = [path.read_text(encoding="utf-8") for path in self.work.glob("*.cu")]
        self.assertIn("int mine;\n", kept)
        self.file.unlink()
        self.press("o")
        self.until("is gone: x brings the starter back")

    def test_a_screen_has_room_in_24_lines_of_80(self):
        screen = re.split(r"\x1b\[H\x1b\[2J\x1b\[3J", self.until("q quit"))[-1]
        lines = re.sub(r"\x1b\[\d+m", "", screen).split("\n")
        self.assertLessEqual(len(lines), 24)
        self.assertLessEqual(max(len(line.rstrip("\r")) for line in lines), 80)


class ShowTest(unittest.TestCase):
    def test_a_narrow_terminal_cuts_no_word(self):
        with at_size(60, 20) as written:
            learning.show(["one two " * 40], ["h hint  " * 10])
        rows = written.getvalue().rstrip("\n").split("\n")
        self.assertLess(len(rows), 20)
        self.assertLessEqual(max(map(len, rows[1:])), 60)
        self.assertEqual(" ".join(rows[-2:]).split(), ["h", "hint"] * 10)

    def test_what_a_key_says_is_seen_below_a_long_report(self):
        with tempfile.TemporaryDirectory() as folder, at_size(80, 24) as written:
            lesson = Lesson(WorkFolder(pathlib.Path(folder)), EXERCISE, None, False)
            lesson.terminal = mock.Mock()
            lesson.lines = [f"line {number}" for number in range(100)]
            lesson._draw(["", "  Begin anew?"])
        screen = written.getvalue()
        self.assertIn("Begin anew?", screen)
        self.assertIn("m shows all of it", screen)
        self.assertLessEqual(len(screen.splitlines()), 24)

    def test_a_copy_without_hints_offers_none(self):
        with (
            tempfile.TemporaryDirectory() as folder,
            tempfile.TemporaryDirectory() as copy,
            at_size(80, 24) as written,
        ):
            facts = {**EXERCISE.facts, "hints": []}
            exercise = EXERCISE._replace(folder=pathlib.Path(copy), facts=facts)
            work = WorkFolder(pathlib.Path(folder))
            lesson = Lesson(work, exercise, None, False)
            lesson.terminal = mock.Mock()
            lesson._draw()
            self.assertNotIn("hint", written.getvalue())
            lesson._hint()
            self.assertIn("This copy of the course has no hints", written.getvalue())
            self.assertNotIn("1 of 1", written.getvalue())
            verdict = Verdict({"results": FAILED}, ["case 1"])
            self.assertNotIn("hint", "\n".join(verdict_lines(exercise, verdict, work)))
            self.assertIn("./lab hint 01.1", "\n".join(verdict_lines(EXERCISE, verdict, work)))

    def test_h_says_what_a_race_lacks_and_then_the_hints(self):
        verdict = Verdict(
            {"races": FAILED}, ["Two threads race:"], remedy=("missing barrier: put it there",)
        )
        with tempfile.TemporaryDirectory() as folder, at_size(80, 24) as written:
            work = WorkFolder(pathlib.Path(folder))
            lesson = Lesson(work, EXERCISE, lambda exercise, **_: verdict, False)
            lesson.terminal = mock.Mock()
            lesson._begin(EXERCISE)
            self.assertIn("Two threads race:", written.getvalue())
            self.assertNotIn("missing barrier", written.getvalue())
            lesson._hint()
            self.assertIn("missing barrier: put it there", written.getvalue())
            self.assertNotIn("hint 1 of 3", written.getvalue())
            lesson._hint()
            self.assertIn("hint 1 of 3", written.getvalue())

    def test_the_verdict_is_on_the_screen_while_nvcc_is_asked(self):
        verdict = Verdict({"results": PASSED}, ["Done: 14 cases."])

        def judge(exercise, has_verdict):
            has_verdict(verdict)
            screens.append(written.getvalue())
            return verdict._replace(nvcc_errors=("01_saxpy.cu:1: error: no such thing",))

        screens = []
        with tempfile.TemporaryDirectory() as folder, at_size(80, 24) as written:
            lesson = Lesson(WorkFolder(pathlib.Path(folder)), EXERCISE, judge, False)
            lesson.terminal = mock.Mock()
            lesson._begin(EXERCISE)
            screens.append(written.getvalue()[len(screens[0]) :])
        self.assertIn("Done: 14 cases.", screens[0])
        self.assertIn("nvcc is being asked", screens[0])
        self.assertIn("Done: 14 cases.", screens[1])
        self.assertIn("refuses the file, so it is not done:", screens[1])
        self.assertIn("01_saxpy.cu:1: error: no such thing", screens[1])
        for screen in screens:
            self.assertNotIn("n next", screen)

    def test_a_page_shows_all_lines_one_screen_after_the_other(self):
        with tempfile.TemporaryDirectory() as folder, at_size(80, 24) as written:
            lesson = Lesson(WorkFolder(pathlib.Path(folder)), EXERCISE, None, False)
            lesson.terminal = mock.Mock()
            lesson.terminal.key.return_value = " "
            lesson._page([f"line {number}" for number in range(50)])
        screens = written.getvalue().split("\x1b[H\x1b[2J\x1b[3J")[1:-1]
        self.assertEqual(len(screens), 3)
        for number in range(50):
            self.assertIn(f"line {number}\n", written.getvalue())


@contextlib.contextmanager
def at_size(columns, lines):
    """What is written to a terminal of this size."""
    size = os.terminal_size((columns, lines))
    with (
        mock.patch.object(learning.shutil, "get_terminal_size", return_value=size),
        mock.patch.dict(os.environ, {"TERM": "xterm"}),
        contextlib.redirect_stdout(io.StringIO()) as written,
    ):
        yield written

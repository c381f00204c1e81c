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
from unittest import mock

import pytest

from grader.exercises.catalogue import all_exercises, chosen_exercise
from grader.exercises.solutions import starter
from grader.exercises.work_folder import WorkFolder
from grader.judging.verdict import FAILED, PASSED, Verdict
from lab_tool import learning, task_page
from lab_tool.authoring.trials import solution
from lab_tool.learning import Lesson
from lab_tool.screen import verdict_lines
from this_build import BUILD, ROOT

EXERCISE = chosen_exercise("01.1")
SETTINGS = json.loads((BUILD / "single_file.json").read_text(encoding="utf-8"))
PATIENCE = 120  # seconds for a check on a busy machine


class Learn:
    """./lab learn at a terminal of 24 lines."""

    def __init__(self, work, terminal, process, is_as_before):
        self.work, self.terminal, self.process = work, terminal, process
        self.is_as_before = is_as_before
        self.file = work / EXERCISE.file_name
        self.seen = ""

    def until(self, words):
        """Reads the screen until the words are on it; returns all since the last call."""
        end = time.monotonic() + PATIENCE
        while words not in self.seen:
            assert time.monotonic() < end, self.seen
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


@pytest.fixture
def learn():
    if SETTINGS["backend"] != "cpu":
        pytest.skip("the CPU backend judges")
    terminal, other = pty.openpty()
    termios.tcsetwinsize(terminal, (24, 80)) if hasattr(termios, "tcsetwinsize") else None
    settings = termios.tcgetattr(other)
    with tempfile.TemporaryDirectory() as folder:  # whose path has room in a line of the screen
        process = subprocess.Popen(
            [
                sys.executable,
                ROOT / "lab",
                "learn",
                "01.1",
                "--work",
                folder,
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
        yield Learn(
            pathlib.Path(folder), terminal, process, lambda: termios.tcgetattr(other) == settings
        )
        process.kill()
        process.wait()
    os.close(other)
    os.close(terminal)


def test_from_the_starter_to_the_next_exercise(learn):
    screen = learn.until("q quit")
    assert re.search(r"case \d+ of 14", screen)
    assert "save it, and it is checked" in screen
    assert learn.file.read_text(encoding="utf-8") == starter(EXERCISE)

    learn.press("n")
    learn.until("n goes on once this one is solved")
    learn.press("h")
    learn.until("hint 1 of 3")
    learn.press("t")
    assert "The lesson: chapters/01_vector_add/README.md" in learn.pages()
    learn.press("l")
    listed = learn.pages()
    for each in all_exercises():
        assert each.number in listed

    learn.file.write_text(solution(EXERCISE), encoding="utf-8")
    screen = learn.until("n next")
    assert "Done: " in screen

    learn.press("s")
    assert "lines with + in ours" in learn.pages()

    learn.press("x")
    learn.until("Begin anew?")
    learn.press("k")
    learn.until("n next")
    assert learn.file.read_text(encoding="utf-8") == solution(EXERCISE)

    learn.press("n")
    screen = learn.until("01.2 reverse_in_place")
    if "q quit" not in screen.rpartition("01.2 reverse_in_place")[2]:  # both in one look
        learn.until("q quit")
    learn.press("q")
    assert learn.process.wait(PATIENCE) == 0
    assert learn.is_as_before()


def test_keys_that_were_pressed_during_the_start_count(learn):
    learn.press("h")
    learn.until("hint 1 of 3")
    learn.press("q")
    assert learn.process.wait(PATIENCE) == 0


@pytest.fixture
def typed():
    """A Terminal, and what types at it."""
    terminal, other = pty.openpty()
    settings = termios.tcgetattr(other)
    with (
        open(other, encoding="utf-8") as keyboard,
        mock.patch.object(sys, "stdin", keyboard),
        learning.Terminal() as taken,
    ):
        yield taken, lambda text: os.write(terminal, text.encode())
        termios.tcsetattr(other, termios.TCSANOW, settings)
    os.close(terminal)


def test_keys_are_kept_while_something_is_built(typed):
    terminal, write = typed
    with terminal.keys_kept():
        write("lt\x1b[A")
        while len(terminal.pressed) < 3:
            time.sleep(0.01)
    assert [terminal.key(0) for _ in range(4)] == ["l", "t", "\x1b", ""]


def test_q_ends_what_is_being_built(typed):
    terminal, write = typed
    with pytest.raises(KeyboardInterrupt), terminal.keys_kept():
        write("q")
        time.sleep(60)
    assert terminal.has_quit


@pytest.mark.parametrize("has_rich", [False, True])
def test_a_task_is_laid_out_for_the_window(has_rich):
    text = (
        "# 01.1 name: a title\n\nThe *s*ingle word, a\n[race](../races.md#race) of **two** threads with "
        "`a[i](b)`\nand `x * y * z`.\n\n```text drawing\n  1   2\n\n  3\n```\n\n- one item that is\n"
        "  long enough for two rows\n- another\n"
    )
    python = task_page.python_with(task_page.RICH) if has_rich else None
    if has_rich and not python:
        pytest.skip("rich is not here")
    with mock.patch.object(task_page, "python_with", return_value=python):
        rows = task_page.task_rows(text, 40)
    assert max(map(len, rows)) <= 40
    shown = "\n".join(rows)
    assert "```" not in shown and "races.md" not in shown and "# 01" not in shown
    words = " ".join(shown.split())
    assert "The single word, a race of two threads with" in words
    assert "1 2 3" in words
    if not has_rich:
        assert rows == [
            "01.1 name: a title",
            "",
            "The single word, a race of two threads",
            "with `a[i](b)` and `x * y * z`.",
            "",
            "    1   2",
            "",
            "    3",
            "",
            "- one item that is long enough for two",
            "  rows",
            "- another",
        ]


def test_an_interruption_leaves_the_terminal_as_it_was(learn):
    learn.until("q quit")
    learn.process.send_signal(signal.SIGINT)
    assert learn.process.wait(PATIENCE) == 130
    assert learn.is_as_before()


def test_reset_and_a_file_that_is_gone(learn):
    learn.until("q quit")
    learn.file.write_text("int mine;\n", encoding="utf-8")
    learn.until("q quit")
    learn.press("x")
    learn.until("Begin anew?")
    learn.press("y")
    learn.until("Your text is kept in")
    kept = [path.read_text(encoding="utf-8") for path in learn.work.glob("*.cu")]
    assert "int mine;\n" in kept
    learn.file.unlink()
    learn.press("o")
    learn.until("is gone: x brings the starter back")


def test_a_screen_has_room_in_24_lines_of_80(learn):
    screen = re.split(r"\x1b\[H\x1b\[2J\x1b\[3J", learn.until("q quit"))[-1]
    lines = re.sub(r"\x1b\[\d+m", "", screen).split("\n")
    assert len(lines) <= 24
    assert max(len(line.rstrip("\r")) for line in lines) <= 80


def test_a_narrow_terminal_cuts_no_word():
    with at_size(60, 20) as written:
        learning.show(["one two " * 40], ["h hint  " * 10])
    rows = written.getvalue().rstrip("\n").split("\n")
    assert len(rows) < 20
    assert max(map(len, rows[1:])) <= 60
    assert " ".join(rows[-2:]).split() == ["h", "hint"] * 10


def test_what_a_key_says_is_seen_below_a_long_report():
    with tempfile.TemporaryDirectory() as folder, at_size(80, 24) as written:
        lesson = Lesson(WorkFolder(pathlib.Path(folder)), EXERCISE, None, False)
        lesson.terminal = mock.Mock()
        lesson.lines = [f"line {number}" for number in range(100)]
        lesson._draw(["", "  Begin anew?"])
    screen = written.getvalue()
    assert "Begin anew?" in screen
    assert "m shows all of it" in screen
    assert len(screen.splitlines()) <= 24


def test_a_copy_without_hints_offers_none():
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
        assert "hint" not in written.getvalue()
        lesson._hint()
        assert "This copy of the course has no hints" in written.getvalue()
        assert "1 of 1" not in written.getvalue()
        verdict = Verdict({"results": FAILED}, ["case 1"])
        assert "hint" not in "\n".join(verdict_lines(exercise, verdict, work))
        assert "./lab hint 01.1" in "\n".join(verdict_lines(EXERCISE, verdict, work))


def test_h_says_what_a_race_lacks_and_then_the_hints():
    verdict = Verdict(
        {"races": FAILED}, ["Two threads race:"], remedy=("missing barrier: put it there",)
    )
    with tempfile.TemporaryDirectory() as folder, at_size(80, 24) as written:
        work = WorkFolder(pathlib.Path(folder))
        lesson = Lesson(work, EXERCISE, lambda exercise, **_: verdict, False)
        lesson.terminal = mock.Mock()
        lesson._begin(EXERCISE)
        assert "Two threads race:" in written.getvalue()
        assert "missing barrier" not in written.getvalue()
        lesson._hint()
        assert "missing barrier: put it there" in written.getvalue()
        assert "hint 1 of 3" not in written.getvalue()
        lesson._hint()
        assert "hint 1 of 3" in written.getvalue()


def test_the_verdict_is_on_the_screen_while_nvcc_is_asked():
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
    assert "Done: 14 cases." in screens[0]
    assert "nvcc is being asked" in screens[0]
    assert "Done: 14 cases." in screens[1]
    assert "refuses the file, so it is not done:" in screens[1]
    assert "01_saxpy.cu:1: error: no such thing" in screens[1]
    for screen in screens:
        assert "n next" not in screen


def test_a_page_shows_all_lines_one_screen_after_the_other():
    with tempfile.TemporaryDirectory() as folder, at_size(80, 24) as written:
        lesson = Lesson(WorkFolder(pathlib.Path(folder)), EXERCISE, None, False)
        lesson.terminal = mock.Mock()
        lesson.terminal.key.return_value = " "
        lesson._page([f"line {number}" for number in range(50)])
    screens = written.getvalue().split("\x1b[H\x1b[2J\x1b[3J")[1:-1]
    assert len(screens) == 3
    for number in range(50):
        assert f"line {number}\n" in written.getvalue()


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

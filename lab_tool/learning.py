# SPDX-License-Identifier: MIT
"""./lab learn's lesson: a screen that is written anew, and a terminal that answers to single keys."""

import contextlib
import os
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys
import termios
import textwrap
import threading
import time
import tty

from engine.command.errors import CommandError
from engine.command.output import IN_COLOURS, escaped
from engine.command.paths import shown
from grader.exercises.catalogue import all_exercises
from grader.exercises.solutions import comparison, has_solution
from grader.exercises.work_folder import NOT_BEGUN
from lab_tool.screen import (
    NO_HINTS,
    exercise_rows,
    hint_lines,
    judged_lines,
    next_exercise,
    progress_line,
    verdict_lines,
)
from lab_tool.task_page import task_rows

COLOUR_CODES = re.compile(r"\x1b\[[0-9;]*m")
KEY_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[@-~]|O.)")  # what one key sends, such as an arrow
CLEAR = "\x1b[H\x1b[2J\x1b[3J"  # with what has been scrolled away


def is_terminal():
    return sys.stdin.isatty() and sys.stdout.isatty()


class Terminal:
    """Takes keys as they come, for as long as the `with` block lasts."""

    def __enter__(self):
        self.descriptor = sys.stdin.fileno()
        self.pressed, self.has_quit = [], False
        self.saved = termios.tcgetattr(self.descriptor)
        # The window's size has changed, or the program goes on after Ctrl-Z: all is to be drawn anew.
        self.is_to_be_drawn = False
        self.handlers = {
            name: signal.signal(name, self._draw_anew) for name in (signal.SIGWINCH, signal.SIGCONT)
        }
        self._take_keys()
        return self

    def _take_keys(self):
        """Without a flush: what was typed before counts."""
        tty.setcbreak(self.descriptor, termios.TCSADRAIN)

    def __exit__(self, *_):
        for name, handler in self.handlers.items():
            signal.signal(name, handler)
        termios.tcsetattr(self.descriptor, termios.TCSADRAIN, self.saved)

    def _draw_anew(self, *_):
        with contextlib.suppress(termios.error):
            self._take_keys()
        self.is_to_be_drawn = True

    def key(self, seconds):
        """The next key, '' if none came in so many seconds, or None at the end of the input."""
        with contextlib.suppress(InterruptedError):
            has_input = not self.pressed and select.select([self.descriptor], [], [], seconds)[0]
            if has_input and not self._read():
                return None
            return self.pressed.pop(0) if self.pressed else ""
        return ""

    def _read(self):
        """Whether there is input; its keys are kept."""
        given = os.read(self.descriptor, 1 << 10).decode(errors="replace")
        self.pressed += KEY_SEQUENCE.sub("\x1b", given)
        return given

    @contextlib.contextmanager
    def keys_kept(self):
        """While work goes on that takes long: q ends it, as Ctrl-C does, and other keys count afterwards."""
        has_ended, end = os.pipe()

        def keep():
            while has_ended not in select.select([self.descriptor, has_ended], [], [])[0]:
                if not self._read():
                    return
                if "q" in self.pressed:
                    self.has_quit = True
                    os.kill(os.getpid(), signal.SIGINT)
                    return

        keeper = threading.Thread(target=keep)
        keeper.start()
        try:
            yield
        finally:
            os.close(end)
            keeper.join()
            os.close(has_ended)

    @contextlib.contextmanager
    def lent(self):
        """Another program has the terminal, as it was before."""
        termios.tcsetattr(self.descriptor, termios.TCSADRAIN, self.saved)
        try:
            yield
        finally:
            self._take_keys()


def show(lines, footer, cut="  ..."):
    """Clears the screen and writes the lines, as many as there is room for above the footer.

    `cut` takes the place of those for which there is none.
    """
    lines, footer = rows_on_screen(lines), rows_on_screen(footer)
    room = room_above(footer)
    if len(lines) > room:
        lines = [*lines[: room - 1], cut]
    clear = "\n" * 2 if os.environ.get("TERM") in (None, "", "dumb") else CLEAR
    sys.stdout.write(clear + "\n".join([*lines, *footer]) + "\n")
    sys.stdout.flush()


def rows_on_screen(lines):
    """The lines as rows that are no wider than the screen."""
    columns = shutil.get_terminal_size().columns
    return [row for line in lines for row in rows_of(escaped(line, IN_COLOURS), columns)]


def room_above(footer):
    """For how many rows there is room above these; at least for one."""
    return max(1, shutil.get_terminal_size().lines - len(footer) - 1)


def rows_of(line, columns):
    """The line as rows that fit the screen, each further one indented as the first."""
    if len(COLOUR_CODES.sub("", line)) <= columns:
        return [line]
    indent = " " * (len(line) - len(line.lstrip()))
    return textwrap.wrap(line, columns, subsequent_indent=indent + "  ") or [""]


SECONDS_BETWEEN_LOOKS = 0.1
SECONDS_OF_REST = 0.2  # that a file must stay as it is: an editor may write it in several steps

KEYS = "t task  h hint  l list  c check all  x reset  o open in editor  q quit"
HINT_KEY = "h hint  "


class Lesson:
    """One student at one Terminal. `judge(exercise)` returns the Verdict on their file, and calls
    `has_verdict` with all of it but nvcc's answer, if it asks nvcc."""

    def __init__(self, work, exercise, judge, is_manual, terminal=None):
        self.work, self.exercise, self.judge, self.is_manual = work, exercise, judge, is_manual
        self.lines, self.is_solved, self.remedy = [], False, ()
        self.terminal = terminal

    def run(self):
        """Until q; returns the exercise that was last."""
        self._begin(self.exercise)
        while True:
            key = self.terminal.key(SECONDS_BETWEEN_LOOKS)
            if key is None or key == "q":
                return self.exercise
            if key:
                self._pressed(key)
            elif self.terminal.is_to_be_drawn:
                self._draw()
            elif not self.is_manual and self._was_saved():
                self._check()

    def _begin(self, exercise):
        self.exercise = exercise
        self.work.begin(exercise)
        self._check()

    def _mark(self):
        """Changes when the file is saved; None if there is no file."""
        try:
            status = os.stat(self.work.file_of(self.exercise))
        except OSError:
            return None
        return status.st_mtime_ns, status.st_size, status.st_ino

    def _was_saved(self):
        mark = self._mark()
        if mark == self.checked:
            return False
        while True:
            time.sleep(SECONDS_OF_REST)
            before, mark = mark, self._mark()
            if mark == before:
                return mark != self.checked

    def _check(self):
        self.checked, self.is_solved, self.remedy = self._mark(), False, ()
        file = shown(self.work.file_of(self.exercise))
        if self.checked is None:
            self.lines = [f"{file} is gone: x brings the starter back."]
            self._draw()
            return
        show([f"{self.exercise.title}: checking {file} ..."], [])
        try:
            verdict = self.judge(self.exercise, has_verdict=self._draw_first)
            self.is_solved, self.remedy = verdict.is_solved, verdict.remedy
            self.lines = verdict_lines(self.exercise, verdict, self.work, has_keys=True)
        except CommandError as problem:
            self.lines = [self.exercise.title, "", f"  {problem}"]
        self._draw()

    def _draw_first(self, verdict):
        """The Verdict, while nvcc is being asked."""
        asking = ["", "  nvcc is being asked as well ..."]
        self.lines = [*judged_lines(self.exercise, verdict), *asking]
        self._draw()

    def _draw(self, extra=()):
        self.terminal.is_to_be_drawn = False
        has_hint = self.remedy or self.exercise.hints
        keys = KEYS if has_hint else KEYS.replace(HINT_KEY, "")
        checks = "r checks" if self.is_manual else "save it, and it is checked"
        show(
            self.lines,
            [
                *extra,  # however long the lines are: what was asked for is to be seen
                "",
                progress_line(all_exercises(), self.work),
                f"your file: {shown(self.work.file_of(self.exercise))}   ({checks})",
                ("n next  " if self.is_solved else "") + keys,
            ],
            cut="  ... m shows all of it",
        )

    def _pressed(self, key):
        actions = {
            "t": self._task,
            "m": lambda: self._page(self.lines),
            "s": self._solution,
            "h": self._hint,
            "l": lambda: self._page(exercise_rows(all_exercises(), self.work, has_chapters=False)),
            "c": self._check_all,
            "x": self._reset,
            "o": self._open,
            "n": self._next,
            "r": self._check,
        }
        if key in actions:
            actions[key]()

    def _hint(self):
        """What the race that was found lacks, when it is asked for the first time; else the next hint."""
        if self.remedy:
            lines, self.remedy = self.remedy, ()
            self._draw(["", "  what is missing:", *(f"  {line}" for line in lines)])
            return
        hints = self.exercise.hints
        if not hints:
            self._draw(["", f"  {NO_HINTS}"])
            return
        number = self.work.next_hint(self.exercise, len(hints))
        text = [f"  {line}" for line in hint_lines(hints[number])]
        last = ", the last one" if number + 1 == len(hints) else ""
        self._draw(["", f"  hint {number + 1} of {len(hints)}{last}:", *text])

    def _task(self):
        lesson = shown(self.exercise.folder.parent.parent / "README.md")
        text = self.exercise.text.partition("\n")[2]  # without its license
        rows = task_rows(text, shutil.get_terminal_size().columns)
        self._page([*rows, "", f"The lesson: {lesson}"])

    def _solution(self):
        if not self.is_solved:
            self._draw(["", "  s shows our solution once yours is right."])
        elif has_solution(self.exercise):
            width = shutil.get_terminal_size().columns
            self._page(comparison(self.exercise, self.work, width))

    def _check_all(self):
        exercises = [each for each in all_exercises() if self.work.state(each) != NOT_BEGUN]
        lines = []
        for each in exercises:
            show([*lines, f"{each.title}: checking ..."], [])
            try:
                lines.append(verdict_lines(each, self.judge(each), self.work)[0])
            except CommandError as problem:
                lines.append(f"{each.title}: {problem}")
        self._page(lines or ["No exercise is begun."])

    def _page(self, lines):
        """Shows all of it, one screen after the other; q goes back before the last one."""
        key = ""
        while lines and key not in ("q", None):
            rows = rows_on_screen(lines)
            footer = ["", "any key goes on, q goes back"]
            room = room_above(footer)
            if len(rows) <= room:
                footer = ["", "any key goes back"]
            show(rows[:room], footer)
            lines, key = rows[room:], ""
            while key == "":
                key = self.terminal.key(SECONDS_BETWEEN_LOOKS)
        self._draw()

    def _reset(self):
        self._draw(
            ["", "  Begin anew? Your text is kept under another name.   y yes   any other key no"]
        )
        answer = ""
        while answer == "":
            answer = self.terminal.key(SECONDS_BETWEEN_LOOKS)
        if answer != "y":
            self._draw()
            return
        backup = self.work.reset(self.exercise)
        self._check()
        if backup:
            self._draw(["", f"  Your text is kept in {shown(backup)}."])

    def _open(self):
        editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
        file = str(self.work.file_of(self.exercise))
        if not editor:
            self._draw(["", f"  EDITOR is not set: open {shown(file)} yourself."])
            return
        with self.terminal.lent():
            try:
                subprocess.run([*shlex.split(editor), file], check=False)
            except (OSError, ValueError) as error:
                problem = getattr(error, "strerror", None) or error
                self._draw(["", f"  {editor} could not be started: {problem}."])
                return
        if self._mark() == self.checked:
            self._draw()
        else:
            self._check()

    def _next(self):
        following = next_exercise(self.exercise, all_exercises(), self.work)
        if not self.is_solved:
            self._draw(["", "  n goes on once this one is solved."])
        elif following:
            self._begin(following)
        else:
            self._draw(["", "  All exercises are done."])

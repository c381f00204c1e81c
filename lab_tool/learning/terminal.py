# SPDX-License-Identifier: MIT
"""A terminal that answers to single keys, and a screen that is written anew."""

import contextlib
import os
import re
import select
import shutil
import signal
import sys
import termios
import textwrap
import tty

from engine.command.output import IN_COLOURS, escaped

COLOUR_CODES = re.compile(r"\x1b\[[0-9;]*m")
CLEAR = "\x1b[H\x1b[2J\x1b[3J"  # with what has been scrolled away


def is_terminal():
    return sys.stdin.isatty() and sys.stdout.isatty()


class Terminal:
    """Takes keys as they come, for as long as the `with` block lasts."""

    def __enter__(self):
        self.descriptor = sys.stdin.fileno()
        self.saved = termios.tcgetattr(self.descriptor)
        # The window's size has changed, or the program goes on after Ctrl-Z: all is to be drawn anew.
        self.is_to_be_drawn = False
        self.handlers = {
            name: signal.signal(name, self._draw_anew) for name in (signal.SIGWINCH, signal.SIGCONT)
        }
        tty.setcbreak(self.descriptor)
        return self

    def __exit__(self, *_):
        for name, handler in self.handlers.items():
            signal.signal(name, handler)
        termios.tcsetattr(self.descriptor, termios.TCSADRAIN, self.saved)

    def _draw_anew(self, *_):
        with contextlib.suppress(termios.error):
            tty.setcbreak(self.descriptor)
        self.is_to_be_drawn = True

    def key(self, seconds):
        """The next key, '' if none came in so many seconds, or None at the end of the input."""
        with contextlib.suppress(InterruptedError):
            if not select.select([self.descriptor], [], [], seconds)[0]:
                return ""
            pressed = os.read(self.descriptor, 32)
            return pressed.decode(errors="replace")[:1] if pressed else None
        return ""

    @contextlib.contextmanager
    def lent(self):
        """Another program has the terminal, as it was before."""
        termios.tcsetattr(self.descriptor, termios.TCSADRAIN, self.saved)
        try:
            yield
        finally:
            tty.setcbreak(self.descriptor)


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

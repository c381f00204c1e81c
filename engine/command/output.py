# SPDX-License-Identifier: MIT
"""What a command writes, and where.

The rule: stdout carries what was asked for, and nothing else. That is the program's own output where a
program is run, and else the command's result: findings, test results, tables. What the command says
about its own work goes to stderr: which backend it takes, what it is building, the commands under
--verbose, problems, and what to do next. So `run FILE.cu > out.txt` gives the program's own output, and
it makes no difference whether stdout is a terminal, but for the width of a finding's lines.

Colour is for a terminal, and never if NO_COLOR is set. Other control characters are written as \\x1b,
whether they come from a name, a compiler or a line of the user's code. Only what a program itself writes
during a run is left as it is.
"""

import contextlib
import os
import re
import shlex
import shutil
import sys
import textwrap
import threading
import time
import unicodedata
from typing import NamedTuple


class Invocation(NamedTuple):
    """The command that the user has typed: its name stands in messages and in commands that they recommend.

    The engine's own command is cudacheck. Another one that uses this package, as ./lab does, says so by
    set_invocation() before anything else.
    """

    name: str  # in a sentence: 'lab'
    typed: str  # before a verb: './lab'
    check: str  # the verb that looks for races
    header_folders: tuple = ()  # whose headers are not the user's, besides the engine's own

    def command(self, *words):
        """A command with these words, as the user would type it."""
        return shlex.join([self.typed, *map(str, words)])


CUDACHECK = Invocation("cudacheck", "cudacheck", "check")

_current = CUDACHECK


def set_invocation(invocation):
    global _current
    _current = invocation


def invocation():
    """The Invocation in whose name this package speaks."""
    return _current


SECONDS_BETWEEN_LINES = 10  # of progress, if stderr is no terminal
SECONDS_BETWEEN_UPDATES = 0.25  # of the progress line on a terminal
SECONDS_OF_SILENCE = 1  # before work whose steps are not counted yet shows on a terminal

MOST_LINES = 60  # of what a failed command has printed; its first messages matter most

RED, BOLD = "31", "1"
NO_BREAK = "\u00a0"  # a space at which no line ends

# What escaped() may keep. A colour in a file or in its name seldom looks as a compiler writes its own.
LINES = r"[\n\t]"
IN_COLOURS = rf"{LINES}|\x1b\[(?:[012]|3[1-3])m"
COMPILERS_COLOURS = r"\x1b\[(?:(?:0?1(?:;3\d)?|3\d)?m\x1b\[K|0?[017]m|0;(?:1;)?3\dm|K)"

_verbose = False
_interruption_is_told = False


def set_verbose(verbose):
    global _verbose
    _verbose = verbose


def is_verbose():
    """Whether each command is printed before it runs, and its output shown whole."""
    return _verbose


def is_terminal(stream):
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def has_colour(stream):
    return is_terminal(stream) and not os.environ.get("NO_COLOR")


def coloured(text, colour, stream):
    if not has_colour(stream):
        return text
    return f"\x1b[{colour}m{text}\x1b[0m"


def escaped(text, kept=None):
    """The text with control characters and invisible ones as Python writes them, such as \\x1b.

    `kept` is a regular expression of those that stay; without it the text is one line.
    """

    def shown(match):
        letter = match[0]
        if letter.isprintable() or unicodedata.category(letter[0]) == "Zs":
            return letter
        return letter if kept and re.fullmatch(kept, letter) else repr(letter)[1:-1]

    return re.sub(f"{kept}|[^ -~]" if kept else "[^ -~]", shown, text)


def _write_line(stream, words, kept=LINES):
    """In one piece, whatever the stream's buffer does: who reads both streams sees whole lines."""
    try:
        stream.write(escaped(" ".join(map(str, words)), kept) + "\n")
        stream.flush()
    except BrokenPipeError:
        raise
    except OSError as error:  # a full disk does not say whose
        name = "standard output" if stream is sys.stdout else "standard error"
        raise OSError(error.errno, error.strerror, name) from error


def say(*words):
    """Part of the command's result."""
    _write_line(sys.stdout, words)


def say_in_colours(text):
    """Part of the command's result, in which some words are coloured()."""
    _write_line(sys.stdout, [text], IN_COLOURS)


def say_fitted(line, colour=None, indent=None):
    """A line of the result, which a terminal shows in as many lines as it needs, broken between words.
    The further ones have this indent, or the line's own and two spaces."""
    line = escaped(line, LINES)
    lines = [line]
    if is_terminal(sys.stdout):
        if indent is None:
            indent = line[: len(line) - len(line.lstrip())] + "  "
        lines = textwrap.wrap(
            line, shutil.get_terminal_size().columns, subsequent_indent=indent,
            break_long_words=False, break_on_hyphens=False,
        ) or [line]  # fmt: skip
    for each in lines:
        say_in_colours(coloured(each, colour, sys.stdout) if colour else each)


def remark(*words):
    """Something about the command's own work."""
    _write_line(sys.stderr, words)


def remark_line(line):
    """What another program has printed, such as a compiler: with its colours if there may be any."""
    if has_colour(sys.stderr):
        _write_line(sys.stderr, [line], f"{LINES}|{COMPILERS_COLOURS}")
    else:
        remark(re.sub(COMPILERS_COLOURS, "", line))


def remark_lines(lines):
    """What another program has printed: the first lines of it, and how many were left out."""
    for line in lines[:MOST_LINES]:
        remark_line(line)
    if len(lines) > MOST_LINES:
        remark(f"... and {len(lines) - MOST_LINES} more lines; --verbose shows them all")


def say_problem(message, *further):
    """One sentence on one line, whatever a name in it has: a line feed is shown as \\n. Each of the
    further lines is one, too."""
    name = coloured(f"{invocation().name}:", RED, sys.stderr)
    _write_line(sys.stderr, [name, escaped(str(message))], IN_COLOURS)
    for line in further:
        remark(escaped(line))


def say_interrupted(what=""):
    """The one line about Ctrl-C, by the first function that knows what it interrupted."""
    global _interruption_is_told
    if not _interruption_is_told:
        _interruption_is_told = True
        remark(what or f"{invocation().name}: interrupted.")


def say_next(command, purpose=""):
    """The command that the user most likely wants now: the last thing that a verb says."""
    text = escaped(f"{command}  ({purpose})" if purpose else command, LINES)
    _write_line(sys.stderr, [coloured("Next:", BOLD, sys.stderr), text], IN_COLOURS)


def say_command(command):
    """The command, a list of words or a line for the shell, as the user would type it."""
    remark("$", command if isinstance(command, str) else shlex.join(command))


def printable(text):
    """The text with a space for each letter that XML may not hold, and for each end of a line."""
    return "".join(letter if letter.isprintable() or letter == NO_BREAK else " " for letter in text)


def seconds_text(seconds):
    """'4 s' or '3 min 20 s'."""
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def counted(number, what):
    """'1 student' or '7 students'."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


class Progress:
    """One line about work that takes a while, for as long as the `with` block lasts.

    On a terminal the line is kept up to date in place. Elsewhere it is a line every ten seconds, so
    that nothing is written about work that is done sooner, or that turns out to be none.
    """

    def __init__(self, what, stays=True):
        self.what = what  # such as "Building vector_add"
        self.stays = stays  # whether the last state of the line is left on the terminal
        self.done = self.total = 0
        self.note = ""
        self.in_place = is_terminal(sys.stderr)
        self.line_is_open = False
        self.lock = threading.Lock()
        self.stopped = threading.Event()

    def __enter__(self):
        self.start = self.last_line = time.monotonic()
        self.thread = threading.Thread(target=self._keep_up_to_date, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, kind, error, trace):
        self.stopped.set()
        self.thread.join()
        self._erase()
        if kind is KeyboardInterrupt:
            say_interrupted(f"{self.what}: interrupted after {self._elapsed()}.")
        elif kind is None and self.done and self.in_place and self.stays:
            remark(f"{self.text()}.")

    def step(self, done, total, note=""):
        """So many steps of so many are done."""
        with self.lock:
            self.done, self.total, self.note = done, total, note
        self._show()

    def text(self):
        """'Building vector_add: 3 of 27, 4 s'."""
        count = f"{self.done} of {self.total}, " if self.total else ""
        return escaped(f"{self.what}: {count}{self.note}{self._elapsed()}")

    def _elapsed(self):
        return seconds_text(time.monotonic() - self.start)

    def _keep_up_to_date(self):
        with contextlib.suppress(BrokenPipeError):  # the work itself will notice
            while not self.stopped.wait(SECONDS_BETWEEN_UPDATES):
                self._show()

    def _show(self):
        with self.lock:
            now = time.monotonic()
            if self.in_place:
                if self.total or now - self.start >= SECONDS_OF_SILENCE:
                    width = shutil.get_terminal_size().columns - 1
                    print(f"\r{self.text()[:width]}\x1b[K", end="", file=sys.stderr, flush=True)
                    self.line_is_open = True
            elif now - self.last_line >= SECONDS_BETWEEN_LINES:
                self.last_line = now
                remark(self.text())

    def _erase(self):
        if self.line_is_open:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
            self.line_is_open = False

# SPDX-License-Identifier: MIT
"""What documents quote of `./lab`: commands to type, and what they print.

A fenced block that shows what a command prints names it after its language, as in
```text (part, numbers vary) ./lab run 06
or its first line is `$ ` and the command. In parentheses, if anything, stands what may differ:
- part: lines are left out. `[...]` within a line stands for words left out, with or without this.
- numbers vary: each number may be another one, such as a time.
- H200: it was printed by that GPU, and is not to be seen in a build without one.
"""

import os
import re
import shlex
import subprocess
import tempfile
from typing import NamedTuple

from documents_test import FENCE, text_of

from lab_tool.predictions import chosen_prediction
from test_setup import captured
from this_build import BUILD, ROOT

# And what stands next to them: further readings, and how the kernels are made fast.
LESSONS = sorted(ROOT.glob("chapters/*/*.md"))
QUOTING = [
    ROOT / "README.md",
    *LESSONS,
    ROOT / "docs/memory-model.md",
    ROOT / "docs/racecheck.md",
    *sorted(ROOT.glob("docs/use/*.md")),
]

TAKES_NO_BUILD = {
    "doctor", "setup", "plot", "site", "new", "check-course", "exercises", "hint", "reset",
    "solution",
}  # fmt: skip
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


class Quotation(NamedTuple):
    command: str
    notes: list[str]
    lines: list[str]


def quotation(info, body):
    """The Quotation that a fenced block is, by its info string; None if it quotes no command."""
    match = re.fullmatch(r"text(?: \(([^)]*)\))?(?: (\./lab .*))?", info.strip())
    lines = body.splitlines()
    if not match:
        return None
    command = match[2]
    if not command and lines and lines[0].startswith("$ ./lab "):
        command = lines.pop(0)[2:]
    notes = match[1].split(", ") if match[1] else []
    return Quotation(command, notes, lines) if command else None


def all_quotations():
    """Those of all documents that quote commands."""
    found = [
        quotation(info, body)
        for document in QUOTING
        for info, body in FENCE.findall(text_of(document))
    ]
    return [each for each in found if each]


def assert_quoted(command, printed):
    """What any document quotes of the command, and of no GPU, was printed."""
    for quoted in all_quotations():
        if quoted.command == command and "H200" not in quoted.notes:
            difference = first_difference(quoted, printed)
            assert difference is None, f"quoted, and not printed: {difference}\n\n{printed}"


def typed(command):
    """What the command does when it is typed in the checkout, but in the build of this test."""
    words = shlex.split(command)[1:]
    options = words.index("--") if "--" in words else len(words)
    ours = [] if words[0] in TAKES_NO_BUILD else ["--build", str(BUILD)]
    with tempfile.TemporaryDirectory() as folder:
        if words[0] == "predict" and "--answer" not in words:  # else it asks, on a terminal
            ours += ["--answer", chosen_prediction("".join(words[1:2])).answer or "none"]
        if words[0] == "predict" and "--list" not in words:  # nobody has answered anything yet
            ours += ["--work", folder]
        if words[0] == "trace" and "--output" not in words:
            ours += ["--output", os.path.join(folder, "picture.svg")]
        return captured(
            [ROOT / "lab", *words[:options], *ours, *words[options:]],
            cwd=ROOT,
            env={**os.environ, "LAB_TEST_LOG": "", "NO_COLOR": "1"},
            stdin=subprocess.DEVNULL,  # else a command that asks would wait for somebody
        )


def first_difference(quoted, printed):
    """The first line of a Quotation that was not printed; None if all is as it says."""
    lines = [line for line in map(_words, printed.splitlines()) if line]
    position = 0
    for line in filter(str.strip, quoted.lines):
        pattern = _pattern(line, "numbers vary" in quoted.notes)
        rest = lines[position:] if "part" in quoted.notes else lines[position : position + 1]
        found = next((at for at, each in enumerate(rest) if pattern.fullmatch(each)), None)
        if found is None:
            return line
        position += found + 1
    if "part" not in quoted.notes and position < len(lines):
        return f"(the end: it goes on with {lines[position]!r})"
    return None


def _words(line):
    return " ".join(line.split())


def _pattern(line, numbers_vary):
    pieces = []
    for piece in _words(line).split("[...]"):
        literal = re.escape(piece)
        if numbers_vary:
            literal = NUMBER.pattern.join(map(re.escape, NUMBER.split(piece)))
        pieces.append(literal)
    return re.compile(".*".join(pieces))

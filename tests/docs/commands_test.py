# SPDX-License-Identifier: MIT
"""Types the commands of `./lab` that documents quote, on the CPU backend, and compares what they print.

A fenced block that shows what a command prints names it after its language, as in
```text (part, numbers vary) ./lab run 06
or its first line is `$ ` and the command. In parentheses, if anything, stands what may differ:
- part: lines are left out. `[...]` within a line stands for words left out, with or without this.
- numbers vary: each number may be another one, such as a time.
- H200: it was printed by that GPU, and is not to be seen in a build without one.

`./lab test NAME` is not typed here, since the tests of that name are in `./lab test all` themselves:
documents_test sees that there are some. Nor is `./lab learn`, which needs a terminal: learn_test has
one. A name in capitals, as in `./lab run FILE.cu`, is for the reader to fill in.
"""

import os
import re
import shlex
import subprocess
import tempfile
from typing import NamedTuple

import pytest
from documents_test import FENCE, commands_of, text_of

from lab_runs import lab, needs_racecheck
from lab_tool.predictions import chosen_prediction
from test_setup import captured
from this_build import BUILD, ROOT

# In a build like the README's; in others some of its commands would do something else.

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
        if words[0] == "predict" and "--list" not in words:  # no answer is recorded yet
            ours += ["--work", folder]
        if words[0] == "trace" and "--output" not in words:
            ours += ["--output", os.path.join(folder, "picture.svg")]
        return captured(
            [ROOT / "lab", *words[:options], *ours, *words[options:]],
            cwd=ROOT,
            env={**os.environ, "LAB_TEST_LOG": "", "NO_COLOR": "1"},
            stdin=subprocess.DEVNULL,  # else a command that asks would wait for an answer
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


# The README.

# Not typed here: this test is part of the first one, the second one is for a machine with a GPU, and the
# third one for a terminal, which learn_test has; the last one serves until it is interrupted, and
# site_command_test has it.
NOT_HERE = {"./lab test", "./lab bench", "./lab learn", "./lab site --serve"}
README = (ROOT / "README.md").read_text(encoding="utf-8")


def commands_of_readme():
    """Every command of the README that could be typed as it stands, once."""
    named = re.findall(r"^(?:\$ )?(\./lab [^\n#]*)", README, re.M) + re.findall(
        r"`(\./lab [^`]*)`", README
    )
    whole = [command.strip() for command in named if not re.search(r"[A-Z]{2,}|\[", command)]
    return [command for command in dict.fromkeys(whole) if command not in NOT_HERE]


def test_the_readme_has_commands():
    assert "./lab run" in commands_of_readme()
    assert any("racecheck chapters/" in command for command in commands_of_readme())


@needs_racecheck
@pytest.mark.parametrize("command", commands_of_readme())
def test_a_command_of_the_readme(command):
    result = typed(command)
    # What the README shows as a mistake is reported as one.
    assert result.returncode == (1 if "naive" in command else 0), result.stdout + result.stderr
    assert_quoted(command, result.stdout)


# The lessons.

FOR_A_GPU = {
    # A laptop would take minutes; the lessons say that it is for a GPU.
    "./lab run chapters/04_last_block_guard/naive_last_block_guard.cu -- 20000",
    "./lab run 04 -- --elements 33554432 --threads 32 --blocks 65536",
    "./lab trace 05 --panels contiguous_ranges,grid_stride,queue -- --size 8192 --tile 16",
}

# What happens to go right on the CPU backend; the lessons say so.
RIGHT_BY_CHANCE = {
    "./lab run chapters/08_look_back_scan/naive_look_back_scan.cu",
    "./lab run chapters/02_shared_memory_dot_product/naive_barrier.cu",
}


def commands():
    """Every command of the lessons that can be typed as it stands, once.

    What the README has as well is typed by its own test, which looks at the lessons' quotations too.
    """
    quoted = [command for lesson in LESSONS for command in commands_of(lesson)]
    quoted += [each.command for each in all_quotations()]
    return [
        command
        for command in dict.fromkeys(quoted)
        if re.match(r"\./lab (?!test|learn)\w", command)
        and not re.search(r"\b[A-Z]{2,}\b|\[", command)
        and command not in commands_of_readme()
    ]


def shows_a_mistake(command):
    """By the name of its program, or as a prediction that is answered wrongly."""
    names = ("/naive_", "mistakes", "weak_examples")
    quoted = [line for each in all_quotations() if each.command == command for line in each.lines]
    return any(name in command for name in names) or any("WRONG" in line for line in quoted)


@needs_racecheck
@pytest.mark.parametrize("command", commands())
def test_a_quoted_command(command):
    if command in FOR_A_GPU:
        pytest.skip("this one is for a GPU: on a CPU it takes minutes")
    result = typed(command)
    told = result.stdout + result.stderr
    if command.startswith("./lab bench"):  # of a chapter, which needs a GPU
        assert result.returncode == 2, told
        assert "on the CPU backend bench measures the backend itself" in result.stderr
        return
    # What a lesson shows as a mistake is reported as one, unless it hides.
    is_wrong = shows_a_mistake(command) and command not in RIGHT_BY_CHANCE
    assert result.returncode == (1 if is_wrong else 0), told
    assert_quoted(command, result.stdout)


def test_the_lessons_have_commands():
    assert len(commands()) > 15
    assert len([each for each in all_quotations() if "H200" not in each.notes]) > 8


@pytest.mark.parametrize(
    "lesson", LESSONS, ids=lambda lesson: f"{lesson.parent.name}/{lesson.stem}"
)
def test_what_is_printed_names_its_command(lesson):
    """A fenced text is a picture of the idea, or says by which command of the lesson it was printed."""
    outside = re.sub(r"^## The idea\n.*?(?=^## )", "", text_of(lesson), flags=re.M | re.S)
    for info, body in FENCE.findall(outside):
        if info.startswith("text"):
            quoted = quotation(info, body)
            assert quoted, f"this names no command:\n{body}"
            assert quoted.command in commands_of(lesson), f"no sentence has {quoted.command}"


def test_for_a_gpu_is_what_the_lessons_have():
    assert set(commands()) >= FOR_A_GPU


@pytest.mark.parametrize(
    ("notes", "quoted", "printed"),
    [
        ([], "a 1\nb", "a 1\n\n  b\n"),
        ([], "a [...] c", "a b b c\n"),
        (["numbers vary"], "a 1,000 of 2.5 b", "a 7 of 1,234.0 b\n"),
        (["part"], "a\nc", "a\nb\nc\nd\n"),
    ],
)
def test_a_quotation_that_is_right(notes, quoted, printed):
    assert first_difference(Quotation("./lab run 01", notes, quoted.splitlines()), printed) is None


@pytest.mark.parametrize(
    ("notes", "quoted", "printed"),
    [
        ([], "a 1", "a 2\n"),
        ([], "a", "a\nb\n"),
        ([], "a\nb", "a\n"),
        ([], "a", "a b\n"),
        (["numbers vary"], "a 1 right", "a 1 WRONG\n"),
        (["numbers vary"], "a 1", "a -\n"),
        (["part"], "c\na", "a\nb\nc\n"),
    ],
)
def test_a_quotation_that_is_wrong(notes, quoted, printed):
    assert first_difference(Quotation("./lab run 01", notes, quoted.splitlines()), printed)


# The lessons' wrong programs are wrong in what they teach: a launch that is refused, they report.

PROGRAMS = sorted(ROOT.glob("chapters/*/naive_*.cu"))


def test_there_are_naive_programs():
    assert len(PROGRAMS) >= 7


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
def test_a_refused_launch_is_reported(program, tmp_path):
    """As with a grid of no blocks here, it is on a GPU with a program for another architecture."""
    text, launches = re.subn(r"<<<[^,]+,", "<<<0,", program.read_text(encoding="utf-8"))
    assert launches == 1
    changed = tmp_path / program.name
    changed.write_text(text, encoding="utf-8")
    result = lab("run", "--build", str(BUILD), "--include", str(ROOT / "chapters"), str(changed))
    assert result.returncode == 1, result
    assert result.stdout.splitlines()[-1] == "the kernel failed", result

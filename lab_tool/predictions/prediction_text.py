# SPDX-License-Identifier: MIT
"""What a prediction says to the student: its question, and the answer to what was predicted.

Everything fits in 80 columns, but for racecheck's own words about a name that is longer.
"""

import difflib
import re
import sys
import textwrap

from engine.command.errors import WRONG_USE, CommandError, listed
from engine.command.output import BOLD, coloured
from engine.command.paths import shown
from lab_tool.paths import ROOT
from lab_tool.predictions.predictions import LETTERS

WIDTH = 79
WIDEST_CODE = WIDTH - 6  # of a line of a variant, after its number and its mark
HOW_TO_ANSWER = (
    "Type the letters of the variants that are free of races, as in ac, or none if each of the four "
    "has a race. q leaves without an answer."
)


def question_of(prediction):
    """The question, the first variant whole, and where each of the others differs from it; one that
    differs much is whole, too."""
    first, *others = LETTERS
    code_of_first = prediction.variants[first].code
    changes = {
        letter: _changes(code_of_first, prediction.variants[letter].code) for letter in others
    }
    left_out = {at for of_one in changes.values() for mark, at, _ in of_one if mark == "-"}
    lines = [
        _bold(f"{prediction.label} {prediction.title}"),
        "",
        *_wrapped(prediction.question),
        "Which of the four are free of races, and why?",
        "",
        _bold(first),
        *_whole(code_of_first, left_out),
    ]
    for letter in others:
        code = prediction.variants[letter].code
        if len(changes[letter]) > len(code) / 2:  # as a list of changes it would be hard to read
            lines += ["", _bold(letter)]
            lines += _whole(code, {at for mark, at, _ in changes[letter] if mark == "+"})
        else:
            lines += ["", f"{_bold(letter)}, where it differs from {first}"]
            lines += [_code_line(at, mark, line) for mark, at, line in changes[letter]]
    return "\n".join(lines)


def letters_of(answer):
    """The letters that an answer names, in their order. Errors: CommandError, if it is none."""
    letters = re.sub(r"[\s,]+", "", answer.lower())
    if letters in ("none", "all"):
        return "" if letters == "none" else LETTERS
    if not letters or set(letters) - set(LETTERS):
        raise CommandError(
            f"{answer.strip() or 'nothing'} is no answer: it takes the letters of those that are "
            f"free of races, from {LETTERS[0]} to {LETTERS[-1]}, as in ac, or none.",
            WRONG_USE,
        )
    return "".join(letter for letter in LETTERS if letter in letters)


def judgement_of(prediction, letter, answer, findings):
    """Whether a variant was judged rightly, why it is as it is, and what racecheck found in it."""
    variant = prediction.variants[letter]
    was_right = (letter in answer) == (letter in prediction.answer)
    verdict = "free of races" if letter in prediction.answer else "a race"
    lines = [_bold(f"{letter}  {'right' if was_right else 'WRONG'}: {verdict}")]
    lines += _wrapped(variant.why, "   ")
    if findings:
        lines += _first_lines(findings[0])
    if not was_right:
        file, _, heading = variant.paragraph.partition("#")
        lines += _wrapped(f"Read again: {shown(ROOT / file)}#{heading}", "   ")
    return "\n".join(lines)


def summary_of(prediction, answer):
    """How many of the four were judged rightly, and what somebody who erred may have believed."""
    wrong = [each for each in LETTERS if (each in answer) != (each in prediction.answer)]
    free = listed(prediction.answer) or "none"
    verb = "is" if len(prediction.answer) < 2 else "are"
    lines = [f"{len(LETTERS) - len(wrong)} of {len(LETTERS)} right: {free} {verb} free of races."]
    if wrong:
        lines += _wrapped(f"A common mistake: {_quoted(prediction.misconception)}")
    return "\n".join(lines)


def _quoted(sentence):
    return f'"{sentence}"'


def _changes(first, other):
    """[(- or +, line number, line)]: the lines of the first that the other one lacks, and its own."""
    found = []
    blocks = difflib.SequenceMatcher(None, first, other, autojunk=False).get_opcodes()
    for kind, start, end, other_start, other_end in blocks:
        if kind != "equal":
            found += [("-", at + 1, first[at]) for at in range(start, end)]
            found += [("+", at + 1, other[at]) for at in range(other_start, other_end)]
    return found


def _whole(code, marked):
    """All lines of a variant; those of the marked numbers differ from another variant's."""
    return [_code_line(at, ">" if at in marked else " ", line) for at, line in enumerate(code, 1)]


def _code_line(number, mark, line):
    text = f"{number:3} {mark} {line}".rstrip()
    return text if mark in " -" else _bold(text)


def _first_lines(finding):
    """Racecheck's words about a race, in which lines have the numbers that the student sees."""
    lines = []
    for line in finding["text"].splitlines():
        indent = "   " + line[: len(line) - len(line.lstrip())]
        lines += _wrapped(line.strip(), indent, indent + "  ")
    return lines


def _wrapped(text, indent="", further=None):
    further = indent if further is None else further
    return textwrap.wrap(
        text, WIDTH, initial_indent=indent, subsequent_indent=further, break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip


def _bold(text):
    return coloured(text, BOLD, sys.stdout)

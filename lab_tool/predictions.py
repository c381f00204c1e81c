# SPDX-License-Identifier: MIT
"""The predictions of the chapters: their files, their texts, their runs and which are answered."""

import argparse
import difflib
import json
import os
import pathlib
import re
import sys
import textwrap
from typing import NamedTuple

from engine.command.errors import WRONG_USE, CommandError, hint, listed
from engine.command.output import BOLD, coloured
from engine.command.output_files import make_own_folder, write_whole
from engine.command.paths import shown
from engine.command.racecheck_runs import MergeReports, merged_findings, problem_of
from engine.command.schedules import scheduled_runs
from lab_tool.builds.program_builds import merging_program, observed_programs
from lab_tool.chapters import all_chapters, chosen_chapters
from lab_tool.paths import ROOT

LETTERS = "abcd"
PER_CHAPTER = 3
HEAD = re.compile(
    r"Prediction (?P<number>[1-9]\d*): (?P<title>.+?)\n\n(?P<question>.+?)\n\n"
    r"A common mistake \((?P<mistaken>[a-d]+)\): (?P<misconception>.+)",
    re.DOTALL,
)
OF_VARIANT = re.compile(
    r"(?:No race|Race: (?P<diagnosis>[^\n]+))\n(?P<why>.+)\nSee (?P<paragraph>\S+)", re.DOTALL
)


class Variant(NamedTuple):
    first_line: int  # of its code, in the file
    code: list[str]  # its lines
    why: str  # it races or does not, a sentence or two
    diagnosis: list[str]  # what racecheck finds, in its words; nothing if there is no race
    paragraph: str  # of a lesson or of docs/, that explains it: path from the root, #heading


class Prediction(NamedTuple):
    chapter: str  # the number of the chapter, as 04
    number: int  # in the chapter, from 1 on
    name: str
    source: pathlib.Path
    title: str
    question: str
    mistaken: (
        str  # the letters of the variants that are judged wrongly because of the misconception
    )
    misconception: str
    variants: dict[str, Variant]  # by letter

    @property
    def label(self):
        """What the user calls it: 04.2."""
        return f"{self.chapter}.{self.number}"

    @property
    def answer(self):
        """The letters of the variants that are free of races."""
        return "".join(letter for letter in LETTERS if not self.variants[letter].diagnosis)


def predictions_of(chapter, root=ROOT):
    """Those of one Chapter, in the order of their numbers. Errors: CommandError about a file of them."""
    folder = root / "chapters" / chapter.folder / "predictions"
    found = [_read(chapter, file) for file in sorted(folder.glob("*.cu"))]
    return sorted(found, key=lambda prediction: prediction.number)


def all_predictions(root=ROOT):
    """All of the course, in its order."""
    return [each for chapter in all_chapters(root) for each in predictions_of(chapter, root)]


def chosen_prediction(wanted, answered=()):
    """The one that the user means: by 04.2 or its name; by a chapter or by '', its or the course's first
    one whose name is not among those that were `answered` right, or the very first one if all were.
    Errors: CommandError if there is none."""
    predictions = all_predictions()
    if not wanted:
        return _first_open(predictions, answered)
    for prediction in predictions:
        if wanted in (prediction.name, prediction.label, prediction.label.lstrip("0")):
            return prediction
    chapter_names = [name for chapter in all_chapters() for name in chapter.names]
    if wanted.rstrip("/") in chapter_names:
        (chapter,) = chosen_chapters(wanted)
        of_chapter = [each for each in predictions if each.chapter == chapter.number]
        if of_chapter:
            return _first_open(of_chapter, answered)
    titles = [chapter.folder for chapter in all_chapters()]
    names = [each.name for each in predictions]
    more = hint(wanted, names + titles, "./lab predict --list shows all.")
    raise CommandError(f"there is no prediction {wanted}; {more}", WRONG_USE)


def next_prediction(prediction, answered=()):
    """The next one in the course that was not answered right, or simply the next one if all were; after
    the last one comes the first."""
    predictions = all_predictions()
    place = predictions.index(prediction) + 1
    return _first_open([*predictions[place:], *predictions[:place]], answered)


def _first_open(predictions, answered):
    return next((each for each in predictions if each.name not in answered), predictions[0])


def _read(chapter, file):
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
        head = HEAD.fullmatch(_comment(lines[1:]))
        if not head:
            raise ValueError("its second line begins no comment as a prediction's")
        words = {name: " ".join(text.split()) for name, text in head.groupdict().items()}
        return Prediction(
            chapter.number,
            int(words.pop("number")),
            name=file.stem,
            source=file,
            variants={letter: _variant(file, lines, letter) for letter in LETTERS},
            **words,
        )
    except (OSError, ValueError) as error:
        where = f"chapters/{chapter.folder}/predictions/{file.name}"
        raise CommandError(f"{where} is no prediction: {error}.") from error


def _variant(file, lines, letter):
    marks = [f"// {word} {letter}" for word in ("BEGIN", "END")]
    if any(lines.count(mark) != 1 for mark in marks):
        raise ValueError(f"it takes one line {marks[0]!r} and one {marks[1]!r}")
    begin, end = map(lines.index, marks)
    said = OF_VARIANT.fullmatch(_comment(lines[:begin][::-1], is_backwards=True))
    if not said:
        raise ValueError(f"the comment before {marks[0]!r} is not that of a variant")
    chapter = file.parent.parent
    paragraph = os.path.normpath(chapter / said["paragraph"])
    return Variant(
        begin + 2,
        lines[begin + 1 : end],
        " ".join(said["why"].split()),
        said["diagnosis"].split(", ") if said["diagnosis"] else [],
        os.path.relpath(paragraph, chapter.parent.parent),
    )


def _comment(lines, is_backwards=False):
    """The text of the comment that these lines begin with, or whose last line is the first of them."""
    texts = []
    for line in lines:
        if not line.startswith("//"):
            break
        texts.append(line.removeprefix("//").strip())
    return "\n".join(texts[::-1] if is_backwards else texts)


WIDTH = 79
WIDEST_CODE = WIDTH - 6  # of a line of a variant, after its number and its mark
HOW_TO_ANSWER = (
    "Type the letters of the variants that are free of races, as in ac, or none if each of the four "
    "has a race. q leaves without an answer."
)


def question_of(prediction):
    """The four variants, and below them the question: that is what a small terminal still shows."""
    first, *others = [prediction.variants[letter].code for letter in LETTERS]
    changes = [_changes(first, other) for other in others]
    marked = [set().union(*(of_first for of_first, _ in changes)), *(own for _, own in changes)]
    lines = [
        _bold(f"{prediction.label} {prediction.title}"),
        "",
        "> marks a line that differs from variant to variant.",
    ]
    for letter, of_variant in zip(LETTERS, marked):
        code = enumerate(prediction.variants[letter].code, 1)
        lines += ["", _bold(letter), *(_code_line(at, at in of_variant, line) for at, line in code)]
    lines += ["", *_wrapped(prediction.question)]
    return "\n".join([*lines, "Which of the four are free of races, and why?"])


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
    """How many of the four were judged rightly, and the belief that a wrong judgement may come from."""
    wrong = [each for each in LETTERS if (each in answer) != (each in prediction.answer)]
    free = listed(prediction.answer) or "none"
    verb = "is" if len(prediction.answer) < 2 else "are"
    lines = [f"{len(LETTERS) - len(wrong)} of {len(LETTERS)} right: {free} {verb} free of races."]
    if set(wrong) & set(prediction.mistaken):
        lines += _wrapped(f'A common mistake: "{prediction.misconception}"')
    return "\n".join(lines)


def _changes(first, other):
    """The numbers of the lines of the first that the other one lacks, and of those that it has alone."""
    found = set(), set()
    blocks = difflib.SequenceMatcher(None, first, other, autojunk=False).get_opcodes()
    for kind, start, end, other_start, other_end in blocks:
        if kind != "equal":
            found[0].update(range(start + 1, end + 1))
            found[1].update(range(other_start + 1, other_end + 1))
    return found


def _code_line(number, is_marked, line):
    text = f"{number:3} {'>' if is_marked else ' '} {line}".rstrip()
    return _bold(text) if is_marked else text


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


SCHEDULES = 20
SECONDS = 60  # for one run, which takes a fraction of one


class Contradiction(CommandError):
    """What stands in the course is not what racecheck finds: a mistake of the course."""

    def __init__(self, message):
        super().__init__(f"internal error: {message}", CONTRADICTED)


CONTRADICTED = 3  # the exit code


def findings_of(prediction, build=None):
    """{letter: what racecheck finds in the variant}. Builds the program first, if it has changed.

    Errors: Contradiction if a variant is not what the prediction says of it; CommandError if nothing
    could be built or run.
    """
    # The answers hold for the checker's own number of multiprocessors.
    os.environ.pop("LAB_SMS", None)
    file = argparse.Namespace(
        target=str(prediction.source), more_files=[], include=[], define=[], compiler_option=[], rdc="false",
        program_options=[], build=build,
    )  # fmt: skip
    ((program, _),) = observed_programs(file)
    merge_reports = merging_program(program, file)
    checks = [(program, [letter]) for letter in LETTERS]
    found = {}
    with scheduled_runs(checks, range(SCHEDULES), SECONDS) as finished:
        for letter, runs_of_variant in zip(LETTERS, finished):
            runs = runs_of_variant()
            problems = [problem for run in runs if (problem := problem_of(run, SECONDS))]
            merging = MergeReports(
                merge_reports, str(prediction.source), prediction.variants[letter].first_line
            )
            findings = merged_findings(runs, merging)
            reason = contradiction(prediction.variants[letter], findings, problems)
            if reason:
                raise Contradiction(f"{prediction.label} ({prediction.name}), {letter}: {reason}.")
            found[letter] = findings
    return found


def contradiction(variant, findings, problems):
    """Why these findings are not what is said of the variant; None if they are.

    A variant that has a race may also read what nothing has written yet; one that has none may not.
    """
    if problems:
        return problems[0]
    races = {name for item in findings if item["kind"] == "race" for name in item["diagnosis"]}
    others = {name for item in findings if item["kind"] != "race" for name in item["diagnosis"]}
    if races != set(variant.diagnosis) or (others and not races):
        found = listed(sorted(races | others)) or "nothing"
        return f"racecheck finds {found}, and not {listed(variant.diagnosis) or 'nothing'}"
    return None


def answered_right(folder):
    """The names of those predictions; `folder` is the one with the student's files."""
    try:
        names = json.loads(_file(folder).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return set()
    return {name for name in names if isinstance(name, str)} if isinstance(names, list) else set()


def remember_right_answer(folder, prediction):
    names = answered_right(folder) | {prediction.name}
    file = _file(folder)
    make_own_folder(file.parent)
    write_whole(file, json.dumps(sorted(names)) + "\n")


def _file(folder):
    return folder / ".checked" / "predictions.json"

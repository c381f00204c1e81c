# SPDX-License-Identifier: MIT
"""The predictions of the chapters: which of four variants of a kernel are free of races, and why?

A prediction is a file in a chapter's folder `predictions`: a program that has the four variants, each
between `// BEGIN x` and `// END x`, and runs the one whose letter is its argument. All that is said about
it stands in its comments: docs/internals/predictions.md.
"""

import os
import pathlib
import re
from typing import NamedTuple

from engine.command.errors import WRONG_USE, CommandError, hint
from lab_tool.chapters import all_chapters, chosen_chapters
from lab_tool.paths import ROOT

LETTERS = "abcd"
PER_CHAPTER = 3
HEAD = re.compile(
    r"Prediction (?P<number>[1-9]\d*): (?P<title>.+?)\n\n(?P<question>.+?)\n\n"
    r"A common mistake: (?P<misconception>.+)",
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
    misconception: str  # what somebody may believe who judges wrongly
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

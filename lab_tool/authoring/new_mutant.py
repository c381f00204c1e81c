# SPDX-License-Identifier: MIT
"""Makes a wrong solution of an exercise, an entry of its mutants.txt, of an edited copy of the solution."""

import pathlib
import re
from typing import NamedTuple

from engine.command.errors import WRONG_USE, CommandError
from engine.command.output_files import write_whole
from engine.command.paths import shown
from grader.exercises.solutions import LOOKS_LIKE_ONE, solution_of
from grader.judging.check import verdict_on
from lab_tool.authoring.mutants import FILE, Mutant, edits_between
from lab_tool.authoring.new_exercise import LONGEST
from lab_tool.authoring.trials import (
    COMPILING,
    HEAD,
    OR,
    PARTS,
    mutants_of,
    patched,
    rejecting_part,
    solution,
)

CHECKS = 3  # a race shows in the results now and then, and not each time


class NewMutant(NamedTuple):
    """A wrong solution that is to be made."""

    exercise: object
    name: str
    mistake: str  # a sentence of the author's
    text: str


def new_mutant(exercise, name, copy, mistake=None):
    """The NewMutant of this name. Raises CommandError if the edited copy, a path, can't become it."""
    if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name) or len(name) > LONGEST:
        raise CommandError(
            f"{name} can't be a wrong solution's name: words of small letters, as in missing_acquire, and "
            f"{LONGEST} letters at most.",
            WRONG_USE,
        )
    mistake = name.replace("_", " ") if mistake is None else mistake.strip()
    if not mistake or not mistake.isprintable():
        raise CommandError("--mistake: it takes one line that says what is wrong.", WRONG_USE)
    mutants = mutants_of(exercise)
    if name in (other.name for other in mutants):
        raise CommandError(
            f"{name} is in {shown(exercise.folder / FILE)} already: choose another name.", WRONG_USE
        )
    text = _text_of(copy)
    if text == solution(exercise):
        raise CommandError(
            f"{copy} does not differ from the solution of {exercise.title}: make the mistake in a copy of "
            f"{shown(exercise.source)}.",
            WRONG_USE,
        )
    for other in mutants:
        if patched(exercise, other) == text:
            raise CommandError(f"{copy} is a wrong solution already: {other.name}.", WRONG_USE)
    return NewMutant(exercise, name, mistake, text)


def make_mutant(build, new):
    """Checks it, writes it into mutants.txt and returns the Mutant and the last Verdict. Raises
    CommandError if no check rejects it."""
    if not build.can_observe:
        raise CommandError(
            "this build folder has no race checker, which judges most wrong solutions: leave --build out.",
            WRONG_USE,
        )
    verdicts = [verdict_on(build, new.exercise, new.text) for _ in range(CHECKS)]
    found = [rejecting_part(verdict) for verdict in verdicts]
    if COMPILING in found:
        raise CommandError(
            f"without its markers it does not compile, so no mutant was made: {verdicts[0].lines[0]}"
        )
    if None in found:
        passed = "" if set(found) == {None} else f" in {found.count(None)} of {CHECKS} checks"
        raise CommandError(
            f"nothing rejects it{passed}, so no mutant was made: the mistake is none, or a case in "
            f"{shown(new.exercise.file)} is missing that shows it."
        )
    parts = [part for part in PARTS if part in found]
    judged = [verdict for verdict, part in zip(verdicts, found) if part == parts[-1]]
    fields = dict(zip(HEAD, (new.mistake, OR.join(parts), _said_by_all(judged))))
    made = Mutant(new.name, fields, edits_between(solution(new.exercise), new.text))
    mutants = sorted([*mutants_of(new.exercise), made], key=lambda mutant: mutant.name)
    write_whole(new.exercise.folder / FILE, "\n".join(mutant.text() for mutant in mutants))
    return made, judged[-1]


def _text_of(copy):
    """The text of a copy of the solution, with or without its markers."""
    try:
        text = pathlib.Path(copy).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise CommandError(f"{copy} is no text in UTF-8.", WRONG_USE) from None
    except OSError as error:
        raise CommandError(f"{copy} can't be read: {error.strerror}.", WRONG_USE) from error
    if LOOKS_LIKE_ONE.search(text):
        return solution_of(text, copy)
    return "".join(f"{line}\n" for line in text.splitlines())


def _said_by_all(verdicts):
    """What all of these say first: what a race lacks, in short, or else a line about the mistake."""
    said = [
        [
            *(line.partition(":")[0] for line in each.remedy[:1]),
            *(line.strip() for line in each.lines),
        ]
        for each in verdicts
    ]
    for words in said[0]:
        if words and all(words in others for others in said):
            return words
    raise CommandError(
        "each check says something else of it, so no mutant was made: a mistake that shows in the same "
        "way each time is needed."
    )

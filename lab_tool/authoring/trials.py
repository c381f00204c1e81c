# SPDX-License-Identifier: MIT
"""An exercise's own files, its starter, its solution and its wrong solutions, and what a check must say
of each."""

import pathlib
import tempfile
from typing import NamedTuple, Optional

from grader.exercises.markers import solution_of
from grader.exercises.work_folder import starter
from grader.judging.verdicts import FAILED
from lab_tool.authoring.mutants import apply_patch, fields_of

HEAD = ("Mutant", "Rejected by", "Says")
COMPILING = "compiling"
PARTS = ("results", "races", "limits", COMPILING)
REQUIRED = {  # wrong solutions that every exercise has
    "one_thread": "in which one thread does what many could do",
    "one_block": "in which one block does what all could do",
}
OR = " or "  # "results or races": a race that now and then shows, and then results reject it


class Mutant(NamedTuple):
    """A wrong solution: a patch of the solution without its markers."""

    path: pathlib.Path
    what: str
    rejected_by: str  # one of PARTS, or several with OR between them
    says: (
        str  # a piece of what the check prints; of what the last part prints, if there are several
    )


def mutants_of(exercise):
    found = []
    for path in sorted((exercise.folder / "mutants").glob("*.patch")):
        fields = fields_of(path, HEAD)
        if not set(fields["Rejected by"].split(OR)) <= set(PARTS):
            raise AssertionError(f"{path}: it is rejected by one of {', '.join(PARTS)}")
        found.append(Mutant(path, *(fields[name] for name in HEAD)))
    return found


def missing_mutants(exercise):
    """A sentence for each wrong solution of REQUIRED that the exercise lacks."""
    folder = f"{exercise.path}/mutants"
    return [
        f"{folder}/{name}.patch: missing; it is a wrong solution {what}"
        for name, what in REQUIRED.items()
        if not (exercise.folder / "mutants" / f"{name}.patch").is_file()
    ]


def solution(exercise):
    return solution_of(exercise.source.read_text(encoding="utf-8"), exercise.source.name)


def patched(exercise, mutant):
    """The solution with the mutant's mistake in it. Raises AssertionError if the patch doesn't fit."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, exercise.source.name)
        file.write_text(solution(exercise), encoding="utf-8")
        apply_patch(mutant.path, file=file)
        return file.read_text(encoding="utf-8")


def rejecting_part(verdict):
    """The part that failed, 'compiling', or None if all is right."""
    if not verdict.compiles:
        return COMPILING
    return next((part for part, state in verdict.parts.items() if state == FAILED), None)


class Trial(NamedTuple):
    """One of an exercise's own files, and what a check must say of it."""

    name: str
    text: str
    part: Optional[str]  # that must reject it, or several as in Mutant; None for the solution
    says: str


def trials_of(exercise):
    """Its starter, its solution and its wrong solutions."""
    fails = exercise.facts["starter_fails"]
    return [
        Trial("starter", starter(exercise), fails["part"], fails["says"]),
        Trial("solution", solution(exercise), None, ""),
        *(
            Trial(mutant.path.stem, patched(exercise, mutant), mutant.rejected_by, mutant.says)
            for mutant in mutants_of(exercise)
        ),
    ]


def deviation(trial, verdict):
    """In which way the verdict is not what it must be, as a sentence; None if it is."""
    part = rejecting_part(verdict)
    expected = trial.part.split(OR) if trial.part else [None]
    if part not in expected:
        return f"{trial.name}: rejected by {part or 'nothing'}, and {trial.part or 'nothing'} must"
    said = " ".join(word for line in (*verdict.lines, *verdict.remedy) for word in line.split())
    if part == expected[-1] and " ".join(trial.says.split()) not in said:
        return f"{trial.name}: the check does not say '{trial.says}'"
    return None

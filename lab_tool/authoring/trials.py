# SPDX-License-Identifier: MIT
"""An exercise's own files, its starter, its solution and its wrong solutions, and what a check must say
of each."""

from typing import NamedTuple, Optional

from grader.exercises.solutions import solution_of, starter
from grader.judging.verdict import FAILED
from lab_tool.authoring.mutants import FILE, read_mutants

HEAD = ("Mutant", "Rejected by", "Says")
COMPILING = "compiling"
PARTS = ("results", "races", "limits", COMPILING)
REQUIRED = {  # wrong solutions that every exercise has
    "one_thread": "in which one thread does what many could do",
    "one_block": "in which one block does what all could do",
}
OR = " or "  # "results or races": a race that now and then shows, and then results reject it


def mutants_of(exercise):
    """Its wrong solutions: edits of the solution without its markers.

    Each is "Rejected by" one of PARTS, or several with OR between them, and "Says" has a piece of what
    the check prints; of what the last part prints, if there are several.
    """
    found = read_mutants(exercise.folder / FILE, HEAD)
    for mutant in found:
        if not set(mutant.fields["Rejected by"].split(OR)) <= set(PARTS):
            raise AssertionError(
                f"{exercise.folder / FILE}: {mutant.name} is rejected by one of {', '.join(PARTS)}"
            )
    return found


def missing_mutants(exercise):
    """A sentence for each wrong solution of REQUIRED that the exercise lacks."""
    names = {mutant.name for mutant in mutants_of(exercise)}
    return [
        f"{exercise.path}/{FILE}: {name} is missing; it is a wrong solution {what}"
        for name, what in REQUIRED.items()
        if name not in names
    ]


def solution(exercise):
    return solution_of(exercise.source.read_text(encoding="utf-8"), exercise.source.name)


def patched(exercise, mutant):
    """The solution with the mutant's mistake in it. Raises AssertionError if it doesn't apply."""
    return mutant.applied_to(solution(exercise))


def rejecting_part(verdict):
    """The part that failed, 'compiling', or None if all is right."""
    if not verdict.compiles:
        return COMPILING
    return next((part for part, state in verdict.parts.items() if state == FAILED), None)


class Trial(NamedTuple):
    """One of an exercise's own files, and what a check must say of it."""

    name: str
    text: str
    part: Optional[str]  # that must reject it, or several with OR; None for the solution
    says: str


def trials_of(exercise):
    """Its starter, its solution and its wrong solutions."""
    fails = exercise.facts["starter_fails"]
    return [
        Trial("starter", starter(exercise), fails["part"], fails["says"]),
        Trial("solution", solution(exercise), None, ""),
        *(
            Trial(
                mutant.name,
                patched(exercise, mutant),
                mutant.fields["Rejected by"],
                mutant.fields["Says"],
            )
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

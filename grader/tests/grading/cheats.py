# SPDX-License-Identifier: MIT
"""The submissions in cheats/, which try to get points for nothing.

Each is a mutant of its exercise's solution, whose number begins the file's name, or of another cheat, after
`Of:`. One that begins anew is `Of: nothing`, and all of it is put in. `Verdict` has its status and points,
`Says` words of the feedback. Without a verdict it is no cheat, and others are made of it.
"""

import functools
import pathlib
from typing import NamedTuple

from grading_runs import solution_text

from lab_tool.authoring.mutants import read_mutants

FOLDER = pathlib.Path(__file__).with_name("cheats")
TIMING = "timing.txt"  # those that want points for speed, in 01.1
FORM_FEED = "<form feed>"  # which mutants.txt takes for the end of a line


class Cheat(NamedTuple):
    what: str
    exercise: str
    verdict: str  # as in "OK 10"
    says: str
    text: str


@functools.lru_cache(None)
def cheats():
    """{name: Cheat}"""
    judged = {path: path.name[: len("01.1")] for path in sorted(FOLDER.glob("[0-9]*.txt"))}
    return _cheats_in(judged, ["Verdict"])


@functools.lru_cache(None)
def timing_cheats():
    """{name: Cheat}"""
    return _cheats_in({FOLDER / TIMING: "01.1"}, ["Says"])


def cheat_text(name):
    return cheats()[name].text


def _cheats_in(exercises, required):
    """`exercises` is {a file: the number of its cheats' exercise}."""
    mutants = {
        mutant.name: (mutant, exercise)
        for path, exercise in exercises.items()
        for mutant in read_mutants(path, [])
    }

    def text_of(name):
        mutant, exercise = mutants[name]
        of = mutant.fields.get("Of")
        if of == "nothing":
            (edit,) = mutant.edits
            return "".join(f"{line[1:]}\n" for line in edit.lines)
        return mutant.applied_to(text_of(of) if of else solution_text(exercise))

    return {
        name: Cheat(
            mutant.fields["Mutant"],
            exercise,
            mutant.fields.get("Verdict", ""),
            mutant.fields.get("Says", ""),
            text_of(name).replace(FORM_FEED, "\f"),
        )
        for name, (mutant, exercise) in mutants.items()
        if all(field in mutant.fields for field in required)
    }

# SPDX-License-Identifier: MIT
"""The exercises that there are: a folder with an exercise.json is one."""

import os
import pathlib
import re
from typing import NamedTuple

from engine.command.errors import WRONG_USE, CommandError, hint, listed
from engine.command.json_files import json_object
from grader.paths import ROOT

PROGRAM = "program"  # the student writes main() as well
KINDS = ("write", "repair", PROGRAM)
PARTS = ("results", "races", "limits")
SPEED = "speed"  # points that are given on a GPU only, and so no part of a check
OF_SPEED = ("points", "all_up_to", "none_from")
MOST = 1000  # of each of its numbers


class Exercise(NamedTuple):
    """One exercise; `facts` is its exercise.json, which docs/internals/exercises.md describes."""

    folder: pathlib.Path
    chapter: str  # '04_last_block_guard'
    facts: dict

    @property
    def name(self):
        return self.folder.name

    @property
    def path(self):
        """Of its folder, from the course's root."""
        return f"chapters/{self.chapter}/exercises/{self.name}"

    @property
    def number(self):
        """'04.2': of its chapter, and in it."""
        return f"{self.chapter[:2]}.{self.facts['number']}"

    @property
    def title(self):
        return f"{self.number} {self.name}"

    @property
    def subject(self):
        """What it is about: what its text's heading says after the colon."""
        heading = re.search(r"^# .*?: (.*)$", self.text, re.MULTILINE)
        return heading[1] if heading else self.name

    @property
    def text(self):
        """What the student reads."""
        return (self.folder / "README.md").read_text(encoding="utf-8")

    @property
    def source(self):
        """The solution, out of which the starter is made."""
        return self.folder / f"{self.name}.cu"

    @property
    def file_name(self):
        """Of the student's file."""
        return f"{self.chapter[:2]}_{self.name}.cu"

    @property
    def is_program(self):
        """Whether the file is a whole program, which is run, and not a function, which is called."""
        return self.facts["kind"] == PROGRAM

    @property
    def driver(self):
        """The library with its driver, as Ninja names it in the build folder."""
        if self.is_program:
            return "grader/runner/libprogram_driver.a"
        return f"chapters/lib{driver_target(self.name)}.a"

    @property
    def points(self):
        return self.facts["points"]

    @property
    def limits(self):
        return self.facts.get("limits", [])

    @property
    def speed(self):
        """The rule for points for speed, or None if there are none."""
        return self.facts.get(SPEED)

    @property
    def has_streams(self):
        """Whether it is judged in several orders of the streams that it creates."""
        return self.facts.get("streams", False)

    @property
    def parts(self):
        """What it is judged by. Limits without points are a gate: a solution keeps them."""
        return [part for part in PARTS if part in self.points or (part == "limits" and self.limits)]


def with_speed(exercise):
    """The exercise with its points for speed among its points, if there are any. Raises CommandError."""
    rule = exercise.speed
    if rule is None:
        return exercise
    if not _is_rule(rule):
        raise CommandError(
            f"{exercise.title}: the speed in its exercise.json needs points, a whole number up to {MOST}; "
            f"all_up_to, which is at least 1; and none_from, which is more, up to {MOST}."
        )
    if exercise.is_program:
        raise CommandError(f"{exercise.title}: a whole program can get no points for speed.")
    points = {**exercise.points, SPEED: rule["points"]}
    return exercise._replace(facts={**exercise.facts, "points": points})


def _is_rule(rule):
    if not isinstance(rule, dict) or sorted(rule) != sorted(OF_SPEED):
        return False
    points, all_up_to, none_from = (rule[key] for key in OF_SPEED)
    are_numbers = all(type(each) in (int, float) for each in (all_up_to, none_from))
    is_whole = type(points) is int and 0 < points <= MOST
    return is_whole and are_numbers and 1 <= all_up_to < none_from <= MOST


def driver_target(name):
    return f"{name}_driver"


def exercise_folders(root=ROOT, chapter="[0-9][0-9]_*", name="*"):
    """Their paths from the root, in no particular order of the exercises of one chapter. `chapter` and
    `name` are patterns of their folders' names."""
    root = _place_of_exercises(root)
    return [
        file.parent.relative_to(root)
        for file in sorted(root.glob(f"chapters/{chapter}/exercises/{name}/exercise.json"))
    ]


def chapter_headers(root=ROOT):
    """What a submission may include of the chapters, with or without exercises."""
    return sorted(path for end in ("cuh", "hpp") for path in root.glob(f"chapters/*/*.{end}"))


def all_exercises(root=ROOT):
    """Every exercise, in the course's order."""
    return _exercises_in(exercise_folders(root), root)


def _exercises_in(folders, root):
    root = _place_of_exercises(root)
    found = []
    for folder in folders:
        facts = json_object(root, folder / "exercise.json", ["number", "kind", "minutes", "points"])
        found.append(Exercise(root / folder, folder.parts[1], facts))
    return sorted(found, key=_place)


def _place_of_exercises(root):
    """Where the exercises of the course lie: if LAB_SAMPLE_EXERCISES names a folder, there instead."""
    samples = os.environ.get("LAB_SAMPLE_EXERCISES") if root == ROOT else None
    return pathlib.Path(samples) if samples else root


def _place(exercise):
    return exercise.chapter, exercise.facts["number"]


def chosen_exercise(wanted, root=ROOT):
    """The exercise that the user means: by '04.2', its name, or the name of their file."""
    # Only those are read that it can be, so that a test of one exercise depends on no other.
    number = re.fullmatch(r"(\d{1,2})\.\d+", wanted)
    name = re.fullmatch(r"(?:\d\d_)?(\w+?)(?:\.cu)?", os.path.basename(wanted))
    folders = []
    if number:
        folders = exercise_folders(root, chapter=f"{number[1]:0>2}_*")
    elif name:
        folders = exercise_folders(root, name=name[1])
    for each in _exercises_in(folders, root):
        numbers = (each.number, each.number.removeprefix("0"))
        if wanted in (*numbers, each.name, f"{each.chapter[:2]}_{each.name}"):
            return each
        if os.path.basename(wanted) == each.file_name:
            return each
    exercises = all_exercises(root)
    if "/" in wanted and not wanted.endswith(".cu"):
        raise CommandError(
            f"{wanted} is no exercise: take a number, a name, or the exercise's own file, such as "
            f"{exercises[0].number}, {exercises[0].name} or {exercises[0].file_name}.",
            WRONG_USE,
        )
    if wanted.endswith(".cu"):
        raise CommandError(
            f"{wanted} is no exercise's file: their names are such as {exercises[0].file_name}; "
            "./lab racecheck FILE.cu takes any file.",
            WRONG_USE,
        )
    of_chapter = [each.number for each in exercises if wanted.zfill(2) == each.number.split(".")[0]]
    if of_chapter:
        raise CommandError(
            f"{wanted} is a chapter, and its exercises are {listed(of_chapter)}.", WRONG_USE
        )
    spelled = [each.name for each in exercises] + [each.number for each in exercises]
    otherwise = "./lab exercises lists all of them."
    raise CommandError(
        f"there is no exercise {wanted}; {hint(wanted, spelled, otherwise)}", WRONG_USE
    )


def chosen_exercises(words):
    """The exercises of a list with commas, as in '04.1,04.2', or of 'all', in the course's order.

    Raises CommandError.
    """
    if words == "all":
        return all_exercises()
    names = [word.strip() for word in words.split(",")]
    if not all(names):
        raise CommandError(f"--exercises {words}: there is nothing between two commas.", WRONG_USE)
    chosen = [chosen_exercise(name) for name in names]
    numbers = [each.number for each in chosen]
    doubled = sorted({number for number in numbers if numbers.count(number) > 1})
    if doubled:
        raise CommandError(f"--exercises {words}: {doubled[0]} is there twice.", WRONG_USE)
    return sorted(chosen, key=_place)

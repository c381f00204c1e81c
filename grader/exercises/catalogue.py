# SPDX-License-Identifier: MIT
"""The exercises that there are: a folder with an exercise.py is one.

Facts and hints stand there in one call, exercise(...), whose arguments are literals: they are read from the
text. The file itself, which may be a stranger's, runs only when its cases are needed.
"""

import ast
import os
import pathlib
import re
import textwrap
from typing import NamedTuple

from engine.command.errors import WRONG_USE, CommandError, hint, listed
from grader.exercises import cases
from grader.paths import ROOT

FILE = "exercise.py"
DRIVER = "driver.cpp"  # if it is not made of the README alone: driver_source.py
LARGEST_FILE = 100_000  # bytes
HINTS = 3  # of an exercise; a copy that was handed out may have none

PROGRAM = "program"  # the student writes main() as well
KINDS = ("write", "repair", PROGRAM)
PARTS = ("results", "races", "limits")
SPEED = "speed"  # points that are given on a GPU only, and so no part of a check
LIMIT = re.compile(r"([\w ]+) per ([\w' ]+): at (most|least) (\d{1,9}(?:\.\d{1,9})?)")
OF_SPEED = ("points", "all_up_to", "none_from")
MOST = 1000  # of each of its numbers
KINDS_OF_FACT = {
    bool: "True or False",
    dict: "a dictionary",
    int: "a whole number",
    list: "a list",
    str: "a text",
}


class Exercise(NamedTuple):
    """One exercise; `facts` are the arguments of exercise(...), which grader/exercises/cases.py lists."""

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
    def file(self):
        """With its facts, its hints and its cases."""
        return self.folder / FILE

    @property
    def hints(self):
        """In Markdown, the vaguest first."""
        return [_without_indent(text) for text in self.facts.get("hints", [])]

    @property
    def source(self):
        """The solution, out of which the starter is made."""
        return self.folder / f"{self.name}.cu"

    @property
    def file_name(self):
        """The student's file's name."""
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
        return f"chapters/lib{self.name}_driver.a"

    @property
    def points(self):
        return self.facts["points"]

    @property
    def limits(self):
        return self.facts.get("limits", [])

    @property
    def answers(self):
        """The paths in chapters/ of the headers that a solution does not include."""
        return self.facts.get("answers", [])

    @property
    def speed(self):
        """The rule for points for speed, or None if there are none."""
        return self.facts.get(SPEED)

    @property
    def has_streams(self):
        """Whether it creates streams, whose work a check does not time."""
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
            f"{exercise.title}: the speed in its {FILE} needs points, a whole number up to {MOST}; "
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


def exercise_folders(root=ROOT, chapter="[0-9][0-9]_*", name="*"):
    """Their paths from the root, in no particular order of the exercises of one chapter. `chapter` and
    `name` are patterns of their folders' names."""
    return [
        file.parent.relative_to(root)
        for file in sorted(root.glob(f"chapters/{chapter}/exercises/{name}/{FILE}"))
    ]


def chapter_headers(root=ROOT):
    """What a submission may include of the chapters, with or without exercises."""
    return sorted(path for end in ("cuh", "hpp") for path in root.glob(f"chapters/*/*.{end}"))


def all_exercises(root=ROOT):
    """Every exercise, in the course's order."""
    return _exercises_in(exercise_folders(root), root)


def _exercises_in(folders, root):
    found = []
    for folder in folders:
        facts = _facts_in(root / folder / FILE, folder / FILE)
        found.append(Exercise(root / folder, folder.parts[1], facts))
    return sorted(found, key=_place)


def _facts_in(file, path):
    """The arguments of the call exercise(...) in the file, by their names. Raises CommandError."""
    call = _call_in(_text_of(file, path), path)
    known, facts = cases.exercise.__annotations__, {}
    for argument in call.keywords:
        name, place = argument.arg, f"{path}:{argument.value.lineno}"
        if name not in known:
            more = hint(str(name), known, f"they are {listed(known)}.")
            raise CommandError(f"{place}: exercise() has no argument {name}; {more}")
        if name in facts:
            raise CommandError(f"{place}: {name} stands there twice.")
        try:
            facts[name] = ast.literal_eval(argument.value)
        except (ValueError, TypeError, RecursionError):
            raise CommandError(
                f"{place}: {name} must be a literal, because the file is not run for it."
            ) from None
        if type(facts[name]) is not known[name]:
            raise CommandError(f"{place}: {name} must be {KINDS_OF_FACT[known[name]]}.")
    optional = cases.exercise.__kwdefaults__
    missing = [name for name in known if name not in facts and name not in optional]
    if missing:
        raise CommandError(f"{path}:{call.lineno}: exercise() lacks {listed(missing)}.")
    hints = facts.get("hints", [])
    if len(hints) not in (0, HINTS) or not all(isinstance(text, str) and text for text in hints):
        raise CommandError(f"{path}:{call.lineno}: hints must be {HINTS} texts, or none.")
    limits = facts.get("limits", {}).items()
    facts["limits"] = [_limit(rule, advice, f"{path}:{call.lineno}") for rule, advice in limits]
    return facts


def _limit(rule, advice, place):
    """One of the limits as grader/exercises/limits.py holds code to it."""
    parts = LIMIT.fullmatch(rule) if isinstance(rule, str) else None
    if not parts or not isinstance(advice, str) or not advice:
        raise CommandError(
            f"{place}: limits: {rule!r} must be such as 'global loads per element: at most 2', and "
            "have its advice."
        )
    count, per, most_or_least, number = parts.groups()
    value = float(number) if "." in number else int(number)
    return {"count": count, "per": per, f"at_{most_or_least}": value, "advice": advice}


def _text_of(file, path):
    try:
        if file.stat().st_size > LARGEST_FILE:
            raise CommandError(
                f"{path}:1: the file is too large: {LARGEST_FILE:,} bytes are the most."
            )
        return file.read_text(encoding="utf-8")
    except OSError as error:
        raise CommandError(f"{path}: it can't be read: {error.strerror}.") from error
    except UnicodeDecodeError:
        raise CommandError(f"{path}:1: the file is no text in UTF-8.") from None


def _call_in(text, path):
    """The one call of exercise() at the top level of an exercise.py, as ast has it."""
    try:
        body = ast.parse(text).body
    except SyntaxError as error:
        raise CommandError(f"{path}:{error.lineno or 1}: this is no Python: {error.msg}.") from None
    except (ValueError, MemoryError, RecursionError) as error:
        raise CommandError(
            f"{path}:1: this can't be read as Python: {error or 'too deep'}."
        ) from None
    calls = [
        each.value
        for each in body
        if isinstance(each, ast.Expr)
        and isinstance(each.value, ast.Call)
        and getattr(each.value.func, "id", None) == cases.exercise.__name__
    ]
    if len(calls) != 1:
        line = calls[1].lineno if calls else 1
        raise CommandError(f"{path}:{line}: exercise(...) must be called once, at the top level.")
    call = calls[0]
    if call.args or not all(argument.arg for argument in call.keywords):
        raise CommandError(f"{path}:{call.lineno}: each argument of exercise() must have its name.")
    return call


def _without_indent(text):
    """Without the indent that lines after the first one have in an exercise.py."""
    first, _, rest = text.partition("\n")
    return f"{first}\n{textwrap.dedent(rest)}".strip()


def text_without_hints(exercise):
    """The text of its exercise.py, for a copy that has no hints."""
    text = exercise.file.read_text(encoding="utf-8")
    for argument in _call_in(text, exercise.file).keywords:
        if argument.arg == "hints":
            text = text.replace(ast.get_source_segment(text, argument.value), "[]")
    return text


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

# SPDX-License-Identifier: MIT
"""Makes an exercise out of templates/exercise or templates/program: a folder, and nothing else."""

import os
import re

from engine.command.errors import WRONG_USE, CommandError, listed
from grader.exercises.catalogue import KINDS, PROGRAM, all_exercises
from lab_tool.authoring.new_chapter import make_folder
from lab_tool.authoring.new_names import KEYWORDS, require_free_targets, targets_of_exercise
from lab_tool.chapters import chosen_chapters
from lab_tool.paths import ROOT

TEMPLATES = ROOT / "lab_tool/templates"


def make_exercise(chapter_name, name, root=ROOT, kind="write"):
    """Makes the exercise of this name in a chapter; returns its number and the files that were made."""
    if kind not in KINDS:
        raise CommandError(
            f"--kind {kind}: an exercise's kind is {listed(KINDS, 'or')}.", WRONG_USE
        )
    (chapter,) = chosen_chapters(chapter_name)
    exercises = all_exercises(root)
    if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name):
        raise CommandError(
            f"{name} can't be an exercise's name: words of small letters, as in longest_run.",
            WRONG_USE,
        )
    if name in KEYWORDS:
        raise CommandError(
            f"{name} can't be an exercise's name: it means something else in C++.", WRONG_USE
        )
    taken = next((each for each in exercises if each.name == name), None)
    if taken:
        raise CommandError(f"there is an exercise {taken.title} already.", WRONG_USE)
    require_free_targets(name, targets_of_exercise(name), root)
    numbers = [each.facts["number"] for each in exercises if each.chapter == chapter.folder]
    number = max(numbers, default=0) + 1
    words = {
        "NN_chapter_folder": chapter.folder,
        "exercise_name": name,
        "Exercise title": name.replace("_", " "),
        "NN.K": f"{chapter.number}.{number}",
        '"number": K': f'"number": {number}',
        '"kind": "write"': f'"kind": "{kind}"',
    }
    folder = root / "chapters" / chapter.folder / "exercises" / name
    if os.path.lexists(folder):
        raise CommandError(f"{folder.relative_to(root)} is there already.", WRONG_USE)
    return f"{chapter.number}.{number}", make_folder(
        folder, TEMPLATES / (PROGRAM if kind == PROGRAM else "exercise"), words
    )

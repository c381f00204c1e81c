# SPDX-License-Identifier: MIT
"""Makes an exercise out of templates/exercise or templates/program: a folder, and nothing else.

The templates are C++ and Markdown as they are, in which some words stand for the exercise's own.
chapters/meson.build makes targets of an exercise's name; Meson refuses a second one of the same name, and a
few names altogether.
"""

import os
import pathlib
import re
import tempfile

from engine.command.errors import WRONG_USE, CommandError, listed
from engine.command.output_files import write_new
from grader.exercises.catalogue import KINDS, PROGRAM, all_exercises
from lab_tool.chapters import all_chapters, chosen_chapters
from lab_tool.paths import ROOT

TEMPLATES = ROOT / "lab_tool/templates"
# Meson's FORBIDDEN_TARGET_NAMES, in mesonbuild/coredata.py, as far as a name here can be one of them.
OF_MESON = set(
    "all benchmark clean coverage dist distcheck install phony reconfigure test uninstall".split()
)
KEYWORDS = set(
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl concept "
    "const const_cast consteval constexpr constinit continue co_await co_return co_yield decltype "
    "default delete do double dynamic_cast else enum explicit export extern false float for friend "
    "goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq "
    "private protected public register reinterpret_cast requires return short signed sizeof static "
    "static_assert static_cast struct switch template this thread_local throw true try typedef typeid "
    "typename union unsigned using virtual void volatile wchar_t while xor xor_eq main".split()
)
LONGEST = 60  # letters of a name, which becomes part of longer ones
ALIASES = {"programs", "exercise_solutions"}  # of chapters/meson.build


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
        "number=0": f"number={number}",
        'kind="write"': f'kind="{kind}"',
    }
    folder = root / "chapters" / chapter.folder / "exercises" / name
    if os.path.lexists(folder):
        raise CommandError(f"{folder.relative_to(root)} is there already.", WRONG_USE)
    return f"{chapter.number}.{number}", make_folder(
        folder, TEMPLATES / (PROGRAM if kind == PROGRAM else "exercise"), words
    )


def make_folder(folder, templates, words):
    """Makes the folder out of templates, whole or not at all; returns its files."""
    made = []
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent) as work:
        whole = pathlib.Path(work, folder.name)
        whole.mkdir()
        for template in sorted(filter(pathlib.Path.is_file, templates.rglob("*"))):
            if "__pycache__" in template.parts:
                continue
            name = replaced(str(template.relative_to(templates)), words)
            (whole / name).parent.mkdir(parents=True, exist_ok=True)
            write_new(whole / name, replaced(template.read_text(encoding="utf-8"), words))
            made.append(folder / name)
        whole.rename(folder)
    return made


def replaced(text, words):
    for placeholder, word in words.items():
        text = text.replace(placeholder, word)
    return text


def targets_of_program(program):
    """The targets of a chapter, without what its own meson.build may add."""
    return {program, f"{program}_test", f"{program}_racecheck", f"{program}_test_racecheck"}


def targets_of_exercise(name):
    return {f"{name}_driver", f"{name}_cases", f"{name}_solution"}


def require_free_targets(name, targets, root):
    """Refuses a name of which the build would make a target that it can't have, or has already."""
    if len(name) > LONGEST:
        raise CommandError(
            f"{name} can't be the name: it has {len(name)} letters, and {LONGEST} are the most.",
            WRONG_USE,
        )
    reserved = sorted(targets & OF_MESON)
    if reserved:
        raise CommandError(
            f"{name} can't be the name: Meson keeps the target {reserved[0]} for itself.", WRONG_USE
        )
    taken = sorted(targets & _targets_there(root))
    if taken:
        raise CommandError(
            f"{name} can't be the name: the build has a target {taken[0]} already.", WRONG_USE
        )


def _targets_there(root):
    found = set(ALIASES)
    for chapter in all_chapters(root):
        found |= targets_of_program(chapter.program)
        for test in (root / "chapters" / chapter.folder).glob("*_test.cu"):
            found |= {test.stem, f"{test.stem}_racecheck"}
    for exercise in all_exercises(root):
        found |= targets_of_exercise(exercise.name)
    return found

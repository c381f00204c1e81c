# SPDX-License-Identifier: MIT
"""The table of chapters, the ones that the user means, and the commands that their lessons give."""

import json
import os
import pathlib
import re
import shlex
from typing import NamedTuple

from engine.command.errors import WRONG_USE, CommandError, hint
from grader.exercises.catalogue import all_exercises, chosen_exercise
from lab_tool.paths import ROOT


class Chapter(NamedTuple):
    folder: str
    program: str

    @property
    def number(self):
        return self.folder[:2]

    @property
    def names(self):
        """All that the user may call it."""
        number, title = self.folder.split("_", 1)
        path = f"chapters/{self.folder}"
        return (number, str(int(number)), title, self.folder, self.program, path)

    @property
    def target(self):
        """Its program, as Ninja names it in the build folder."""
        return f"chapters/{self.program}"


# The page of each chapter that makes the lesson's kernel fast.
FAST = "fast.md"


def further_pages(chapter, root=ROOT):
    """The pages of a chapter that stand next to its lesson: further readings, by their names, and FAST."""
    pages = (root / "chapters" / chapter.folder).glob("*.md")
    further = [page for page in pages if page.name != "README.md"]
    return sorted(further, key=lambda page: (page.name == FAST, page.name))


def all_chapters(root=ROOT):
    """The table of chapters, from where Meson reads it too."""
    text = (root / "chapters/meson.build").read_text(encoding="utf-8")
    return [Chapter(*row) for row in re.findall(r"^  '(\d\d_\w+)': '(\w+)',$", text, re.M)]


def chosen_chapters(wanted):
    """The chapters that the user means by one of their names, or by 'all'."""
    chapters = all_chapters()
    if wanted == "all":
        return chapters
    names = {name: chapter for chapter in chapters for name in chapter.names}
    if wanted.rstrip("/") in names:
        return [names[wanted.rstrip("/")]]
    if os.path.isdir(wanted):
        raise CommandError(
            f"{wanted} is a folder, and no chapter: lab takes a chapter, or files whose names end in .cu.",
            WRONG_USE,
        )
    names_of_exercises = [each.name for each in all_exercises()]
    is_exercise = re.fullmatch(r"\d+\.\d+", wanted) or wanted in names_of_exercises
    if is_exercise and not os.path.exists(wanted):
        number = chosen_exercise(wanted).number
        raise CommandError(
            f"{number} is an exercise, and no chapter: ./lab check {number} judges your file of it.",
            WRONG_USE,
        )
    if os.path.exists(wanted) or re.search(r"\.\w+$", wanted):
        raise CommandError(
            f"{wanted} is not a CUDA source: lab runs files whose names end in .cu.", WRONG_USE
        )
    titles = [name for name in names if not name[0].isdigit() and "/" not in name]
    there_are = ", ".join(f"{chapter.folder} ({chapter.program})" for chapter in chapters)
    raise CommandError(
        f"there is no chapter {wanted}; {hint(wanted, titles, f'there are {there_are}.')}",
        WRONG_USE,
    )


def variants_of(chapter, root=ROOT):
    """The names that --variant of its program takes, in their order; none if its source does not say.

    The program itself says them, too, but it has to be built first.
    """
    found = re.search(r"\.variants = \{([^}]*)\}", _source_of(chapter, root))
    return re.findall(r'"(\w+)"', found[1]) if found else []


def may_hand_out_items(chapter, root=ROOT):
    """Whether its program has options that name files of its own; only such a one has a --trace."""
    return bool(re.search(r"\.files\b", _source_of(chapter, root)))


def _source_of(chapter, root):
    path = root / "chapters" / chapter.folder / f"{chapter.program}.cu"
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def next_chapter(chapter):
    """The chapter after this one in the table; None after the last."""
    chapters = all_chapters()
    return dict(zip(chapters, chapters[1:])).get(chapter)


def racecheck_options(folder, chapter):
    """The options with which a chapter's program is checked, unless the user gives others.

    Meson writes them into the build folder, out of each chapter's own settings.
    """
    options = json.loads((folder / "chapters/chapters.json").read_text(encoding="utf-8"))
    return options[chapter.folder].split()


def case_to_prove(chapter, root=ROOT):
    """The chapter's program whose executions are few enough to explore all of them."""
    path = root / "chapters" / chapter.folder / "every_order.cu"
    if not path.is_file():
        raise CommandError(
            f"chapter {chapter.number} has no case that is small enough: try 04, or a file of yours.",
            WRONG_USE,
        )
    return path


def options_in_lesson(verb, file, given):
    """['--', '1'], if the lesson of this file's chapter runs `./lab VERB FILE -- 1`: of several such commands
    the one whose words are those that were given, but for numbers. None if there is none."""
    try:
        path = pathlib.Path(file).resolve().relative_to(ROOT / "chapters")
        text = (ROOT / "chapters" / path.parts[0] / "README.md").read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None
    for command in re.findall(
        rf"\./lab {verb} chapters/{re.escape(path.as_posix())}\b([^`\n]*)", text
    ):
        words = shlex.split(command)
        options = words[words.index("--") :] if "--" in words else []
        if _names(options) == _names(given):
            return options
    return None


def _names(options):
    return [word for word in options if word != "--" and not word.isdigit()]

# SPDX-License-Identifier: MIT
"""Makes a chapter out of templates/chapter: a folder, and a row in chapters/meson.build.

The templates are C++ and Markdown as they are, in which these words stand for the chapter's own.
"""

import os
import pathlib
import re
import shutil
import tempfile

from engine.command.errors import WRONG_USE, CommandError
from engine.command.output_files import write_new, write_whole
from lab_tool.authoring.new_names import KEYWORDS, require_free_targets, targets_of_program
from lab_tool.chapters import Chapter, all_chapters
from lab_tool.paths import ROOT

TEMPLATES = ROOT / "lab_tool/templates/chapter"


def make_chapter(name, root=ROOT):
    """Makes the chapter of this name, NN_name; returns it and the files that were made."""
    chapter = checked(name, root)
    words = {
        "NN_chapter_folder": chapter.folder,
        "chapter_program": chapter.program,
        "Chapter title": chapter.program.replace("_", " ").capitalize(),
        "NN": chapter.number,
    }
    made = make_folder(root / "chapters" / chapter.folder, TEMPLATES, words)
    try:
        add_row(root / "chapters/meson.build", chapter)
    except BaseException:
        shutil.rmtree(root / "chapters" / chapter.folder)
        raise
    return chapter, made


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


def checked(name, root):
    """The chapter that is to be made. Refuses a name that can be none, or that is taken."""
    if not re.fullmatch(r"\d\d_[a-z][a-z0-9]*(_[a-z0-9]+)*", name):
        raise CommandError(
            f"{name} can't be a chapter's name: two digits and words of small letters, as in "
            "07_prefix_sum.",
            WRONG_USE,
        )
    chapter = Chapter(name, name.split("_", 1)[1])
    if chapter.program in KEYWORDS:  # its benchmark is a function of this name
        raise CommandError(
            f"{name} can't be a chapter's name: {chapter.program} means something else in C++.",
            WRONG_USE,
        )
    for other in all_chapters(root):
        if other.number == chapter.number:
            raise CommandError(
                f"there is a chapter {other.number} already: {other.folder}.", WRONG_USE
            )
        if other.program == chapter.program:
            raise CommandError(f"{other.folder} has a program {other.program} already.", WRONG_USE)
    require_free_targets(name, targets_of_program(chapter.program), root)
    if os.path.lexists(root / "chapters" / name):
        raise CommandError(f"chapters/{name} is there already.", WRONG_USE)
    return chapter


def replaced(text, words):
    for placeholder, word in words.items():
        text = text.replace(placeholder, word)
    return text


def add_row(table, chapter):
    """Puts the chapter's row where it belongs by its number."""
    text = table.read_text(encoding="utf-8")
    rows = list(re.finditer(r"^  '(\d\d_\w+)': '\w+',\n", text, re.M))
    before = [match.end() for match in rows if match[1] < chapter.folder]
    place = before[-1] if before else rows[0].start()
    row = f"  '{chapter.folder}': '{chapter.program}',\n"
    write_whole(table, text[:place] + row + text[place:])

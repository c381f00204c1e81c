# SPDX-License-Identifier: MIT
"""The files of the course that a copy of it takes along, and what changes in them.

A copy is for students, or for a grader that others may read. Neither has a solution, a wrong solution, a
prediction with its answer or what belongs to the project's own work, and of the chapters it has those up
to the last one that its exercises are of.
"""

import os
import pathlib
import re

from grader.exercises.catalogue import DRIVER, FILE, text_without_hints
from grader.exercises.solutions import STARTER, starter
from lab_tool.chapters import all_chapters
from lab_tool.command_line import MODULES
from lab_tool.paths import ROOT

WHOLE_FILES = (
    ".clangd",
    ".devcontainer/devcontainer.json",
    ".dockerignore",
    "Dockerfile",
    "LICENSE",
    "lab",
    "meson.build",
    "meson.options",
)
FOLDERS = (".vscode", "chapters", "common", "docs", "engine", "grader", "lab_tool")
# What the tests of chapters start lab with.
OF_TESTS = ("lab_runs.py",)
SUFFIXES = {"", *".build .cpp .cu .cuh .h .hpp .inc .json .md .py .svg".split()}
# Folders, wherever they are, and files by the beginning of their path.
LEFT_OUT_FOLDERS = {"__pycache__", "exercises", "predictions", "templates", "tests"}
LEFT_OUT = (
    "common/benchmark/cpu_backend/",
    "common/figures/",
    "common/include/",
    "docs/conf.py",
    "docs/grading",
    "docs/internals/",
    "docs/race-check-your-project.md",
    "docs/site/",
    "docs/teaching",
    "docs/use-with-",
    "engine/prove/memory_model/",
    "engine/racecheck/false_positives/",
    "lab_tool/authoring/",
    "lab_tool/export/",
    "lab_tool/predictions.py",
    "lab_tool/site",
    "lab_tool/verbs/authoring.py",
    "lab_tool/verbs/export.py",
    "lab_tool/verbs/predict.py",
    "lab_tool/verbs/site.py",
)
OF_GRADING = (
    "grader/judging/sandboxed.py",
    "grader/judging/speed.py",
    "grader/judging/submission.py",
    "grader/reports/",
    "grader/sandbox/",
    "grader/submissions/",
    "lab_tool/grading/",
    "lab_tool/verbs/grade.py",
)
KEPT_FOLDERS = ("common/benchmark/tests", "grader/exercises")

LINK = re.compile(r'(!?)\[([^\]]*)\]\(([^)\s]+)(?:\s"[^"]*")?\)')
COMMAND = re.compile(r"\./lab ([a-z][a-z-]*)")
ANSWER = re.compile(
    r"^<details><summary>[^\n]*\bthe answer to exercise [\d.]+</summary>$.*?^</details>\n\n?",
    re.MULTILINE | re.DOTALL,
)
OF_MUTANTS = re.compile(r"\./lab test (?:--suite )?mutants")  # which no copy has
HEADING = re.compile(r"#+ ")
SUBFOLDER = re.compile(r"^\s*subdir\('([^']+)'\)\n", re.MULTILINE)


def course_files(exercises, root=ROOT, with_grading=False, hints=False):
    """{path in the copy: its bytes} for these exercises; `hints` says whether their hints come along.

    What writes them has to make the file `lab` executable.
    """
    wanted = _wanted(root, exercises, with_grading)
    files = {path: (root / path).read_bytes() for path in wanted}
    for exercise in exercises:
        files.update(_of_exercise(exercise, hints))
    _without_chapters(files, [path.split("/")[1] for path in files if path.startswith("chapters/")])
    for path in sorted(files):
        if path.endswith("meson.build"):
            files[path] = _meson(path, files)
        elif path.endswith(".md"):
            files[path] = document_of_copy(path, files[path].decode(), files).encode()
    return files


def _wanted(root, exercises, with_grading):
    last = max(exercise.chapter for exercise in exercises)
    left_out = LEFT_OUT if with_grading else (*LEFT_OUT, *OF_GRADING)
    found = [*WHOLE_FILES, *(f"tests/{name}" for name in OF_TESTS)]
    for top in FOLDERS:
        for folder, folders, names in os.walk(root / top):
            here = pathlib.Path(folder).relative_to(root)
            folders[:] = sorted(name for name in folders if _enters(here / name, last))
            found += [
                path
                for path in (f"{here.as_posix()}/{name}" for name in sorted(names))
                if pathlib.PurePath(path).suffix in SUFFIXES and not path.startswith(left_out)
            ]
    return found


def _enters(folder, last_chapter):
    if folder.name.startswith("."):
        return False
    if folder.as_posix() in KEPT_FOLDERS:
        return True
    if folder.parent.name == "chapters" and folder.name > last_chapter:
        return False
    return folder.name not in LEFT_OUT_FOLDERS


def _of_exercise(exercise, hints):
    """The files of an exercise's folder, with its starter instead of its solution."""
    names = [FILE, "README.md", DRIVER, *(file.name for file in exercise.folder.glob("*.svg"))]
    found = {name: exercise.folder / name for name in sorted(names)}
    files = {name: file.read_bytes() for name, file in found.items() if file.is_file()}
    if not hints:
        files[FILE] = text_without_hints(exercise).encode()
    files[STARTER] = starter(exercise).encode()
    return {f"{exercise.path}/{name}": content for name, content in files.items()}


def _without_chapters(files, kept):
    """Takes the rows of chapters that are not there out of the table of chapters."""
    table = files["chapters/meson.build"].decode()
    for chapter in all_chapters():
        if chapter.folder not in kept:
            table = table.replace(f"  '{chapter.folder}': '{chapter.program}',\n", "")
    files["chapters/meson.build"] = table.encode()


def _meson(path, files):
    """Without the folders that are not there."""
    folder = pathlib.PurePosixPath(path).parent

    def kept(match):
        return match[0] if (folder / match[1] / "meson.build").as_posix() in files else ""

    return SUBFOLDER.sub(kept, files[path].decode()).encode()


def document_of_copy(path, text, files):
    """The document's text without links to files that the copy lacks, without the answers to exercises, and
    without what is said about commands that it lacks: rows of tables, paragraphs, and sections that show one
    in a fence."""
    folders = {os.path.dirname(each) for each in files}
    verbs = {verb for verb, name in MODULES.items() if f"lab_tool/verbs/{name}.py" in files}

    def linked(match):
        target = match[3].partition("#")[0]
        if not target or re.match(r"[a-z]+:", target):
            return match[0]
        place = os.path.normpath(os.path.join(os.path.dirname(path), target))
        return match[0] if place in files or place in folders else match[2]

    def is_about_others(lines):
        text = "\n".join(lines)
        return bool(OF_MUTANTS.search(text)) or not all(
            verb in verbs for verb in COMMAND.findall(text)
        )

    kept = []
    for section in _sections(LINK.sub(linked, ANSWER.sub("", text)).split("\n")):
        blocks = _blocks(section)
        if any(block[0].startswith("```") and is_about_others(block) for block in blocks if block):
            continue
        for block in blocks:
            if block and block[0].startswith("|"):
                kept += [line for line in block if not is_about_others([line])]
            elif not is_about_others(block):
                kept += block
    return "\n".join(kept)


def _sections(lines):
    """Runs of lines, each of them with the heading that it is below."""
    found, is_fenced = [[]], False
    for line in lines:
        is_fenced ^= line.startswith("```")
        if HEADING.match(line) and not is_fenced:
            found.append([])
        found[-1].append(line)
    return found


def _blocks(lines):
    """Paragraphs, tables and fences, and the empty lines after them."""
    found, is_fenced, was_empty = [[]], False, False
    for line in lines:
        if line and was_empty and not is_fenced:
            found.append([])
        found[-1].append(line)
        is_fenced ^= line.startswith("```")
        was_empty = not line
    return found

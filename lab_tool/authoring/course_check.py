# SPDX-License-Identifier: MIT
"""What a chapter must have, and what of it is missing."""

import re

from engine.command.errors import CommandError
from grader.exercises.catalogue import all_exercises
from grader.exercises.solutions import has_solution
from lab_tool.authoring.mutants import FILE as MUTANTS
from lab_tool.authoring.mutants import read_mutants
from lab_tool.authoring.trials import missing_mutants
from lab_tool.chapters import FAST, all_chapters, further_pages
from lab_tool.paths import ROOT
from lab_tool.predictions import PER_CHAPTER, predictions_of

HEADINGS = [
    "See it fail",
    "The idea",
    "The kernel",
    "Why it is correct",
    "Run it yourself",
    "What it costs",
    "Exercises",
    "Check yourself",
    "Where it breaks",
    "Next",
]
# The words of a lesson; a further page of its chapter may have fewer.
FEWEST_WORDS, MOST_WORDS = 700, 900
BENCHMARK_TABLE = re.compile(r"^<!-- table: ", re.M)  # common/benchmark/lesson_tables.py fills it
# What of a page is not prose. Within a sentence a piece of code is one word, and so is a link to a test,
# whose title is the test's name.
NOT_PROSE = (
    (re.compile(r"^```.*?^```$", re.M | re.S), ""),
    (re.compile(r"<!-- table: .*?<!-- end of table -->", re.S), ""),
    (re.compile(r"<!--.*?-->", re.S), ""),
    (re.compile(r"^[|#].*$", re.M), ""),  # tables and headings
    (re.compile(r"!\[[^\]]*\]\([^)]*\)"), ""),  # a picture with its caption
    (re.compile(r'\[[^\]]*\]\([\w./]*_test\.\w+(?:\s"[^"]*")?\)'), "test"),
    (re.compile(r"\]\([^)]*\)"), "]"),  # where a link leads
    (re.compile(r"`[^`]+`"), "code"),
    (re.compile(r"</?[a-z]+[^<>]*>"), ""),
)
LICENSED = {".md", ".cu", ".cuh", ".hpp", ".cpp", ".py", ".build", ".svg"}


def files_of(chapter):
    """{a file that the chapter's folder must have: what it is for}."""
    return {
        "README.md": "the lesson",
        FAST: "how the lesson's kernel is made fast, with its benchmark tables",
        f"{chapter.program}.cuh": "the kernels",
        f"{chapter.program}.cu": "the program",
        f"{chapter.program}_test.cu": "its Catch2 tests",
        "benchmark.cu": "its cases of chapter_benchmark",
    }


def missing_from_course(root=ROOT):
    """A sentence for everything that a chapter of the table lacks, with the file to add or fix."""
    chapters = all_chapters(root)
    rows = [chapter.folder for chapter in chapters]
    found = []
    for folder in sorted((root / "chapters").glob("[0-9][0-9]_*")):
        if folder.is_dir() and folder.name not in rows:
            found.append(f"chapters/meson.build: no row for the folder chapters/{folder.name}")
    if rows != sorted(set(rows)) or len({row[:2] for row in rows}) < len(rows):
        found.append("chapters/meson.build: the rows are not in the order of their numbers")
    try:
        all_exercises(root)
    except CommandError as problem:
        found.append(str(problem))
    return found + [each for chapter in chapters for each in missing_from_chapter(root, chapter)]


def missing_from_chapter(root, chapter):
    """The same for the folder of one chapter."""
    shown = f"chapters/{chapter.folder}"
    folder = root / shown
    found = [
        f"{shown}/{name}: missing; it is {purpose}"
        for name, purpose in files_of(chapter).items()
        if not (folder / name).is_file()
    ]
    lesson = folder / "README.md"
    if lesson.is_file():
        text = re.sub(r"^```.*?^```$", "", lesson.read_text(encoding="utf-8"), flags=re.M | re.S)
        headings = re.findall(r"^## (.*)$", text, re.M)
        missing = [f"{shown}/README.md: no heading '## {h}'" for h in HEADINGS if h not in headings]
        found += missing
        if not missing and [h for h in headings if h in HEADINGS] != HEADINGS:
            found.append(f"{shown}/README.md: the headings are not in the order of a lesson")
        found += _wrong_length(f"{shown}/README.md", lesson, FEWEST_WORDS)
        tables = len(BENCHMARK_TABLE.findall(lesson.read_text(encoding="utf-8")))
        if tables > 1:
            found.append(
                f"{shown}/README.md: {tables} tables of benchmarks; a lesson keeps one, and "
                f"{FAST} has the others"
            )
        found += _missing_links(root, chapter)
    for page in further_pages(chapter, root):
        found += _wrong_length(f"{shown}/{page.name}", page, 0)
    scripts = folder.glob("figures/*.py")
    if not any(script.with_suffix(".svg").is_file() for script in scripts):
        found.append(
            f"{shown}/figures: no figure; it needs a script, and the SVG that "
            "python3 common/figures/draw_all.py draws by it"
        )
    if (folder / MUTANTS).is_file() and not read_mutants(folder / MUTANTS, ()):
        found.append(f"{shown}/{MUTANTS}: no mutant")
    found += _missing_predictions(root, chapter)
    found += _missing_wrong_solutions(root, chapter)
    for file in sorted(folder.rglob("*")):
        if file.suffix in LICENSED and not _is_licensed(file):
            found.append(f"{file.relative_to(root)}: no SPDX line at its top")
    return found


def words_of(text):
    """How many words of prose the text of a page has: code, tables and headings do not count."""
    for pattern, instead in NOT_PROSE:
        text = pattern.sub(instead, text)
    return sum(re.search(r"\w", word) is not None for word in text.split())


def _wrong_length(shown, page, fewest):
    words = words_of(page.read_text(encoding="utf-8"))
    if fewest <= words <= MOST_WORDS:
        return []
    allowed = f"{fewest} to {MOST_WORDS}" if fewest else f"at most {MOST_WORDS}"
    return [f"{shown}: {words:,} words of prose; such a page has {allowed}"]


def _missing_links(root, chapter):
    """A sentence about each page to which neither the lesson nor a further page leads."""
    shown = f"chapters/{chapter.folder}"
    further = further_pages(chapter, root)
    pages = [root / shown / "README.md", *further]
    linked = {
        (page.name, target)
        for page in pages
        for target in re.findall(r"\]\(([\w.]+\.md)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    }
    return [
        f"{shown}/{page.name}: no link leads to it from the lesson"
        for page in further
        if not any(target == page.name != source for source, target in linked)
    ]


def _missing_predictions(root, chapter):
    try:
        there = len(predictions_of(chapter, root))
    except CommandError as problem:
        return [str(problem)]
    if there >= PER_CHAPTER:
        return []
    return [
        f"chapters/{chapter.folder}/predictions: {there} of {PER_CHAPTER} predictions, for ./lab "
        f"predict {chapter.number}; each is a NAME.cu"
    ]


def _missing_wrong_solutions(root, chapter):
    try:
        exercises = all_exercises(root)
    except CommandError:
        return []  # it is said once, of the whole course
    return [
        sentence
        for each in exercises
        if each.chapter == chapter.folder and has_solution(each)
        for sentence in missing_mutants(each)
    ]


def _is_licensed(file):
    lines = file.read_text(encoding="utf-8").split("\n")[:3]
    return any("SPDX-License-Identifier: " in line for line in lines)

# SPDX-License-Identifier: MIT
"""What a chapter must have, and what of it is missing."""

import json
import re

from engine.driver.errors import CommandError
from engine.driver.json_files import json_object
from engine.driver.names import listed
from grader.exercises.catalogue import all_exercises
from grader.exercises.work_folder import has_solution
from lab_tool.authoring.chapter_facts import FILE, TEXTS, facts_of
from lab_tool.authoring.generated_files import differing_files
from lab_tool.authoring.new_chapter import TEMPLATES
from lab_tool.authoring.trials import missing_mutants
from lab_tool.chapters import all_chapters
from lab_tool.paths import ROOT
from lab_tool.predictions.predictions import PER_CHAPTER, predictions_of

HEADINGS = [
    "The idea",
    "See it fail",
    "The kernel",
    "Why it is correct",
    "Run it yourself",
    "What it costs",
    "Exercises",
    "Making it fast",
    "Use it in your own code",
    "Check yourself",
    "Where it breaks",
    "Next",
]
# What is read before this heading is a lesson's core, and takes an evening.
CORE_ENDS = "Making it fast"
FEWEST_WORDS, MOST_WORDS = 700, 1000
# What of a lesson is not prose. A piece of code within a sentence is one word of it.
NOT_PROSE = (
    (re.compile(r"^```.*?^```$", re.M | re.S), ""),
    (re.compile(r"<!-- table: .*?<!-- end of table -->", re.S), ""),
    (re.compile(r"<!--.*?-->", re.S), ""),
    (re.compile(r"^[|#].*$", re.M), ""),  # tables and headings
    (re.compile(r"!\[[^\]]*\]\([^)]*\)"), ""),  # a picture with its caption
    (re.compile(r"\]\([^)]*\)"), "]"),  # where a link leads
    (re.compile(r"`[^`]+`"), "code"),
    (re.compile(r"</?[a-z]+[^<>]*>"), ""),
)
LICENSED = {".md", ".cu", ".cuh", ".hpp", ".cpp", ".py", ".build", ".svg"}


def files_of(chapter):
    """{a file that the chapter's folder must have: what it is for}."""
    return {
        "README.md": "the lesson",
        f"{chapter.program}.cuh": "the kernels",
        f"{chapter.program}.cu": "the program",
        f"{chapter.program}_test.cu": "its Catch2 tests",
        "benchmark.cu": "its cases of chapter_benchmark",
        FILE: "what the course's tables and plans say of it",
        "goals.json": "the goals that its benchmark is held to, a list",
    }


def missing_from_course(root=ROOT):
    """A sentence for everything that a chapter of the table lacks, with the file to add or mend."""
    chapters = all_chapters(root)
    rows = [chapter.folder for chapter in chapters]
    found = []
    for folder in sorted((root / "chapters").glob("[0-9][0-9]_*")):
        if folder.is_dir() and folder.name not in rows:
            found.append(f"chapters/meson.build: no row for the folder chapters/{folder.name}")
    if rows != sorted(set(rows)) or len({row[:2] for row in rows}) < len(rows):
        found.append("chapters/meson.build: the rows are not in the order of their numbers")
    of_chapters = [each for chapter in chapters for each in missing_from_chapter(root, chapter)]
    found += of_chapters
    # It is made of the chapters' files, so it can only be right once they are.
    found += [] if of_chapters else _differing_from_generated(root)
    return found


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
        found += _wrong_length(f"{shown}/README.md", lesson.read_text(encoding="utf-8"))
    goals = folder / "goals.json"
    if goals.is_file() and not _is_list(goals):
        found.append(f"{shown}/goals.json: not a list in JSON")
    scripts = folder.glob("figures/*.py")
    if not any(script.with_suffix(".svg").is_file() for script in scripts):
        found.append(
            f"{shown}/figures: no figure; it needs a script, and the SVG that "
            "python3 common/figures/draw_all.py draws by it"
        )
    mutants = folder / "mutants"
    if mutants.is_dir() and not any(mutants.glob("*.patch")):
        found.append(f"{shown}/mutants: a folder without a patch")
    if (folder / FILE).is_file():
        found += _still_of_the_template(root, chapter)
    found += _missing_predictions(root, chapter)
    found += _missing_wrong_solutions(root, chapter)
    for file in sorted(folder.rglob("*")):
        if file.suffix in LICENSED and not _is_licensed(file):
            found.append(f"{file.relative_to(root)}: no SPDX line at its top")
    return found


def words_of_core(lesson):
    """How many words of prose this lesson's text has before CORE_ENDS; None without that heading."""
    core, heading, _ = lesson.partition(f"\n## {CORE_ENDS}\n")
    for pattern, instead in NOT_PROSE:
        core = pattern.sub(instead, core)
    return sum(re.search(r"\w", word) is not None for word in core.split()) if heading else None


def _wrong_length(shown, lesson):
    words = words_of_core(lesson)
    if words is None or FEWEST_WORDS <= words <= MOST_WORDS:
        return []
    return [
        f"{shown}: {words:,} words of prose before '{CORE_ENDS}'; a lesson has {FEWEST_WORDS} to "
        f"{MOST_WORDS:,}"
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
        f"predict {chapter.number}; each is a NAME.cu and a NAME.json"
    ]


def _missing_wrong_solutions(root, chapter):
    try:
        exercises = all_exercises(root)
    except CommandError:
        return []  # the tables can't be made of it either, and then it is said once
    return [
        sentence
        for each in exercises
        if each.chapter == chapter.folder and has_solution(each)
        for sentence in missing_mutants(each)
    ]


def _still_of_the_template(root, chapter):
    """What its chapter.json lacks, or still says in the template's words."""
    try:
        facts = facts_of(root, chapter)
    except CommandError as problem:
        return [str(problem)]
    template = json_object(TEMPLATES, FILE, [])
    same = [key for key in TEXTS if getattr(facts, key) == template[key]]
    said = f"chapters/{chapter.folder}/{FILE}: the template's words still stand in {listed(same)}"
    return [said] if same else []


def _differing_from_generated(root):
    try:
        differing = differing_files(root)
    except CommandError as problem:
        return [str(problem)]
    return [
        f"{path}: it differs from what is generated; ./lab check-course --write writes it"
        for path in differing
    ]


def _is_list(file):
    try:
        return isinstance(json.loads(file.read_text(encoding="utf-8")), list)
    except ValueError:
        return False


def _is_licensed(file):
    lines = file.read_text(encoding="utf-8").split("\n")[:3]
    return any("SPDX-License-Identifier: " in line for line in lines)

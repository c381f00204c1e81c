# SPDX-License-Identifier: MIT
"""Tables that are typed, held to the folders: of chapters, of exercises, and of the plans for teaching."""

import json
import re

import pytest

from grader.exercises.catalogue import all_exercises
from lab_tool.chapters import all_chapters
from this_build import ROOT

CHAPTERS = all_chapters()
EXERCISES = {each.title: each for each in all_exercises()}


def text_of(path):
    return (ROOT / path).read_text(encoding="utf-8")


def exercises_of(chapter):
    return [each for each in EXERCISES.values() if each.chapter == chapter.folder]


def test_the_readme_has_every_chapter():
    rows = re.findall(
        r"^\| \[(\d\d) (.*)\]\(chapters/(\w+)/README\.md\) \| `(\w+)` \|",
        text_of("README.md"),
        re.M,
    )
    titles = [
        re.search(
            rf"^# {each.number} ([^:|\n]+): ", text_of(f"chapters/{each.folder}/README.md"), re.M
        )[1]
        for each in CHAPTERS
    ]
    assert rows == [
        (each.number, title, each.folder, each.program) for each, title in zip(CHAPTERS, titles)
    ]


def test_the_benchmarks_have_every_chapter():
    table = text_of("docs/benchmarks/README.md").partition("| chapter | variants |")[2]
    assert re.findall(r"^\| (\d\d) \|", table, re.M)[: len(CHAPTERS)] == [
        each.number for each in CHAPTERS
    ]


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.folder)
def test_a_lesson_has_its_exercises(chapter):
    rows = re.findall(
        r"^\| \[([\d.]+) `(\w+)`\]\(exercises/(\w+)/README\.md\) \| (.*) \| (\d+) \|$",
        text_of(f"chapters/{chapter.folder}/README.md"),
        re.M,
    )
    assert rows == [
        (each.number, each.name, each.name, each.subject, str(each.facts["minutes"]))
        for each in exercises_of(chapter)
    ]


def test_the_minutes_of_each_chapter():
    rows = re.findall(
        r"^\| \[(\d\d)\]\(\S+\) \| .* \| (\d+) \|$", text_of("docs/teaching.md"), re.M
    )
    assert rows == [
        (each.number, str(sum(one.facts["minutes"] for one in exercises_of(each))))
        for each in CHAPTERS
    ]


def test_every_exercise_stands_in_a_row():
    section = text_of("docs/teaching.md").partition("## Which exercise for whom")[2]
    named = re.findall(r"\b(\d\d\.\d \w+)", section.partition("\n## ")[0])
    assert sorted(named) == sorted(EXERCISES)


def test_the_editor_debugs_every_chapter():
    programs = [
        each["program"] for each in json.loads(text_of(".vscode/launch.json"))["configurations"]
    ]
    assert programs == [f"${{workspaceFolder}}/build-debug/{each.target}" for each in CHAPTERS]


def test_the_module_of_two_weeks():
    section = text_of("docs/teaching.md").partition("## A module of two weeks")[2]
    table = section.partition("\n## ")[0]
    rows = [line.split(" | ") for line in table.splitlines() if re.match(r"\| \d \|", line)]
    assert len(rows) == 4
    all_together, all_graded = set(), set()
    for _, _, predicted, shown, together, minutes, homework in rows:
        together = [EXERCISES[title] for title in together.split(", ")]
        titles, how_much = homework.removesuffix(" |").split(": ")
        graded = [EXERCISES[title] for title in titles.split(", ")]
        taken = 10 * len(predicted.split(", ")) + 15 * shown.count("#see-it-fail")
        taken += sum(each.facts["minutes"] for each in together)
        assert int(minutes) == taken
        assert taken <= 75, "a session of 90 minutes has a quarter of an hour for questions"
        points = sum(sum(each.points.values()) for each in graded)
        time = sum(each.facts["minutes"] for each in graded)
        assert how_much == f"{time} minutes, {points} points"
        assert time <= 60
        all_together |= {each.number for each in together}
        all_graded |= {each.number for each in graded}
    assert not all_together & all_graded
    assert "04.1" not in all_graded, "the copy for students has its answer"
    for verb, numbers in {"export": all_together | all_graded, "grade": all_graded}.items():
        named = re.findall(rf"^\./lab {verb} .* --exercises (\S+)", table, re.M)
        assert ",".join(named).split(",") == sorted(numbers)

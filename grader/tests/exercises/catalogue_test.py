# SPDX-License-Identifier: MIT
"""The course's exercises."""

import pytest
from other_right_solutions import STYLES

from engine.command.errors import CommandError
from grader.exercises.catalogue import all_exercises, chosen_exercise
from grader.exercises.driver_source import driver_source
from this_build import ROOT

USABLE = """\
exercise(
    number=1,
    kind="write",
    minutes=15,
    points={"results": 9},
)
"""
UNUSABLE = [  # what is replaced in it, what is there instead, and what is said
    ("minutes", "minuts", ":4: exercise() has no argument minuts; did you mean minutes, "),
    ("minutes", "xyzzy", ":4: exercise() has no argument xyzzy; they are number, kind, "),
    ("    minutes=15,\n", "", ":1: exercise() lacks minutes."),
    ("15", '"15"', ":4: minutes must be a whole number."),
    ("15", "3 * 5", ":4: minutes must be a literal, because the file is not run for it."),
    ('{"results": 9}', "{[]: 9}", ":5: points must be a literal, because"),
    ("kind", "number", ":3: number stands there twice."),
    ("number=1", "**facts", ":1: each argument of exercise() must have its name."),
    ("number=1", "1", ":1: each argument of exercise() must have its name."),
    ("15,", '15, hints=["one"],', ":1: hints must be 3 texts, or none."),
    (
        "15,",
        '15, limits={"loads per element: 2": "Two."},',
        ":1: limits: 'loads per element: 2' must",
    ),
    ("15,", '15, limits={"loads per element: at most 2": ""},', ":1: limits: 'loads per element: "),
    ("},\n)", "}", ":1: this is no Python: "),
    ("15", "(" * 300 + ")" * 300, ":4: this is no Python: too many nested"),
    ("15", "-" * 90_000 + "1", ":1: this can't be read as Python: "),
    (USABLE, "\0", ":1: this "),
    (USABLE, "", ":1: exercise(...) must be called once, at the top level."),
    (USABLE, USABLE * 2, ":7: exercise(...) must be called once, at the top level."),
    (USABLE, "#" * (1 << 20), ":1: the file is too large: 100,000 bytes are the most."),
]


def test_there_are_twenty_eight_in_order():
    numbers = [each.number for each in all_exercises()]
    assert len(numbers) == 28
    assert numbers == sorted(set(numbers))
    assert {number for number, *_ in STYLES} <= set(numbers)


def test_each_builds_on_chapters_and_exercises_that_are_there():
    for exercise in all_exercises():
        for name in exercise.facts["builds_on"]:
            if not (ROOT / "chapters" / name).is_dir():
                assert chosen_exercise(name).number == name, exercise.title


@pytest.mark.parametrize(
    "wanted, says",
    [
        ("01", "01 is a chapter, and its exercises are 01.1, 01.2, 01.3, 01.4 and 01.5."),
        ("4", "4 is a chapter, and its exercises are 04.1, 04.2, 04.3 and 04.4."),
    ],
)
def test_a_chapter_is_no_exercise(wanted, says):
    with pytest.raises(CommandError) as refusal:
        chosen_exercise(wanted)
    assert str(refusal.value) == says


OWN = "chapters/04_last_block_guard/exercises/own/exercise.py"


@pytest.fixture
def file(tmp_path):
    """The exercise.py of the only exercise in tmp_path."""
    file = tmp_path / OWN
    file.parent.mkdir(parents=True)
    file.write_text(USABLE, encoding="utf-8")
    return file


def test_an_exercise_py_that_can_be_used(tmp_path, file):
    assert file.is_file()
    (own,) = all_exercises(tmp_path)
    assert (own.title, own.hints, own.limits) == ("04.1 own", [], [])


@pytest.mark.parametrize(
    "right, wrong, says", UNUSABLE, ids=[f"{place}{row[2]}" for place, row in enumerate(UNUSABLE)]
)
def test_an_exercise_py_that_can_t_be_used_gets_a_sentence_with_its_line(
    tmp_path, file, right, wrong, says
):
    file.write_text(USABLE.replace(right, wrong), encoding="utf-8")
    with pytest.raises(CommandError) as refusal:
        all_exercises(tmp_path)
    assert f"{OWN}{says}" in str(refusal.value)


def test_an_exercise_py_that_is_no_text_or_no_file(tmp_path, file):
    file.write_bytes(b"\xff")
    with pytest.raises(CommandError, match=":1: the file is no text in UTF-8"):
        all_exercises(tmp_path)
    file.unlink()
    file.mkdir()
    with pytest.raises(CommandError, match="it can't be read: Is a directory"):
        all_exercises(tmp_path)


def test_an_exercise_py_is_not_run_for_its_facts(tmp_path, file):
    file.write_text(f"raise SystemExit(9)\n{USABLE}", encoding="utf-8")
    assert [each.title for each in all_exercises(tmp_path)] == ["04.1 own"]


@pytest.mark.parametrize(
    "text",
    ("# 04.1 own: none\n", "```cpp driver.cpp\nint own();\n```\n"),
    ids="no_block no_void".split(),
)
def test_a_readme_that_declares_no_function_makes_no_driver(text):
    with pytest.raises(ValueError, match=r"README\.md: a block .* must declare the student's"):
        driver_source(text, "README.md")

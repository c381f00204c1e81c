# SPDX-License-Identifier: MIT
"""Types what the lessons quote of `./lab`, on the CPU backend, and compares what it prints.

`./lab test NAME` is not typed here, since the tests of that name are in `./lab test all` themselves:
documents_test sees that there are some. Nor is `./lab learn`, which needs a terminal: learn_test has
one. A name in capitals, as in `./lab run FILE.cu`, is for the reader to fill in.
"""

import re

import pytest
from documents_test import FENCE, commands_of, text_of
from quotations import (
    LESSONS,
    Quotation,
    all_quotations,
    assert_quoted,
    first_difference,
    quotation,
    typed,
)
from readme_commands_test import commands as commands_of_readme

FOR_A_GPU = {
    # A laptop would take minutes; the lessons say that it is for a GPU.
    "./lab run chapters/04_last_block_guard/naive_last_block_guard.cu -- 20000",
    "./lab run 04 -- --elements 33554432 --threads 32 --blocks 65536",
    "./lab trace 05 --panels contiguous_ranges,grid_stride,queue -- --size 8192 --tile 16",
}

# What happens to go right on the CPU backend; the lessons say so.
RIGHT_BY_CHANCE = {
    "./lab run chapters/08_look_back_scan/naive_look_back_scan.cu",
    "./lab run chapters/02_shared_memory_dot_product/naive_barrier.cu",
}


def commands():
    """Every command of the lessons that can be typed as it stands, once.

    What the README has as well is typed by its own test, which looks at the lessons' quotations too.
    """
    quoted = [command for lesson in LESSONS for command in commands_of(lesson)]
    quoted += [each.command for each in all_quotations()]
    return [
        command
        for command in dict.fromkeys(quoted)
        if re.match(r"\./lab (?!test|learn)\w", command)
        and not re.search(r"\b[A-Z]{2,}\b|\[", command)
        and command not in commands_of_readme()
    ]


def shows_a_mistake(command):
    """By the name of its program, or as a prediction that is answered wrongly."""
    names = ("/naive_", "mistakes", "weak_examples")
    quoted = [line for each in all_quotations() if each.command == command for line in each.lines]
    return any(name in command for name in names) or any("WRONG" in line for line in quoted)


@pytest.mark.parametrize("command", commands())
def test_a_quoted_command(command):
    if command in FOR_A_GPU:
        pytest.skip("this one is for a GPU: on a CPU it takes minutes")
    result = typed(command)
    told = result.stdout + result.stderr
    if command.startswith("./lab bench"):  # of a chapter, which needs a GPU
        assert result.returncode == 2, told
        assert "on the CPU backend bench measures the backend itself" in result.stderr
        return
    # What a lesson shows as a mistake is reported as one, unless it hides.
    is_wrong = shows_a_mistake(command) and command not in RIGHT_BY_CHANCE
    assert result.returncode == (1 if is_wrong else 0), told
    assert_quoted(command, result.stdout)


def test_there_are_some():
    assert len(commands()) > 15
    assert len([each for each in all_quotations() if "H200" not in each.notes]) > 8


@pytest.mark.parametrize(
    "lesson", LESSONS, ids=lambda lesson: f"{lesson.parent.name}/{lesson.stem}"
)
def test_what_is_printed_names_its_command(lesson):
    """A fenced text is a picture of the idea, or says by which command of the lesson it was printed."""
    outside = re.sub(r"^## The idea\n.*?(?=^## )", "", text_of(lesson), flags=re.M | re.S)
    for info, body in FENCE.findall(outside):
        if info.startswith("text"):
            quoted = quotation(info, body)
            assert quoted, f"this names no command:\n{body}"
            assert quoted.command in commands_of(lesson), f"no sentence has {quoted.command}"


def test_for_a_gpu_is_what_the_lessons_have():
    assert set(commands()) >= FOR_A_GPU


@pytest.mark.parametrize(
    ("notes", "quoted", "printed"),
    [
        ([], "a 1\nb", "a 1\n\n  b\n"),
        ([], "a [...] c", "a b b c\n"),
        (["numbers vary"], "a 1,000 of 2.5 b", "a 7 of 1,234.0 b\n"),
        (["part"], "a\nc", "a\nb\nc\nd\n"),
    ],
)
def test_a_quotation_that_is_right(notes, quoted, printed):
    assert first_difference(Quotation("./lab run 01", notes, quoted.splitlines()), printed) is None


@pytest.mark.parametrize(
    ("notes", "quoted", "printed"),
    [
        ([], "a 1", "a 2\n"),
        ([], "a", "a\nb\n"),
        ([], "a\nb", "a\n"),
        ([], "a", "a b\n"),
        (["numbers vary"], "a 1 right", "a 1 WRONG\n"),
        (["numbers vary"], "a 1", "a -\n"),
        (["part"], "c\na", "a\nb\nc\n"),
    ],
)
def test_a_quotation_that_is_wrong(notes, quoted, printed):
    assert first_difference(Quotation("./lab run 01", notes, quoted.splitlines()), printed)

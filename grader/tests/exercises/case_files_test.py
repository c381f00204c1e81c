# SPDX-License-Identifier: MIT
"""The files between lab and a student's program, and what is made of results that are cut off."""

import struct

import pytest

from grader.exercises.cases import (
    Case,
    WatchedLoads,
    given,
    kept,
    per_launch,
    printed,
    program_run,
    read_results,
    returned,
    scratch,
    updated,
    written_cases,
)
from grader.judging.results import failure_of


def words(*values):
    return struct.pack(f"{len(values)}i", *values)


CASE = Case(
    "two values",
    [
        given("values", "int", [1, 2]),
        2,
        returned("sums", "int", [3, 4]),
        kept("n", "unsigned", [0], [0]),
    ],
)


def results(*launches, done=True):
    text = b"case 0\n"
    for number, (sums, counter) in enumerate(launches):
        text += b"launch %d\narray 2 8\n" % number + words(*sums)
        text += b"array 3 4\n" + words(counter)
    return text + (b"done\n" if done else b"")


def test_what_is_written():
    case = Case(
        "a, b",
        [
            given("pairs", ("unsigned char", "double"), [(7, 0.5)]),
            updated("u", "float", [1.0], [2.0]),
            updated("p", "float", [0.5]),
            scratch("s", "double", 3),
            0.25,
            per_launch(7, 4),
        ],
        launches=3,
    )
    assert written_cases([case], "f") == (
        b"cases 1\ncase a, b\ngiven 16 1 pairs\n"
        + struct.pack("=B7xd", 7, 0.5)
        + b"updated 4 1 u\n"
        + struct.pack("f", 1.0)
        + b"refilled 4 1 p\n"
        + struct.pack("f", 0.5)
        + b"scratch 8 3 s\nnumber 0.25\nnumber 7 4\ncall f 3\n"
    )


def test_every_second_launch_has_arguments_of_its_own():
    first, second = (
        Case(
            "c",
            [
                given("v", "int", content),
                size,
                kept("k", "int", [0] * size),
                returned("r", "int", content),
            ],
        )
        for content, size in (([1, 2], 2), ([3], 1))
    )
    assert first.can_be_followed_by(second)
    assert not second.can_be_followed_by(first)
    case = first._replace(second=second, launches=3)
    assert written_cases([case], "f") == (
        b"cases 1\ncase c\ngiven 4 2 v\n"
        + words(1, 2)
        + b"number 2 1 2\nkept 4 2 k\n"
        + words(0, 0)
        + b"returned 4 2 r\nagain 0\n"
        + words(3)
        + b"\xa5" * 4
        + b"call f 3\n"
    )
    text = b"case 0\nlaunch 0\narray 3 8\n" + words(1, 2) + b"launch 1\narray 3 8\n" + words(3)
    arrays = b"array 2 8\n" + words(0, 0)
    for rest, wrong in (
        (b"\xa5" * 4, None),
        (words(2), "r has 1 element, and what follows was changed"),
    ):
        content = text.replace(b"array 3", arrays + b"array 3") + rest + b"launch 2\n" + arrays
        (result,) = read_results(content + b"array 3 8\n" + words(1, 2) + b"done\n")
        failure = failure_of(0, case, result)
        assert (failure and failure.lines[0]) == wrong


def test_loads_are_watched_and_other_bytes_changed():
    case = Case("a", [5], launches=1)
    begin = b"cases 1\ncase a\nnumber 5\nwatch_loads\n"
    assert written_cases([case], "f", WatchedLoads()) == begin + b"call f 1\n"
    loads = WatchedLoads(([1, 0, 4], []), 77)
    assert written_cases([case], "f", loads) == begin + b"loaded 77 1 0 4\nloaded 77 \ncall f 1\n"


def test_right_results():
    (result,) = read_results(results(((3, 4), 0), ((3, 4), 0)))
    assert result.is_done
    assert failure_of(0, CASE, result) is None


def test_wrong_results_name_the_element():
    (result,) = read_results(results(((3, 5), 0), ((3, 4), 0)))
    assert failure_of(0, CASE, result).lines == ["sums[1]: got 5, expected 4"]


def test_the_second_launch_is_looked_at():
    (result,) = read_results(results(((3, 4), 0), ((3, 4), 1)))
    failure = failure_of(0, CASE, result)
    assert (failure.launch, failure.lines[0]) == (1, "n: got 1, expected 0")
    assert "What is different the second time?" in failure.lines[1]


def test_what_was_never_written_is_said_to_be_so():
    poison = struct.unpack("i", b"\xa5" * 4)[0]
    (result,) = read_results(results(((3, poison), 0), ((3, 4), 0)))
    lines = failure_of(0, CASE, result).lines
    assert lines == ["sums[1]: nothing was written, expected 4"]


def test_a_changed_input_is_wrong():
    content = results(((3, 4), 0), ((3, 4), 0)).replace(b"launch 0\n", b"launch 0\nchanged 0\n")
    (result,) = read_results(content)
    assert "values was written to" in failure_of(0, CASE, result).lines[0]


def test_results_cut_off_anywhere_are_never_right():
    whole = results(((3, 4), 0), ((3, 4), 0))
    for length in range(len(whole) - 1):
        found = read_results(whole[:length])
        assert failure_of(0, CASE, found[0] if found else None) is not None


@pytest.mark.parametrize(
    "content",
    (
        b"launch 0\n",
        b"case 0\nlaunch 0\narray x y\n",
        b"case 0\narray 0 4\nabcd",
    ),
    ids="no_case no_number no_launch".split(),
)
def test_what_no_runner_writes_is_not_read(content):
    found = read_results(content)
    assert not any(result.is_done for result in found)


@pytest.mark.parametrize(
    "value, is_right", [(1.0 + 1e-10, True), (1.0 + 1e-8, False), (float("nan"), False)]
)
def test_a_bound_holds_what_is_near_and_no_nan(value, is_right):
    case = Case("one", [returned("x", "double", [1.0], within=1e-9)], launches=1)
    content = b"case 0\nlaunch 0\narray 0 8\n" + struct.pack("d", value) + b"done\n"
    (result,) = read_results(content)
    assert (failure_of(0, case, result) is None) == is_right, value


# A whole program: numbers on its command line, a text and an exit code back.
PROGRAM = program_run("two", [2, 0.5], printed("sums", "int", [3, -4]), races=True)


def lines_about(text, returned=0, case=PROGRAM):
    content = b"case 0\nprinted %d\n%b" % (len(text), text) + b"returned %d\n" % returned
    (result,) = read_results(content)
    failure = failure_of(0, case, result)
    return failure if failure is None or failure == "missing" else failure.lines


def test_only_the_numbers_are_written():
    assert (
        written_cases([PROGRAM], "sums")
        == b"cases 1\ncase two\nnumber 2\nnumber 0.5\ncall sums 1\n"
    )


def test_numbers_may_stand_apart_as_they_like():
    for text in (b"3\n-4\n", b"3 -4", b"  +3\t\n\n-4"):
        assert lines_about(text) is None, text
    case = program_run("one", [], printed("x", "float", [0.5], within=0.25))
    for text in (b"0.5\n", b".75", b"5e-1"):
        assert lines_about(text, case=case) is None, text
    for text in (b"nan", b"0.8", b"inf"):
        assert "x: got" in lines_about(text, case=case)[0]


@pytest.mark.parametrize(
    "text, said",
    [
        (b"3\n4\n", "sums[1]: got 4, expected -4"),
        (b"", "It prints 0 numbers to stdout, expected 2."),
        (b"3", "It prints 1 number to stdout, expected 2."),
        (b"3 -4 5", "It prints 3 numbers to stdout, expected 2."),
        (b"sums: 3 -4", "It prints 'sums:', and only numbers are to go to stdout: use stderr."),
        (b"3.0 -4", "It prints '3.0', and only numbers"),
        (b"x" * 99, "...', and only numbers"),
        (b"\xff 1", "and only numbers"),
    ],
    ids="wrong none few many words fraction long no_text".split(),
)
def test_what_is_wrong_is_named(text, said):
    assert said in lines_about(text)[0]


def test_a_program_that_ends_with_another_code_has_not_answered():
    assert lines_about(b"3 -4", returned=1) == "missing"


def test_a_programs_results_cut_off_anywhere_are_never_right():
    whole = b"case 0\nprinted 5\n3 -4\nreturned 0\n"
    assert failure_of(0, PROGRAM, read_results(whole)[0]) is None
    for length in range(len(whole) - 1):
        found = read_results(whole[:length])
        assert failure_of(0, PROGRAM, found[0] if found else None) is not None

# SPDX-License-Identifier: MIT
"""What `check` says of mistakes in one exercise, named by EXERCISE: each test is about the exercises of
its decorator, so a change of another one does not reach it."""

import json
import os
import re

import pytest

from engine.command.build_folder import introspection
from grader.exercises.cases import Case
from grader.exercises.catalogue import chosen_exercise
from grader.exercises.limits import lines_about
from grader.exercises.solutions import starter
from lab_tool.authoring.trials import mutants_of, patched, solution
from this_build import BUILD, ROOT

EXERCISE = chosen_exercise(os.environ["EXERCISE"])
SETTINGS = json.loads((BUILD / "single_file.json").read_text(encoding="utf-8"))
NAMES = set()  # of all exercises that a test is about


def about(*names):
    """The test, if it is about the exercise; else None, which is no test."""
    NAMES.update(names)
    return lambda test: test if EXERCISE.name in names else None


def of_exercise(rows):
    """The rows that begin with its number, without it."""
    return [row for number, *row in rows if number == EXERCISE.number]


def test_meson_has_a_test_for_each_of_the_exercises():
    of_meson = (test["env"].get("EXERCISE") for test in introspection(BUILD, "tests")
                if test["name"].startswith("check_of_"))  # fmt: skip
    assert set(of_meson) == NAMES


@about("reverse_in_place")
def test_a_limit_that_is_exceeded_by_little_is_told_in_whole_numbers(student):
    text = solution(EXERCISE).replace("pairs = n / 2;", "pairs = (n + 1) / 2;")
    said = student.check_of(text).stdout
    assert "Your code: 10,002 global loads for 10,001 elements; allowed: 10,001.\n" in said
    limit = {"count": "global loads", "per": "element", "at_most": 0, "advice": ""}
    exercise = EXERCISE._replace(facts={**EXERCISE.facts, "limits": [limit]})
    for loads, elements, says in [
        (1, 1000, "1 global load for 1,000 elements; allowed: 0."),
        (1, 1, "1 global load per element; allowed: 0."),
        (11, 10, "1.1 global loads per element; allowed: 0."),
    ]:
        case = Case("one", [], elements=elements)
        lines = lines_about(
            exercise, [{"launch_counts": [{"global_loads": {"total": loads}}]}], case
        )
        assert lines[0] == f"Your code: {says}"


@about("fullest_bin")
def test_a_race_is_shown_by_a_wrong_result_that_it_allows(student):
    relaxed = next(each for each in mutants_of(EXERCISE) if each.name == "relaxed_ticket")
    result = student.check_of(patched(EXERCISE, relaxed))
    assert result.returncode == 1
    assert re.search(
        r"results are right here, but CUDA's rules allow this one, too \([^)]+\): "
        r"\w+(\[\d+\])?: got \d+, expected \d+ "
        r"Two threads race, in 20 of 20 schedules: block \d+ thread \d+ ",
        " ".join(result.stdout.split()),
    )


@about("tree_without_its_barrier")
def test_a_wrong_result_comes_with_the_race_that_may_be_its_reason(student):
    result = student.check_of(starter(EXERCISE))
    assert result.returncode == 1
    assert re.search(
        r"results .* races . .*: got \S+, expected \S+ .*"
        r"Two threads race, which may be the reason: block \d+ thread \d+ ",
        " ".join(result.stdout.split()),
    )


@about("grid_stride_off_by_a_grid")
def test_bytes_that_two_blocks_write_are_not_to_be_exchanged_atomically(student):
    said = student.said_of(starter(EXERCISE), "--explain")
    assert "steps by one block, so the blocks come to the same elements" in said
    assert "atomicExch" not in said  # there is none for unsigned char


@about("fullest_bin", "arg_min", "vec_add_with_a_table")
@pytest.mark.parametrize(
    "before, after, says",
    of_exercise(
        [
            ("04.2", "tickets(*arrived)", "tickets(arrived)", "invalid conversion from"),
            (
                "04.2",
                "atomicAdd(&bins[bin], of_block[bin])",
                "atomicMax((float*)&bins[bin], 1.0f)",
                "no matching function for call to",
            ),
            (
                "04.3",
                "block_reduce(best, smaller<T>{}, shared)",
                "block_reduce(best, 3, shared)",
                "",
            ),
            ("06.1", "canceled_block<1>", "canceled_block<4>", "the rank is 1, 2 or 3"),
        ]
    ),
)
def test_an_error_in_a_header_is_told_at_the_students_line(student, before, after, says):
    text = solution(EXERCISE)
    assert before in text
    line = text[: text.index(before)].count("\n") + 1
    _, _, first, *rest = student.check_of(text.replace(before, after, 1)).stdout.splitlines()
    assert re.search(rf"^  {re.escape(student.file.name)}:{line}:(\d+:)? error: .*{says}", first)
    places = [each for each in rest if re.match(r"  \S+:\d+:", each)]
    for place in places:
        assert place.startswith(f"  {student.file.name}:"), place
    assert str(ROOT) not in "\n".join(rest)


@about("block_maximum")
def test_a_race_of_other_cases_is_not_shown_below_a_wrong_result(student):
    barrier, result = (
        "    __syncthreads();\n    live = half;",
        "maxima[blockIdx.x] = largest[0]",
    )
    text = solution(EXERCISE)
    assert barrier in text
    assert result in text
    text = text.replace(barrier, "    live = half;")  # a race, if there are several threads
    wrong = text.replace(result, f"{result} + (blockDim.x == 1)")
    said = student.check_of(wrong).stdout
    assert "1 value, 1 block of 1 thread" in said
    assert "Two threads race" not in said


@about("classic_guard")
def test_what_a_race_lacks_is_said_if_it_is_asked_for(student):
    mutant = next(each for each in mutants_of(EXERCISE) if each.name == "no_acquire")
    out = student.work / "verdicts.json"
    said = student.said_of(patched(EXERCISE, mutant), "--json", str(out))
    assert re.search(r"writes \S+ line \d+ .* reads \S+ line \d+", said)
    assert "the one that reads may find the old value or the new one" in said
    assert "__threadfence() after" not in said
    command = (
        rf"\./lab check 04\.1 --explain --work {re.escape(str(student.work))} says what is missing"
    )
    assert re.search(command, said)
    assert "missing" not in re.sub(command, "", said)
    (verdict,) = json.loads(out.read_text(encoding="utf-8"))
    picture = (student.work / "04_classic_guard.svg").read_text(encoding="utf-8")
    assert "either of the two threads may be the first one" in picture
    assert "missing acquire" not in picture
    explained = " ".join(student.check(EXERCISE.number, "--explain").stdout.split())
    assert " ".join(verdict["remedy"]) in explained
    assert "missing acquire" in explained
    assert "--explain" not in explained


@about("classic_guard")
@pytest.mark.parametrize(
    "loop, says",
    [
        pytest.param(
            "while (atomicAdd(counter, 0) != 12345) {}",
            r"CUDA says: the launch timed out .* block 0 thread 0 waits for a value in memory "
            r"line {line} Is there a loop that nothing ends",
            id="atomic",
        ),
        pytest.param(
            'if (std::getenv("LAB_RACECHECK_SEED")) while (*counter != 12345) {}',
            r"In one schedule your kernel never ends: .* is in a loop line {line} Such a loop polls "
            r"without an atomic",
            marks=pytest.mark.skipif(
                "clang" in SETTINGS["compiler"], reason="it leaves such a loop out"
            ),
            id="plain",
        ),
    ],
)
def test_a_loop_that_never_ends_is_named_with_its_line(student, loop, says):
    text = solution(EXERCISE)
    end = text.index("  if (is_last_block(counter)) {")
    changed = f"#include <cstdlib>\n{text[:end]}  {loop}\n{text[end:]}"
    result = student.check_of(changed.replace("#include <cstddef>\n", "", 1))
    assert result.returncode == 1, result.stderr
    line = text[:end].count("\n") + 1
    assert re.search(says.format(line=line), " ".join(result.stdout.split()))


@about("block_maximum", "mean_and_variance")
@pytest.mark.parametrize(
    "before, after, says",
    of_exercise(
        [
            (
                "02.1",
                "threads * sizeof(int)>>>",
                "threads * sizeof(int) / 2>>>",
                r"the launch's dynamic shared memory of \d+ bytes: \d+ bytes past its end "
                r"written by block \d+ thread \d+ at line 11 largest\[thread\] = ",
            ),
            (
                "03.1",
                "shared[course::largest_block]",
                "shared[256]",
                r"shared\[256\] \(moments \[256\]\) of 6144 bytes: \d+ bytes past its end "
                r"written by block \d+ thread \d+ at \S+/block_reduce\.cuh:\d+ ",
            ),
        ]
    ),
)
def test_an_overrun_of_shared_memory_names_the_variable_and_no_command_that_fails(
    student, before, after, says
):
    text = solution(EXERCISE)
    assert before in text
    result = student.check_of(text.replace(before, after))
    assert result.returncode == 1, result.stderr
    assert "Invalid __shared__ write" in result.stdout
    assert "racecheck FILE" not in " ".join(result.stdout.split())
    assert re.search(says, " ".join(result.stdout.split()))

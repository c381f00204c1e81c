# SPDX-License-Identifier: MIT
"""The student's commands: check, exercises, hint, reset and solution, with right and wrong input."""

import contextlib
import io
import json
import os
import re
from unittest import mock

import pytest

from engine.command.arguments import run_command
from engine.command.paths import shown
from grader.exercises.catalogue import all_exercises, chosen_exercise
from lab_runs import lab
from lab_tool.authoring.trials import mutants_of, patched, solution
from lab_tool.command_line import LAB
from this_build import BUILD

EXERCISE = chosen_exercise("01.1")

WRONG_FILES = {
    "empty": ("", "The file is empty: ./lab reset 01.1 "),
    "no such function": ("int unrelated;\n", "The function that is called is missing: saxpy("),
    "another signature": (
        "void saxpy(int) {}\n",
        "saxpy is there, but not with the parameters that are called:",
    ),
    "static": (
        "#include <cstddef>\nstatic void saxpy(float, const float*, float*, std::size_t) {}\n",
        "saxpy is static, so it can't be called from outside the file",
    ),
    "a main of its own": ("int main() {}\n", "It has a main() of its own: remove it"),
    "no C++": ("this is no C++\n", "\n  01_saxpy.cu:1:1: error: "),
    "binary": ("\x00\x01\x02", "error"),
}
ENDLESS = "  volatile int forever = 1;\n  while (forever) {}\n"
CRASH = "  *(volatile int*)nullptr = 1;\n"
EXIT = "  std::exit(0);\n"


def test_a_solution_is_done_and_then_shown(student):
    refused = student.lab("solution", "01.1")
    assert refused.returncode == 1
    assert "01.1 saxpy is not solved yet" in refused.stderr
    result = student.check_of(solution(EXERCISE))
    assert result.returncode == 0, result.stdout + result.stderr
    first = result.stdout.splitlines()[0]
    assert first.startswith("01.1 saxpy  "), first
    assert f"1 of {len(all_exercises())} exercises is done." in result.stdout
    assert student.lab("solution", "saxpy").returncode == 0
    listed = student.lab("exercises").stdout
    assert re.search(r"01\.1  saxpy .* done", listed)
    assert f"1 of {len(all_exercises())} done" in listed


@pytest.mark.parametrize("name", WRONG_FILES)
def test_files_that_can_be_none_get_a_sentence(student, name):
    text, says = WRONG_FILES[name]
    student.file.write_text(text, encoding="utf-8")
    result = student.check(str(student.file))
    assert result.returncode == 1, result.stderr
    assert says in result.stdout
    assert "Traceback" not in result.stderr
    assert str(BUILD) not in result.stdout
    assert student.file.read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    "before, body, says",
    [
        pytest.param(
            "#include <cstdlib>\n",
            "  if (std::rand() < 0) return;\n",
            "it uses rand, ",
            id="a name",
        ),
        pytest.param('const char* s = R"(a)";\n', "", "it has a raw string literal, ", id="a text"),
        pytest.param(
            "#include <cstdlib>\n", "  std::srand(1), std::rand();\n", "(and 1 more).", id="two"
        ),
    ],
)
def test_what_a_grade_would_refuse_is_said_and_changes_no_verdict(student, before, body, says):
    whole = solution(EXERCISE)
    place = whole.index("{\n", whole.index("void saxpy(")) + 2
    text = before + whole[:place] + body + whole[place:]
    report = student.work / "verdict.json"
    result = student.check_of(text, "--json", str(report))
    said = " ".join(result.stdout.split())
    assert result.returncode == 0, said + result.stderr
    assert "A grade would refuse this file: it " in said
    assert says in said
    (verdict,) = json.loads(report.read_text(encoding="utf-8"))
    assert set(verdict["parts"].values()) == {"passed"}
    assert verdict["refusals"]


def test_a_grade_says_nothing_against_a_solution(student):
    assert "refuse" not in student.check_of(solution(EXERCISE)).stdout


@pytest.mark.parametrize(
    "lines, says",
    [
        pytest.param(ENDLESS, "It did not end within 10 s.", id="endless"),
        pytest.param(CRASH, "The program was ended by SIGSEGV.", id="crash"),
        pytest.param(EXIT, "The program ended before it had answered.", id="exit"),
    ],
)
def test_programs_that_go_astray_get_a_sentence(student, lines, says):
    whole = solution(EXERCISE)
    head = whole.index("void saxpy(")
    body = whole.index("{\n", head) + 2
    text = "#include <cstdlib>\n" + whole[:body] + lines + whole[body:]
    result = student.check_of(text)
    assert result.returncode == 1, result.stderr
    assert says in result.stdout


HOST = "  float host[1];\n  float* mine;\n  cudaMalloc(&mine, 4);\n"


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param("  cudaMemcpy(host, mine, 4, cudaMemcpyHostToDevice);\n", id="copy"),
        pytest.param("  cudaMemset(host, 0, 4);\n", id="set"),
        pytest.param("  cudaFree(mine);\n  cudaFree(mine);\n", id="free"),
    ],
)
def test_a_call_that_cuda_refuses_is_explained_as_a_launch_or_a_call(student, lines):
    whole = solution(EXERCISE)
    place = whole.index("{\n", whole.index("void saxpy(")) + 2
    end = whole.rindex("}")
    said = student.said_of(whole[:place] + HOST + whole[place:end] + lines + whole[end:])
    assert "CUDA says: invalid argument (cudaErrorInvalidValue)" in said
    for words in (
        "A launch is refused if",
        "cudaMemcpy and cudaMemset are refused",
        "cudaFree, if",
    ):
        assert words in said


def test_a_launch_that_cuda_refuses_is_explained(student):
    whole = solution(EXERCISE)
    (lines,) = re.findall(r"<<<.*?>>>", whole)[:1]
    assert "A launch is refused if" in student.said_of(whole.replace(lines, "<<<1, 1025>>>"))


@pytest.mark.parametrize(
    "words, says",
    [
        ("check saxpi", "there is no exercise saxpi; did you mean saxpy?"),
        ("check 01.9", "there is no exercise 01.9"),
        ("check 0", "there is no exercise 0"),
        (
            "learn 01",
            "01 is a chapter, and its exercises are 01.1, 01.2, 01.3, 01.4 and 01.5.",
        ),
        ("hint 4", "4 is a chapter, and its exercises are 04.1, 04.2, 04.3 and 04.4."),
        ("check nothing.cu", "nothing.cu is no exercise's file"),
        ("check 01.1", "./lab learn 01.1 --work {work} begins it."),
        ("check", "no exercise is begun"),
        ("hint saxpi", "there is no exercise saxpi"),
        ("hint", "lab hint needs EXERCISE"),
        ("reset -1", "-1"),
        ("solution 1099511627776", "there is no exercise 1099511627776"),
    ],
)
def test_what_is_no_exercise_is_refused(student, words, says):
    result = student.lab(*words.split())
    assert result.returncode == 2, result.stderr
    assert says.format(work=student.work) in result.stderr
    assert result.stdout == ""


def test_a_work_folder_that_can_not_be_read_is_refused(student):
    # Root, who may run the tests, may read any folder.
    problems = io.StringIO()
    with (
        mock.patch.object(os, "access", lambda *_: False),
        contextlib.redirect_stdout(io.StringIO()) as written,
        contextlib.redirect_stderr(problems),
    ):
        code = run_command(LAB, ["exercises", "--work", str(student.work)])
    said = f"lab: you have no right to read the folder {shown(student.work)}, "
    assert (code, written.getvalue()) == (2, "")
    assert re.search(rf"\A{re.escape(said)}[^\n]*\n\Z", problems.getvalue())


def test_a_work_folder_that_is_none_is_refused(student):
    student.file.write_text("mine\n", encoding="utf-8")
    result = lab("check", "01.1", "--work", str(student.file))
    assert result.returncode == 2
    assert "that is no folder" in result.stderr


def test_hints_come_one_by_one(student):
    for number in (1, 2, 3, 3):
        result = student.lab("hint", "01.1")
        assert result.returncode == 0
        assert f"01.1 saxpy, hint {number} of 3" in result.stdout


def test_reset_keeps_the_text(student):
    student.file.write_text("mine\n", encoding="utf-8")
    result = student.lab("reset", "01.1")
    assert result.returncode == 0, result.stderr
    (kept,) = (path for path in student.work.glob("*.cu") if path != student.file)
    assert kept.read_text(encoding="utf-8") == "mine\n"
    assert kept.name in result.stdout


def test_learn_without_a_terminal_says_what_to_do(student):
    result = student.lab("learn")
    assert result.returncode == 2
    assert "learn needs a terminal: ./lab check 01.1" in result.stderr


def test_every_command_that_is_suggested_is_about_the_same_folder(student):
    spaced = student.work / "my work"
    spaced.mkdir()
    said = []
    for words in (
        ("check",),
        ("check", "01.1"),
        ("learn", "01.1"),
        ("solution", "01.1"),
        ("hint", "01.1"),
        ("exercises",),
        ("reset", "01.1"),
        ("hint", "01.1"),
        ("solution", "01.1", "--give-up"),
    ):
        result = lab(*words, "--work", str(spaced))
        said.append(result.stdout + result.stderr)
    for text in ("", solution(EXERCISE)):
        (spaced / EXERCISE.file_name).write_text(text, encoding="utf-8")
        for target in (["01.1"], []):
            words = ("check", *target, "--work", str(spaced), "--build", str(BUILD))
            result = lab(*words)
            said.append(result.stdout + result.stderr)
    for text in said:
        commands = re.findall(r"\./lab .*?(?=\./lab|$)", text, re.MULTILINE)
        assert commands, text
        for command in commands:
            assert f" --work '{spaced}'" in command, text


def test_a_launch_that_cuda_refuses_is_not_explained_by_calls_that_were_not_made(student):
    (mutant,) = (m for m in mutants_of(EXERCISE) if m.name == "empty_grid_launched")
    said = student.said_of(patched(EXERCISE, mutant))
    assert "A launch is refused if it has 0 blocks" in said
    assert "cudaMemcpy" not in said
    assert "cudaFree" not in said


def test_verdicts_as_json(student):
    out = student.work / "verdicts.json"
    student.check_of("", "--json", str(out))
    (verdict,) = json.loads(out.read_text(encoding="utf-8"))
    assert (verdict["exercise"], verdict["parts"]["results"]) == ("01.1", "failed")

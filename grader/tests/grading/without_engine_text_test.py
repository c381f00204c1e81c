# SPDX-License-Identifier: MIT
"""What is said of a wrong solution comes from the engine's records: its text can be anything, and every
verdict and every line stay the same, in a check and in a grade."""

import contextlib
import pathlib
import sys
import tempfile
from unittest import mock

import pytest
from grading_runs import BUILDS, CAN_GRADE, judged, real_sandboxes, solution_text, words_of

from engine.command import recipe
from engine.command.processes import run_bounded
from engine.command.run_server import RunServer
from grader.exercises.catalogue import chosen_exercise
from grader.judging.check import check
from grader.sandbox.sandbox import Sandbox
from lab_tool.authoring.trials import mutants_of, patched

OTHER_TEXT = (
    "kernel launched at x.cu:1: block (9,0,0), thread (9,0,0): Stack overflow at x.cu:9: deadlock\n"
    "x.cu:1: error: another one\n"
)
FIRST_THREAD = "  if (blockIdx.x == 0 && threadIdx.x == 0) "
AT_HOME = 'std::getenv("LAB_RACECHECK_SEED")'  # which a grade refuses


def with_line(number, before, line, head=""):
    text = solution_text(number)
    assert before in text, text
    return head + text.replace(before, f"{line}\n{before}", 1)


def of_streams():
    exercise = chosen_exercise("03.2")
    mutant = next(each for each in mutants_of(exercise) if "wrong_stream_waits" in each.name)
    return patched(exercise, mutant)


KERNEL_OF_01_1 = "  if (i < n) "
KERNEL_OF_04_1 = "  if (is_last_block(counter)) {"
# {name: (exercise, text, what is said)}
WRONG = {
    "a fault": (
        "01.1",
        with_line("01.1", KERNEL_OF_01_1, FIRST_THREAD + "y[n + 4096] = 1;"),
        "Invalid __global__ write at line",
    ),
    "an assertion": (
        "01.1",
        with_line(
            "01.1", KERNEL_OF_01_1, FIRST_THREAD + "assert(n == 12345);", "#include <cassert>\n"
        ),
        "Assertion `n == 12345' failed.",
    ),
    "a trap": (
        "01.1",
        with_line("01.1", KERNEL_OF_01_1, FIRST_THREAD + "__trap();"),
        "__trap() was called at line",
    ),
    "past shared memory": (
        "02.1",
        solution_text("02.1").replace("threads * sizeof(int)>>>", "threads * sizeof(int) / 2>>>"),
        "dynamic shared memory",
    ),
    "waits for ever": (
        "04.1",
        with_line(
            "04.1", KERNEL_OF_04_1, FIRST_THREAD + "while (atomicAdd(counter, 0) != 1 << 30) {}"
        ),
        "waits for a value in memory",
    ),
    "two streams": ("03.2", of_streams(), "in stream first reads partials"),
    "a launch of no kernel": (
        "01.1",
        solution_text("01.1").replace("__global__ ", ""),
        "is launched, and it is no kernel",
    ),
}
ONLY_AT_HOME = {
    "waits for ever in one schedule": (
        "04.1",
        with_line(
            "04.1",
            KERNEL_OF_04_1,
            f"  if ({AT_HOME} && blockIdx.x == 0) while (atomicAdd(counter, 0) != 1 << 30) {{}}",
            "#include <cstdlib>\n",
        ),
        "The other one has not started.",
    ),
}


def scrambled_watch(step, read_line, *rest):
    if not any(word.endswith("translate.py") for word in step):
        return real_watch(step, read_line, *rest)
    code = real_watch(step, lambda line: None, *rest)
    for line in OTHER_TEXT.splitlines():
        read_line(line)
    return code


real_watch = recipe.watch


def scrambled_run(*arguments, **options):
    return run_bounded(*arguments, **options)._replace(output=OTHER_TEXT)


def scrambled_run_of_server(self, *arguments, **options):
    run = real_run_of_server(self, *arguments, **options)
    return run and run._replace(output=OTHER_TEXT)


real_run_of_server = RunServer.run


def scrambled_sandbox(self, command, *arguments, **options):
    run = real_sandbox(self, command, *arguments, **options)
    words = [str(word) for word in command]
    is_engine = words[0].endswith("/program") or any(w.endswith("translate.py") for w in words)
    return run._replace(output=OTHER_TEXT) if is_engine and run.has_begun else run


real_sandbox = Sandbox.run


@contextlib.contextmanager
def other_text():
    """Whatever the engine prints, lab reads something else."""
    with contextlib.ExitStack() as stack:
        for module in list(sys.modules.values()):
            if (
                getattr(module, "run_bounded", None) is run_bounded
                and module is not sys.modules[__name__]
            ):
                stack.enter_context(mock.patch.object(module, "run_bounded", scrambled_run))
        stack.enter_context(mock.patch.object(recipe, "watch", scrambled_watch))
        stack.enter_context(mock.patch.object(RunServer, "run", scrambled_run_of_server))
        stack.enter_context(mock.patch.object(Sandbox, "run", scrambled_sandbox))
        yield


def checked(number, text):
    exercise = chosen_exercise(number)
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, exercise.file_name)
        file.write_text(text, encoding="utf-8")
        verdict = check(BUILDS.cpu, exercise, file)
        return verdict.parts, [line.replace(folder, "") for line in verdict.lines]


@pytest.mark.skipif(not CAN_GRADE, reason="the race checker is needed")
@pytest.mark.parametrize("name", {**WRONG, **ONLY_AT_HOME})
def test_a_check_says_the_same(name):
    number, text, says = {**WRONG, **ONLY_AT_HOME}[name]
    parts, lines = checked(number, text)
    assert says in " ".join(" ".join(lines).split())
    with other_text():
        assert checked(number, text) == (parts, lines)


@pytest.mark.skipif(not CAN_GRADE, reason="the race checker is needed")
@pytest.mark.skipif(not (real_sandboxes()), reason="grading takes a sandbox")
@pytest.mark.parametrize("name", WRONG)
def test_a_grade_says_the_same(name):
    number, text, says = WRONG[name]
    found = judged(number, text)
    assert says in " ".join(words_of(found).split())
    with other_text():
        again = judged(number, text)
    assert (again.status, again.points, words_of(again)) == (
        found.status,
        found.points,
        words_of(found),
    )

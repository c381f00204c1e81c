# SPDX-License-Identifier: MIT
"""The processes of runs: a child of a program may not use its parent's device, none outlives the program, and
Ctrl-C ends lab while a program runs many times, whatever lock is being taken."""

import os
import pathlib
import sys
import time

import pytest

from lab_runs import needs_cpu_backend, needs_racecheck
from test_setup import captured
from this_build import BUILD, ROOT

BEGINNING = """\
#include <csignal>
#include <cstdio>
#include <fstream>
#include <sys/wait.h>
#include <unistd.h>
__global__ void write(int* p) { p[threadIdx.x] = 7; }
void use_device(const char* who) {
  int *p = nullptr, value = 0;
  cudaMalloc(&p, 32 * sizeof(int));
  write<<<1, 32>>>(p);
  const cudaError_t error = cudaMemcpy(&value, p, sizeof(int), cudaMemcpyDefault);
  std::printf("%s: %s %d\\n", who, cudaGetErrorName(error), value);
}
"""
AFTER_USE = """\
int main() {
  use_device("parent");
  std::fflush(stdout);
  if (fork() == 0) {
    use_device("child");
    return 3;
  }
  int status = 0;
  wait(&status);
  std::printf("%d\\n", WEXITSTATUS(status));
}
"""
BEFORE_USE = AFTER_USE.replace('  use_device("parent");\n', "")
STUBBORN_CHILD = """\
int main() {
  use_device("parent");
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGTERM, SIG_IGN);
    for (;;) sleep(1);
  }
  std::ofstream("child") << child;
  WAIT
}
"""
REFUSED = (
    "this process was made by fork() from one that had used the device, and so it has no device"
)


def is_over(process):
    """Whether it ends within a few seconds; one whose exit code is not asked for is over, too."""
    for _ in range(50):
        try:
            state = pathlib.Path(f"/proc/{process}/stat").read_text(encoding="utf-8")
        except FileNotFoundError:
            return True
        if state.rpartition(")")[2].split()[0] == "Z":
            return True
        time.sleep(0.1)
    return False


def lab(tmp_path, program, *words):
    (tmp_path / "own.cu").write_text(BEGINNING + program, encoding="utf-8")
    return captured(
        [sys.executable, ROOT / "lab", words[0], "own.cu", *words[1:], "--build", str(BUILD)],
        cwd=tmp_path,
        timeout=200,
        env={**os.environ, "LAB_TIMEOUT": "20"},
    )


@needs_cpu_backend  # a GPU's driver has rules of its own
def test_a_child_has_no_device_if_its_parent_has_used_it(tmp_path):
    result = lab(tmp_path, AFTER_USE, "run")
    assert result.stdout == "parent: cudaSuccess 7\nchild: cudaErrorInitializationError 0\n3\n"
    assert result.stderr.count(REFUSED) == 1, result.stderr
    assert "deadlock" not in result.stderr


@needs_cpu_backend  # a GPU's driver has rules of its own
def test_a_child_has_a_device_of_its_own_if_its_parent_has_not_used_it(tmp_path):
    result = lab(tmp_path, BEFORE_USE, "run")
    assert result.stdout == "child: cudaSuccess 7\n3\n", result.stderr
    assert REFUSED not in result.stderr


@needs_cpu_backend  # a GPU's driver has rules of its own
@pytest.mark.parametrize("program", [AFTER_USE, BEFORE_USE], ids=["after_use", "before_use"])
@needs_racecheck
def test_the_report_is_that_of_the_process_that_launches(tmp_path, program):
    result = lab(tmp_path, program, "racecheck", "--seeds", "1")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "\n32 accesses checked in 1 schedule, 0 found\n" in result.stdout


@needs_cpu_backend  # a GPU's driver has rules of its own
@pytest.mark.parametrize(
    "name, wait, code", (("until its end", "", 0), ("until its time", "wait(nullptr);", 1))
)
@needs_racecheck
def test_nobody_outlives_the_program(tmp_path, name, wait, code):
    program = STUBBORN_CHILD.replace("WAIT", wait)
    begin = time.monotonic()
    result = lab(tmp_path, program, "racecheck", "--seeds", "1", "--timeout", "4")
    assert result.returncode == code, result.stdout + result.stderr
    # That it is built takes the larger part.
    assert time.monotonic() - begin < 150
    child = int((tmp_path / "child").read_text(encoding="utf-8"))
    assert is_over(child)


# Raises KeyboardInterrupt where the thread that waits has just taken a lock, for the n-th time since it
# began to wait.
INTERRUPTS = """
import concurrent.futures, pathlib, sys, time
from unittest import mock
from engine.command import schedules
from engine.prove import decided_runs
from grader.judging import runner as running
from grader.submissions import grading_run

left = int(sys.argv[1])

def interrupt(frame, event, argument):
    global left
    if event == "return" and frame.f_code.co_name == "__enter__" and "threading" in frame.f_code.co_filename:
        left -= 1
        if left == 0:
            sys.settrace(None)
            raise KeyboardInterrupt
    return interrupt

def takes_time(*words, **options):
    time.sleep(0.1)

def interrupt_after(submissions):
    submit = concurrent.futures.ThreadPoolExecutor.submit
    count = iter(range(1, submissions + 1))

    def submit_and_count(*words):
        begun = submit(*words)
        if next(count) == submissions:
            sys.settrace(interrupt)
        return begun

    return mock.patch.object(concurrent.futures.ThreadPoolExecutor, "submit", submit_and_count)

try:
    RUNS
except KeyboardInterrupt:
    pass
print("ended")
"""
BY_SEEDS = """
    with mock.patch.object(schedules, "check_once", takes_time):
        with schedules.scheduled_runs([(pathlib.Path("program"), [])], [0, 1, 2, 3], 60) as (finished,):
            sys.settrace(interrupt)
            finished()
"""
BY_DECISIONS = """
    made = lambda *words: takes_time() or (None, "")
    with mock.patch.object(decided_runs.DecidedRuns, "_run", made):
        with decided_runs.decided_runs(pathlib.Path("program"), [], 60) as runs:
            sys.settrace(interrupt)
            for decision in ("0.0", "0.1", "0.2"):
                runs.run([decision])
                runs.expect(["1.0"])
            runs.run(["1.0"])
"""
BY_A_CHECK = """
    build = mock.Mock(settings={"backend": "cuda"})
    with running.LocalRunner(build, None, None) as runner, interrupt_after(4):
        runner.run_until(lambda result: False, takes_time, range(4))
"""
COMPILING = """
    build = mock.Mock(settings={"backend": "cuda"}, can_observe=False)
    with mock.patch.object(running, "compiled", takes_time):
        with running.LocalRunner(build, None, None) as runner, interrupt_after(1):
            runner.compiled(running.CONCURRENT)
"""
BY_A_GRADE = """
    unit = mock.Mock()
    unit.exercise.number = unit.name = "a"
    run = mock.Mock(judgement_of=lambda unit: None)
    with (
        mock.patch.object(grading_run, "judge_unit", takes_time),
        mock.patch.object(grading_run, "measured_cases", lambda *words: {"a": None}),
        interrupt_after(4),
    ):
        grading_run.judge_here(mock.Mock(), run, [unit] * 4, 2)
"""


@pytest.mark.parametrize(
    "runs",
    [
        pytest.param(BY_SEEDS, id="seeds"),
        pytest.param(BY_DECISIONS, id="decisions"),
        pytest.param(BY_A_CHECK, id="check"),
        pytest.param(COMPILING, id="compiling"),
        pytest.param(BY_A_GRADE, id="grade"),
    ],
)
def test_it_ends_wherever_the_interruption_comes(runs):
    program = INTERRUPTS.replace("    RUNS", runs)
    for count in range(1, 13):
        result = captured([sys.executable, "-c", program, str(count)], timeout=30)
        assert (result.stdout, result.stderr) == ("ended\n", "")

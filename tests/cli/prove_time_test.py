# SPDX-License-Identifier: MIT
"""`./lab prove`: when its time is over nothing is proved, soon all has ended, and no process is left."""

import pathlib
import re
import sys
import time

import pytest

from engine.command.errors import CommandError
from engine.prove.decided_runs import DecidedRuns, decided_runs
from engine.prove.proving import Exploration
from lab_runs import interrupt, lab, needs_racecheck, started
from this_build import BUILD, ROOT

pytestmark = needs_racecheck

# All in one file, so that it is compiled once. Options: which of CASES it is, and the threads.
PROGRAM = """\
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <unistd.h>

__device__ void compute_for_ever() {
  unsigned x = 1;
  do {
    x = x * 1664525u + 1013904223u;
  } while (x != 0 || clock64() != 0);
}

__global__ void kernel(int which, unsigned* word) {
  if (which < 2) ++word[0];
  if (which == 2) compute_for_ever();
  if (which == 3 || which == 4) {  // The second of the two executions is another one.
    if (threadIdx.x == 0) {
      atomicExch(word, 1);
    } else if (atomicAdd(word, 0) == 0) {
      if (which == 3) compute_for_ever();
      word[1] = 1;
    }
  }
  for (int i = 0; which == 5 && i < 20; ++i) atomicAdd(word, 1);
}

int main(int, char** words) {
  const int which = std::atoi(words[1]);
  unsigned* word;
  cudaMallocManaged(&word, 2 * sizeof(unsigned));
  word[0] = word[1] = 0;
  if (which == 0) sleep(600);
  kernel<<<1, static_cast<unsigned>(std::atoi(words[2]))>>>(which, word);
  if (cudaDeviceSynchronize() != cudaSuccess) return 2;
  while (which == 1 || (which == 4 && word[1] == 1)) pause();
  std::printf("%u\\n", word[1]);
}
"""
CASES = [
    "the host sleeps before a race",
    "the host does not end",
    "the kernel does not end",
    "the kernel does not end in one execution",
    "the host does not end after one execution",
    "only its graph takes long",
]
SLEEPS, HOST, KERNEL, KERNEL_ONCE, HOST_ONCE, GRAPH = range(6)
SECONDS, MORE_SECONDS = 2, 2
SLACK = 30  # for the start on a busy machine
NOT_PROVED = r"\nnot proved: [01] executions? explored, none with a race or a fault; "


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("prove").resolve()
    (made / "own.cu").write_text(PROGRAM)
    (made / "list").write_text("")
    assert "limit" in prove(made, HOST_ONCE, "--limit", "1").stdout  # compiles it
    return made


def command_of(which, *words):
    options = ["--build", str(BUILD), *words, "--", str(which), "64" if which == GRAPH else "2"]
    return ["prove", "own.cu", *options]


def prove(folder, which, *words):
    return lab(*command_of(which, *words), folder=folder)


def programs_in(folder):
    """The processes that work in the folder: whatever lab has started there, and has not ended."""
    found = []
    for each in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if (each / "cwd").resolve(strict=True) == folder and (each / "cmdline").read_bytes():
                found.append((each / "cmdline").read_text())
        except OSError:  # it has just ended, or is another user's
            pass
    return found


def ends_in_time(folder, begin):
    assert time.monotonic() - begin < SECONDS + MORE_SECONDS + SLACK
    while left := programs_in(folder):  # They have been killed, and the kernel is still to do it.
        assert time.monotonic() - begin < SECONDS + MORE_SECONDS + SLACK, left
        time.sleep(0.1)


@pytest.mark.parametrize("which", range(len(CASES)), ids=CASES)
def test_what_has_not_ended_is_not_proved(folder, which):
    begin = time.monotonic()
    result = prove(folder, which, "--seconds", str(SECONDS))
    ends_in_time(folder, begin)
    assert result.returncode == 1, result
    assert re.search(NOT_PROVED + r"its time was over \(--seconds\)\n", result.stdout), result


@pytest.mark.parametrize("which", [SLEEPS, KERNEL, HOST])
def test_a_replay_ends_in_time_and_says_what_it_has_found(folder, which):
    begin = time.monotonic()
    result = prove(folder, which, "--replay", "list", "--seconds", str(SECONDS))
    ends_in_time(folder, begin)
    assert result.returncode == 1, result
    assert f"the program was stopped after {SECONDS} s (--seconds)" in result.stdout + result.stderr
    assert ("race (managed memory)" in result.stdout) == (which == HOST), result


@pytest.mark.parametrize("is_interrupted", [True, False], ids=["interrupted", "killed"])
@pytest.mark.parametrize("which", [KERNEL_ONCE, GRAPH])
def test_nothing_is_left_when_lab_is_ended(folder, which, is_interrupted):
    command = [sys.executable, ROOT / "lab", *command_of(which)]
    with started(command, folder) as process:
        assert "exploring" in process.stdout.readline()
        time.sleep(2)
        begin = time.monotonic()
        if is_interrupted:
            said, _ = interrupt(process)
            assert re.search(f"{NOT_PROVED}interrupted\n", f"\n{said}"), said
        else:
            process.kill()
            process.communicate(timeout=60)
    ends_in_time(folder, begin)


def test_a_run_that_was_begun_ahead_is_waited_for(monkeypatch):
    def fails_late(_runs, _place, _forks, decisions, _orders_fences):
        if decisions:
            time.sleep(0.5)
            raise CommandError("a problem")
        return None, ""

    monkeypatch.setattr(DecidedRuns, "_run", fails_late)
    with decided_runs("program", [], 60) as runs:
        for _ in range(2):
            runs.run([])
        runs.expect(["1.0"])
        runs.forget(["1.0"])
        with pytest.raises(CommandError, match="a problem"):
            runs.wait_for_all()


def test_an_exploration_is_unfinished_until_it_has_ended():
    exploration = Exploration()
    assert exploration.unfinished

    def run(_decisions, _orders_fences):
        raise CommandError("a problem")

    with pytest.raises(CommandError):
        exploration.run_all(run, 10)
    assert exploration.unfinished

# SPDX-License-Identifier: MIT
"""`lab grade --executor slurm` on a real Slurm of two nodes: killed jobs and nodes change no byte."""

import os
import signal
import subprocess
import sys
import time

import pytest
from slurm_cluster import Cluster, why_not

from grader.exercises.catalogue import chosen_exercise
from lab_tool.authoring.trials import mutants_of, patched, solution
from this_build import BUILD, ROOT

EXERCISE = chosen_exercise("01.1")
STUDENTS = 40
SECONDS = 900  # for one run, on a machine that has other things to do


def texts():
    """40 submissions, no two the same: the solution, all wrong ones, and files that don't compile."""
    right = solution(EXERCISE)
    found = [right, *(patched(EXERCISE, mutant) for mutant in mutants_of(EXERCISE))]
    while len(found) < STUDENTS:
        found.append(right.replace("void saxpy(", f"not C++ {len(found)}; void saxpy(", 1))
    return found[:STUDENTS]


def command(submissions, output, *words):
    return [
        *(sys.executable, str(ROOT / "lab"), "grade", str(submissions), "--build", str(BUILD)),
        *("--exercises", EXERCISE.number, "--output", str(output), "--seed", "of-the-test"),
        *("--jobs", "2", *words),
    ]


def files_of(folder):
    """What must be the same: all reports but for the times."""
    names = ["results.json", "grades.csv", "junit.xml"]
    names += [path.relative_to(folder) for path in folder.glob("feedback/*/*")]
    return {str(name): (folder / name).read_bytes() for name in names}


class SlurmRun:
    """A run of 40 submissions, which is looked at while it goes on."""

    def __init__(self, folder):
        self.folder = folder
        (self.folder / "slurm").mkdir()
        self.submissions = self.folder / "submissions"
        for number, text in enumerate(texts()):
            student = self.submissions / f"student_{number:02}"
            student.mkdir(parents=True)
            (student / EXERCISE.file_name).write_text(text, encoding="utf-8")
        self.output = self.folder / "on_slurm"

    def started(self, cluster):
        return subprocess.Popen(
            command(self.submissions, self.output, "--executor", "slurm"),
            env={**os.environ, **cluster.environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def until_judged(self, count, process):
        """Waits until so many submissions are judged while the run goes on."""
        end = time.monotonic() + SECONDS
        while len(list(self.output.glob("judged/*.json"))) < count:
            assert process.poll() is None, "it came to its end too early"
            assert time.monotonic() < end
            time.sleep(0.2)

    def running(self, cluster):
        """[(task, node)] of what runs now."""
        said = cluster.command("squeue", "--noheader", "--array", "-t", "RUNNING", "-o", "%i %N")
        return [tuple(line.split()) for line in said.stdout.splitlines() if line.strip()]

    def one_running(self, cluster):
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            found = self.running(cluster)
            if found:
                return found[0]
            time.sleep(0.2)
        pytest.fail("no task runs")


@pytest.fixture
def slurm_run(tmp_path):
    return SlurmRun(tmp_path)


@pytest.mark.skipif(bool(why_not()), reason=f"no Slurm: {why_not()}")
def test_killed_jobs_nodes_and_runs_change_no_byte(slurm_run):
    local = slurm_run.folder / "here"
    run = subprocess.run(
        command(slurm_run.submissions, local),
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    assert run.returncode == 0, run.stderr
    with Cluster(slurm_run.folder / "slurm") as cluster:
        process = slurm_run.started(cluster)
        slurm_run.until_judged(3, process)
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=60)
        assert process.returncode == 130, said
        kept = len(list(slurm_run.output.glob("judged/*.json")))
        assert kept < STUDENTS
        assert slurm_run.running(cluster) == [], "the interrupted run has left tasks"

        process = slurm_run.started(cluster)
        slurm_run.until_judged(kept + 3, process)
        task, _ = slurm_run.one_running(cluster)
        cluster.command("scancel", "--signal=KILL", "--full", task)
        slurm_run.until_judged(kept + 6, process)
        _, node = slurm_run.one_running(cluster)
        cluster.kill_node(node)
        said, _ = process.communicate(timeout=SECONDS)
        assert process.returncode == 0, said
        assert cluster.states()[node] != "idle"
    rounds = sorted(path.name for path in slurm_run.output.glob("slurm/*_*"))
    assert len(rounds) > 2, "nothing had to be done again"
    here, there = files_of(local), files_of(slurm_run.output)
    assert set(there) == set(here)
    assert [name for name in here if there[name] != here[name]] == []

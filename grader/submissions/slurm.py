# SPDX-License-Identifier: MIT
"""`lab grade --executor slurm`: the same judgements, made by the nodes of a cluster.

The run's folder must be one that all nodes see, and the course's too. What is to be judged is divided into
batches; each is a task of a job array, and keeps each judgement in the run's folder as soon as it is there.
That folder alone says what is finished: a task that was killed, or whose node has gone, leaves its rest
for the next round, in smaller batches.
"""

import json
import math
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from typing import NamedTuple

from engine.command.errors import WRONG_USE, CommandError
from engine.command.output import Progress, counted, remark, seconds_text
from engine.command.output_files import write_whole
from engine.command.paths import shown
from grader.judging.submission import Judgement
from grader.paths import ROOT
from grader.submissions.run_folder import broken, course_digest

COMMANDS = ("sbatch", "squeue", "scancel")
SECONDS = 60  # for an answer
ARRAY = re.compile(r"[0-9]+")
ROUNDS = 3  # of what is missing after one, the next has another try
MOST_IN_BATCH = 20
BATCHES_PER_TASK = 4  # for each task that may run at once: so that they end at about the same time
MOST_TASKS = 1000  # of one array: Slurm's own limit is 1001 by default
POLL_SECONDS = 2
GRACE_SECONDS = 5  # in which a file that a task has written last becomes visible on this machine
PATIENCE_SECONDS = 600  # with a controller that does not answer
# A task's: a submission takes some seconds, and one that makes use of every limit some minutes.
MINUTES_TO_START, MINUTES_PER_UNIT = 10, 3
# Why Slurm leaves a task waiting for ever: it asks for more time than it may have.
NEVER_STARTS = re.compile(r"PartitionTimeLimit|MaxWallDurationPerJobLimit")
LAST_BYTES = 4096  # of what a task has printed
IDLE_SECONDS = 60  # without a running task before the user is told why


class Task(NamedTuple):
    state: str
    reason: str

    @property
    def is_running(self):
        return self.state in ("RUNNING", "COMPLETING", "CONFIGURING")


class Slurm:
    """The cluster that the commands on PATH speak to. Raises CommandError if they are not there."""

    def __init__(self):
        missing = [name for name in COMMANDS if not shutil.which(name)]
        if missing:
            raise CommandError(
                f"--executor slurm: there is no {missing[0]} here; --executor local needs none.",
                WRONG_USE,
            )

    def submit(self, script, tasks, at_once, minutes, folder, options=()):
        """Starts an array of so many tasks, and returns its number. What they print goes to `folder`;
        `options` are more of sbatch's."""
        run = _run(
            "sbatch",
            "--parsable",
            "--job-name=lab-grade",
            "--no-requeue",  # another round is our own affair
            f"--array=0-{tasks - 1}%{at_once}",
            f"--time={minutes}",
            "--ntasks=1",
            f"--output={str(folder).replace('%', '%%')}/task_%a.txt",
            *options,
            str(script),
        )
        array = run.stdout.strip().partition(";")[0] if run else ""
        if not ARRAY.fullmatch(array):
            said = " ".join(run.stderr.split()) if run else f"no answer within {SECONDS} s"
            raise CommandError(f"sbatch has not taken the job: {said}")
        return array

    def tasks(self, array):
        """The Tasks of the array that wait or run; None if Slurm does not say."""
        run = _run("squeue", "--noheader", "--array", "--format=%T|%r", f"--jobs={array}")
        if run is None:
            return None
        if run.returncode != 0:
            return [] if "Invalid job id" in run.stderr else None
        return [Task(*line.split("|", 1)) for line in run.stdout.split("\n") if "|" in line]

    def cancel(self, array):
        """Ends what is left of the array, if anything is. Returns whether Slurm has heard of it."""
        if not ARRAY.fullmatch(array):
            return True
        run = _run("scancel", "--quiet", array)
        return run is not None and "Unable to contact" not in run.stderr


def _run(*command):
    try:
        return subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None


def judge_on_cluster(arguments, run, units, batch_module):
    """Judges these Units on the cluster, where a task runs the Python module `batch_module` with the file
    of its batch. Returns {its name: Judgement} of those that are not kept: the
    grader failed on them, or no task came to their end. Raises CommandError if there is no Slurm."""
    job = _Job(Slurm(), arguments, run, batch_module)
    missing = job.missing(units)
    if not missing:
        return {}
    with Progress("Grading on Slurm") as progress:
        job.progress, job.total = progress, len(missing)
        for number in range(1, ROUNDS + 1):
            job.run_round(number, missing)
            missing = job.missing(missing)
            if not missing:
                break
    if missing:
        were = "was" if len(missing) == 1 else "were"
        remark(
            f"{counted(len(missing), 'submission')} {were} not judged in {ROUNDS} rounds; what the tasks "
            f"said is in {shown(job.folder)}. The same command tries again."
        )
        if job.said:
            remark(f"The last task said: {job.said}")
    problem = f"no task of Slurm came to its end in {ROUNDS} rounds"
    return {**job.failed, **{unit.name: broken(unit.exercise, problem) for unit in missing}}


def batch_size(count, at_once, round_number):
    """How many submissions a task gets: few enough to share them out, and one in the last round."""
    batches = count if round_number == ROUNDS else at_once * BATCHES_PER_TASK * round_number
    wanted = math.ceil(count / batches)
    return max(min(wanted, MOST_IN_BATCH), math.ceil(count / MOST_TASKS))


class _Job:
    """The job arrays of one call, one after the other."""

    def __init__(self, slurm, arguments, run, batch_module):
        self.slurm, self.run, self.batch_module = slurm, run, batch_module
        self.settings = {
            "output": str(run.folder),
            "conditions": list(run.conditions),
            "backend": run.conditions[-1],
            # Tasks begin in the course's folder, and not where this command was typed.
            "build": arguments.build and os.path.abspath(arguments.build),
            "require_sandbox": arguments.require_sandbox,
            "course": course_digest(ROOT),
        }
        self.at_once = arguments.jobs
        self.folder = run.folder / "slurm"
        self.array = self.folder / "array"  # the number of the one that runs
        self.failed, self.done = {}, set()
        self.said = ""  # the last words of a task of the last round that has left something
        self.start = time.monotonic()
        self._end_those_before()

    def missing(self, units):
        """Those of the Units that are neither kept nor known as ones that the grader fails on."""
        found = []
        for unit in units:
            if unit.name in self.done or unit.name in self.failed:
                continue  # what is known of thousands is not read again at each look
            if self.run.judgement_of(unit) is None:
                found.append(unit)
            else:
                self.done.add(unit.name)
        return found

    def run_round(self, number, units):
        """One array for all these Units, until all are judged or no task is left."""
        folder = self._new_folder(number)
        size = batch_size(len(units), self.at_once, number)
        batches = [units[at : at + size] for at in range(0, len(units), size)]
        for place, batch in enumerate(batches):
            rows = [{"name": unit.name, "exercise": unit.exercise.number} for unit in batch]
            text = json.dumps({**self.settings, "units": rows}, indent=1)
            write_whole(folder / f"batch_{place}.json", text + "\n")
        script = folder / "task.sh"
        write_whole(script, _script(folder, self.batch_module))
        minutes = MINUTES_TO_START + size * MINUTES_PER_UNIT
        # Times are taken alone: a task has a GPU of its own, and each node as many tasks as GPUs.
        options = ["--gres=gpu:1"] if self.settings["backend"] == "cuda" else []
        array = self.slurm.submit(script, len(batches), self.at_once, minutes, folder, options)
        write_whole(self.array, array)
        try:
            self._wait(array, units, minutes)
        finally:
            self._end(array)
        for file in sorted(folder.glob("failed_*.json")):
            rows = json.loads(file.read_text(encoding="utf-8"))
            self.failed.update({name: Judgement(**row) for name, row in rows.items()})
        self.said = _last_words(
            folder, [number for number, batch in enumerate(batches) if self.missing(batch)]
        )

    def _wait(self, array, units, minutes):
        """Until all Units are judged, or the array has no task that waits or runs. A task asks for so many
        minutes. Raises CommandError."""
        silent_since = idle_since = None
        while self._step(units):
            tasks = self.slurm.tasks(array)
            now = time.monotonic()
            if tasks is None:
                silent_since = silent_since or now
                if now - silent_since > PATIENCE_SECONDS:
                    raise CommandError(
                        f"Slurm has not answered for {seconds_text(PATIENCE_SECONDS)}; what is "
                        "finished is kept, and the same command goes on from there."
                    )
            else:
                silent_since = None
                if not tasks:
                    time.sleep(GRACE_SECONDS)
                    return
                if any(task.is_running for task in tasks):
                    idle_since = None
                elif NEVER_STARTS.search(tasks[0].reason):
                    raise CommandError(
                        f"Slurm will not start these tasks ({tasks[0].reason}): each asks for {minutes} "
                        f"minutes, {MINUTES_TO_START} and {MINUTES_PER_UNIT} per submission. Choose a "
                        "partition that allows as much, or a larger --jobs, which makes smaller batches."
                    )
                elif idle_since is None:
                    idle_since = now
                elif idle_since and now - idle_since > IDLE_SECONDS:
                    remark(f"No task is running. Slurm says: {tasks[0].reason}.")
                    idle_since = math.inf
            time.sleep(POLL_SECONDS)

    def _step(self, units):
        """Shows how far it is; returns whether anything is missing."""
        missing = len(self.missing(units))
        done = self.total - missing
        left = ""
        if done:
            seconds = (time.monotonic() - self.start) / done * missing
            left = f"{seconds_text(seconds)} left, "
        self.progress.step(done, self.total, left)
        return missing > 0

    def _new_folder(self, number):
        """A folder of its own for each round of each call."""
        self.folder.mkdir(exist_ok=True)
        for attempt in range(1, 1000):
            folder = self.folder / f"{attempt}_{number}"
            if not folder.exists():
                folder.mkdir()
                return folder
        raise CommandError(f"{shown(self.folder)} is full of earlier rounds: remove it.", WRONG_USE)

    def _end_those_before(self):
        """A call that was killed may have left its array: two would do the same work."""
        if self.array.is_file():
            self._end(self.array.read_text(encoding="utf-8").strip())

    def _end(self, array):
        """Its number is forgotten as well: Slurm may give it to another job one day."""
        if self.slurm.cancel(array):
            self.array.unlink(missing_ok=True)


def _last_words(folder, numbers):
    """The last line of the first of these tasks that has printed any; "" if none has."""
    for number in numbers:
        try:
            printed = (folder / f"task_{number}.txt").read_bytes()[-LAST_BYTES:]
        except OSError:  # it was never started
            continue
        lines = printed.decode(errors="replace").split("\n")
        found = [line.strip() for line in lines if line.strip()]
        if found:
            return found[-1]
    return ""


def _script(folder, batch_module):
    """What a task runs, on whichever node."""
    batch = f"{shlex.quote(str(folder))}/batch_$SLURM_ARRAY_TASK_ID.json"
    python = shlex.quote(sys.executable)
    return (
        f"#!/bin/sh\ncd {shlex.quote(str(ROOT))} || exit 1\n"
        f"exec {python} -m {batch_module} {batch}\n"
    )

# SPDX-License-Identifier: MIT
"""Slurm's commands, as far as a job array needs them. Options of a site, such as a partition or an
account, come from sbatch's own variables of the environment: SBATCH_PARTITION, SBATCH_ACCOUNT."""

import re
import shutil
import subprocess
from typing import NamedTuple

from engine.command.errors import WRONG_USE, CommandError

COMMANDS = ("sbatch", "squeue", "scancel")
SECONDS = 60  # for an answer
ARRAY = re.compile(r"[0-9]+")


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

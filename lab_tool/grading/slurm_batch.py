# SPDX-License-Identifier: MIT
"""A task of `lab grade --executor slurm`: judges one batch. python3 -m lab_tool.grading.slurm_batch FILE"""

import argparse
import json
import pathlib
import sys

from engine.command.errors import CommandError
from engine.command.output import say, say_problem
from engine.command.output_files import write_whole
from grader.exercises.catalogue import all_exercises, with_speed
from grader.sandbox.sandbox import strongest_sandbox
from grader.submissions.grading_run import Tools, judge_unit, measured_cases
from grader.submissions.run_folder import RunFolder, Unit, course_digest, seed_in
from lab_tool.builds.backends import put_nvcc_on_path
from lab_tool.builds.build_folders import put_own_tools_on_path
from lab_tool.builds.program_builds import exercise_builds
from lab_tool.paths import ROOT


def judge_batch(file):
    """Judges the batch in the file, and keeps each judgement in the run's folder.

    Raises CommandError if this node can't judge as the machine that submitted it would.
    """
    batch = json.loads(file.read_text(encoding="utf-8"))
    folder = pathlib.Path(batch["output"])
    run = RunFolder(folder, seed_in(folder), tuple(batch["conditions"]))
    known = {exercise.number: exercise for exercise in all_exercises()}
    if batch["backend"] == "cuda":
        known = {number: with_speed(exercise) for number, exercise in known.items()}
    units = [Unit(row["name"], known[row["exercise"]]) for row in batch["units"]]
    units = [unit for unit in units if run.judgement_of(unit) is None]
    exercises = list({unit.exercise.number: unit.exercise for unit in units}.values())
    if not units:
        return
    tools = _tools(batch, exercises)
    cases = measured_cases(tools, run, exercises)
    failed = {}
    for unit in units:
        judgement = judge_unit(tools, run, cases[unit.exercise.number], unit)
        say(f"{unit.name}: {judgement.status}")
        if run.judgement_of(unit) is None:
            failed[unit.name] = judgement._asdict()
            place = file.with_name(file.name.replace("batch_", "failed_"))
            write_whole(place, json.dumps(failed) + "\n")


def _tools(batch, exercises):
    if batch["course"] != course_digest(ROOT):  # what is judged now would count as not judged
        raise CommandError(
            "the course's files are not those that the run was begun with: the same command judges with "
            "those of now."
        )
    sandbox = strongest_sandbox(batch["require_sandbox"])
    options = argparse.Namespace(backend=batch["backend"], build=batch["build"], verbose=False)
    builds = exercise_builds(options, exercises)
    if "nvcc" not in batch["conditions"]:
        builds = builds._replace(nvcc=None)
    here = [sandbox.kind, *builds.compilers]
    if here != batch["conditions"]:
        raise CommandError(
            f"this node has {' and '.join(here)}, and the run was begun with "
            f"{' and '.join(batch['conditions'])}: the same submission could get another grade."
        )
    return Tools(sandbox, builds)


def main(words):
    """Returns the exit code: 0 if the batch is done, whatever the grades are."""
    try:
        put_own_tools_on_path()
        put_nvcc_on_path()
        judge_batch(pathlib.Path(words[0]))
    except CommandError as problem:
        say_problem(problem.sentence, *problem.further)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

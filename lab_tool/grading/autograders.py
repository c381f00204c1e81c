# SPDX-License-Identifier: MIT
"""What the exported graders run: they grade one submission by `lab grade`, and answer as each system wants.

python3 -m lab_tool.grading.autograders SYSTEM [FOLDER], in the folder `course` of an exported grader;
exercises.txt next to that folder has the list of exercises, as in 04.1,04.2.
"""

import datetime
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from engine.command.errors import CommandError
from engine.command.output import say, say_problem
from engine.command.output_files import write_whole
from grader.exercises.catalogue import chosen_exercises
from grader.judging.submission import INTERNAL
from grader.reports.conversions import feedback_lines, for_autolab, for_classroom50, for_gradescope
from grader.submissions.handed_files import (
    STUDENT,
    files_of_folder,
    files_of_handin,
    write_class_of_one,
)
from lab_tool.paths import ROOT

EXERCISES = ROOT.parent / "exercises.txt"


def on_gradescope(root):
    """Grades root/submission, and writes root/results/results.json."""
    results = graded(lambda exercises: files_of_folder(root / "submission"))
    answer = for_gradescope(results, results["students"][0])
    (root / "results").mkdir(exist_ok=True)
    _write(root / "results/results.json", json.dumps(answer, indent=2) + "\n")


def on_classroom50(checkout):
    """Grades the checkout, and writes result.json and release-body.md there."""
    results = graded(lambda exercises: files_of_folder(checkout))
    student = results["students"][0]
    answer = for_classroom50(results, student, os.environ, _submitted(checkout))
    _write(checkout / "result.json", json.dumps(answer, indent=2) + "\n")
    lines = "\n".join(line[2:] for line in feedback_lines(results, student))
    title = f"{answer['score']} of {answer['max-score']} points"
    _write(checkout / "release-body.md", f"### {title}\n\n```text\n{lines}\n```\n")


def _write(path, text):
    """For the system, which may be another user than the one that grades."""
    write_whole(path, text, mode=0o644)


def on_autolab(folder):
    """Grades the file handin.* in the folder, and prints feedback and, last of all, the scores."""
    handins = sorted(folder.glob("handin*"))
    if len(handins) != 1:
        raise CommandError(f"there are {len(handins)} files handin* in {folder} instead of one.")
    results = graded(lambda exercises: files_of_handin(handins[0], exercises))
    student = results["students"][0]
    for line in feedback_lines(results, student):
        say(line)
    say(for_autolab(student))


def graded(found_of):
    """results.json of one submission; `found_of` is given the exercises, and returns every Found in it.

    Raises CommandError if the grader did not come to its end, or failed on an exercise. Nothing that it
    prints reaches stdout.
    """
    wanted = EXERCISES.read_text(encoding="utf-8").strip()
    exercises = chosen_exercises(wanted)
    with tempfile.TemporaryDirectory(prefix="lab-autograder-") as name:
        submissions = pathlib.Path(name, "class.zip")
        problems = write_class_of_one(found_of(exercises), exercises, submissions)
        # Who has handed in nothing is a student all the same, with no points.
        roster = pathlib.Path(name, "roster.csv")
        roster.write_text(f"student\n{STUDENT}\n", encoding="utf-8")
        output = pathlib.Path(name, "output")
        command = [sys.executable, str(ROOT / "lab"), "grade", str(submissions)]
        command += ["--exercises", wanted, "--output", str(output), "--roster", str(roster)]
        run = subprocess.run(command, stdout=sys.stderr, stdin=subprocess.DEVNULL, check=False)
        try:
            results = json.loads((output / "results.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            raise CommandError(
                f"the grader ended with {run.returncode}, and without results."
            ) from None
    if len(results["students"]) != 1:
        raise CommandError(
            f"the grader has seen {len(results['students'])} students instead of one."
        )
    (student,) = results["students"]
    failed = [row["exercise"] for row in student["exercises"] if row["status"] == INTERNAL]
    if failed:
        raise CommandError(f"the grader itself failed on {', '.join(failed)}.")
    student["problems"] = [*problems, *student["problems"]]
    return results


def _submitted(checkout):
    """The time of the checkout's commit, in UTC; now if it is no repository of git."""
    command = ["git", "-C", str(checkout), "log", "-1", "--format=%ct"]
    try:
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        seconds = int(run.stdout)
    except (OSError, ValueError):
        seconds = datetime.datetime.now(datetime.timezone.utc).timestamp()
    time = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


SYSTEMS = {"gradescope": on_gradescope, "classroom50": on_classroom50, "autolab": on_autolab}


def main(words):
    """Returns the exit code: 0 if it has graded, whatever the grade is."""
    system, folder = words
    try:
        SYSTEMS[system](pathlib.Path(folder).resolve())
    except (CommandError, OSError, KeyError) as problem:
        sentence = getattr(problem, "sentence", problem)
        say_problem(f"nothing was graded: {sentence}", *getattr(problem, "further", ()))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

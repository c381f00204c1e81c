# SPDX-License-Identifier: MIT
"""How much work a solution's kernels do, for a grader that has no solutions: an exported one.

It is what grading_run.measured_cases() finds by running the solution; a case keeps its name and its size
whatever the secret numbers are, so that it holds for every run.
"""

import json

from engine.command.errors import CommandError

FILE = "work.json"  # in the exercise's folder of an exported grader


def recorded_work(exercise):
    """{a case's name: its work}, as it was recorded when the grader was exported. Raises CommandError."""
    try:
        return json.loads((exercise.folder / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CommandError(
            f"{exercise.title}: this copy has neither the solution nor {FILE}, and can't grade it."
        ) from error


def written_work(work):
    """The bytes of the file."""
    return (json.dumps(work, indent=1) + "\n").encode()

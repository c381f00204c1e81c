# SPDX-License-Identifier: MIT
"""What the solutions' kernels do, found before a grader goes out without them."""

from grader.sandbox.sandbox import strongest_sandbox
from grader.submissions.grading_run import Tools, measured_cases
from grader.submissions.recorded_work import FILE, written_work
from grader.submissions.run_folder import RunFolder
from lab_tool.builds.program_builds import exercise_builds


def recorded_files(arguments, exercises):
    """{path in the grader's course: bytes}; builds and runs the solutions. Raises CommandError."""
    tools = Tools(strongest_sandbox(False), exercise_builds(arguments, exercises))
    cases = measured_cases(tools, RunFolder(None, "export", ()), exercises)
    return {
        f"{exercise.path}/{FILE}": written_work(cases[exercise.number].least_work)
        for exercise in exercises
    }

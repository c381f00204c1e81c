# SPDX-License-Identifier: MIT
"""What the solutions' kernels do, found before a grader goes out without them."""

from grader.judging.home_checks import workshops
from grader.sandbox.sandbox import strongest_sandbox
from grader.submissions.grading_run import Tools, benches_of
from grader.submissions.recorded_work import FILE, written_work
from grader.submissions.run_folder import RunFolder
from lab_tool.paths import ROOT


def recorded_files(arguments, exercises):
    """{path in the grader's course: bytes}; builds and runs the solutions. Raises LabError."""
    tools = Tools(strongest_sandbox(False), workshops(arguments, exercises))
    benches = benches_of(tools, RunFolder(None, "export", ()), exercises)
    return {
        f"{exercise.folder.relative_to(ROOT).as_posix()}/{FILE}": written_work(
            benches[exercise.number].least_work
        )
        for exercise in exercises
    }

# SPDX-License-Identifier: MIT
"""The grader for a system: the files that an instructor uploads there.

Each has a copy of the course in its folder `course`, with `lab grade` and without a solution, because
Classroom 50 publishes it and a student's program runs near it. What is particular to the system is in
lab_tool/templates/export and lab_tool/grading/autograders.py. `recorded` are the files by which it knows
what the solutions' kernels do.
"""

from lab_tool.export.contents import course_files
from lab_tool.export.writing import tar_of, zip_of
from lab_tool.paths import ROOT

TEMPLATES = ROOT / "lab_tool/templates/export"


def gradescope(exercises, recorded):
    """{path: bytes} of the files to upload."""
    files = _course(exercises, recorded)
    for name in ("setup.sh", "run_autograder"):
        files[name] = (TEMPLATES / "gradescope" / name).read_bytes()
    return {"autograder.zip": zip_of(files)}


def classroom50(exercises, recorded):
    """The same for Classroom 50: what goes into CLASSROOM/autograders/ASSIGNMENT."""
    program = (TEMPLATES / "classroom50/autograder.py").read_bytes()
    return {
        "autograder/autograder.py": program,
        "autograder/course.tar": tar_of(_course(exercises, recorded)),
    }


def autolab(exercises, recorded):
    """The same for Autolab."""
    return {
        "autograde-Makefile": (TEMPLATES / "autolab/Makefile").read_bytes(),
        "autograde.tar": tar_of(_course(exercises, recorded)),
    }


def _course(exercises, recorded):
    files = {**course_files(exercises, with_grading=True), **recorded}
    found = {f"course/{path}": content for path, content in files.items()}
    numbers = ",".join(exercise.number for exercise in exercises)
    found["exercises.txt"] = f"{numbers}\n".encode()
    return found


GRADERS = {"gradescope": gradescope, "classroom50": classroom50, "autolab": autolab}

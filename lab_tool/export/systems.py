# SPDX-License-Identifier: MIT
"""What is exported for each system: the repository that students get, and the graders that an instructor
uploads.

A grader has a copy of the course in its folder `course`, with `lab grade` and without a solution, because
Classroom 50 publishes it and a student's program runs near it. What is particular to the system is in
lab_tool/templates/export and lab_tool/grading/autograders.py.
"""

import re

from lab_tool.chapters import all_chapters
from lab_tool.export.contents import course_files
from lab_tool.export.writing import tar_of, zip_of
from lab_tool.paths import ROOT

TEMPLATES = ROOT / "lab_tool/templates/export"
# Their work is handed in, so it is not ignored here.
IGNORED = """\
/build*/
/.lab/
/.venv/
work/.checked/
work/*.svg
__pycache__/
"""


def repository_files(exercises, title, due, hints):
    """{path: bytes} of the repository. `due` is a text for people, or None."""
    files = course_files(exercises, hints=hints)
    files["README.md"] = _readme(exercises, title, due).encode()
    files[".gitignore"] = IGNORED.encode()
    return files


def _readme(exercises, title, due):
    text = (TEMPLATES / "README.md").read_text(encoding="utf-8")
    chapters = [each for each in all_chapters() if each.folder in {e.chapter for e in exercises}]
    words = {
        "EXPORT_TITLE": title,
        "EXPORT_DUE\n\n": f"**Due: {due}**\n\n" if due else "",
        "EXPORT_ROWS": "\n".join(map(_row, exercises)),
        "EXPORT_SUM": str(sum(sum(each.points.values()) for each in exercises)),
        "EXPORT_LESSONS": "\n".join(map(_lesson, chapters)),
        "EXPORT_HAND_IN": "\n".join(f"- `work/{each.file_name}`" for each in exercises),
    }
    for word, instead in words.items():
        text = text.replace(word, instead)
    return text


def _row(exercise):
    facts = [exercise.subject, exercise.facts["minutes"], sum(exercise.points.values())]
    return f"| [{exercise.title}]({exercise.path}/README.md) | {' | '.join(map(str, facts))} |"


def _lesson(chapter):
    path = f"chapters/{chapter.folder}/README.md"
    return f"- [{_first_heading(ROOT / path)}]({path})"


def _first_heading(document):
    match = re.search(r"^# (.*)$", document.read_text(encoding="utf-8"), re.MULTILINE)
    return match[1] if match else document.parent.name


def recorded_files(arguments, exercises):
    """{path in the grader's course: bytes}: what the solutions' kernels do, by which a grader judges without
    them. Builds and runs the solutions. Raises CommandError."""
    # Not above: the help of all verbs would import the sandbox and the runs in it.
    from grader.sandbox.sandbox import strongest_sandbox
    from grader.submissions.grading_run import Tools, measured_cases, written_work
    from grader.submissions.run_folder import RECORDED_WORK, RunFolder
    from lab_tool.builds.program_builds import exercise_builds

    tools = Tools(strongest_sandbox(False), exercise_builds(arguments, exercises))
    cases = measured_cases(tools, RunFolder(None, "export", ()), exercises)
    return {
        f"{exercise.path}/{RECORDED_WORK}": written_work(cases[exercise.number].least_work)
        for exercise in exercises
    }


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

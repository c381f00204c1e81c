# SPDX-License-Identifier: MIT
"""How an uploaded grader starts on a machine that has nothing: it unpacks the course, builds it, and grades.

A stand-in for the course records what is run, because the real one takes minutes to build;
exported_graders_test grades with the real one.
"""

import json
import os
import shutil
import subprocess
import sys

import pytest

from lab_tool.export.systems import TEMPLATES
from lab_tool.export.writing import tar_of

LAB = """\
import os, pathlib, sys
print("building " + " ".join(sys.argv[1:]))
if os.environ.get("BREAK_THE_BUILD"):
    sys.exit("no compiler")
pathlib.Path("build-cpu").mkdir(exist_ok=True)
pathlib.Path("build-cpu/build.ninja").write_text("")
"""
GRADER = """\
import json, os, pathlib, sys
print(json.dumps({"words": sys.argv[1:], "folder": os.path.basename(os.getcwd())}))
sys.exit(0 if pathlib.Path("build-cpu/build.ninja").is_file() else 7)
"""
COURSE = tar_of(
    {
        "course/lab": LAB.encode(),
        "course/lab_tool/__init__.py": b"",
        "course/lab_tool/grading/__init__.py": b"",
        "course/lab_tool/grading/autograders.py": GRADER.encode(),
        "exercises.txt": b"01.1\n",
    }
)


class Job:
    def __init__(self, folder):
        self.outer = folder
        self.folder = self.outer / "job"
        self.folder.mkdir()

    def run_in_job(self, *command, **variables):
        environment = {**os.environ, "PYTHONPATH": "", **variables}
        if "LAB_GRADER_FOLDER" not in variables:
            environment.pop("LAB_GRADER_FOLDER", None)
        return subprocess.run(
            [str(word) for word in command],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    def assert_graded(self, done, system):
        assert done.returncode == 0, done.stdout + done.stderr
        answer = json.loads(done.stdout.splitlines()[-1])
        assert answer == {"words": [system, str(self.folder)], "folder": "course"}

    def autolab(self, **variables):
        shutil.copyfile(TEMPLATES / "autolab/Makefile", self.folder / "Makefile")
        (self.folder / "autograde.tar").write_bytes(COURSE)
        return self.run_in_job("make", **variables)

    def classroom50(self, content=COURSE, **variables):
        place = self.outer / "autograder"
        place.mkdir(exist_ok=True)
        shutil.copyfile(TEMPLATES / "classroom50/autograder.py", place / "autograder.py")
        (place / "course.tar").write_bytes(content)
        return self.run_in_job(sys.executable, place / "autograder.py", **variables)


@pytest.fixture
def job(tmp_path):
    return Job(tmp_path)


def test_autolab_prints_nothing_but_the_answer(job):
    done = job.autolab()
    job.assert_graded(done, "autolab")
    assert len(done.stdout.splitlines()) == 1, done.stdout
    log = job.folder / "grader/course/setup.log"
    assert log.read_text(encoding="utf-8") == "building setup --backend cpu\n"
    log.unlink()
    job.assert_graded(job.autolab(), "autolab")
    assert not log.exists(), "it was built twice"


def test_autolab_gives_no_scores_if_the_course_cant_be_built(job):
    done = job.autolab(BREAK_THE_BUILD="1")
    assert done.returncode != 0
    assert "no compiler" in done.stdout
    assert '"words"' not in done.stdout


def test_classroom50_unpacks_builds_and_grades(job):
    done = job.classroom50()
    job.assert_graded(done, "classroom50")
    assert done.stdout.count("building setup --backend cpu") == 1
    assert list(job.folder.iterdir()) == []


def test_a_folder_that_is_kept_is_built_once(job):
    kept = str(job.outer / "kept")
    for start, system in ((job.classroom50, "classroom50"), (job.autolab, "autolab")):
        done = start(LAB_GRADER_FOLDER=kept)
        job.assert_graded(done, system)
        assert done.stdout.count("building") == int(system == "classroom50")


def test_a_folder_that_is_kept_of_another_assignment_is_refused(job):
    kept = job.outer / "kept"
    for start, system in ((job.classroom50, "classroom50"), (job.autolab, "autolab")):
        job.assert_graded(start(LAB_GRADER_FOLDER=str(kept)), system)
        (kept / "exercises.txt").write_text("02.1\n", encoding="utf-8")
        done = start(LAB_GRADER_FOLDER=str(kept))
        assert done.returncode != 0
        assert f"{kept} was unpacked for other exercises" in done.stdout + done.stderr
        assert '"words"' not in done.stdout
        (kept / "exercises.txt").write_text("01.1\n", encoding="utf-8")


def test_classroom50_says_why_nothing_was_graded(job):
    for said, done in (
        ("lab setup ended with 1", job.classroom50(BREAK_THE_BUILD="1")),
        ("course.tar can't be unpacked", job.classroom50(b"no tar")),
    ):
        assert done.returncode == 1
        assert f"nothing was graded: {said}" in done.stderr
        assert "Traceback" not in done.stderr
        assert list(job.folder.iterdir()) == []

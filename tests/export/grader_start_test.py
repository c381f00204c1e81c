# SPDX-License-Identifier: MIT
"""How an uploaded grader starts on a machine that has nothing: it unpacks the course, builds it, and grades.

A stand-in for the course records what is run, because the real one takes minutes to build;
exported_graders_test grades with the real one.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

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


class GraderStart(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name).resolve()
        self.job = self.folder / "job"
        self.job.mkdir()

    def run_in_job(self, *command, **variables):
        environment = {**os.environ, "PYTHONPATH": "", **variables}
        if "LAB_GRADER_FOLDER" not in variables:
            environment.pop("LAB_GRADER_FOLDER", None)
        return subprocess.run(
            [str(word) for word in command],
            cwd=self.job,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    def assert_graded(self, done, system):
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        answer = json.loads(done.stdout.splitlines()[-1])
        self.assertEqual(answer, {"words": [system, str(self.job)], "folder": "course"})

    def autolab(self, **variables):
        shutil.copyfile(TEMPLATES / "autolab/Makefile", self.job / "Makefile")
        (self.job / "autograde.tar").write_bytes(COURSE)
        return self.run_in_job("make", **variables)

    def classroom50(self, content=COURSE, **variables):
        place = self.folder / "autograder"
        place.mkdir(exist_ok=True)
        shutil.copyfile(TEMPLATES / "classroom50/autograder.py", place / "autograder.py")
        (place / "course.tar").write_bytes(content)
        return self.run_in_job(sys.executable, place / "autograder.py", **variables)

    def test_autolab_prints_nothing_but_the_answer(self):
        done = self.autolab()
        self.assert_graded(done, "autolab")
        self.assertEqual(len(done.stdout.splitlines()), 1, done.stdout)
        log = self.job / "grader/course/setup.log"
        self.assertEqual(log.read_text(encoding="utf-8"), "building setup --backend cpu\n")
        log.unlink()
        self.assert_graded(self.autolab(), "autolab")
        self.assertFalse(log.exists(), "it was built twice")

    def test_autolab_gives_no_scores_if_the_course_cant_be_built(self):
        done = self.autolab(BREAK_THE_BUILD="1")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("no compiler", done.stdout)
        self.assertNotIn('"words"', done.stdout)

    def test_classroom50_unpacks_builds_and_grades(self):
        done = self.classroom50()
        self.assert_graded(done, "classroom50")
        self.assertEqual(done.stdout.count("building setup --backend cpu"), 1)
        self.assertEqual(list(self.job.iterdir()), [])

    def test_a_folder_that_is_kept_is_built_once(self):
        kept = str(self.folder / "kept")
        for start, system in ((self.classroom50, "classroom50"), (self.autolab, "autolab")):
            done = start(LAB_GRADER_FOLDER=kept)
            self.assert_graded(done, system)
            self.assertEqual(done.stdout.count("building"), int(system == "classroom50"))

    def test_a_folder_that_is_kept_of_another_assignment_is_refused(self):
        kept = self.folder / "kept"
        for start, system in ((self.classroom50, "classroom50"), (self.autolab, "autolab")):
            self.assert_graded(start(LAB_GRADER_FOLDER=str(kept)), system)
            (kept / "exercises.txt").write_text("02.1\n", encoding="utf-8")
            done = start(LAB_GRADER_FOLDER=str(kept))
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(f"{kept} was unpacked for other exercises", done.stdout + done.stderr)
            self.assertNotIn('"words"', done.stdout)
            (kept / "exercises.txt").write_text("01.1\n", encoding="utf-8")

    def test_classroom50_says_why_nothing_was_graded(self):
        for said, done in (
            ("lab setup ended with 1", self.classroom50(BREAK_THE_BUILD="1")),
            ("course.tar can't be unpacked", self.classroom50(b"no tar")),
        ):
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"nothing was graded: {said}", done.stderr)
            self.assertNotIn("Traceback", done.stderr)
            self.assertEqual(list(self.job.iterdir()), [])

# SPDX-License-Identifier: MIT
"""The exported graders, each in the folders that its system makes, with submissions of students.

The course is built once, by what Gradescope runs when it makes its image; the others then use that copy,
and the students' repository takes its place at last, where what has gone that anything was built of is
missed. It stays in the build folder, so that the next run builds what has changed in the export since.
"""

import filecmp
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile

import pytest

from grader.exercises.catalogue import chosen_exercise
from lab_tool.authoring.trials import mutants_of, patched, solution
from this_build import BUILD, ROOT

EXERCISE = chosen_exercise("01.1")
IDENTITY = {
    "CLASSROOM": "gpu-2026",
    "ASSIGNMENT": "week1",
    "SUBMISSION_TAG": "submit/2026-11-20T10-00-00Z-0123456",
    "COMMIT_URL": "https://example.org/commit",
    "RELEASE_URL": "https://example.org/release",
}
FULL = sum(EXERCISE.points.values())
KEPT = BUILD / "exported_graders"
BUILT = "build-cpu"


def run(*command, folder, **variables):
    return subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=1700,
    )


def replace_sources(copy, exported):
    """Makes the files in `copy` those of `exported`, but for what is built there. One that is the same
    keeps its time, and what was built of it is up to date."""
    for path in sorted(copy.rglob("*"), reverse=True):
        inner = path.relative_to(copy)
        if BUILT not in inner.parts and not (exported / inner).exists():
            path.rmdir() if path.is_dir() else path.unlink()
    for path in exported.rglob("*"):
        own = copy / path.relative_to(exported)
        if path.is_dir():
            own.mkdir(parents=True, exist_ok=True)
        elif not own.exists() or not filecmp.cmp(path, own, shallow=False):
            shutil.copy(path, own)


def wrong():
    """A wrong solution that some cases find right."""
    return next(
        patched(EXERCISE, each)
        for each in mutants_of(EXERCISE)
        if each.fields["Rejected by"] == "limits"
    )


class ExportedGraders:
    def __init__(self, folder):
        self.folder = folder
        self.root = KEPT / "autograder"
        for name in ("source", "submission", "results"):
            (self.root / name).mkdir(parents=True, exist_ok=True)
        for system in ("gradescope", "classroom50", "autolab"):
            words = ["--exercises", EXERCISE.number, "--for", system, "--build", BUILD]
            command = [sys.executable, ROOT / "lab", "export", self.folder / system, *words]
            made = run(*command, folder=ROOT)
            assert made.returncode == 0, made.stderr
        with zipfile.ZipFile(self.folder / "gradescope/autograder.zip") as archive:
            archive.extractall(self.folder / "source")
        replace_sources(self.root / "source", self.folder / "source")
        made = run(
            "bash", self.root / "source/setup.sh", folder="/", AUTOGRADER_ROOT=str(self.root)
        )
        assert made.returncode == 0, made.stdout + made.stderr
        shutil.copyfile(self.root / "source/run_autograder", self.root / "run_autograder")

    def on_gradescope(self, text):
        for path in (self.root / "submission").iterdir():
            path.unlink()
        if text is not None:
            (self.root / "submission" / EXERCISE.file_name).write_text(text, encoding="utf-8")
        results = self.root / "results/results.json"
        results.unlink(missing_ok=True)
        done = run("bash", self.root / "run_autograder", folder="/", AUTOGRADER_ROOT=str(self.root))
        assert done.returncode == 0, done.stderr
        return json.loads(results.read_text("utf-8"))


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    return ExportedGraders(tmp_path_factory.mktemp("exported"))


def test_gradescope(exported):
    for text, points in [(solution(EXERCISE), FULL), (None, 0), ("no C++", 0)]:
        answer = exported.on_gradescope(text)
        assert answer["score"] == points, answer
        assert sum(test["max_score"] for test in answer["tests"]) == FULL
    answer = exported.on_gradescope(wrong())
    assert 0 < answer["score"] < FULL, answer


def test_classroom50(exported):
    checkout = exported.folder / "checkout"
    shutil.copytree(exported.folder / "classroom50/students", checkout)
    (checkout / "work").mkdir()
    (checkout / "work" / EXERCISE.file_name).write_text(solution(EXERCISE), encoding="utf-8")
    # What the student may have done to their copy of the course is not used.
    (checkout / "lab_tool/grading").mkdir()
    (checkout / "lab_tool/__init__.py").write_text("raise SystemExit(9)\n", encoding="utf-8")
    done = run(
        *(sys.executable, exported.folder / "classroom50/autograder/autograder.py"),
        folder=checkout,
        LAB_GRADER_FOLDER=str(exported.root / "source"),
        **IDENTITY,
    )
    assert done.returncode == 0, done.stderr
    assert re.search(r"(?m)^(Sandbox: \w+\.|There is no sandbox here)", done.stderr)
    result = json.loads((checkout / "result.json").read_text("utf-8"))
    assert (result["score"], result["max-score"]) == (FULL, FULL)
    assert result["schema"] == "classroom50/result/v1"


def test_classroom50_unpacks_the_course_that_lies_next_to_it(exported):
    with tarfile.open(exported.folder / "classroom50/autograder/course.tar") as archive:
        theirs = {each.name: archive.extractfile(each).read() for each in archive}
    for path, content in theirs.items():
        assert (exported.root / "source" / path).read_bytes() == content, path


def test_autolab(exported):
    folder = exported.folder / "autolab_job"
    folder.mkdir()
    shutil.copyfile(exported.folder / "autolab/autograde-Makefile", folder / "Makefile")
    shutil.copyfile(exported.folder / "autolab/autograde.tar", folder / "autograde.tar")
    file = exported.folder / EXERCISE.file_name
    file.write_text(wrong(), encoding="utf-8")
    with tarfile.open(folder / "handin.tar", "w") as archive:
        archive.add(file, EXERCISE.file_name)
    done = run("make", folder=folder, LAB_GRADER_FOLDER=str(exported.root / "source"))
    assert done.returncode == 0, done.stderr
    scores = json.loads(done.stdout.splitlines()[-1])["scores"]
    assert 0 < scores["01.1"] < FULL
    assert "| 01.1 saxpy: " in done.stdout


def test_a_student_can_check_in_the_repository(exported):
    copy = exported.root / "source/course"
    replace_sources(copy, exported.folder / "gradescope/students")
    shutil.rmtree(copy / BUILT / "meson-private")  # it is set up anew
    lab = [sys.executable, copy / "lab"]
    made = run(*lab, "setup", "--backend", "cpu", "--no-build", folder=copy)
    assert made.returncode == 0, made.stderr
    # All that a check builds can be built: nothing that it is made of is missing.
    needed = [EXERCISE.driver, "grader/runner/libexercise_runner.a"]
    made = run("ninja", "-n", "-C", copy / "build-cpu", *needed, folder=copy)
    assert made.returncode == 0, made.stdout
    work = copy / "work"
    work.mkdir()
    for text, code in [(solution(EXERCISE), 0), (wrong(), 1)]:
        (work / EXERCISE.file_name).write_text(text, encoding="utf-8")
        made = run(*lab, "check", "01.1", folder=copy)
        assert made.returncode == code, made.stdout + made.stderr
        assert "./lab solution" not in made.stdout

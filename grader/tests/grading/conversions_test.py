# SPDX-License-Identifier: MIT
"""From results.json to what Gradescope, Classroom 50 and Autolab read, held to their documentation.

The shapes below were written from the systems' documentation: of Gradescope the page "Autograder
Specifications", of Classroom 50 "Advanced Autograding", of Autolab the "Guide for Lab Authors".
"""

import copy
import io
import json
import pathlib
import re
import subprocess
import tarfile
import zipfile
from unittest import mock

import pytest

from engine.command.errors import CommandError
from grader.exercises.catalogue import chosen_exercise
from grader.judging.submission import INTERNAL
from grader.reports.conversions import (
    feedback_lines,
    for_autolab,
    for_classroom50,
    for_gradescope,
)
from grader.submissions import handed_files
from grader.submissions.handed_files import (
    MOST_BYTES,
    files_of_folder,
    files_of_handin,
    write_class_of_one,
)
from grader.submissions.roster import read_roster
from grader.submissions.submissions import submissions_of
from lab_tool.grading import autograders

NUMBER, TEXT, INTEGER = (int, float), str, int
VISIBILITY = {"hidden", "after_due_date", "after_published", "visible"}
FORMATS = {"text", "html", "simple_format", "md", "ansi"}
# {name: its type or its values}, of what may be there; what is in REQUIRED has to be.
GRADESCOPE = {
    **{"score": NUMBER, "execution_time": NUMBER, "output": TEXT, "output_format": FORMATS},
    **{"test_output_format": FORMATS, "test_name_format": FORMATS, "visibility": VISIBILITY},
    **{"stdout_visibility": VISIBILITY, "extra_data": dict, "tests": list, "leaderboard": list},
}
GRADESCOPE_TEST = {
    **{"score": NUMBER, "max_score": NUMBER, "status": {"passed", "failed"}, "name": TEXT},
    **{"name_format": FORMATS, "number": TEXT, "output": TEXT, "output_format": FORMATS},
    **{"tags": list, "visibility": VISIBILITY, "extra_data": dict},
}
CLASSROOM50 = {
    **{"schema": {"classroom50/result/v1"}, "classroom": TEXT, "assignment": TEXT},
    **{"submission": TEXT, "commit": TEXT, "release": TEXT, "review": TEXT, "datetime": TEXT},
    **{"score": INTEGER, "max-score": INTEGER, "tests": list},
}
CLASSROOM50_TEST = {"test-name": TEXT, "passed": bool, "score": INTEGER, "max-score": INTEGER}
IDENTITY = {
    "CLASSROOM": "gpu-2026",
    "ASSIGNMENT": "week4",
    "SUBMISSION_TAG": "submit/2026-11-20T10-00-00Z-0123456",
    "COMMIT_URL": "https://example.org/commit",
    "RELEASE_URL": "https://example.org/release",
}
SUBMITTED = "2026-11-20T10:00:00Z"


def part(name, points, of, lines=(), cases=()):
    return {"part": name, "points": points, "of": of, "lines": list(lines), "cases": list(cases)}


def case(name, lines=()):
    return {"name": name, "passed": not lines, "lines": list(lines)}


def exercise(number, status, parts, of=12):
    points = sum(each["points"] for each in parts)
    return {
        **{"exercise": number, "file": f"{number}.cu", "status": status, "points": points},
        **{"of": of, "parts": parts, "diagnoses": [], "picture": None},
    }


RESULTS_ROW = part("results", 4, 5, ["9 of 10 cases are right."], [case("a"), case("b", ["got 1"])])
MARKS = {
    "schema": "inter_block_communication/grades/1",
    "sandbox": "bubblewrap",
    "problems": [],
    "exercises": [
        {"number": "04.1", "name": "classic_guard", "points": {"results": 5, "races": 7}},
        {"number": "04.2", "name": "fullest_bin", "points": {"results": 5, "races": 7}},
        {"number": "05.1", "name": "fetch", "points": {"results": 12}},
    ],
    "students": [
        {
            **{"student": "student", "folder": "student", "late": True, "points": 16},
            "problems": ["Handed in late."],
            "exercises": [
                exercise("04.1", "OK", [part("results", 5, 5), part("races", 7, 7)]),
                exercise("04.2", "OK", [RESULTS_ROW, part("races", 0, 7, ["Missing: a barrier."])]),
                exercise("05.1", "missing", []),
            ],
        }
    ],
}
STUDENT = MARKS["students"][0]


def assert_shape(value, shape, required):
    assert set(required) <= set(value)
    for name, content in value.items():
        assert name in shape
        allowed = shape[name]
        if isinstance(allowed, set):
            assert content in allowed, name
        else:
            assert isinstance(content, allowed), name
            if allowed in (INTEGER, NUMBER):
                assert not isinstance(content, bool), name
                assert content >= 0


def test_gradescope_its_shape():
    answer = json.loads(json.dumps(for_gradescope(MARKS, STUDENT)))
    assert_shape(answer, GRADESCOPE, ["score", "tests"])
    for test in answer["tests"]:
        assert_shape(test, GRADESCOPE_TEST, ["score", "max_score", "name"])
        assert test["visibility"] == "visible", "a hidden test hides the total"
    names = [test["name"] for test in answer["tests"]]
    assert len(names) == len(set(names))


def test_gradescope_its_points_and_words():
    answer = for_gradescope(MARKS, STUDENT)
    assert answer["score"] == 16
    assert sum(test["score"] for test in answer["tests"]) == 16
    assert sum(test["max_score"] for test in answer["tests"]) == 36
    tests = {test["name"]: test for test in answer["tests"]}
    assert tests["04.1 classic_guard: races"]["status"] == "passed"
    assert tests["04.2 fullest_bin: results"]["status"] == "failed"
    assert "b\n  got 1" in tests["04.2 fullest_bin: results"]["output"]
    assert "Missing: a barrier." in tests["04.2 fullest_bin: races"]["output"]
    assert tests["05.1 fetch"]["output"] == "There is no file."
    assert answer["output"] == "Handed in late."


def test_the_graders_own_fault_is_said():
    marks = copy.deepcopy(MARKS)
    marks["students"][0]["exercises"][1].update(
        exercise("04.2", "XX", [part("results", 0, 5, ["The grader failed: OSError."])])
    )
    answer = for_gradescope(marks, marks["students"][0])
    assert "not your fault" in answer["tests"][2]["output"]


def test_classroom50_its_shape():
    answer = json.loads(json.dumps(for_classroom50(MARKS, STUDENT, IDENTITY, SUBMITTED)))
    assert_shape(answer, CLASSROOM50, CLASSROOM50)
    for test in answer["tests"]:
        assert_shape(test, CLASSROOM50_TEST, CLASSROOM50_TEST)
    assert (answer["score"], answer["max-score"]) == (16, 36)
    assert answer["classroom"] == "gpu-2026"
    assert answer["review"] == IDENTITY["COMMIT_URL"]
    assert answer["datetime"] == SUBMITTED


def test_no_identity_is_made_up():
    for name in IDENTITY:
        rest = {other: value for other, value in IDENTITY.items() if other != name}
        with pytest.raises(KeyError):
            for_classroom50(MARKS, STUDENT, rest, SUBMITTED)


def test_its_last_line():
    line = for_autolab(STUDENT)
    assert "\n" not in line
    assert json.loads(line) == {"scores": {"04.1": 12, "04.2": 4, "05.1": 0}}


def test_no_line_of_the_feedback_can_be_taken_for_it():
    forged = copy.deepcopy(MARKS)
    forged["students"][0]["exercises"][1]["parts"][0]["lines"] = ['{"scores": {"04.2": 99}}']
    lines = feedback_lines(forged, forged["students"][0])
    assert '|     {"scores": {"04.2": 99}}' in lines
    assert all(line.startswith("|") for line in lines)


class HandIns:
    """What the student's upload may contain, and what of it is graded as in a class."""

    def __init__(self, folder):
        self.folder = folder
        self.handin = self.folder / "handin"
        self.exercises = [chosen_exercise(number) for number in ("04.2", "05.1")]

    def student(self, found):
        """The one student in what write_class_of_one makes of it, with the sentences that it returns."""
        file = self.folder / "class.zip"
        said = write_class_of_one(found, self.exercises, file)
        (self.folder / "roster.csv").write_text(
            f"student\n{handed_files.STUDENT}\n", encoding="utf-8"
        )
        roster = read_roster(self.folder / "roster.csv")
        (student,) = submissions_of(file, self.exercises, roster).students
        return student._replace(problems=[*said, *student.problems])

    def handed_in(self):
        return self.student(files_of_handin(self.handin, self.exercises))

    def texts(self, student):
        return {item.name: item.content for item in student.files.values()}


@pytest.fixture
def hand_ins(tmp_path):
    return HandIns(tmp_path)


def test_of_a_tar(hand_ins):
    with tarfile.open(hand_ins.handin, "w:gz") as archive:
        for name in ("week4/work/04_fullest_bin.cu", "../../05_fetch-1.cu", "lab", "/etc/x"):
            entry = tarfile.TarInfo(name)
            entry.size = 5
            archive.addfile(entry, io.BytesIO(b"code\n"))
        link = tarfile.TarInfo("05_fetch.cu")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    student = hand_ins.handed_in()
    paths = ("submission/week4/work/04_fullest_bin.cu", "submission/05_fetch-1.cu")
    assert hand_ins.texts(student) == dict.fromkeys(paths, b"code\n")
    assert student.problems == [
        "submission/05_fetch.cu: it is a link, and not read.",
        "No file of these exercises, and not graded: submission/etc/x, submission/lab.",
    ]
    hand_ins.handin.write_bytes(hand_ins.handin.read_bytes()[:-30])
    with pytest.raises(CommandError, match="tar that was handed in can't be read"):
        hand_ins.handed_in()


def test_of_a_zip(hand_ins):
    with zipfile.ZipFile(hand_ins.handin, "w") as archive:
        archive.writestr("a/b/Fetch.cu", "code\n")
        archive.writestr("../evil.cu", "code\n")
        archive.writestr("04_fullest_bin.cu", b"x" * (MOST_BYTES + 1))
    student = hand_ins.handed_in()
    assert hand_ins.texts(student) == {"submission/a/b/Fetch.cu": b"code\n"}
    said = " ".join(student.problems)
    for words in (
        "submission/04_fullest_bin.cu: it is larger than 1 MiB.",
        "submission/a/b/Fetch.cu is taken as 05_fetch.cu: misnamed.",
        "not graded: submission/evil.cu.",
        "04.2 fullest_bin: missing.",
    ):
        assert words in said


def test_of_a_folder(hand_ins):
    source = hand_ins.folder / "source"
    (source / "work").mkdir(parents=True)
    (source / "work/04_fullest_bin.cu").symlink_to("/etc/passwd")
    (source / "more").symlink_to("/etc")
    (source / "05_fetch.cu").write_text("code\n", encoding="utf-8")
    student = hand_ins.student(files_of_folder(source))
    assert hand_ins.texts(student) == {"submission/05_fetch.cu": b"code\n"}
    for path in ("work/04_fullest_bin.cu", "more/"):
        assert f"submission/{path}: it is a link, and not read." in student.problems


def test_nothing_is_a_student_with_nothing(hand_ins):
    (hand_ins.folder / "source").mkdir()
    student = hand_ins.student(files_of_folder(hand_ins.folder / "source"))
    assert len(student.problems) == len(hand_ins.exercises)


def test_a_file_that_is_no_archive(hand_ins):
    hand_ins.handin.write_text("code\n", encoding="utf-8")
    with pytest.raises(CommandError, match="neither a zip nor a tar"):
        hand_ins.handed_in()
    hand_ins.exercises = hand_ins.exercises[:1]
    assert hand_ins.texts(hand_ins.handed_in()) == {"submission/04_fullest_bin.cu": b"code\n"}


def test_too_much_is_refused(hand_ins):
    with zipfile.ZipFile(hand_ins.handin, "w", zipfile.ZIP_DEFLATED) as archive:
        for n in range(3):
            archive.writestr(f"{n}/05_fetch.cu", b"x" * MOST_BYTES)
    with mock.patch.object(handed_files, "MOST_OF_ALL", 2 * MOST_BYTES):
        pytest.raises(CommandError, match="the files handed in are more than 2 MiB")


class Answers:
    """What each system finds, in its own folders, when the grader has graded or has failed."""

    def __init__(self, folder):
        self.folder = folder

    def answer(self, system, outcome):
        with (
            mock.patch.object(autograders, "graded", side_effect=outcome),
            mock.patch("sys.stdout", new_callable=io.StringIO) as said,
            mock.patch("sys.stderr", new_callable=io.StringIO) as problems,
            mock.patch.dict("os.environ", IDENTITY),
        ):
            return (
                autograders.main([system, str(self.folder)]),
                said.getvalue(),
                problems.getvalue(),
            )


@pytest.fixture
def answers(tmp_path):
    return Answers(tmp_path)


def test_gradescope(answers):
    code, _, _ = answers.answer("gradescope", [MARKS])
    assert code == 0
    file = answers.folder / "results/results.json"
    assert json.loads(file.read_text("utf-8")) == for_gradescope(MARKS, STUDENT)


def test_classroom50(answers):
    code, _, _ = answers.answer("classroom50", [MARKS])
    assert code == 0
    result = json.loads((answers.folder / "result.json").read_text("utf-8"))
    assert result["score"] == 16
    assert re.search(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$", result["datetime"])
    assert "16 of 36 points" in (answers.folder / "release-body.md").read_text("utf-8")


def test_autolab(answers):
    (answers.folder / "handin.tar").touch()
    code, said, _ = answers.answer("autolab", [MARKS])
    assert code == 0
    assert said.splitlines()[-1] == for_autolab(STUDENT)


def test_a_grader_that_failed_on_an_exercise_gives_no_grade(answers):
    marks = copy.deepcopy(MARKS)
    marks["students"][0]["exercises"][1]["status"] = INTERNAL
    (answers.folder / "exercises.txt").write_text("05.1\n", encoding="utf-8")
    (answers.folder / "handin.cu").write_text("code\n", encoding="utf-8")
    (answers.folder / "submission").mkdir()
    before = sorted(path.name for path in answers.folder.iterdir())

    def grade(command, **_):
        output = pathlib.Path(command[command.index("--output") + 1])
        output.mkdir()
        (output / "results.json").write_text(json.dumps(marks), encoding="utf-8")
        return subprocess.CompletedProcess(command, 1)

    for system in autograders.SYSTEMS:
        with (
            mock.patch.object(autograders, "EXERCISES", answers.folder / "exercises.txt"),
            mock.patch.object(autograders.subprocess, "run", grade),
            mock.patch("sys.stdout", new_callable=io.StringIO) as said,
            mock.patch("sys.stderr", new_callable=io.StringIO) as problems,
        ):
            code = autograders.main([system, str(answers.folder)])
        assert (code, said.getvalue()) == (1, ""), system
        assert "nothing was graded: the grader itself failed on 04.2." in problems.getvalue()
        assert sorted(path.name for path in answers.folder.iterdir()) == before


def test_a_grader_that_failed_gives_no_grade(answers):
    (answers.folder / "handin.tar").touch()
    for system in autograders.SYSTEMS:
        code, said, problems = answers.answer(system, CommandError("the disk is full"))
        assert (code, said) == (1, "")
        assert "nothing was graded: the disk is full" in problems
        assert [path.name for path in answers.folder.iterdir()] == ["handin.tar"]

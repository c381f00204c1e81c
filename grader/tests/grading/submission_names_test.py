# SPDX-License-Identifier: MIT
"""What names say, example by example: of files and folders as platforms export them, and of people."""

import pathlib
import tempfile

import pytest

from engine.command.errors import WRONG_USE, CommandError
from grader.exercises.catalogue import chosen_exercise
from grader.submissions.roster import identities, read_roster
from grader.submissions.submission_names import (
    EXACT,
    MISNAMED,
    RESEMBLING,
    Owner,
    Words,
    exercise_of,
    label_of_file,
    label_of_folder,
)

EXERCISES = [chosen_exercise("01.1"), chosen_exercise("04.2"), chosen_exercise("05.1")]

# A file outside every student's folder: (the name, the number, the student's own name for it, late).
FILES = {
    "jane_12345_04_fullest_bin.cu": ("jane", "12345", "04_fullest_bin.cu", False),
    "jane_04_fullest_bin.cu": ("jane", "", "04_fullest_bin.cu", False),
    "jane_04_04_fullest_bin.cu": ("jane", "04", "04_fullest_bin.cu", False),
    "jane_doe_01_saxpy.cu": ("jane_doe", "", "01_saxpy.cu", False),
    "12345_01_saxpy.cu": ("12345", "", "01_saxpy.cu", False),
    "smithjohn_12345_67890_01_saxpy.cu": ("smithjohn", "12345", "01_saxpy.cu", False),
    "doejane_LATE_222_333_01_saxpy.cu": ("doejane", "222", "01_saxpy.cu", True),
    "latimer_222_333_01_saxpy.cu": ("latimer", "222", "01_saxpy.cu", False),
    "leekim_44_55_01_saxpy-1.cu": ("leekim", "44", "01_saxpy-1.cu", False),
    "leekim_44_55_01_Saxpy.CU": ("leekim", "44", "01_Saxpy.CU", False),
    "leekim_44_55_05_fetched_twice.cu": ("leekim", "44", "05_fetched_twice.cu", False),
    "jane_12345_01_fullest_bin.cu": ("jane", "12345", "01_fullest_bin.cu", False),
    "jane_04_fullestbin.cu": ("jane", "", "04_fullestbin.cu", False),
    "jane_12345_04_fullestbin.cu": ("jane", "12345", "04_fullestbin.cu", False),
    "jane_12345_work.zip": ("jane", "12345", "work.zip", False),
    "Kim Lee_777_assignsubmission_file_01_saxpy.cu": ("Kim Lee", "777", "01_saxpy.cu", False),
    "Kim Lee_777_assignsubmission_file_My Saxpy.cu": ("Kim Lee", "777", "My Saxpy.cu", False),
    # What comes after the platform's own part is the uploaded name.
    "leekim_44_55_doejane_222_333_01_saxpy.cu": (
        "leekim",
        "44",
        "doejane_222_333_01_saxpy.cu",
        False,
    ),
    "leekim_LATE_44_55_doejane_222_333_01_saxpy.cu": (
        *("leekim", "44", "doejane_222_333_01_saxpy.cu", True),
    ),
    "leekim_LATE_44_55_222_01_saxpy.cu": ("leekim", "44", "222_01_saxpy.cu", True),
    "leekim_LATE_44_55_222_333_my_saxpy.cu": ("leekim", "44", "222_333_my_saxpy.cu", True),
    "leekim_44_55_x_LATE_222_333_01_saxpy.cu": (
        "leekim",
        "44",
        "x_LATE_222_333_01_saxpy.cu",
        False,
    ),
    "leekim_44_55_01_saxpy_doejane_222_01_saxpy.cu": (
        *("leekim", "44", "01_saxpy_doejane_222_01_saxpy.cu", False),
    ),
    "team_7_blue_333_90_01_saxpy.cu": ("team_7_blue", "333", "01_saxpy.cu", False),
    "team_7_blue_01_saxpy.cu": ("team_7_blue", "", "01_saxpy.cu", False),
    "Kim Lee_777_assignsubmission_file_doejane_222_333_01_saxpy.cu": (
        *("Kim Lee", "777", "doejane_222_333_01_saxpy.cu", False),
    ),
    "Kim Lee_777_assignsubmission_file_Jo Roe_8_assignsubmission_file_01_saxpy.cu": (
        *("Kim Lee", "777", "Jo Roe_8_assignsubmission_file_01_saxpy.cu", False),
    ),
    "HW 1_leekim_attempt_2026-12-01-23-59-00_01_saxpy.cu": (
        *("HW 1_leekim", "", "01_saxpy.cu", False),
    ),
    "HW 1_leekim_attempt_2026-12-01-23-59-00_doejane_222_333_01_saxpy.cu": (
        *("HW 1_leekim", "", "doejane_222_333_01_saxpy.cu", False),
    ),
    # Of these it can't be told.
    "01_saxpy.cu": None,
    "01_saxpy_2.cu": None,
    "01_saxpy_2024_final.cu": None,
    "saxpy.cu": None,
    "my_saxpy.cu": None,
    "roster.csv": None,
    "._jane_12345_01_saxpy.cu": None,
}

FOLDERS = {
    "ann": ("ann", ""),
    "jane_12345": ("jane_12345", ""),
    "Kim Lee_777_assignsubmission_file_": ("Kim Lee", "777"),
    "Kim Lee_777_assignsubmission_file": ("Kim Lee", "777"),
    "Kim Lee_777_assignsubmission_onlinetext_": ("Kim Lee", "777"),
}

MEANT = {
    "01_saxpy.cu": ("01.1", EXACT),
    "01_SAXPY.CU": ("01.1", EXACT),
    "01_saxpy-1.cu": ("01.1", EXACT),
    "01_saxpy (2).cu": ("01.1", EXACT),
    "01_saxpy_2.cu": ("01.1", EXACT),
    "01_saxpy.cu.txt": ("01.1", EXACT),
    "01_saxpy.cu.cpp": ("01.1", EXACT),
    "Saxpy.cu": ("01.1", MISNAMED),
    "Fullest Bin (final).cu": ("04.2", MISNAMED),
    "01_fullest_bin.cu": ("04.2", MISNAMED),
    "01_saxpy.cpp": ("01.1", RESEMBLING),
    "01_saxpy.txt": ("01.1", RESEMBLING),
    "01_saxpy.cu.orig": ("01.1", RESEMBLING),
    "01_saxpy.cuh": ("01.1", RESEMBLING),
    ".01_saxpy.cu.swp": ("01.1", RESEMBLING),
    ".01_saxpy.cu": ("01.1", RESEMBLING),
    "._01_saxpy.cu": None,
    "05_fetched_twice.cu": None,  # another exercise, though `fetch` is in it
    "benchmark.cu": None,
    "notes.txt": None,
}

ROSTER = """\
student,id,first,group,account
Ann Lee,17,Ann,A,ann_2
Ann Kim,18,Ann,A,
Zo\u00eb,04,Zo,B,
Jim Roe,2,Jim,C,
Kim Lee,111,Kim,D,
"""
# (the name, the number, whether the platform has counted): the student, or what is said if there is none.
OWNERS = {
    ("Ann Lee", ""): "Ann Lee",
    ("ANN  LEE", ""): "Ann Lee",
    ("Zoe\u0308", ""): "Zo\u00eb",  # as macOS writes it
    ("ZO\u00cb", ""): "Zo\u00eb",
    ("x", "17"): "Ann Lee",
    ("Ann", "17"): "Ann Lee",
    ("Ann", "17", True): "Ann Lee",
    ("jane", ""): "Not in the roster.",
    ("Ann", ""): "in the rows of Ann Kim and of Ann Lee",
    ("A", ""): "in the rows of Ann Kim and of Ann Lee",
    ("Ann Lee", "18"): "in the rows of Ann Kim and of Ann Lee",
    ("Ann Lee", "18", True): "Ann Lee",  # Moodle's 18 is not the student 18
    ("Other Person", "17", True): "Not in the roster.",
}


@pytest.mark.parametrize(("name", "wanted"), FILES.items())
def test_of_files(name, wanted):
    label = label_of_file(name)
    if wanted is None:
        assert label is None
    else:
        assert (label.owner.name, label.owner.number, label.file, label.is_late) == wanted


@pytest.mark.parametrize("name, wanted", FOLDERS.items())
def test_of_folders(name, wanted):
    assert label_of_folder(name).owner[:2] == wanted, name


@pytest.mark.parametrize("name, wanted", MEANT.items())
def test_which_exercise_is_meant(name, wanted):
    exercise, how = exercise_of(name, EXERCISES)
    found = (exercise.number, how) if exercise else None
    assert found == wanted, name


def roster_in(text):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "roster.csv")
        file.write_text(text, encoding="utf-8")
        return read_roster(file)


def test_who_is_found_in_the_roster_and_who_is_not():
    roster = roster_in(ROSTER)
    for words, wanted in OWNERS.items():
        owner = Owner(*words)
        name, problem = identities({owner: Words()}, roster)[owner]
        if wanted in roster.students:
            assert (name, problem) == (wanted, "")
        else:
            assert wanted in problem
            assert name not in roster.students


def test_a_name_with_numbers_in_it_gets_its_own_row():
    roster = roster_in(ROSTER)
    for name, wanted in (
        ("ann_2_777_01_saxpy.cu", None),  # `ann_2` is Ann Lee, and 2 is Jim Roe
        ("x_99_17_01_saxpy.cu", None),  # 17 may be the submission's number
        ("x_17_99_01_saxpy.cu", "Ann Lee"),
        ("x_17_18_01_saxpy.cu", None),
        ("jane_04_fullest_bin.cu", None),  # the chapter's number is no student's
        ("x_04_04_fullest_bin.cu", "Zo\u00eb"),
    ):
        label = label_of_file(name)
        found = identities({label.owner: label.words}, roster)[label.owner]
        assert (found.name if found.name in roster.students else None) == wanted, name
        assert bool(found.problem) == (wanted is None), name


def test_two_of_one_name_stay_two():
    one, two = (Owner("Kim Lee", number, True) for number in ("111", "222"))
    plain = Owner("Kim Lee")
    owners = dict.fromkeys((one, two, plain), Words())
    names = {owner: found.name for owner, found in identities(owners, None).items()}
    assert names == {one: "Kim Lee (111)", two: "Kim Lee (222)", plain: "Kim Lee (no number)"}
    roster = roster_in("student,id\nKim Lee,5\n")
    found = identities({one: Words(), two: Words()}, roster)
    assert [each.name for each in found.values()] == ["Kim Lee (111)", "Kim Lee (222)"]
    assert "several of that name" in found[one].problem
    assert identities({one: Words()}, roster)[one].name == "Kim Lee"
    by_number = roster_in("student,name,id\nkim1,Kim Lee,111\nkim2,Kim Lee,222\n")
    found = identities({one: Words(), two: Words()}, by_number)
    assert [found[one].name, found[two].name] == ["kim1", "kim2"]


def test_no_made_up_name_is_another_students():
    roster = roster_in("student,first\nkim,Al\nLee Po,kim\n")
    owners = [
        Owner("kim"),
        Owner("kim (no number)"),
        Owner("kim", "1"),
        Owner("kim", "1", True),
    ]
    found = identities(dict.fromkeys(owners, Words()), roster)
    assert len({"kim", *(each.name for each in found.values())}) == 5


def test_the_titles_show_what_parts_the_columns():
    for text in (
        "id,student,group\n1,Ann Lee,a\n2,Bo,b\n",
        "id;student;group\r\n1;Ann Lee;a\r\n2;Bo;b\r\n",
        "id\tstudent\tgroup\n1\tAnn Lee\ta\n2\tBo\tb\n",
        "\n\ufeff;;\nid;student;group, if any\n1;Ann Lee;a\n2;Bo;b, c\n"[1:],
        '"id;a;b;c",student,group\n1,Ann Lee,a\n2,Bo,b\n',
        "Name, Vorname;id\nAnn Lee;1\nBo;2\n",
    ):
        roster = roster_in(text)
        assert roster.students == ["Ann Lee", "Bo"]
        assert roster.students_with("2") == {"Bo"}
    assert roster_in("student\nAnn Lee\nBo\n").students == ["Ann Lee", "Bo"]


def test_a_roster_that_cant_be_read_is_one_sentence():
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "roster.csv")
        encodings = ("utf-16", "utf-16-le", "utf-16-be", "latin-1")
        contents = {each: "student\nZo\u00eb\n".encode(each) for each in encodings}
        for content in contents.values():
            file.write_bytes(content)
            with pytest.raises(CommandError) as caught:
                read_roster(file)
            assert caught.value.code == WRONG_USE
            assert str(caught.value) == f"--roster {file} is not in UTF-8: save it as UTF-8."
        for path, why in (
            (pathlib.Path(folder), "Is a directory"),
            (pathlib.Path(folder, "nowhere.csv"), "No such file or directory"),
        ):
            with pytest.raises(CommandError) as caught:
                read_roster(path)
            assert caught.value.code == WRONG_USE
            assert str(caught.value) == f"--roster {path} can't be read: {why}."


def test_what_canvas_writes_before_the_first_student_is_left_out():
    lines = "Student,ID,Bin\n,,Manual Posting\n    Points Possible,,12\nDoe Jane,67,9\n"
    roster = roster_in(lines)
    assert roster.students == ["Doe Jane"]
    assert not roster.students_with("12")


def test_a_roster_that_cant_be_used():
    for text in ("", "student\nA\nA\n", "student\nZo\u00eb\nZoe\u0308\n", "student,x\n,1\n"):
        with pytest.raises(CommandError, match="--roster"):
            roster_in(text)

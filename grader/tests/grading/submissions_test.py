# SPDX-License-Identifier: MIT
"""Who has handed in what, out of the folders and zips in which platforms export it: nothing is dropped."""

import datetime
import errno
import os
import pathlib
import re
import subprocess
import tempfile
import time
import zipfile
from unittest import mock

import pytest
from grading_runs import BIN, EXERCISES, SAXPY, Handed, real_sandboxes

from engine.command.errors import CommandError
from grader.reports.marks import marks_of, write_marks
from grader.sandbox.sandbox import NONE, Sandbox
from grader.submissions import submissions
from grader.submissions.roster import read_roster, time_of
from grader.submissions.submissions import shown_time
from lab_tool.export.systems import repository_files


def test_a_folder_per_student(handed):
    handed.write(f"ann/{SAXPY}", "a")
    handed.write(f"ann/work/{BIN}", "b")
    handed.write(f"bob/{SAXPY}", "c")
    students = handed.students()
    assert list(students) == ["ann", "bob"]
    texts = {number: item.content for number, item in students["ann"].files.items()}
    assert texts == {"01.1": b"a", "04.2": b"b"}
    assert students["bob"].problems == ["04.2 fullest_bin: missing."]


def test_names_that_platforms_make(handed):
    handed.write(f"smithjohn_12345_67890_{SAXPY}")
    handed.write(f"doejane_LATE_222_333_{BIN}")
    handed.write("leekim_44_55_01_saxpy-1.cu")
    handed.write(f"Ann Lee_777_assignsubmission_file_/{SAXPY}")
    students = handed.students()
    assert list(students) == ["Ann Lee", "doejane", "leekim", "smithjohn"]
    assert "01.1" in students["leekim"].files
    assert "04.2" in students["doejane"].files
    missing = {name: ["04.2 fullest_bin: missing."] for name in ("Ann Lee", "leekim", "smithjohn")}
    late = f"04.2 fullest_bin: late, as the name of doejane_LATE_222_333_{BIN} says."
    for name, student in students.items():
        assert student.problems == missing.get(name, ["01.1 saxpy: missing.", late])
        assert student.is_late == (name == "doejane"), name


def test_doubled_misnamed_and_foreign_files_are_listed(handed):
    handed.write(f"ann/first/{SAXPY}", "old", 1000)
    handed.write(f"ann/second/{SAXPY}", "new", 2000)
    handed.write("ann/Fullest Bin (final).cu", "b")
    handed.write("ann/other.cu", "c")
    handed.write("notes.txt", "d")
    found = handed.found_students()
    ann = found.students[0]
    assert ann.files["01.1"].content == b"new"
    assert ann.files["04.2"].content == b"b"
    words = " ".join(ann.problems)
    assert "doubled; the newest, ann/second/01_saxpy.cu, is graded" in words
    assert "Fullest Bin (final).cu is taken as 04_fullest_bin.cu: misnamed" in words
    assert "No file of these exercises, and not graded: ann/other.cu." in words
    assert len(found.problems) == 1
    assert "notes.txt: whose it is" in found.problems[0]


def test_nothing_that_may_be_work_is_passed_over(handed):
    handed.write(f"ann/{SAXPY}", "right", 1000)
    handed.write(f"ann/._{SAXPY}", "of macOS", 1001)
    handed.write("bob/01_saxpy.CU")
    for name in ("01_saxpy.cpp", "01_saxpy.txt", "01_saxpy.cu.orig", ".01_saxpy.cu"):
        handed.write(f"cy/{name}")
    handed.write("cy/work.zip")
    for n in range(12):
        handed.write(f"di/notes{n:02}.txt")
    handed.write("eve/x.txt")
    (handed.folder / "class/eve/work").symlink_to(handed.folder)
    (handed.folder / "class/fay").symlink_to(handed.folder / "class/ann")
    students = handed.students()
    assert students["ann"].files["01.1"].content == b"right"
    assert students["ann"].problems == ["04.2 fullest_bin: missing."]
    assert students["bob"].problems == ["04.2 fullest_bin: missing."]
    assert students["cy"].files == {}
    assert students["cy"].problems[:-2] == (
        [
            f"cy/{name} may be meant for 01_saxpy.cu, and is not named like it; not graded."
            for name in (".01_saxpy.cu", "01_saxpy.cpp", "01_saxpy.cu.orig", "01_saxpy.txt")
        ]
        + ["cy/work.zip is an archive, and not unpacked."]
    )
    assert "not graded: di/notes00.txt, " in students["di"].problems[0]
    assert "di/notes09.txt and 2 more." in students["di"].problems[0]
    assert students["eve"].problems[0] == "eve/work/: it is a link, and not read."
    assert students["fay"].problems[0] == "fay/: it is a link, and not read."


def test_no_student_is_passed_over(handed):
    handed.write(f"ann/{SAXPY}")
    handed.write(f"buildmaster/{SAXPY}")
    handed.write(f"build/{SAXPY}")
    handed.write(f".hidden/{SAXPY}")
    handed.write(f"bob/build-cpu/{SAXPY}")
    handed.write(f"bob/.old/{SAXPY}")
    handed.write(f"bob/.git/{SAXPY}")
    handed.write("bob/.DS_Store")
    handed.write(".DS_Store")
    handed.write(f".git/{SAXPY}")
    (handed.folder / "class/zoe").mkdir()
    found = handed.found_students()
    students = {student.name: student for student in found.students}
    assert list(students) == ["ann", "bob", "build", "buildmaster", "zoe"]
    assert "01.1" in students["build"].files
    assert "01.1" in students["buildmaster"].files
    missing = ["01.1 saxpy: missing.", "04.2 fullest_bin: missing."]
    assert students["zoe"].problems == missing
    assert students["bob"].problems == [
        "Hidden or made by a build, and not looked into: bob/.old/, bob/build-cpu/.",
        *missing,
    ]
    assert found.problems == [".hidden/ is a hidden folder, and not looked into."]


def test_students_of_one_name_stay_two(handed):
    handed.write(f"Kim Lee_111_assignsubmission_file_/{SAXPY}", "one", 1000)
    handed.write("Kim Lee_111_assignsubmission_onlinetext_/onlinetext.html", "a word")
    handed.write(f"Kim Lee_222_assignsubmission_file_/{SAXPY}", "two", 2000)
    students = handed.students()
    texts = {name: student.files["01.1"].content for name, student in students.items()}
    assert texts == {"Kim Lee (111)": b"one", "Kim Lee (222)": b"two"}
    assert "onlinetext.html" in students["Kim Lee (111)"].problems[0]
    assert students["Kim Lee (222)"].problems == ["04.2 fullest_bin: missing."]


@pytest.mark.parametrize(
    "paths",
    [
        [f"work/{SAXPY}"],
        ["saxpy.cu"],
        [f"first/{SAXPY}"],
        ["lab", "engine/command/errors.py", "chapters/benchmark.cu", "common/lab/lab.cuh"],
        [f"work/{SAXPY}", f"build/{SAXPY}"],
        [f"01_saxpy/{SAXPY}", f"04_fullest_bin/{BIN}"],
    ],
)
def test_one_students_folder_is_not_taken_for_the_whole_class(handed, paths):
    for path in paths:
        handed.write(f"ann/{path}")
    found = handed.found_students()
    assert [student.name for student in found.students] == ["ann"]
    assert found.problems == []


def test_a_folder_around_all_students_is_taken_off(handed):
    table = handed.folder / "roster.csv"
    table.write_text("student\nann\n", encoding="utf-8")
    for paths, options, names, is_said in (
        ([f"ann/{SAXPY}", f"bob/{SAXPY}"], {}, ["ann", "bob"], True),
        ([f"buildmaster/{SAXPY}", "zoe/x.txt"], {}, ["buildmaster", "zoe"], True),
        ([f"Kim Lee_1_assignsubmission_file_/{SAXPY}"], {}, ["Kim Lee"], False),
        ([f"jane_12345_{SAXPY}"], {}, ["jane"], False),
        ([f"ann/{SAXPY}"], {"roster": read_roster(table)}, ["ann"], False),
    ):
        with tempfile.TemporaryDirectory() as folder:
            handed.folder = pathlib.Path(folder)
            handed.write("grades.txt")
            for path in paths:
                handed.write(f"export/{path}")
            found = handed.found_students(**options)
            assert [student.name for student in found.students] == names
            said = [each for each in found.problems if "grades.txt" not in each]
            assert len(said) == is_said, said


def test_of_a_copy_of_the_course_only_the_students_work_counts(handed):
    paths = repository_files(EXERCISES, "Week 4", None, hints=True)
    for path in paths:
        handed.write(f"ann/{path}")
    handed.write(f"ann/work/{SAXPY}", "mine", 1000)
    handed.write("ann/work/04_fullest_bin.svg", "a picture of lab's")
    handed.write(f"ann/chapters/{BIN}", "misplaced")
    handed.write("ann/extra.cu")
    (ann,) = handed.found_students().students
    assert ann.problems == ["No file of these exercises, and not graded: ann/extra.cu."]
    texts = {number: item.content for number, item in ann.files.items()}
    assert texts == {"01.1": b"mine", "04.2": b"misplaced"}


@pytest.mark.parametrize(
    ("graded", "others", "reason"),
    [
        ((SAXPY, 1000), [("saxpy_old.cu", 2000)], "the one with the right name"),
        ((f"work/{SAXPY}", 1000), [(SAXPY, 2000)], "the one in work"),
        ((f"b/{SAXPY}", 2000), [(f"c/{SAXPY}", 1000)], "the newest"),
        ((f"c/{SAXPY}", 1000), [(f"b/{SAXPY}", 1000)], "the last by its name"),
    ],
)
def test_which_of_several_is_graded(handed, graded, others, reason):
    handed.write("bob/x.txt")
    for path, when in [graded, *others]:
        handed.write(f"ann/{path}", path, when)
    ann = handed.students()["ann"]
    assert ann.files["01.1"].content == graded[0].encode()
    assert "misnamed" not in " ".join(ann.problems)
    assert (
        f"01.1 saxpy: doubled; {reason}, ann/{graded[0]}, is graded, and not ann/{others[0][0]}."
    ) in ann.problems


def test_late_is_by_the_files_time(handed):
    handed.write(f"ann/{SAXPY}", when=1000)
    handed.write(f"bob/{SAXPY}", when=3000)
    students = handed.students(due=2000)
    assert not students["ann"].is_late
    assert students["bob"].is_late
    assert "by the file's time" in " ".join(students["bob"].problems)
    assert "318857-05-" in shown_time(10**13)  # a file may claim to be of that year


def test_a_time_without_a_zone_is_this_machines_and_a_day_lasts_until_its_end():
    assert time_of("2026-12-01T22:59Z") == 1796165940
    assert time_of("2026-12-01T22:59+00:00") == 1796165940
    day = datetime.datetime(2026, 12, 1, 23, 59, 59, 999999)
    assert time_of("2026-12-01") == day.timestamp()
    assert time_of("2026-12-01T23:59") == day.replace(second=0, microsecond=0).timestamp()
    assert time_of("tomorrow") is None


def test_the_roster_says_what_is_late_rather_than_the_file(handed):
    for name, when in (("ann", 1000), ("bob", 3000), ("cy", 1000), ("di", 9000)):
        handed.write(f"{name}/{SAXPY}", when=when)
    table = handed.folder / "roster.csv"
    table.write_text(
        "student,submitted at\nann,\nbob,\ncy,1970-01-01T00:50Z\ndi,1970-01-01T00:30Z\n",
        encoding="utf-8",
    )
    students = handed.students(due=2000, roster=read_roster(table))
    late = {name for name, student in students.items() if student.is_late}
    assert late == {"bob", "cy"}
    assert "by the file's time." in " ".join(students["bob"].problems)
    assert re.search(r"late, 19[-\d]+ [:\d]+ by the roster\.", " ".join(students["cy"].problems))


def test_a_time_that_is_none_in_the_roster_is_refused(handed):
    table = handed.folder / "roster.csv"
    table.write_text("student;submitted at\nann;yesterday\n", encoding="utf-8")
    with pytest.raises(CommandError, match="ann has yesterday as the time in the column"):
        read_roster(table)


@pytest.mark.skipif(
    not (real_sandboxes()), reason="a student's repository is read in a sandbox only"
)
def test_late_is_by_the_commits_time_and_git_runs_nothing_outside_the_sandbox(handed):
    file = handed.write(f"ann/{SAXPY}", when=1_900_000_000)
    place, mark = file.parent, handed.folder / "ran"
    when = "2001-01-01T00:00:00 +0000"
    environment = {
        **os.environ, "GIT_COMMITTER_DATE": when, "GIT_AUTHOR_DATE": when, "HOME": str(handed.folder),
    }  # fmt: skip
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "."], [*who, "commit", "-q", "-m", "done"]):
        subprocess.run(["git", *words], cwd=place, env=environment, check=True)
    # A program that git log starts if it shows the signature of a commit that seems to have one.
    handed.folder.chmod(0o777)  # root's submissions run as another user, who may leave the mark too
    program = handed.folder / "forged_gpg"
    program.write_text(f"#!/bin/sh\ntouch {mark}\n", encoding="utf-8")
    program.chmod(0o755)
    git = ["git", "-C", str(place)]
    commit = subprocess.run(
        [*git, "cat-file", "commit", "HEAD"], capture_output=True, text=True, check=True
    ).stdout
    begun = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n forged\n -----END PGP SIGNATURE-----\n"
    signed = subprocess.run(
        [*git, "hash-object", "-t", "commit", "-w", "--stdin"],
        input=commit.replace("\n\n", f"\n{begun}\n", 1), capture_output=True, text=True, check=True,
    ).stdout.strip()  # fmt: skip
    for words in (
        ["update-ref", "HEAD", signed],
        ["config", "log.showSignature", "true"],
        ["config", "gpg.program", str(program)],
    ):
        subprocess.run([*git, *words], check=True)
    subprocess.run([*git, "log", "-1", "--format=%ct"], capture_output=True, check=True)
    assert mark.exists(), "nothing would have run anyway"
    mark.unlink()
    for kind in real_sandboxes():  # even if it asks Git for signatures
        with mock.patch.object(submissions, "GIT_SETTINGS", ()):
            handed.students(due=1_500_000_000, sandbox=Sandbox(kind))
            assert not mark.exists()
    for kind in (*real_sandboxes(), NONE):
        student = handed.students(due=1_500_000_000, sandbox=Sandbox(kind))["ann"]
        assert student.is_late == (kind == NONE), student.problems
        assert not mark.exists()
    assert "by the file's time" in " ".join(student.problems)  # Git is not asked at all


@pytest.mark.skipif(
    not (real_sandboxes()), reason="a student's repository is read in a sandbox only"
)
def test_a_repository_around_the_submissions_says_nothing_about_them(handed):
    place = handed.write(f"ann/{SAXPY}", when=1000).parent.parent
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "."], [*who, "commit", "-q", "-m", "done"]):
        subprocess.run(["git", *words], cwd=place, check=True)
    student = handed.students(due=2000, sandbox=Sandbox(real_sandboxes()[0]))["ann"]
    assert not student.is_late, student.problems


def test_a_roster_gives_names_and_lists_who_is_missing(handed):
    handed.write(f"repository-of-annlee/{SAXPY}")
    handed.write(f"x_777_{SAXPY}")
    handed.write(f"stranger/{SAXPY}")
    table = handed.folder / "roster.csv"
    table.write_text(
        "id,student,repository\n1,Ann Lee,repository-of-annlee\n777,Bo,\n3,Cy,\n",
        encoding="utf-8",
    )
    students = handed.students(roster=read_roster(table))
    assert list(students) == ["Ann Lee", "Bo", "Cy", "stranger"]
    assert len(students["Cy"].problems) == 2
    assert "Not in the roster." in students["stranger"].problems
    for text in ("", "student\nA\nA\n"):
        table.write_text(text, encoding="utf-8")
        with pytest.raises(CommandError, match="--roster"):
            read_roster(table)


def test_a_file_stays_its_owners_whichever_names_are_in_its_uploaded_name(handed):
    """On each platform's form, with and without a file of the owner's and of the other one's."""
    table = handed.folder / "roster.csv"
    table.write_text(
        "student,number,login,name\nAnn,111,ann1,Ann Lee\nBo,333,bo1,Bo Roe\n", encoding="utf-8"
    )
    roster = read_roster(table)
    uploaded = f"ann1_111_90009_{SAXPY}"
    for name, of_ann, of_bo in (
        ("bo1_333_90003_{}", f"ann1_111_90001_{SAXPY}", f"bo1_333_90004_{SAXPY}"),
        ("bo1_LATE_333_90003_{}", f"ann1_111_90001_{SAXPY}", f"bo1_333_90004_{SAXPY}"),
        ("Bo Roe_7_assignsubmission_file_{}", f"Ann Lee_8_assignsubmission_file_{SAXPY}", ""),
        ("Bo Roe_7_assignsubmission_file_/{}", f"Ann Lee_8_assignsubmission_file_/{SAXPY}", ""),
        (
            "HW_bo1_attempt_2026-12-01-23-59-00_{}",
            f"HW_ann1_attempt_2026-12-01-10-00-00_{SAXPY}",
            "",
        ),
        ("bo1/{}", f"ann1/{SAXPY}", f"bo1/work/{SAXPY}"),
    ):
        with tempfile.TemporaryDirectory(dir=handed.folder) as folder:
            for path in filter(None, (name.format(uploaded), of_ann, of_bo)):
                file = pathlib.Path(folder, path)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(path, encoding="utf-8")
            found = handed.found_students(pathlib.Path(folder).name, roster=roster).students
            ann, bo = found
            assert (ann.name, bo.name) == ("Ann", "Bo")
            assert ann.files["01.1"].name == of_ann
            assert not any("look whose" in line for line in ann.problems), ann.problems
            assert bo.files["01.1"].name == (of_bo or name.format(uploaded))
            said = f"{name.format(uploaded)} was handed in by Bo, and has Ann in its name"
            assert any(said in line for line in bo.problems), bo.problems
            assert bo.files["01.1"].is_late == ("LATE" in name and not of_bo)


class HandedFiles(Handed):
    def zipped(self, change, *members):
        """The submissions in a zip whose bytes were changed."""
        file = self.folder / "all.zip"
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
            for path, text in members:
                packed.writestr(path, text)
        file.write_bytes(change(file.read_bytes()))
        return self.found_students("all.zip")


@pytest.fixture
def handed_files(tmp_path):
    return HandedFiles(tmp_path)


def test_a_zip_with_a_folder_around_all(handed_files):
    with zipfile.ZipFile(handed_files.folder / "all.zip", "w") as packed:
        packed.writestr(f"export/ann/{SAXPY}", "a")
        packed.writestr(f"export/bob/{SAXPY}", "b")
        packed.writestr("__MACOSX/export/ann/x.cu", "c")
    found = handed_files.found_students("all.zip")
    assert [student.name for student in found.students] == ["ann", "bob"]
    with pytest.raises(CommandError, match="no zip that can be read"):
        (handed_files.folder / "bad.zip").write_text("no zip", encoding="utf-8")
        handed_files.found_students("bad.zip")


def test_a_folder_that_cant_be_read_is_listed(handed_files):
    handed_files.write(f"ann/{SAXPY}")
    handed_files.write(f"bob/{SAXPY}")
    really = os.scandir

    def scandir(path):
        if os.fspath(path).endswith("bob"):
            raise PermissionError(errno.EACCES, "Permission denied", os.fspath(path))
        return really(path)

    with mock.patch("os.scandir", scandir):
        students = handed_files.students()
    assert list(students) == ["ann", "bob"]
    assert "bob/: this folder can't be read: Permission denied." in students["bob"].problems
    denied = PermissionError(errno.EACCES, "Permission denied", str(handed_files.folder / "class"))
    with (
        mock.patch("os.scandir", side_effect=denied),
        pytest.raises(CommandError, match="class can't be read: Permission denied"),
    ):
        handed_files.found_students()


def test_links_pipes_and_large_files_are_not_read(handed_files):
    secret = handed_files.folder / "secret"
    secret.write_text("secret", encoding="utf-8")
    handed_files.write("ann/x.txt")
    (handed_files.folder / "class/ann" / SAXPY).symlink_to(secret)
    (handed_files.folder / "class/ann" / BIN).write_bytes(b"x" * (2 << 20))
    handed_files.write("bob/x.txt")
    os.mkfifo(handed_files.folder / "class/bob" / SAXPY)
    students = handed_files.students()
    assert students["ann"].files == {}
    words = " ".join(students["ann"].problems)
    assert "it is a link, and not read" in words
    assert "larger than 1 MiB" in words
    assert "no regular file" in " ".join(students["bob"].problems)


def test_names_in_other_encodings_break_nothing(handed_files):
    for name in (b"M\xfcller", b"M\xf6ller", b"new\nline"):
        folder = os.fsencode(handed_files.folder / "class") + b"/" + name
        os.makedirs(folder)
        with open(os.path.join(folder, SAXPY.encode()), "wb") as file:
            file.write(name)
    found = handed_files.found_students()
    texts = {student.name: student.files["01.1"].content for student in found.students}
    assert texts == {
        r"M\xfcller": b"M\xfcller",
        r"M\xf6ller": b"M\xf6ller",
        r"new\nline": b"new\nline",
    }
    write_marks(marks_of(found, {}, {}, EXERCISES, "none"), handed_files.folder)


def test_members_of_a_zip_that_others_would_drop(handed_files):
    members = [
        (f"./ann/{SAXPY}", "a"),
        (f"bob\\{SAXPY}", "b"),
        ("zoe/", ""),
        ("__MACOSX/x", ""),
    ]
    found = handed_files.zipped(bytes, *members)
    assert [student.name for student in found.students] == ["ann", "bob", "zoe"]
    assert found.students[0].files["01.1"].content == b"a"
    assert found.students[1].files["01.1"].content == b"b"


def test_a_damaged_member_does_not_end_the_run(handed_files):
    def damage(content):
        place = content.find(SAXPY.encode()) + len(SAXPY)
        return content[:place] + b"\xff\xff" + content[place + 2 :]

    members = [(f"ann/{SAXPY}", "abcd" * 999), (f"bob/{SAXPY}", "b")]
    ann, bob = handed_files.zipped(damage, *members).students
    assert "it can't be unpacked" in ann.problems[0]
    assert "01.1" in bob.files


def test_names_in_a_zip(handed_files):
    name, members = "zo\u00eb", [(f"zo\u00eb/{SAXPY}", "a"), (f"bob/{SAXPY}", "b")]
    with pytest.raises(CommandError, match="a name in it is not in UTF-8; unpack it"):
        handed_files.zipped(lambda content: content.replace(name.encode(), b"zo\xff\xfe"), *members)

    def without_flag(content):  # as macOS makes it
        return content.replace(b"\x00\x08\x08\x00", b"\x00\x00\x08\x00")

    found = handed_files.zipped(without_flag, *members)
    assert [student.name for student in found.students] == ["bob", name]


def test_times_of_a_zip_are_those_of_its_members(handed_files):
    with zipfile.ZipFile(handed_files.folder / "all.zip", "w") as packed:
        packed.writestr(zipfile.ZipInfo(f"ann/{SAXPY}", (2020, 1, 2, 3, 4, 6)), "a")
        packed.writestr(zipfile.ZipInfo(f"bob/{SAXPY}", (2020, 1, 2, 3, 4, 6)), "a")
    handed = handed_files.found_students("all.zip").students[0].files["01.1"]
    assert time.localtime(handed.time)[:6] == (2020, 1, 2, 3, 4, 6)

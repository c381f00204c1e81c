# SPDX-License-Identifier: MIT
"""Who has handed in what, out of the forms in which platforms export it; and that nothing is dropped."""

import datetime
import os
import pathlib
import subprocess
import tempfile
import unittest
from unittest import mock

from grading_runs import real_sandboxes
from handed_class import BIN, EXERCISES, SAXPY, HandedClass

from engine.command.errors import CommandError
from grader.sandbox.sandbox import NONE, Sandbox
from grader.submissions import submissions
from grader.submissions.roster import read_roster, time_of
from grader.submissions.submissions import shown_time
from lab_tool.export.systems import repository_files


class SubmissionsTest(HandedClass):
    def test_a_folder_per_student(self):
        self.write(f"ann/{SAXPY}", "a")
        self.write(f"ann/work/{BIN}", "b")
        self.write(f"bob/{SAXPY}", "c")
        students = self.students()
        self.assertEqual(list(students), ["ann", "bob"])
        texts = {number: item.content for number, item in students["ann"].files.items()}
        self.assertEqual(texts, {"01.1": b"a", "04.2": b"b"})
        self.assertEqual(students["bob"].problems, ["04.2 fullest_bin: missing."])

    def test_names_that_platforms_make(self):
        self.write(f"smithjohn_12345_67890_{SAXPY}")
        self.write(f"doejane_LATE_222_333_{BIN}")
        self.write("leekim_44_55_01_saxpy-1.cu")
        self.write(f"Ann Lee_777_assignsubmission_file_/{SAXPY}")
        students = self.students()
        self.assertEqual(list(students), ["Ann Lee", "doejane", "leekim", "smithjohn"])
        self.assertIn("01.1", students["leekim"].files)
        self.assertIn("04.2", students["doejane"].files)
        missing = {
            name: ["04.2 fullest_bin: missing."] for name in ("Ann Lee", "leekim", "smithjohn")
        }
        late = f"04.2 fullest_bin: late, as the name of doejane_LATE_222_333_{BIN} says."
        for name, student in students.items():
            self.assertEqual(student.problems, missing.get(name, ["01.1 saxpy: missing.", late]))
            self.assertEqual(student.is_late, name == "doejane", name)

    def test_doubled_misnamed_and_foreign_files_are_listed(self):
        self.write(f"ann/first/{SAXPY}", "old", 1000)
        self.write(f"ann/second/{SAXPY}", "new", 2000)
        self.write("ann/Fullest Bin (final).cu", "b")
        self.write("ann/other.cu", "c")
        self.write("notes.txt", "d")
        found = self.found_students()
        ann = found.students[0]
        self.assertEqual(ann.files["01.1"].content, b"new")
        self.assertEqual(ann.files["04.2"].content, b"b")
        words = " ".join(ann.problems)
        self.assertIn("doubled; the newest, ann/second/01_saxpy.cu, is graded", words)
        self.assertIn("Fullest Bin (final).cu is taken as 04_fullest_bin.cu: misnamed", words)
        self.assertIn("No file of these exercises, and not graded: ann/other.cu.", words)
        self.assertEqual(len(found.problems), 1)
        self.assertIn("notes.txt: whose it is", found.problems[0])

    def test_nothing_that_may_be_work_is_passed_over(self):
        self.write(f"ann/{SAXPY}", "right", 1000)
        self.write(f"ann/._{SAXPY}", "of macOS", 1001)
        self.write("bob/01_saxpy.CU")
        for name in ("01_saxpy.cpp", "01_saxpy.txt", "01_saxpy.cu.orig", ".01_saxpy.cu"):
            self.write(f"cy/{name}")
        self.write("cy/work.zip")
        for n in range(12):
            self.write(f"di/notes{n:02}.txt")
        self.write("eve/x.txt")
        (self.folder / "class/eve/work").symlink_to(self.folder)
        (self.folder / "class/fay").symlink_to(self.folder / "class/ann")
        students = self.students()
        self.assertEqual(students["ann"].files["01.1"].content, b"right")
        self.assertEqual(students["ann"].problems, ["04.2 fullest_bin: missing."])
        self.assertEqual(students["bob"].problems, ["04.2 fullest_bin: missing."])
        self.assertEqual(students["cy"].files, {})
        self.assertEqual(
            students["cy"].problems[:-2],
            [
                f"cy/{name} may be meant for 01_saxpy.cu, and is not named like it; not graded."
                for name in (".01_saxpy.cu", "01_saxpy.cpp", "01_saxpy.cu.orig", "01_saxpy.txt")
            ]
            + ["cy/work.zip is an archive, and not unpacked."],
        )
        self.assertIn("not graded: di/notes00.txt, ", students["di"].problems[0])
        self.assertIn("di/notes09.txt and 2 more.", students["di"].problems[0])
        self.assertEqual(students["eve"].problems[0], "eve/work/: it is a link, and not read.")
        self.assertEqual(students["fay"].problems[0], "fay/: it is a link, and not read.")

    def test_no_student_is_passed_over(self):
        self.write(f"ann/{SAXPY}")
        self.write(f"buildmaster/{SAXPY}")
        self.write(f"build/{SAXPY}")
        self.write(f".hidden/{SAXPY}")
        self.write(f"bob/build-cpu/{SAXPY}")
        self.write(f"bob/.old/{SAXPY}")
        self.write(f"bob/.git/{SAXPY}")
        self.write("bob/.DS_Store")
        self.write(".DS_Store")
        self.write(f".git/{SAXPY}")
        (self.folder / "class/zoe").mkdir()
        found = self.found_students()
        students = {student.name: student for student in found.students}
        self.assertEqual(list(students), ["ann", "bob", "build", "buildmaster", "zoe"])
        self.assertIn("01.1", students["build"].files)
        self.assertIn("01.1", students["buildmaster"].files)
        missing = ["01.1 saxpy: missing.", "04.2 fullest_bin: missing."]
        self.assertEqual(students["zoe"].problems, missing)
        self.assertEqual(
            students["bob"].problems,
            [
                "Hidden or made by a build, and not looked into: bob/.old/, bob/build-cpu/.",
                *missing,
            ],
        )
        self.assertEqual(found.problems, [".hidden/ is a hidden folder, and not looked into."])

    def test_students_of_one_name_stay_two(self):
        self.write(f"Kim Lee_111_assignsubmission_file_/{SAXPY}", "one", 1000)
        self.write("Kim Lee_111_assignsubmission_onlinetext_/onlinetext.html", "a word")
        self.write(f"Kim Lee_222_assignsubmission_file_/{SAXPY}", "two", 2000)
        students = self.students()
        texts = {name: student.files["01.1"].content for name, student in students.items()}
        self.assertEqual(texts, {"Kim Lee (111)": b"one", "Kim Lee (222)": b"two"})
        self.assertIn("onlinetext.html", students["Kim Lee (111)"].problems[0])
        self.assertEqual(students["Kim Lee (222)"].problems, ["04.2 fullest_bin: missing."])

    def test_one_students_folder_is_not_taken_for_the_whole_class(self):
        for paths in (
            [f"work/{SAXPY}"],
            ["saxpy.cu"],
            [f"first/{SAXPY}"],
            ["lab", "engine/command/errors.py", "chapters/benchmark.cu", "common/lab/lab.cuh"],
            [f"work/{SAXPY}", f"build/{SAXPY}"],
            [f"01_saxpy/{SAXPY}", f"04_fullest_bin/{BIN}"],
        ):
            with self.subTest(paths), tempfile.TemporaryDirectory() as folder:
                self.folder = pathlib.Path(folder)
                for path in paths:
                    self.write(f"ann/{path}")
                found = self.found_students()
                self.assertEqual([student.name for student in found.students], ["ann"])
                self.assertEqual(found.problems, [])

    def test_a_folder_around_all_students_is_taken_off(self):
        table = self.folder / "roster.csv"
        table.write_text("student\nann\n", encoding="utf-8")
        for paths, options, names, is_said in (
            ([f"ann/{SAXPY}", f"bob/{SAXPY}"], {}, ["ann", "bob"], True),
            ([f"buildmaster/{SAXPY}", "zoe/x.txt"], {}, ["buildmaster", "zoe"], True),
            ([f"Kim Lee_1_assignsubmission_file_/{SAXPY}"], {}, ["Kim Lee"], False),
            ([f"jane_12345_{SAXPY}"], {}, ["jane"], False),
            ([f"ann/{SAXPY}"], {"roster": read_roster(table)}, ["ann"], False),
        ):
            with self.subTest(paths), tempfile.TemporaryDirectory() as folder:
                self.folder = pathlib.Path(folder)
                self.write("grades.txt")
                for path in paths:
                    self.write(f"export/{path}")
                found = self.found_students(**options)
                self.assertEqual([student.name for student in found.students], names)
                said = [each for each in found.problems if "grades.txt" not in each]
                self.assertEqual(len(said), is_said, said)

    def test_of_a_copy_of_the_course_only_the_students_work_counts(self):
        paths = repository_files(EXERCISES, "Week 4", None, hints=True)
        for path in paths:
            self.write(f"ann/{path}")
        self.write(f"ann/work/{SAXPY}", "mine", 1000)
        self.write("ann/work/04_fullest_bin.svg", "a picture of lab's")
        self.write(f"ann/chapters/{BIN}", "misplaced")
        self.write("ann/extra.cu")
        (ann,) = self.found_students().students
        self.assertEqual(
            ann.problems, ["No file of these exercises, and not graded: ann/extra.cu."]
        )
        texts = {number: item.content for number, item in ann.files.items()}
        self.assertEqual(texts, {"01.1": b"mine", "04.2": b"misplaced"})

    def test_which_of_several_is_graded(self):
        for graded, others, reason in (
            ((SAXPY, 1000), [("saxpy_old.cu", 2000)], "the one with the right name"),
            ((f"work/{SAXPY}", 1000), [(SAXPY, 2000)], "the one in work"),
            ((f"b/{SAXPY}", 2000), [(f"c/{SAXPY}", 1000)], "the newest"),
            ((f"c/{SAXPY}", 1000), [(f"b/{SAXPY}", 1000)], "the last by its name"),
        ):
            with self.subTest(reason), tempfile.TemporaryDirectory() as folder:
                self.folder = pathlib.Path(folder)
                self.write("bob/x.txt")
                for path, when in [graded, *others]:
                    self.write(f"ann/{path}", path, when)
                ann = self.students()["ann"]
                self.assertEqual(ann.files["01.1"].content, graded[0].encode())
                self.assertNotIn("misnamed", " ".join(ann.problems))
                self.assertIn(
                    f"01.1 saxpy: doubled; {reason}, ann/{graded[0]}, is graded, and not "
                    f"ann/{others[0][0]}.",
                    ann.problems,
                )

    def test_late_is_by_the_files_time(self):
        self.write(f"ann/{SAXPY}", when=1000)
        self.write(f"bob/{SAXPY}", when=3000)
        students = self.students(due=2000)
        self.assertFalse(students["ann"].is_late)
        self.assertTrue(students["bob"].is_late)
        self.assertIn("by the file's time", " ".join(students["bob"].problems))
        self.assertIn("318857-05-", shown_time(10**13))  # a file may claim to be of that year

    def test_a_time_without_a_zone_is_this_machines_and_a_day_lasts_until_its_end(self):
        self.assertEqual(time_of("2026-12-01T22:59Z"), 1796165940)
        self.assertEqual(time_of("2026-12-01T22:59+00:00"), 1796165940)
        day = datetime.datetime(2026, 12, 1, 23, 59, 59, 999999)
        self.assertEqual(time_of("2026-12-01"), day.timestamp())
        self.assertEqual(
            time_of("2026-12-01T23:59"), day.replace(second=0, microsecond=0).timestamp()
        )
        self.assertIsNone(time_of("tomorrow"))

    def test_the_roster_says_what_is_late_rather_than_the_file(self):
        for name, when in (("ann", 1000), ("bob", 3000), ("cy", 1000), ("di", 9000)):
            self.write(f"{name}/{SAXPY}", when=when)
        table = self.folder / "roster.csv"
        table.write_text(
            "student,submitted at\nann,\nbob,\ncy,1970-01-01T00:50Z\ndi,1970-01-01T00:30Z\n",
            encoding="utf-8",
        )
        students = self.students(due=2000, roster=read_roster(table))
        late = {name for name, student in students.items() if student.is_late}
        self.assertEqual(late, {"bob", "cy"})
        self.assertIn("by the file's time.", " ".join(students["bob"].problems))
        self.assertRegex(
            " ".join(students["cy"].problems), r"late, 19[-\d]+ [:\d]+ by the roster\."
        )

    def test_a_time_that_is_none_in_the_roster_is_refused(self):
        table = self.folder / "roster.csv"
        table.write_text("student;submitted at\nann;yesterday\n", encoding="utf-8")
        with self.assertRaisesRegex(CommandError, "ann has yesterday as the time in the column"):
            read_roster(table)

    @unittest.skipUnless(real_sandboxes(), "a student's repository is read in a sandbox only")
    def test_late_is_by_the_commits_time_and_git_runs_nothing_outside_the_sandbox(self):
        file = self.write(f"ann/{SAXPY}", when=1_900_000_000)
        place, mark = file.parent, self.folder / "ran"
        when = "2001-01-01T00:00:00 +0000"
        environment = {
            **os.environ, "GIT_COMMITTER_DATE": when, "GIT_AUTHOR_DATE": when, "HOME": str(self.folder),
        }  # fmt: skip
        who = ["-c", "user.name=a", "-c", "user.email=a@b"]
        for words in (["init", "-q"], ["add", "."], [*who, "commit", "-q", "-m", "done"]):
            subprocess.run(["git", *words], cwd=place, env=environment, check=True)
        # A program that git log starts if it shows the signature of a commit that seems to have one.
        self.folder.chmod(
            0o777
        )  # root's submissions run as another user, who may leave the mark too
        program = self.folder / "forged_gpg"
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
        self.assertTrue(mark.exists(), "nothing would have run anyway")
        mark.unlink()
        for kind in real_sandboxes():  # even if it asks Git for signatures
            with self.subTest(kind), mock.patch.object(submissions, "GIT_SETTINGS", ()):
                self.students(due=1_500_000_000, sandbox=Sandbox(kind))
                self.assertFalse(mark.exists())
        for kind in (*real_sandboxes(), NONE):
            with self.subTest(kind):
                student = self.students(due=1_500_000_000, sandbox=Sandbox(kind))["ann"]
                self.assertEqual(student.is_late, kind == NONE, student.problems)
                self.assertFalse(mark.exists())
        self.assertIn("by the file's time", " ".join(student.problems))  # Git is not asked at all

    @unittest.skipUnless(real_sandboxes(), "a student's repository is read in a sandbox only")
    def test_a_repository_around_the_submissions_says_nothing_about_them(self):
        place = self.write(f"ann/{SAXPY}", when=1000).parent.parent
        who = ["-c", "user.name=a", "-c", "user.email=a@b"]
        for words in (["init", "-q"], ["add", "."], [*who, "commit", "-q", "-m", "done"]):
            subprocess.run(["git", *words], cwd=place, check=True)
        student = self.students(due=2000, sandbox=Sandbox(real_sandboxes()[0]))["ann"]
        self.assertFalse(student.is_late, student.problems)

    def test_a_roster_gives_names_and_lists_who_is_missing(self):
        self.write(f"repository-of-annlee/{SAXPY}")
        self.write(f"x_777_{SAXPY}")
        self.write(f"stranger/{SAXPY}")
        table = self.folder / "roster.csv"
        table.write_text(
            "id,student,repository\n1,Ann Lee,repository-of-annlee\n777,Bo,\n3,Cy,\n",
            encoding="utf-8",
        )
        students = self.students(roster=read_roster(table))
        self.assertEqual(list(students), ["Ann Lee", "Bo", "Cy", "stranger"])
        self.assertEqual(len(students["Cy"].problems), 2)
        self.assertIn("Not in the roster.", students["stranger"].problems)
        for text in ("", "student\nA\nA\n"):
            table.write_text(text, encoding="utf-8")
            with self.assertRaisesRegex(CommandError, "--roster"):
                read_roster(table)

    def test_a_file_stays_its_owners_whoever_else_is_in_its_uploaded_name(self):
        """On each platform's form, with and without a file of the owner's and of the other one's."""
        table = self.folder / "roster.csv"
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
            with self.subTest(name), tempfile.TemporaryDirectory(dir=self.folder) as folder:
                for path in filter(None, (name.format(uploaded), of_ann, of_bo)):
                    file = pathlib.Path(folder, path)
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_text(path, encoding="utf-8")
                found = self.found_students(pathlib.Path(folder).name, roster=roster).students
                ann, bo = found
                self.assertEqual((ann.name, bo.name), ("Ann", "Bo"))
                self.assertEqual(ann.files["01.1"].name, of_ann)
                self.assertFalse(any("look whose" in line for line in ann.problems), ann.problems)
                self.assertEqual(bo.files["01.1"].name, of_bo or name.format(uploaded))
                said = f"{name.format(uploaded)} was handed in by Bo, and has Ann in its name"
                self.assertTrue(any(said in line for line in bo.problems), bo.problems)
                self.assertEqual(bo.files["01.1"].is_late, "LATE" in name and not of_bo)

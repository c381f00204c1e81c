# SPDX-License-Identifier: MIT
"""How folders and zips of submissions are read: whatever is in them, nobody in them gets lost."""

import errno
import os
import time
import zipfile
from unittest import mock

from handed_class import BIN, EXERCISES, SAXPY, HandedClass

from engine.command.errors import CommandError
from grader.reports.marks import marks_of, write_marks


class HandedFilesTest(HandedClass):
    def test_a_zip_with_a_folder_around_all(self):
        with zipfile.ZipFile(self.folder / "all.zip", "w") as packed:
            packed.writestr(f"export/ann/{SAXPY}", "a")
            packed.writestr(f"export/bob/{SAXPY}", "b")
            packed.writestr("__MACOSX/export/ann/x.cu", "c")
        found = self.found_students("all.zip")
        self.assertEqual([student.name for student in found.students], ["ann", "bob"])
        with self.assertRaisesRegex(CommandError, "no zip that can be read"):
            (self.folder / "bad.zip").write_text("no zip", encoding="utf-8")
            self.found_students("bad.zip")

    def test_a_folder_that_cant_be_read_is_listed(self):
        self.write(f"ann/{SAXPY}")
        self.write(f"bob/{SAXPY}")
        really = os.scandir

        def scandir(path):
            if os.fspath(path).endswith("bob"):
                raise PermissionError(errno.EACCES, "Permission denied", os.fspath(path))
            return really(path)

        with mock.patch("os.scandir", scandir):
            students = self.students()
        self.assertEqual(list(students), ["ann", "bob"])
        self.assertIn(
            "bob/: this folder can't be read: Permission denied.", students["bob"].problems
        )
        denied = PermissionError(errno.EACCES, "Permission denied", str(self.folder / "class"))
        with (
            mock.patch("os.scandir", side_effect=denied),
            self.assertRaisesRegex(CommandError, "class can't be read: Permission denied"),
        ):
            self.found_students()

    def test_links_pipes_and_large_files_are_not_read(self):
        secret = self.folder / "secret"
        secret.write_text("secret", encoding="utf-8")
        self.write("ann/x.txt")
        (self.folder / "class/ann" / SAXPY).symlink_to(secret)
        (self.folder / "class/ann" / BIN).write_bytes(b"x" * (2 << 20))
        self.write("bob/x.txt")
        os.mkfifo(self.folder / "class/bob" / SAXPY)
        students = self.students()
        self.assertEqual(students["ann"].files, {})
        words = " ".join(students["ann"].problems)
        self.assertIn("it is a link, and not read", words)
        self.assertIn("larger than 1 MiB", words)
        self.assertIn("no regular file", " ".join(students["bob"].problems))

    def test_names_in_other_encodings_break_nothing(self):
        for name in (b"M\xfcller", b"M\xf6ller", b"new\nline"):
            folder = os.fsencode(self.folder / "class") + b"/" + name
            os.makedirs(folder)
            with open(os.path.join(folder, SAXPY.encode()), "wb") as file:
                file.write(name)
        found = self.found_students()
        texts = {student.name: student.files["01.1"].content for student in found.students}
        self.assertEqual(
            texts,
            {
                r"M\xfcller": b"M\xfcller",
                r"M\xf6ller": b"M\xf6ller",
                r"new\nline": b"new\nline",
            },
        )
        write_marks(marks_of(found, {}, {}, EXERCISES, "none"), self.folder)

    def zipped(self, change, *members):
        """The submissions in a zip whose bytes were changed."""
        file = self.folder / "all.zip"
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
            for path, text in members:
                packed.writestr(path, text)
        file.write_bytes(change(file.read_bytes()))
        return self.found_students("all.zip")

    def test_members_of_a_zip_that_others_would_drop(self):
        members = [
            (f"./ann/{SAXPY}", "a"),
            (f"bob\\{SAXPY}", "b"),
            ("zoe/", ""),
            ("__MACOSX/x", ""),
        ]
        found = self.zipped(bytes, *members)
        self.assertEqual([student.name for student in found.students], ["ann", "bob", "zoe"])
        self.assertEqual(found.students[0].files["01.1"].content, b"a")
        self.assertEqual(found.students[1].files["01.1"].content, b"b")

    def test_a_damaged_member_does_not_end_the_run(self):
        def damage(content):
            place = content.find(SAXPY.encode()) + len(SAXPY)
            return content[:place] + b"\xff\xff" + content[place + 2 :]

        members = [(f"ann/{SAXPY}", "abcd" * 999), (f"bob/{SAXPY}", "b")]
        ann, bob = self.zipped(damage, *members).students
        self.assertIn("it can't be unpacked", ann.problems[0])
        self.assertIn("01.1", bob.files)

    def test_names_in_a_zip(self):
        name, members = "zo\u00eb", [(f"zo\u00eb/{SAXPY}", "a"), (f"bob/{SAXPY}", "b")]
        with self.assertRaisesRegex(CommandError, "a name in it is not in UTF-8; unpack it"):
            self.zipped(lambda content: content.replace(name.encode(), b"zo\xff\xfe"), *members)

        def without_flag(content):  # as macOS makes it
            return content.replace(b"\x00\x08\x08\x00", b"\x00\x00\x08\x00")

        found = self.zipped(without_flag, *members)
        self.assertEqual([student.name for student in found.students], ["bob", name])

    def test_times_of_a_zip_are_those_of_its_members(self):
        with zipfile.ZipFile(self.folder / "all.zip", "w") as packed:
            packed.writestr(zipfile.ZipInfo(f"ann/{SAXPY}", (2020, 1, 2, 3, 4, 6)), "a")
            packed.writestr(zipfile.ZipInfo(f"bob/{SAXPY}", (2020, 1, 2, 3, 4, 6)), "a")
        handed = self.found_students("all.zip").students[0].files["01.1"]
        self.assertEqual(time.localtime(handed.time)[:6], (2020, 1, 2, 3, 4, 6))

# SPDX-License-Identifier: MIT
"""A student's files: nothing of theirs is lost, and their state is that of the files."""

import os
import unittest
from unittest import mock

from engine.command.errors import CommandError
from grader.exercises import solutions
from grader.exercises.catalogue import all_exercises
from grader.exercises.solutions import starter
from grader.exercises.work_folder import BEGUN, CHECKED, DONE, NOT_BEGUN, WorkFolder
from test_setup import temporary_folder

EXERCISE = all_exercises()[0]


class WorkFolderTest(unittest.TestCase):
    def setUp(self):
        self.work = WorkFolder(temporary_folder(self) / "work")
        self.file = self.work.file_of(EXERCISE)

    def test_a_file_is_begun_once(self):
        self.assertTrue(self.work.begin(EXERCISE))
        self.assertEqual(self.file.read_text(encoding="utf-8"), starter(EXERCISE))
        self.file.write_text("mine\n", encoding="utf-8")
        self.assertFalse(self.work.begin(EXERCISE))
        self.assertEqual(self.file.read_text(encoding="utf-8"), "mine\n")

    def test_the_state_is_that_of_the_content(self):
        self.assertEqual(self.work.state(EXERCISE), NOT_BEGUN)
        self.work.begin(EXERCISE)
        self.assertEqual(self.work.state(EXERCISE), NOT_BEGUN)
        self.file.write_bytes(b"one\n")
        self.assertEqual(self.work.state(EXERCISE), BEGUN)
        self.work.remember_check(EXERCISE, b"one\n", is_solved=False)
        self.assertEqual(self.work.state(EXERCISE), CHECKED)
        self.file.write_bytes(b"two\n")
        self.assertEqual(self.work.state(EXERCISE), BEGUN)
        self.work.remember_check(EXERCISE, b"two\n", is_solved=True)
        self.assertEqual(self.work.state(EXERCISE), DONE)
        self.file.unlink()
        self.assertEqual(self.work.state(EXERCISE), NOT_BEGUN)
        self.assertTrue(self.work.was_solved(EXERCISE))

    def test_notes_that_are_no_notes_are_none(self):
        self.work.remember_check(EXERCISE, b"", is_solved=True)
        (note,) = (self.work.folder / ".checked").iterdir()
        for content in (b"", b"[1]", b"\xff{"):
            note.write_bytes(content)
            self.assertFalse(self.work.was_solved(EXERCISE))

    def test_reset_keeps_the_text_under_another_name_each_time(self):
        texts = {b"first \xff\n", b"second\n"}
        for text in texts:
            self.file.parent.mkdir(exist_ok=True)
            self.file.write_bytes(text)
            backup = self.work.reset(EXERCISE)
            self.assertEqual(backup.read_bytes(), text)
            self.assertEqual(self.file.read_text(encoding="utf-8"), starter(EXERCISE))
        kept = {path.read_bytes() for path in self.work.folder.glob("*.cu")}
        self.assertLess(texts, kept)

    def test_a_reset_that_is_ended_anywhere_loses_nothing(self):
        """Each call that changes the disk fails once: the text is in some file all the same."""
        calls = ["os.fsync", "os.link", "os.chmod", "pathlib.Path.replace", "tempfile.mkstemp"]
        for call in calls:
            with self.subTest(call):
                self.file.parent.mkdir(exist_ok=True)
                self.file.write_bytes(b"mine\n")
                full = mock.patch(call, side_effect=OSError(28, "No space left on device"))
                with full, self.assertRaises(OSError):
                    self.work.reset(EXERCISE)
                self.assertEqual(self.file.read_bytes(), b"mine\n")

    def test_no_link_is_written_through(self):
        self.work.folder.mkdir(exist_ok=True)
        other = self.work.folder / "mine.txt"
        other.write_bytes(b"mine\n")
        self.file.symlink_to(other)
        with self.assertRaisesRegex(
            CommandError, "is a link to .*mine.txt, and lab writes through"
        ):
            self.work.reset(EXERCISE)
        self.file.unlink()
        self.file.symlink_to("not_there")
        for write in (self.work.begin, self.work.reset, self.work.require_place_of):
            with self.assertRaisesRegex(CommandError, "is a link to not_there"):
                write(EXERCISE)
        self.assertEqual(other.read_bytes(), b"mine\n")
        self.assertEqual(len(os.listdir(self.work.folder)), 2)

    def test_hints_come_one_by_one_and_the_last_stays(self):
        self.assertEqual([self.work.next_hint(EXERCISE, 3) for _ in range(4)], [0, 1, 2, 2])

    def test_a_file_that_comes_up_meanwhile_is_not_overwritten(self):
        def appear(text, name="the solution"):
            del name
            self.file.write_bytes(b"mine\n")
            return text

        self.work.folder.mkdir()
        with (
            mock.patch.object(solutions, "starter_of", appear),
            self.assertRaises(FileExistsError),
        ):
            self.work.begin(EXERCISE)
        self.assertEqual(self.file.read_bytes(), b"mine\n")

# SPDX-License-Identifier: MIT
"""The seed of a grading run: it is written whole or not at all, and no other is taken for one."""

import pathlib
import resource
import tempfile
import unittest

from engine.command.errors import CommandError
from grader.submissions.run_folder import course_digest, opened_run
from test_setup import temporary_folder

CONDITIONS = ("none", "cpu")


class SeedTest(unittest.TestCase):
    def setUp(self):
        self.folder = temporary_folder(self) / "output"

    def opened(self, seed=None):
        return opened_run(self.folder, seed, CONDITIONS)

    def test_a_disk_that_is_full_leaves_no_seed_that_could_be_guessed(self):
        most = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, most[1]))  # no file can be written
        try:
            with self.assertRaisesRegex(CommandError, "seed can't be written: File too large"):
                self.opened()
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, most)
        run = self.opened()
        self.assertRegex(run.seed, "^[0-9a-f]{32}$")
        self.assertEqual(self.opened().seed, run.seed)
        self.assertEqual((self.folder / "seed").stat().st_mode & 0o777, 0o600)

    def test_what_a_killed_call_has_left_is_no_seed(self):
        self.folder.mkdir()
        (self.folder / "seedabc123").write_text("", encoding="utf-8")
        self.assertRegex(self.opened().seed, "^[0-9a-f]{32}$")

    def test_a_file_without_a_seed_is_refused(self):
        self.folder.mkdir()
        for content in (b"", b"\n", b"a b\n", b"\xff\n", b"x" * 65):
            (self.folder / "seed").write_bytes(content)
            with (
                self.subTest(content),
                self.assertRaisesRegex(CommandError, "no seed|can't be read"),
            ):
                self.opened()

    def test_a_folder_of_somebody_elses_stays_as_it_is(self):
        self.folder.mkdir(mode=0o755)
        self.folder.chmod(0o755)
        (self.folder / "thesis.tex").touch()
        with self.assertRaisesRegex(CommandError, "is not empty"):
            self.opened()
        self.assertEqual(self.folder.stat().st_mode & 0o777, 0o755)


class CourseDigestTest(unittest.TestCase):
    def test_it_changes_with_the_files_that_judge_and_that_are_compiled(self):
        names = ("common/a.hpp", "lab_tool/b.py", "chapters/01/c.cuh", "chapters/01/README.md")
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name in names:
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text("before", encoding="utf-8")
            seen = [course_digest(root)]
            for name in names:
                (root / name).write_text("after", encoding="utf-8")
                course_digest.cache_clear()  # a run reads them once
                seen.append(course_digest(root))
        self.assertEqual([a != b for a, b in zip(seen, seen[1:])], [True, True, True, False])

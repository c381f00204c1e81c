# SPDX-License-Identifier: MIT
"""The seed of a grading run: it is written whole or not at all, and no other is taken for one."""

import pathlib
import resource
import tempfile
import unittest

from lab_tool.errors import LabError
from lab_tool.grading.run_folder import opened_run

CONDITIONS = ("none", "cpu")


class SeedTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name, "output")

    def opened(self, seed=None):
        return opened_run(self.folder, seed, CONDITIONS)

    def test_a_disk_that_is_full_leaves_no_seed_that_could_be_guessed(self):
        most = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, most[1]))  # no file can be written
        try:
            with self.assertRaisesRegex(LabError, "seed can't be written: File too large"):
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
            with self.subTest(content), self.assertRaisesRegex(LabError, "no seed|can't be read"):
                self.opened()


if __name__ == "__main__":
    unittest.main()

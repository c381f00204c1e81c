# SPDX-License-Identifier: MIT
"""Gives the chapters' programs wrong input: one clear sentence, the right exit code, no file."""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import python_test

BUILD = pathlib.Path(os.environ["LAB_BUILD_FOLDER"])
ROOT = pathlib.Path(os.environ["LAB_SOURCE_ROOT"])
NO_DEVICE = 77


def programs():
    table = (ROOT / "chapters/meson.build").read_text(encoding="utf-8")
    rows = re.findall(r"^  '(\d\d_\w+)': '(\w+)',$", table, re.M)
    return [BUILD / "chapters" / folder / program for folder, program in rows]


def run(program, *options, folder=None):
    return subprocess.run(
        [program, *options], cwd=folder, capture_output=True, text=True, check=False, timeout=300
    )


class programs_test(unittest.TestCase):
    def refuses(self, code, *options, names):
        """Every program says one sentence that contains `names`, exits with `code`, prints no report."""
        for program in programs():
            with (
                self.subTest(program=program.name, options=options),
                tempfile.TemporaryDirectory() as folder,
            ):
                result = run(program, *options, folder=folder)
                if result.returncode == NO_DEVICE:
                    self.skipTest(result.stderr)
                self.assertEqual(result.returncode, code, result)
                self.assertEqual(result.stdout, "")
                self.assertRegex(result.stderr, rf"\A{program.name}: [^\n]+\n\Z")
                self.assertIn(names, result.stderr)
                self.assertEqual(os.listdir(folder), [])

    def test_there_are_programs(self):
        self.assertGreaterEqual(len(programs()), 2)

    def test_unknown_option(self):
        self.refuses(2, "--thread", "128", names="--thread")

    def test_stray_word(self):
        self.refuses(2, "128", names="128")

    def test_option_without_value(self):
        self.refuses(2, "--threads", names="--threads")

    def test_threads_out_of_range(self):
        for threads in ("0", "-1", "1025", "2048", "12abc", "", "1.5", "99999999999999999999"):
            self.refuses(2, "--threads", threads, names="--threads")

    def test_elements_out_of_range(self):
        for elements in ("1e30", "-1", "many", "2^64", "18446744073709551616"):
            self.refuses(2, "--elements", elements, names="--elements")

    def test_blocks_out_of_range(self):
        for blocks in ("0", "-1", "2147483648"):
            self.refuses(2, "--blocks", blocks, names="--blocks")

    def test_repeat_out_of_range(self):
        for repeat in ("0", "-1"):
            self.refuses(2, "--repeat", repeat, names="--repeat")

    def test_unknown_variant(self):
        self.refuses(2, "--variant", "fastest", names="fastest")

    def test_more_memory_than_there_is(self):
        # 2^40 elements of 4 bytes and more: 4 TiB.
        self.refuses(1, "--elements", "2^40", "--json", "report.json", names="memory")

    def test_unwritable_json(self):
        self.refuses(2, "--json", "no/such/folder/report.json", names="no/such/folder")
        self.refuses(2, "--json", "/dev/null/report.json", names="/dev/null/report.json")

    def test_wrong_use_leaves_an_old_json_file_alone(self):
        for program in programs():
            with self.subTest(program=program.name), tempfile.TemporaryDirectory() as folder:
                old = pathlib.Path(folder, "report.json")
                old.write_text("old", encoding="utf-8")
                run(program, "--json", "report.json", "--threads", "0", folder=folder)
                self.assertEqual(old.read_text(encoding="utf-8"), "old")

    def test_help(self):
        for program in programs():
            with self.subTest(program=program.name):
                result = run(program, "--help")
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                for option in (
                    "--elements",
                    "--threads",
                    "--blocks",
                    "--repeat",
                    "--seed",
                    "--variant",
                    "--json",
                ):
                    self.assertIn(option, result.stdout)

    def test_json_report(self):
        for program in programs():
            with self.subTest(program=program.name), tempfile.TemporaryDirectory() as folder:
                result = run(
                    program,
                    "--elements",
                    "1000",
                    "--repeat",
                    "1",
                    "--json",
                    "report.json",
                    folder=folder,
                )
                if result.returncode == NO_DEVICE:
                    self.skipTest(result.stderr)
                self.assertEqual(result.returncode, 0, result)
                self.assertEqual(os.listdir(folder), ["report.json"])
                json.loads(pathlib.Path(folder, "report.json").read_text(encoding="utf-8"))


if __name__ == "__main__":
    python_test.main()

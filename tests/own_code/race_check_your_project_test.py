# SPDX-License-Identifier: MIT
"""What docs/race-check-your-project.md promises: a project of somebody else's is checked for races, by
Meson, without a build system, and by the commands of a compiler alone."""

import os
import shutil
import sys
import tempfile
import unittest

from other_projects_test import MESON, NAME

from own_code import SETTINGS, needs_cpu_backend, needs_racecheck, run
from test_setup import temporary_folder
from this_build import ROOT

PROJECT = ROOT / "tests/own_code/checked_project"
LINE_OF_THE_RACE = "include/sum.cuh:11"  # *sum = *sum + mine;


@needs_cpu_backend
@needs_racecheck
class RaceCheckYourProject(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cache = tempfile.TemporaryDirectory()  # the engine is built in it once
        cls.addClassCleanup(cache.cleanup)
        cls.cache = cache.name

    def setUp(self):
        self.folder = temporary_folder(self)
        self.project = self.folder / "project"
        shutil.copytree(PROJECT, self.project)
        self.environment = {
            **os.environ,
            "CXX": " ".join(SETTINGS["cxx"].split("\n")),
            "XDG_CACHE_HOME": self.cache,
        }

    def run_in_project(self, *command):
        return run(command, self.project, **self.environment)

    def test_by_meson(self):
        (self.project / "subprojects").mkdir()
        (self.project / "subprojects" / NAME).symlink_to(ROOT, target_is_directory=True)
        code, printed = self.run_in_project(MESON, "setup", "-Doptimization=0", "build")
        self.assertEqual(code, 0, printed)
        test = (MESON, "test", "-C", "build", "--print-errorlogs")
        code, printed = self.run_in_project(*test)
        self.assertEqual(code, 0, printed)
        code, printed = self.run_in_project(
            MESON, "configure", "build", "-Ddefinitions=-DWITHOUT_ATOMIC"
        )
        self.assertEqual(code, 0, printed)
        code, printed = self.run_in_project(*test)
        self.assertEqual(code, 1, printed)
        self.assertIn("race (managed memory) on allocation 1", printed)
        self.assertIn(LINE_OF_THE_RACE, printed)
        check = (sys.executable, ROOT / "engine/cudacheck", "check")
        code, printed = self.run_in_project(*check, "--program", "build/sum_racecheck")
        self.assertEqual(code, 1, printed)
        self.assertIn("20 schedules", printed)

    def test_without_a_build_system(self):
        check = (sys.executable, ROOT / "engine/cudacheck", "check", "sum.cu")
        code, printed = self.run_in_project(*check, "--include", "include")
        self.assertEqual(code, 0, printed)
        self.assertRegex(printed, r"Next: \S*cudacheck run sum.cu --include include\n")
        code, printed = self.run_in_project(*check, "--include", "include", "-DWITHOUT_ATOMIC")
        self.assertEqual(code, 1, printed)
        self.assertIn("race (managed memory) on allocation 1", printed)
        self.assertIn(LINE_OF_THE_RACE, printed)
        self.assertRegex(printed, r"Next: \S*cudacheck check sum.cu ")

    def test_by_the_printed_commands_alone(self):
        check = (sys.executable, ROOT / "engine/cudacheck", "check", "sum.cu", "--verbose")
        words = ("--include", "include", "-DWITHOUT_ATOMIC")
        code, printed = self.run_in_project(*check, *words)
        self.assertEqual(code, 1, printed)
        commands = [line[2:] for line in printed.splitlines() if line.startswith("$ ")]
        *_, translate, compile, link, program = commands  # before these the engine is built
        (self.project / program).unlink()
        for command in (translate, compile, link):
            code, printed = self.run_in_project("sh", "-c", command)
            self.assertEqual((code, printed), (0, ""), command)
        code, printed = self.run_in_project(self.project / program)
        self.assertEqual(code, 1, printed)
        self.assertIn("race (managed memory) on allocation 1", printed)
        self.assertIn(LINE_OF_THE_RACE, printed)

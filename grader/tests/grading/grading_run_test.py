# SPDX-License-Identifier: MIT
"""What a whole run depends on: how much is judged at once, and whether there is a GPU."""

import argparse
import contextlib
import io
import os
import pathlib
import types
import unittest
from unittest import mock

from grading_runs import (
    BUILDS,
    CAN_GRADE,
    cases_with_work,
    real_sandboxes,
    solution_text,
    words_of,
    written,
)

from engine.command.build_folder import BuildFolder
from engine.command.errors import CommandError
from grader.exercises.catalogue import chosen_exercise
from grader.judging.submission import INTERNAL, judge
from grader.sandbox.sandbox import Sandbox
from grader.sandbox.sandboxed_run import SandboxedRun
from grader.submissions.grading_run import Tools, at_once, judge_unit, measured_cases
from lab_tool.builds import program_builds

NO_DEVICE = SandboxedRun(77, None, None, "")


class PlayedGpu(Sandbox):
    """Programs for a GPU run on the CPU backend; the first of them end as if there were none."""

    def __init__(self, absent):
        super().__init__(real_sandboxes()[0])
        self.absent = absent  # in so many runs

    def run(self, command, access, environment=None, limits=None, given=None):
        if access.gpu and self.absent > 0:
            self.absent -= 1
            return NO_DEVICE
        return super().run(command, access._replace(gpu=False), environment, limits, given)


class JobsTest(unittest.TestCase):
    def test_no_more_are_judged_at_once_than_keep_their_time(self):
        with (
            mock.patch.object(os, "sched_getaffinity", lambda _: {0, 1}),
            contextlib.redirect_stderr(io.StringIO()) as said,
        ):
            self.assertEqual(at_once(8), 8)
            self.assertEqual(said.getvalue(), "")
            self.assertEqual(at_once(1024), 8)
        self.assertIn("--jobs 1024: 8 are judged at once, 4 per processor.", said.getvalue())


@unittest.skipUnless(CAN_GRADE and real_sandboxes(), "grading takes the race checker and a sandbox")
class FullDiskTest(unittest.TestCase):
    def test_what_a_full_disk_has_broken_is_judged_again(self):
        """A compiler that can't write its output fails as it does over a mistake of the student's."""
        cases, kept = cases_with_work("01.1"), []
        with (
            written("01.1", solution_text("01.1")) as file,
            contextlib.redirect_stderr(io.StringIO()),
        ):
            run = types.SimpleNamespace(source_of=lambda _: file, keep=lambda *of: kept.append(of))
            unit = types.SimpleNamespace(exercise=chosen_exercise("01.1"))
            tools = Tools(Sandbox(real_sandboxes()[0]), BUILDS)
            with mock.patch("grader.sandbox.sandbox.free_bytes", lambda _: 4096):
                found = judge_unit(tools, run, cases, unit)
            self.assertEqual((found.status, kept), (INTERNAL, []))
            self.assertEqual(judge_unit(tools, run, cases, unit).status, "OK")
            self.assertEqual(len(kept), 1)


class BuildFolderTest(unittest.TestCase):
    def test_on_a_gpu_the_folder_that_was_asked_for_is_still_known(self):
        arguments = argparse.Namespace(backend="cuda", build="build-mine", verbose=False)
        places = []

        def place(asked):
            places.append((asked.backend, asked.build))
            return BuildFolder(pathlib.Path(asked.build or "build-cpu"), {})

        with (
            mock.patch.object(program_builds, "configured", place),
            mock.patch.object(program_builds, "settings_of", lambda _: {"backend": "cuda"}),
            mock.patch.object(program_builds, "exercise_build", lambda folder, _: folder),
        ):
            builds = program_builds.exercise_builds(arguments, [])
        self.assertEqual(places, [("cuda", "build-mine"), ("cpu", None)])
        self.assertEqual(str(builds.gpu.folder), "build-mine")
        self.assertEqual((arguments.backend, arguments.build), ("cuda", "build-mine"))


@unittest.skipUnless(CAN_GRADE and real_sandboxes(), "grading takes the race checker and a sandbox")
class DeviceTest(unittest.TestCase):
    def setUp(self):
        self.builds = BUILDS._replace(gpu=BUILDS.cpu)

    def test_without_a_gpu_nothing_begins(self):
        class Run:
            seed = "any"

        with self.assertRaisesRegex(CommandError, "--backend cuda: There is no GPU"):
            measured_cases(Tools(PlayedGpu(9), self.builds), Run, [chosen_exercise("01.1")])

    def test_a_submission_that_ends_as_if_there_were_none_is_its_own_fault(self):
        with written("01.1", solution_text("01.1")) as file:
            found = judge(PlayedGpu(1), self.builds, cases_with_work("01.1"), file)
            self.assertEqual(found.status, "RE", words_of(found))
            self.assertIn("The program ended with 77.", words_of(found))
            failed = [row["name"] for row in found.parts[0]["cases"] if not row["passed"]]
            self.assertEqual(len(failed), 1, failed)

    def test_a_gpu_that_goes_away_ends_the_run(self):
        with (
            written("01.1", solution_text("01.1")) as file,
            self.assertRaisesRegex(CommandError, "--backend cuda: There is no GPU"),
        ):
            judge(PlayedGpu(9), self.builds, cases_with_work("01.1"), file)

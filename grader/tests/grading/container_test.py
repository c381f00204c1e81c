# SPDX-License-Identifier: MIT
"""Grading as root where root has only the rights that it has in a container."""

import itertools
import os
import shutil
import sys
import unittest
from unittest import mock

from grading_runs import CAN_GRADE, cases_with_work, judged, real_sandboxes, solution_text

from grader.sandbox.sandbox import LANDLOCK, NONE, Sandbox
from grader.sandbox.sandboxed_run import Access, SandboxedRun, SandboxFailed
from test_setup import captured
from this_build import ROOT

# What is left to root in a container that nobody has given more; above all, not to read closed folders.
RIGHTS = """chown dac_override fowner fsetid kill setgid setuid setpcap net_bind_service net_raw
    sys_chroot mknod audit_write setfcap"""
JUDGES = """
import os
import sys
from grading_runs import judged, solution_text, words_of
from grader.sandbox.sandbox import Sandbox, works
os.umask(0o077)  # with which whatever the grader makes is closed to others
assert works(sys.argv[1]), "it does not work"
found = judged("01.1", solution_text("01.1"), sys.argv[1])
print(found.status, found.points, words_of(found))
"""
IS_OPEN = all(path.stat().st_mode & 0o005 == 0o005 for path in (ROOT, *ROOT.parents))


@unittest.skipUnless(CAN_GRADE, "grading takes the race checker")
@unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv"), "only root can give up rights")
@unittest.skipUnless(IS_OPEN, "the course is where other users can't read it")
class ContainerTest(unittest.TestCase):
    def test_root_with_few_rights_gets_right_marks(self):
        rights = ",".join(["-all", *(f"+{name}" for name in RIGHTS.split())])
        command = ["setpriv", f"--bounding-set={rights}", "--inh-caps=-all", "--"]
        for kind in (LANDLOCK, NONE):
            with self.subTest(kind):
                run = captured(
                    [*command, sys.executable, "-c", JUDGES, kind],
                    timeout=300,
                    env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
                )
                self.assertEqual(run.returncode, 0, run.stderr)
                self.assertEqual(run.stdout.split()[:2], ["OK", "11"], run.stdout)

    def test_without_a_sandbox_roots_own_files_stay_closed(self):
        with Sandbox.folder() as work, Sandbox.folder() as folder:
            for name, mode in (("open", 0o644), ("closed", 0o600)):
                (folder / name).write_text(name, encoding="utf-8")
                (folder / name).chmod(mode)
            run = Sandbox(NONE).run(["cat", folder / "open", folder / "closed"], Access(work))
        self.assertEqual(run.code, 1)
        self.assertTrue(run.output.startswith("open"), run.output)
        self.assertIn("Permission denied", run.output)


@unittest.skipUnless(CAN_GRADE and real_sandboxes(), "grading takes the race checker and a sandbox")
class FailureTest(unittest.TestCase):
    def test_a_sandbox_that_fails_later_is_not_the_submissions_fault(self):
        cases_with_work("01.1")
        real = Sandbox.run
        for before in (0, 5):  # when it compiles, and when it runs
            runs = itertools.count()

            def run(*words, before=before, runs=runs, **names):
                if next(runs) < before:
                    return real(*words, **names)
                return SandboxedRun(1, None, None, "Creating new namespace failed", has_begun=False)

            with (
                self.subTest(before),
                mock.patch.object(Sandbox, "run", run),
                self.assertRaisesRegex(SandboxFailed, "could be run in the sandbox: Creating new"),
            ):
                judged("01.1", solution_text("01.1"))

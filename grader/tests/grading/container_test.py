# SPDX-License-Identifier: MIT
"""Grading as root where root has only the rights that it has in a container."""

import itertools
import os
import shutil
import sys
from unittest import mock

import pytest
from grading_runs import (
    CAN_GRADE,
    can_grade,
    cases_with_work,
    judged,
    solution_text,
)

from grader.sandbox.sandbox import LANDLOCK, NONE, Sandbox
from grader.sandbox.sandboxed_run import Access, SandboxedRun, SandboxFailed
from test_setup import captured
from this_build import ROOT

# What is left to root in a container without further rights; above all, not to read closed folders.
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


can_be_contained = pytest.mark.skipif(
    not (CAN_GRADE and os.geteuid() == 0 and shutil.which("setpriv") and IS_OPEN),
    reason="it takes the race checker, rights of root to give up, and a course that all can read",
)


@can_be_contained
@pytest.mark.parametrize("kind", [LANDLOCK, NONE])
def test_root_with_few_rights_gets_right_marks(kind):
    rights = ",".join(["-all", *(f"+{name}" for name in RIGHTS.split())])
    command = ["setpriv", f"--bounding-set={rights}", "--inh-caps=-all", "--"]
    run = captured(
        [*command, sys.executable, "-c", JUDGES, kind],
        timeout=300,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.split()[:2] == ["OK", "11"], run.stdout


@can_be_contained
def test_without_a_sandbox_roots_own_files_stay_closed():
    with Sandbox.folder() as work, Sandbox.folder() as folder:
        for name, mode in (("open", 0o644), ("closed", 0o600)):
            (folder / name).write_text(name, encoding="utf-8")
            (folder / name).chmod(mode)
        run = Sandbox(NONE).run(["cat", folder / "open", folder / "closed"], Access(work))
    assert run.code == 1
    assert run.output.startswith("open"), run.output
    assert "Permission denied" in run.output


@can_grade
def test_a_sandbox_that_fails_later_is_not_the_submissions_fault():
    cases_with_work("01.1")
    real = Sandbox.run
    for before in (0, 5):  # when it compiles, and when it runs
        runs = itertools.count()

        def run(*words, before=before, runs=runs, **names):
            if next(runs) < before:
                return real(*words, **names)
            return SandboxedRun(1, None, None, "Creating new namespace failed", has_begun=False)

        with (
            mock.patch.object(Sandbox, "run", run),
            pytest.raises(SandboxFailed, match="could be run in the sandbox: Creating new"),
        ):
            judged("01.1", solution_text("01.1"))

# SPDX-License-Identifier: MIT
"""The lessons' wrong programs are wrong in what they teach: a launch that is refused, they report."""

import re

import pytest

from lab_runs import lab
from this_build import BUILD, ROOT

PROGRAMS = sorted(ROOT.glob("chapters/*/naive_*.cu"))


def test_there_are_such_programs():
    assert len(PROGRAMS) >= 7


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
def test_a_refused_launch_is_reported(program, tmp_path):
    """As with a grid of no blocks here, it is on a GPU with a program for another architecture."""
    text, launches = re.subn(r"<<<[^,]+,", "<<<0,", program.read_text(encoding="utf-8"))
    assert launches == 1
    changed = tmp_path / program.name
    changed.write_text(text, encoding="utf-8")
    result = lab("run", "--build", str(BUILD), "--include", str(ROOT / "chapters"), str(changed))
    assert result.returncode == 1, result
    assert result.stdout.splitlines()[-1] == "the kernel failed", result

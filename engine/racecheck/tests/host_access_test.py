# SPDX-License-Identifier: MIT
"""Host code that accesses memory of the device ends the program, as on a GPU, and its line is named."""

import os

import pytest

from engine.command.diagnostics import records_of
from test_setup import checked_run, marked_lines
from this_build import ROOT

PROGRAM = os.environ["HOST_ACCESS_PROGRAM"]
SOURCE = ROOT / "engine/racecheck/tests/host_access.cu"
READS = ("read", "copy", "poll")


def line_of(mark):
    return marked_lines(SOURCE)[mark]


@pytest.mark.parametrize("case", ("read", "write", "copy", "fill", "poll", "callback", "symbol"))
@pytest.mark.parametrize("variables", ({}, {"LAB_WEAK": "1", "LAB_RACECHECK_COUNTS": "1"}))
def test_each_form_of_access_ends_the_program_at_its_line(case, variables):
    code, output, _ = checked_run(PROGRAM, case, 0, **variables)
    assert code == 1, output
    does = "read" if case in READS else "write"
    assert f"{SOURCE.name}:{line_of(case)}: a {does} by host code in memory of the device" in output


def test_what_the_host_may_reach_is_let_be():
    code, output, report = checked_run(PROGRAM, "allowed", 0)
    assert (code, output) == (0, "2 2 2\n")
    assert report["findings"] == []


def test_it_is_a_record_of_its_own(tmp_path):
    path = tmp_path / "diagnostics"
    checked_run(PROGRAM, "write", 0, LAB_DIAGNOSTICS=path)
    [record] = records_of(path)
    assert (record.kind, record.fields["access"]) == ("host_access", "write")
    assert record.place().line == line_of("write")

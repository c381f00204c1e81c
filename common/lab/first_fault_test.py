# SPDX-License-Identifier: MIT
"""After a kernel has died, a test binary stops: its first report is not buried under those it causes."""

import os
import pathlib
import tempfile

from test_setup import printed

PROGRAM = os.environ["FAULTING_TESTS"]


def run():
    """Exit code, stdout and stderr as one, and the lines of LAB_TEST_LOG."""
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder, "log")
        result = printed(
            [PROGRAM, "--order", "lex"], env={**os.environ, "LAB_TEST_LOG": str(log)}, timeout=300
        )
        lines = log.read_text(encoding="utf-8").splitlines()
        return result.returncode, result.stdout, [line.split("\t") for line in lines]


def test_the_tests_after_a_fault_are_left_out():
    code, output, log = run()
    assert code == 1, output
    assert [(outcome, name) for outcome, _, name in log] == [
        ("passed", "1 nothing is wrong yet"),
        ("failed", "2 the kernel overruns"),
        ("skipped", "3 innocent"),
        ("skipped", "4 innocent as well"),
    ]


def test_the_report_of_the_fault_comes_first_and_once():
    _, output, _ = run()
    assert output.count("Invalid __global__ write at ") == 1, output
    assert "faulting_tests.cu:" in output
    assert 'a kernel died in the test case "2 the kernel overruns"' in output
    assert "2 test cases were left out" in output
    first = next(line for line in output.splitlines() if "seed" not in line)
    assert "Invalid __global__ write" in first
    assert len(output.splitlines()) < 25, output

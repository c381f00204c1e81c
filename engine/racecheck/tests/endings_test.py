# SPDX-License-Identifier: MIT
"""What was found when a launch ended is reported, however the host ends after it."""

import json
import os
import pathlib
import signal
import sys
import tempfile

import pytest

from engine.command.paths import ENGINE
from test_setup import captured

PROGRAM = os.environ["ENDINGS_PROGRAM"]

# Case: the signal that ends it.
BY_SIGNAL = {
    "abort": "SIGABRT",
    "exception": "SIGABRT",
    "terminate": "SIGABRT",
    "freed_twice": "SIGABRT",
    "abort_in_a_destructor": "SIGABRT",
    "bad_store": "SIGSEGV",
    "bad_store_in_a_thread": "SIGSEGV",
    "bad_text": "SIGSEGV",
    "stack_overflow": "SIGSEGV",
    **{name: name for name in ("SIGHUP", "SIGINT", "SIGPIPE", "SIGTERM", "SIGUSR1")},
}
BY_ITSELF = (
    "return", "exit_in_atexit", "_Exit", "_exit", "quick_exit", "children_without_a_kernel",
)  # fmt: skip
UNSEEN = ("system_call", "exec", "exec_of_itself", "race_in_a_child_and_SIGKILL")  # with status 0
INTERIM = "what it had found when its last launch ended is in this report"


@pytest.fixture(autouse=True, scope="module")
def no_signal_is_ignored():
    """What nohup ignores, its children ignore as well."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


def check(case, *options):
    command = [sys.executable, ENGINE / "cudacheck", "check", "--program", PROGRAM]
    result = captured([*command, "--seeds", "2", *options, "--", case], timeout=120)
    return result.returncode, result.stdout


def by_hand(case, stdin=None, **environment):
    return captured([PROGRAM, case], env={**os.environ, **environment}, stdin=stdin, timeout=120)


@pytest.mark.parametrize("case", [*BY_SIGNAL, "SIGKILL"])
def test_a_signal_and_the_race_are_both_told(case):
    name = BY_SIGNAL.get(case, case)
    code, output = check(case)
    assert code == 1
    assert output.count("race (managed memory) on allocation 1") == 1, output
    assert f"seed 0: the program was ended by {name}" in output
    assert (INTERIM in output) == (case == "SIGKILL")
    checked = "at least 8" if case == "SIGKILL" else "\n8"
    assert f"{checked} accesses checked in 2 schedules, 1 found; 2 of 2" in output


@pytest.mark.parametrize("case", BY_SIGNAL)
def test_the_programs_own_report_comes_before_the_signal(case):
    result = by_hand(case)
    assert signal.Signals(-result.returncode).name == BY_SIGNAL[case]
    assert f"racecheck: stopped by {BY_SIGNAL[case]}\n" in result.stderr
    assert result.stderr.count("race (managed memory) on allocation 1") == 1


@pytest.mark.parametrize("case", BY_ITSELF)
def test_another_end_is_one_with_a_report(case):
    result = by_hand(case)
    assert result.returncode == 1
    assert result.stderr.count("race (managed memory) on allocation 1") == 1
    assert result.stderr.endswith("racecheck: seed 0, 1 launches, 4 accesses checked, 1 found\n")


@pytest.mark.parametrize("case", UNSEEN)
def test_what_ends_unseen_has_reported_at_its_launch(case):
    code, output = check(case)
    assert code == 1
    assert output.count("race (managed memory) on allocation 1") == 1, output
    assert f"in a way that the race checker can't see, such as exec(); {INTERIM}" in output


def test_what_a_child_has_found_counts_next_to_its_parents_report():
    code, output = check("race_in_a_child")
    assert code == 1
    assert output.count("race (managed memory) on allocation 1") == 1, output
    assert "\n16 accesses checked in 2 schedules, 1 found\n" in output


@pytest.mark.parametrize(
    ("case", "ending"),
    [
        (
            "SIGKILL_at_once",
            "\nan unknown number of accesses checked in 2 schedules, 0 found; 2 of 2",
        ),
        ("no_race_and_SIGKILL", "at least 512 accesses checked in 2 schedules, 0 found; 2 of 2"),
        ("late_race_and_SIGKILL", "at least 808 accesses checked in 2 schedules, 1 found; 2 of 2"),
    ],
)
def test_what_later_launches_find_is_there_as_well(case, ending):
    code, output = check(case)
    assert code == 1
    assert ending in output


@pytest.mark.parametrize("case", ["endless_loop", "pthread_exit"])  # a thread that watches goes on
def test_what_does_not_end_after_the_kernel_is_stopped_with_a_report(case):
    code, output = check(case, "--timeout", "1")
    assert code == 1
    assert output.count("race (managed memory) on allocation 1") == 1, output
    assert "stopped after 1 s (--timeout); what it had found by then is in this report" in output


@pytest.mark.parametrize("case", BY_SIGNAL)
def test_under_weak_the_old_values_are_told(case):
    result = by_hand(case, LAB_WEAK="1", LAB_WEAK_EXPLAIN="1")
    assert signal.Signals(-result.returncode).name == BY_SIGNAL[case]
    assert result.stderr.count("race (managed memory) on allocation 1") == 1
    assert result.stderr.endswith("\nweak: 1 read got an old value, on 1 line\n")


def test_the_report_through_a_descriptor_is_one_text():
    with tempfile.TemporaryFile() as file:
        by_hand("abort", LAB_RACECHECK_REPORT="&0", stdin=file)
        file.seek(0)
        report = json.load(file)
    assert len(report["findings"]) == 1
    assert "is_interim" not in report


def test_a_fault_that_the_program_handles_is_its_own():
    result = by_hand("handled_fault")
    assert (result.returncode, result.stderr.count("race (")) == (0, 0)


def test_a_report_of_another_run_is_not_added():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "report.json")
        for case, findings in (("abort", 1), ("no_race", 0)):
            by_hand(case, LAB_RACECHECK_REPORT=str(path))
            assert len(json.loads(path.read_text(encoding="utf-8"))["findings"]) == findings
            assert os.listdir(folder) == ["report.json"]

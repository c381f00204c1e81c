# SPDX-License-Identifier: MIT
"""What racecheck takes for long programs, and what it says of those that it has to stop."""

import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time

import pytest

from engine.command.paths import ENGINE
from test_setup import captured
from this_build import ROOT

PROGRAM = os.environ["COSTS_PROGRAM"]
MERGE_REPORTS = os.environ["MERGE_REPORTS"]


def environment(**more):
    return {**os.environ, "LAB_TIMEOUT": "1000", **more}


def seconds_of_ended_children():
    # Both parts: Linux knows their sum exactly, and divides it by what its clock ticks have met, so
    # that a run of some milliseconds may have none of one.
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def seconds_of(case, size, seed="0"):
    """The processor time of one case."""
    before = seconds_of_ended_children()
    subprocess.run(
        [PROGRAM, case, str(size)],
        env=environment(LAB_RACECHECK_SEED=seed),
        stderr=subprocess.PIPE,
        check=True,
        timeout=300,
    )
    return seconds_of_ended_children() - before


def lab(*words, env=None):
    return captured(
        [sys.executable, ENGINE / "cudacheck", "check", "--program", PROGRAM, *words],
        env=environment(**(env or {})),
        timeout=300,
    )


def test_a_lock_costs_what_it_changes_and_not_what_was_before():
    # Before the clocks were shared an access cost 300 times what an update does, now 10.
    for seed in ("0", "2"):
        few, many = (min(seconds_of("locks", n, seed) for _ in range(2)) for n in (16, 64))
        updates = min(seconds_of("updates", 64, seed) for _ in range(2))
        assert many < 12 * few  # 4 times as many accesses
        assert many < 100 * updates


def test_a_product_with_a_lock_for_each_row_ends_in_seconds():
    result = lab("--seeds", "4", "--timeout", "60", "--", "product", "48")
    assert result.returncode == 0, result.stdout
    assert "0 found" in result.stdout


@pytest.mark.parametrize("case", ("reads", "computes", "host"))
def test_a_program_that_is_stopped_reports_what_it_has_found(case):
    result = lab("--seeds", "1", "--timeout", "2", "--", case)
    assert result.returncode == 1, result.stdout
    assert "race (global memory) on allocation 1" in result.stdout
    assert (
        "stopped after 2 s (--timeout); what it had found by then is in this report"
        in result.stdout
    )


def test_its_own_exit_code_and_its_report_say_that_it_was_stopped():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "report.json")
        result = subprocess.run(
            [PROGRAM, "host"],
            env=environment(LAB_RACECHECK_SECONDS="1", LAB_RACECHECK_REPORT=path),
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=60,
        )
        assert result.returncode == 124
        assert "stopped after 1 s (LAB_RACECHECK_SECONDS)" in result.stderr
        with open(path, encoding="utf-8") as file:
            report = json.load(file)
    assert report["ended_by_time"]
    assert len(report["findings"]) == 1


def test_sigterm_ends_it_with_a_report():
    with subprocess.Popen(
        [PROGRAM, "reads"], env=environment(), stderr=subprocess.PIPE, text=True
    ) as process:
        time.sleep(1)
        process.send_signal(signal.SIGTERM)
        _, printed = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGTERM
    assert "stopped by SIGTERM" in printed
    assert "race (global memory) on allocation 1" in printed


def test_what_the_watch_takes_for_a_deadlock_does_not_lose_the_findings():
    result = lab("--seeds", "1", "--", "computes", env={"LAB_TIMEOUT": "1"})
    assert result.returncode == 1
    assert "this looks like a deadlock" in result.stdout
    assert "race (global memory) on allocation 1" in result.stdout


def test_a_wrong_number_of_seconds_is_refused():
    result = subprocess.run(
        [PROGRAM, "host"],
        env=environment(LAB_RACECHECK_SECONDS="soon"),
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert result.returncode == 2
    assert "must be a whole number of 1 or more" in result.stderr


def test_after_five_seconds_it_says_what_it_waits_for():
    result = lab("--seed", "7", "--timeout", "7", "--", "host")
    assert re.search(
        r"Waiting for seed 7, which has run for 5 s; it is stopped in [12] s at the latest",
        result.stderr,
    )


def test_a_program_that_prints_much_takes_little_memory():
    command = [
        "import resource, sys",
        f"sys.path.insert(0, {str(ROOT)!r})",
        "from engine.command.racecheck_runs import MergeReports, say_result, check_once",
        f"run = check_once({PROGRAM!r}, ['prints', '300'], 0, 200, False)",
        f"say_result({PROGRAM!r}, [0], [run], 200, False, MergeReports({MERGE_REPORTS!r}))",
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)",
    ]
    result = subprocess.run(
        [sys.executable, "-c", "\n".join(command)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=300,
    )
    kibibytes = int(result.stdout.split()[-1])
    assert kibibytes < 100 * 1024  # and the program has printed 300 times 1024
    assert "race (global memory) on allocation 1" in result.stdout


def test_lines_that_nobody_knows_are_spoken_of():
    result = lab("--seeds", "1", "--timeout", "1", "--", "host", env={"PATH": "/nowhere"})
    assert "Accesses are reported without their lines: addr2line," in result.stdout
    assert lab("--seeds", "1", "--", "updates").stdout.count("without") == 0


def test_without_proc_the_lines_are_known():
    hidden = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh"]
    try:
        possible = subprocess.run([*hidden, "true"], stderr=subprocess.DEVNULL, check=False)
    except OSError:
        pytest.skip("unshare is not here")
    if possible.returncode != 0:
        pytest.skip("/proc can't be hidden here")
    result = subprocess.run(
        [*hidden, PROGRAM, "host"],
        env=environment(LAB_RACECHECK_SECONDS="1"),
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        timeout=60,
    )
    assert "costs.cu:" in result.stderr
    assert "without their lines" not in result.stderr

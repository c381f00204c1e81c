# SPDX-License-Identifier: MIT
"""Races between works that may run at the same time, each with its remedy; their twins are silent."""

import os
import subprocess
import sys

import pytest

from test_setup import checked_run, marked_lines
from this_build import ROOT

sys.path.insert(0, str(ROOT))
from engine.command.race_picture import race_figure

PROGRAM = os.environ["WORKS_PROGRAM"]
LINES = marked_lines(ROOT / "engine/racecheck/tests/works.cu")
DEVICE_WAIT = "put cudaDeviceSynchronize() before line"
STREAM_WAIT = "put cudaStreamSynchronize(made) before line"
# case: codes, the lines of the two accesses where they are marked, and words of the report
FOUND = {
    "missing_event": ("missing_event", ("filled", "added"), "let stream 2 wait for it before line"),
    "non_blocking": (
        "missing_event",
        ("filled", "added"),
        "nothing orders the default stream and stream made",
    ),
    "missing_wait": ("missing_wait", (None, "host reads"), STREAM_WAIT),
    "reused": ("reused_too_early", (None, "host writes"), "the copy of line"),
    "allocated": (
        "missing_event",
        ("allocates", "filled"),
        "allocated by cudaMallocAsync() in stream 1",
    ),
    "released": ("released_too_early", ("filled", None), "frees the memory"),
    "freed_pinned": ("reused_too_early", (None, "frees pinned"), "the copy of line"),
    "freed_of_pool": ("missing_wait", ("filled", "frees of pool"), STREAM_WAIT),
    "printed": ("missing_wait", ("filled", "prints"), DEVICE_WAIT),
    "put": ("missing_wait", ("filled", "puts"), DEVICE_WAIT),
    "written_out": ("missing_wait", ("filled", "writes out"), DEVICE_WAIT),
    "begun_thread": ("missing_wait", ("filled", "thread reads"), DEVICE_WAIT),
    "callbacks_beside": (
        "missing_event",
        ("adds", "adds"),
        "by a function of the host in stream 2 at",
    ),
    "callback_beside": (
        "missing_event",
        ("callback", None),
        "by a function of the host in stream 1 at",
    ),
    "unordered_threads": ("unordered_threads", ("filled", "filled"), "is left to chance"),
    "relaxed_flag": ("missing_wait", (None, None), STREAM_WAIT),
    "kernel_flag_without_release": (
        "missing_release",
        (None, None),
        "by kernel hear in stream 2 at",
    ),
    "host_relaxes": ("missing_release", ("handed over", "awaited"), "release"),
    "host_stores_plainly": ("plain_on_the_host", (None, None), "waits for what line"),
    "host_overtakes_copy": ("missing_wait", (None, "overtakes"), STREAM_WAIT),
    "later_launch_relaxed": ("missing_release", (None, "awaited"), "by kernel wait_and_add"),
}
SILENT = (
    "event", "blocking", "wait", "reused_later", "allocated_before", "released_later",
    "freed_after_wait", "printed_later",
    "begun_later", "callbacks_in_order", "callbacks_with_mutex",
    "callback_before", "joined_threads",
    "released_flag", "promise", "mutex", "kernel_flag", "host_releases", "host_acquires", "later_launch",
)  # fmt: skip


@pytest.mark.parametrize("case", FOUND)
@pytest.mark.parametrize("seed", (0, 2))
def test_a_race_between_works_is_found_with_its_remedy(case, seed):
    code, output, report = checked_run(PROGRAM, case, seed)
    assert code == 1, output
    codes, marks, words = FOUND[case]
    [finding] = report["findings"]
    assert finding["codes"] == [codes]
    assert words in finding["text"]
    assert {"kind", "stream"} <= set(finding["first"]["work"]) & set(finding["second"]["work"])
    for access, mark in zip((finding["first"], finding["second"]), marks, strict=True):
        assert mark is None or access["line"] == LINES[mark]


WEAK = {
    "missing_event": "kernel add in stream 2 read 0, though kernel fill in stream 1 had written 3",
    "host_overtakes_copy": "the host read 0, though a copy in stream made had written 1",
    "begun_thread": "though kernel fill in the default stream had written 1",
}


@pytest.mark.parametrize("case", (*WEAK, *SILENT))
def test_under_weak_the_later_one_gets_the_value_of_before(case):
    run = subprocess.run(
        [PROGRAM, case],
        env={**os.environ, "LAB_WEAK": "1", "LAB_WEAK_EXPLAIN": "1"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert run.returncode == 0, run
    assert (" got an old value, on 1 line" in run.stderr) == (case in WEAK), run
    assert WEAK.get(case, "") in run.stderr


def test_the_picture_of_a_race_between_works_has_a_line_down_for_each():
    for case, lines in (
        ("missing_wait", ("a copy in stream made writes", "the host reads")),
        (
            "missing_event",
            ("kernel fill in stream 1, block 0 thread 0 writes", "kernel add in stream 2"),
        ),
    ):
        _, _, report = checked_run(PROGRAM, case, 0)
        drawn = race_figure([("program", report["findings"][0])]).svg()
        assert all(line in drawn for line in (*lines, "line down is work in a stream, or the host"))


@pytest.mark.parametrize("case", SILENT)
@pytest.mark.parametrize("seed", (0, 2))
def test_works_in_an_order_do_not_race(case, seed):
    code, output, report = checked_run(PROGRAM, case, seed)
    assert (code, report["findings"]) == (0, []), output


def test_a_kernel_that_nothing_lets_go_on_is_told_at_the_end():
    code, output, report = checked_run(PROGRAM, "never_released", 0)
    assert code == 1
    assert "deadlock: every thread that is left waits" in output
    assert report["failed_launches"] == 1

# SPDX-License-Identifier: MIT
"""What racecheck says first of each race of causes.cu: the cause, and alone."""

import json
import os
import re
import sys
import tempfile

import pytest

from engine.command.paths import ENGINE
from test_setup import captured, marked_lines
from this_build import ROOT

SOURCE = ROOT / "engine/racecheck/tests/causes.cu"
PROGRAM = os.environ["CAUSES_PROGRAM"]

PLAIN = ["plain_mixed_with_atomic"]
LOOK = [*PLAIN, "plain_look_before_atomic"]

# Case: its first finding's marks and codes, what its first sentence must say, and how many findings
# there are. {mark} stands for the number of that line.
CAUSES = {
    "look_and_maximum": (("looked", "maximum"), LOOK, "make line {looked} atomic", 1),
    "look_in_a_block": (("looked", "maximum"), LOOK, "make line {looked} atomic", 1),
    "count_and_read": (("counted", "count read"), PLAIN, "make line {count read} atomic", 1),
    "exchange_loop": (("first look", "exchanged"), LOOK, "make line {first look} atomic", 1),
    "volatile_exchange_loop": (
        ("first look", "exchanged"), LOOK, "make line {first look} atomic", 1,
    ),
    "locked_and_atomic": (
        ("added plainly", "added atomically"), PLAIN, "make line {added plainly} atomic", 1,
    ),
    "look_while_fetching": (
        ("looked between", "maximum between"), LOOK, "make line {looked between} atomic", 1,
    ),
    "last_block_of_a_sum": (
        ("part added", "sum read"), ["missing_release", "missing_acquire", *PLAIN],
        "missing release", 1,
    ),
    "histogram_without_barrier": (
        ("bin added", "bin read"), PLAIN, "put __syncthreads() between them", 1,
    ),
    "add_over_two_lines": (("old read", "new written"), ["missing_atomic"], "missing atomic", 1),
    "add_in_a_block": (("old read", "new written"), ["missing_atomic"], "missing atomic", 1),
    "maximum_over_two_lines": (
        ("largest read", "largest written"), ["missing_atomic"], "missing atomic", 1,
    ),
    "maximum_on_one_line": (
        ("maximum written", "maximum written"), ["missing_atomic"], "missing atomic", 1,
    ),
    "visit": (("visit checked", "visit noted"), ["missing_atomic"], "missing atomic", 1),
    "average_in_place": (
        ("neighbours read", "average written"), ["no_synchronisation"], "no synchronisation", None,
    ),
    "smooth_on_one_line": (
        ("smoothed", "smoothed"), ["no_synchronisation"], "no synchronisation", None,
    ),
    "reset_while_counting": (
        ("reset", "counted meanwhile"), [*PLAIN, "plain_store_beside_updates"],
        "let the store come before or after all of these updates", 1,
    ),
    "plain_flag": (
        ("plain flag set", "plain flag polled"), ["plain_flag"], "make both atomic", 2,
    ),
    "lock_opened_plainly": (
        ("lock opened", "lock taken"), [*PLAIN, "lock_opened_by_plain_store"],
        "line {lock opened} opens the lock that line {lock taken} takes, and does it with a plain store", 2,
    ),
    "lock_on_one_side": (
        ("added under the lock", "added without the lock"), ["lock_on_one_side"],
        "line {added under the lock} holds the lock taken at", 1,
    ),
    "zeros_without_barrier": (
        ("bin zeroed", "bin increased"), [*PLAIN, "plain_store_beside_updates"],
        "nothing orders the two: put __syncthreads() between them", None,
    ),
    "lock_opened_by_volatile": (
        ("opened by a volatile", "lock of a volatile"), [*PLAIN, "lock_opened_by_plain_store"],
        "opens the lock that line {lock of a volatile} takes, and does it with a volatile store", 2,
    ),
    "double_checked": (
        ("checked without the lock", "set under the lock"), ["plain_flag"],
        "line {checked without the lock} goes by a plain read of what line {set under the lock} writes", 2,
    ),
    "sum_checked": (
        ("sum checked", "sum increased"), ["lock_on_one_side"],
        "and line {sum checked} does not: take it there as well", None,
    ),
    "count_beside": (
        ("stored by each block", "stored by each block"), ["no_synchronisation"],
        "nothing that one of them does tells the other", 1,
    ),
    "table_insert": (
        ("value written", "value found"), ["write_after_signal"],
        "signal after the write, with an atomic that releases", 1,
    ),
    "queue": (
        ("item put", "item taken"), ["write_after_signal"],
        "line {item put} writes the element after the atomic", 1,
    ),
    "fetched_neighbours": (
        ("own one done", "neighbour's read"), ["no_synchronisation"],
        "nothing that one of them does tells the other", None,
    ),
    "seqlock": (
        ("data between", "data seen"), ["read_between_two_signals"],
        "make line {data between} and line {data seen} atomic", 1,
    ),
    "volatile_flag": (
        ("volatile flag set", "volatile flag polled"), ["volatile_is_no_synchronisation"],
        "use cuda::atomic_ref", 1,
    ),
    "lock_of_some": (
        ("added by all", "added by all"), ["lock_on_one_side"],
        "of the two threads at line {added by all} only one holds the lock", None,
    ),
    "read_after_release_on_one_line": (
        ("released and read", "waited and written"), ["access_after_release"],
        "move the access before the release", 1,
    ),
    "rounds_on_two_lines": (
        ("whole writer", "whole reader"), ["missing_barrier_after"],
        "only the thread that executed the atomic", 1,
    ),
    "read_after_release": (
        ("read late", "written over"), ["access_after_release"],
        "move line {read late} before line {released early}", 1,
    ),
    "sequence_ended": (
        ("first data", "last read"), ["release_sequence_ended"],
        ":{sequence ended} overwrites the value that line {released} released", 1,
    ),
    "rounds": (
        ("round written", "round read"), ["missing_barrier_after"],
        "put __syncthreads() between it and line {round read}", 1,
    ),
    "two_sizes": (("four bytes", "eight bytes"), ["two_sizes"], "use one size for both", 1),
    "narrow_fence": (
        ("before the fence", "after the fence"), ["scope_too_narrow"],
        ":{narrow fence} has block scope", 1,
    ),
    "narrow_atomic": (
        ("narrow atomic", "flag polled"), ["scope_too_narrow"],
        ":{narrow atomic} is atomic for the threads of its own block only", None,
    ),
    "neighbouring_fields": (
        ("low field", "high field"), ["members_of_one_word"], "share bytes", 1,
    ),
    "overlapping_arrays": (
        ("counts", "weights"), ["arrays_at_one_address"], "begins at the start", 1,
    ),
}  # fmt: skip


def findings_of(case):
    """Those of the program's 20 schedules, as they are shown, and the lines of each pair."""
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")
        command = [sys.executable, ENGINE / "cudacheck", "check", "--program", PROGRAM]
        run = captured([*command, "--json", report, "--", case])
        if run.returncode != 1:
            raise AssertionError(f"{case}: exit code {run.returncode}\n{run.stdout}{run.stderr}")
        with open(report, encoding="utf-8") as file:
            return json.load(file)[0]["findings"]


@pytest.mark.parametrize("case", CAUSES)
def test_the_cause_is_told_first(case):
    lines = marked_lines(SOURCE)
    marks, codes, said, count = CAUSES[case]
    findings = findings_of(case)
    first = findings[0]
    pair = sorted(first[party]["line"] for party in ("first", "second"))
    assert pair == sorted(lines[mark] for mark in marks), first["text"]
    assert sorted(first["codes"]) == sorted(codes), first["text"]
    wanted = re.sub(r"\{(.*?)\}", lambda mark: str(lines[mark[1]]), said)
    assert wanted in first["advice"][0]["text"]
    if count is not None:
        texts = "\n".join(each["text"] for each in findings)
        assert len(findings) == count, texts


def test_a_barrier_of_the_warp_is_not_advised_where_one_of_the_block_is_missing():
    codes = {code for each in findings_of("tiles_of_eight") for code in each["codes"]}
    assert codes == {"missing_syncthreads"}


@pytest.mark.parametrize(
    "case", ("last_block_of_a_sum", "last_block_of_volatile_parts", "store_after_a_sum")
)
def test_no_atomic_is_advised_where_an_order_is_missing(case):
    """It would end the race, and the values could be as old."""
    (finding,) = findings_of(case)
    texts = [each["text"] for each in finding["advice"]]
    arrows = [lack["remedy"] for each in finding["chain"]["arrows"] for lack in each["lacks"]]
    for text in [*texts, *arrows]:
        assert not re.search("make|use cuda::atomic_ref$", text)
    assert re.search("missing release: .* missing acquire: .* order", " ".join(texts))


@pytest.mark.parametrize(
    "case",
    [
        case
        for case, row in CAUSES.items()
        if row[1] != ["missing_release", "missing_acquire", *PLAIN]
    ],
)
def test_one_remedy_is_named(case):
    remarks = {"barrier_is_enough", "barrier_is_not_enough", "same_value_is_no_excuse"}
    advice = [each["code"] for each in findings_of(case)[0]["advice"]]
    assert len(set(advice) - remarks) == 1, advice

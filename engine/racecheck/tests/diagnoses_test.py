# SPDX-License-Identifier: MIT
"""What racecheck says of the races of diagnoses.cu: which diagnoses, at which lines, how severe."""

import json
import os
import re
import sys
import tempfile

import pytest

from engine.command.paths import ENGINE
from test_setup import captured, checked_run, marked_lines
from this_build import ROOT, is_by_clang

SOURCE = ROOT / "engine/racecheck/tests/diagnoses.cu"
PROGRAM = os.environ["DIAGNOSES_PROGRAM"]
BARRIERS = (["missing __syncthreads()"], ["missing __syncwarp()"])
SAME_VALUE = "it is a race even if both write the same value"


def line_of(mark):
    return marked_lines(SOURCE)[mark]


def run(case, seed=0, lenient=False):
    """Exit code, findings, and what a run without a report file prints."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "report.json")
        environment = {
            **os.environ,
            "LAB_RACECHECK_SEED": str(seed),
            "LAB_RACECHECK_LENIENT": "1" if lenient else "0",
        }
        environment.pop("LAB_TEST_LOG", None)
        texts = []
        for report in ({"LAB_RACECHECK_REPORT": path}, {}):
            result = captured([PROGRAM, case], env={**environment, **report})
            texts.append(result.stderr)
        with open(path, encoding="utf-8") as file:
            return result.returncode, json.load(file)["findings"], texts[1]


def races(findings):
    return [item for item in findings if item["kind"] == "race"]


def between_blocks(finding):
    return finding["first"]["block"] != finding["second"]["block"]


def lab_racecheck(case, *words):
    result = captured(
        [sys.executable, ENGINE / "cudacheck", "check", "--program", PROGRAM, *words, "--", case]
    )
    return result.returncode, result.stdout


@pytest.mark.parametrize(
    "case, said",
    {
        "element_of_1_byte": "byte 5 of 128",
        "element_of_2_bytes": "element 5 (2 bytes each) of 128 bytes",
        "element_of_4_bytes": "element 5 (4 bytes each) of 128 bytes",
        "element_of_8_bytes": "element 5 (8 bytes each) of 128 bytes",
    }.items(),
)
def test_an_element_is_as_large_as_the_access(case, said):
    _, findings, _ = run(case)
    assert [item["object"] for item in findings] == [f"allocation 1, {said}"]


@pytest.mark.parametrize("seed", range(6))
def test_each_is_listed_once_and_the_worst_decides(seed):
    lines = [line_of("data written"), line_of("data read")]
    code, findings, text = run("one_block_waits", seed, lenient=True)
    assert code == 1, text
    assert sorted((item["diagnosis"], item["severity"]) for item in findings) == [
        (["missing acquire"], "strict"),
        (["no synchronisation"], "error"),
    ]
    for item in findings:
        assert item["count"] == 1
        found = sorted(item[party]["line"] for party in ("first", "second"))
        assert found == sorted(lines)


def test_over_all_seeds_as_well():
    code, output = lab_racecheck("one_block_waits", "--seeds", "4", "--lenient")
    assert code == 1, output
    assert output.count("race (global memory)") == 2, output
    assert output.count("seed 0, and in 4 of 4 schedules") == 2, output
    assert "2 found" in output


def test_what_is_worse_is_no_part_of_what_is_strict():
    code, output = lab_racecheck("one_block_waits_volatile", "--seeds", "4", "--lenient")
    assert code == 1, output
    assert output.count("race (global memory)") == 2, output
    _, findings, text = run("one_block_waits_volatile")
    assert sorted(item["severity"] for item in findings) == ["error", "strict"]
    assert text.count("race (global memory)") == 2, text


@pytest.mark.parametrize(
    "case, marks",
    (
        ("thread_scope_updates", {("thread update", "thread update")}),
        ("thread_scope_in_one_block", {("thread update", "thread update")}),
        ("thread_scope_hands_over", {("thread store", "thread load")}),
        ("thread_scope_and_wider", {("thread exchange", "wider add")}),
    ),
)
@pytest.mark.parametrize("seed", range(4))
def test_an_atomic_of_thread_scope_is_atomic_for_no_other_thread(case, marks, seed):
    pairs = {frozenset(map(line_of, pair)) for pair in marks}
    code, findings, text = run(case, seed)
    found = {
        frozenset((item["first"]["line"], item["second"]["line"]))
        for item in findings
        if item["diagnosis"] == ["scope too narrow"]
    }
    assert (code, found) == (1, pairs), text
    assert "atomically at thread scope" in text
    assert "is atomic for its own thread only" in text


def test_an_atomic_of_thread_scope_is_atomic_for_its_own_thread():
    assert run("thread_scope_on_its_own")[:2] == (0, [])


@pytest.mark.parametrize("seed", range(6))
def test_an_acquire_of_a_narrow_scope_is_no_missing_acquire(seed):
    code, findings, text = run("lock_with_narrow_acquire", seed, lenient=True)
    assert code == 1, text
    assert findings
    for item in findings:
        assert item["diagnosis"] == ["scope too narrow"]
        assert between_blocks(item)


@pytest.mark.parametrize("case", ("histogram", "last_index", "count", "same_constant"))
@pytest.mark.parametrize("seed", range(4))
def test_threads_of_two_blocks_are_never_said_to_be_of_one(case, seed):
    _, findings, text = run(case, seed)
    assert findings
    for item in findings:
        if between_blocks(item):
            assert "of one block" not in item["text"]
            assert "of one warp" not in item["text"]
    assert any(between_blocks(item) for item in findings), text


def test_a_barrier_is_said_not_to_be_enough():
    _, findings, _ = run("chosen_for_all")
    by_diagnosis = {tuple(item["diagnosis"]): item for item in findings}
    assert set(by_diagnosis) == {("no synchronisation",), ("missing __syncthreads()",)}
    assert (
        "that is not enough: threads of different blocks race at these lines as well"
        in by_diagnosis[("missing __syncthreads()",)]["text"]
    )


@pytest.mark.parametrize(
    "case, mark",
    (
        ("count", "counted"),
        ("count_bytes", "byte counted"),
        ("histogram", "bin updated"),
    ),
)
@pytest.mark.parametrize("seed", range(4))
def test_they_are_to_be_made_atomic(case, mark, seed):
    code, findings, _ = run(case, seed)
    assert code == 1
    (found,) = findings
    assert found["diagnosis"] == ["missing atomic"]
    assert found["first"]["line"] == line_of(mark)
    assert "use atomicAdd()" in found["text"]
    assert "threads of different blocks meet here" in found["text"]
    assert "missing __sync" not in found["text"]


def test_those_of_one_block_too():
    _, (found,), _ = run("count_in_a_block")
    assert found["diagnosis"] == ["missing atomic"]
    assert "different blocks" not in found["text"]


def test_at_two_lines():
    _, findings, _ = run("count_and_double")
    assert {tuple(item["diagnosis"]) for item in findings} == {("missing atomic",)}
    if is_by_clang():
        return  # it makes one access of both branches, which is at neither line
    pairs = {tuple(sorted((f["first"]["line"], f["second"]["line"]))) for f in findings}
    assert (line_of("counted first"), line_of("doubled")) in pairs


@pytest.mark.parametrize("seed", range(4))
def test_what_reads_another_threads_element_lacks_a_barrier(seed):
    _, (found,), _ = run("sum_neighbours", seed)
    assert found["diagnosis"] == ["missing __syncthreads()"]


@pytest.mark.parametrize(
    "case, marks",
    (
        ("tiles_with_a_table", ("copied", "copy used")),
        ("tiles_with_a_count", ("stored and counted", "stored one used")),
        ("tiles_with_a_sum", ("own one increased", "total used")),
    ),
)
@pytest.mark.parametrize("seed", range(4))
def test_lines_that_change_something_else_lack_a_barrier(case, marks, seed):
    code, findings, _ = run(case, seed)
    assert code == 1
    assert findings
    for item in findings:
        assert item["diagnosis"] in BARRIERS
        lines = {item[party]["line"] for party in ("first", "second")}
        assert lines <= {line_of(mark) for mark in marks}


@pytest.mark.parametrize("seed", range(6))
def test_the_line_that_does_not_release_is_the_unlocking_one(seed):
    _, findings, _ = run("lock_without_release", seed)
    for item in findings:
        assert item["diagnosis"] == ["missing release"]
        at = re.search(r"the atomic at .+:(\d+) publishes", item["text"])
        assert int(at[1]) == line_of("unlocked")


@pytest.mark.parametrize(
    "case, diagnosis, named, mark",
    (
        (
            "lock_opened_by_volatile",
            "missing release",
            r"the volatile store at .+:(\d+) publishes",
            "unlocked by a volatile store",
        ),
        (
            "flag_that_is_volatile",
            "missing acquire",
            r"by the volatile load at .+:(\d+), and",
            "volatile flag",
        ),
    ),
)
def test_a_volatile_access_is_not_called_an_atomic(case, diagnosis, named, mark):
    _, findings, text = run(case)
    (found,) = (item for item in findings if item["diagnosis"] == [diagnosis])
    at = re.search(named, found["text"])
    assert int(at[1]) == line_of(mark), text


@pytest.mark.parametrize("case", ("last_block_plain", "last_block_volatile"))
def test_a_volatile_access_does_not_make_a_missing_acquire_worse(case):
    code, (found,), _ = run(case, lenient=True)
    assert "missing acquire" in found["diagnosis"]
    assert (code, found["severity"]) == (0, "strict")
    assert run(case)[0] == 1


@pytest.mark.parametrize("seed", range(6))
def test_fences_before_the_barrier_lack_a_fence_and_no_barrier(seed):
    _, (found,), text = run("fences_before_the_barrier", seed)
    assert found["diagnosis"] == ["missing acquire"]
    assert found["second"]["line"] == line_of("observed without a fence")
    assert "an atomic that acquires is not enough" in text


def test_one_run_and_lab_say_the_same_of_fences_before_the_barrier():
    # Of thread 0, which signals, an atomic that acquires would see what its own fence published.
    code, _, text = run("fences_of_few_threads")
    assert code == 1
    assert " found\n" in text
    code, output = lab_racecheck("fences_of_few_threads", "--seed", "0")
    assert code == 1
    for said in (text, output):
        assert said.count("race (global memory)") == 1, said
        assert ", 1 found\n" in said
        assert "an atomic that acquires is not enough" in said
        assert (
            "  15 of these lack less: missing acquire (an atomic that acquires is enough)\n" in said
        )


@pytest.mark.parametrize("seed", range(5))
def test_an_atomic_that_acquires_after_fences_of_all_threads_is_diagnosed(seed):
    _, (found,), _ = run("fences_and_an_acquire", seed)
    assert found["diagnosis"] == ["missing barrier before the atomic"]
    assert found["codes"] == ["missing_barrier_before"]


@pytest.mark.parametrize("seed", range(4))
def test_a_narrow_release_and_no_acquire_are_both_said(seed):
    _, (found,), _ = run("narrow_release_and_no_acquire", seed)
    assert found["diagnosis"] == ["scope too narrow", "missing acquire"]
    assert "publishes nothing" not in found["text"]


def check(case, diagnosis, *marks):
    code, findings, text = run(case)
    assert code == 1
    assert [item["diagnosis"] for item in findings] == [[diagnosis]], text
    lines = [findings[0][party]["line"] for party in ("first", "second")]
    assert sorted(lines) == sorted(line_of(mark) for mark in marks)


def test_a_reduction_in_1000_blocks():
    check("reduction_in_1000_blocks", "missing acquire", "block's sum stored", "block's sum read")


def test_fences_of_all_threads_and_atomics_that_acquire():
    _, (found,), text = run("fences_and_an_acquire_in_1000_blocks")
    assert found["diagnosis"] == ["missing acquire"]
    assert found["codes"] == ["missing_acquire", "only_a_fence_acquires"]
    assert "an atomic that acquires is not enough" in text


@pytest.mark.parametrize(
    "case, diagnosis",
    (
        ("last_thread_without_release", "missing release"),
        ("last_thread_without_acquire", "missing acquire"),
    ),
)
def test_one_counter_of_all_threads(case, diagnosis):
    check(case, diagnosis, "thread's own stored", "all others' read")


def test_a_plain_mistake_of_one_warp_after_100000_atomics():
    check(
        "count_then_exchange", "missing __syncwarp()",
        "lane's own stored", "other lane's read",
    )  # fmt: skip


@pytest.mark.parametrize("case", ("initialise", "initialise_and_discard", "initialise_and_read"))
def test_an_exchange_whose_value_is_not_used_only_writes(case):
    code, findings, text = run(case)
    assert (code, findings) == (0, []), text


@pytest.mark.parametrize(
    "case, mark",
    (
        ("initialise_and_use", "old value used"),
        ("add_to_fresh", "old value added to"),
    ),
)
def test_what_uses_the_old_value_is_found(case, mark):
    code, findings, _ = run(case)
    (found,) = [item for item in findings if item["kind"] == "unwritten"]
    assert (code, found["count"]) == (1, 4)
    assert found["second"]["line"] == line_of(mark)


def test_many_pairs_of_lines_are_one_finding():
    code, findings, text = run("many_lines")
    assert code == 1
    assert text.count("race (global memory)") == 1, text
    assert text.count("\n") < 12, text
    more = len(findings) - 1
    assert more > 10
    assert f"and so at {more} more pairs of lines of this element: " in text
    races_found = sum(item["count"] for item in findings)
    assert f"; {races_found - 1} more of this element" in text


def test_many_pairs_are_one_finding_over_all_seeds_as_well():
    code, output = lab_racecheck("many_lines", "--seeds", "20")
    assert code == 1
    assert output.count("race (global memory)") == 1, output
    match = re.search(r"and so at (\d+) more pairs of lines of this element: ", output)
    assert int(match[1]) > 100, output
    assert ", 1 found" in output


@pytest.mark.parametrize(
    "case, expected", (("same_constant", True), ("count", False), ("histogram", False))
)
def test_the_same_value_is_no_excuse(case, expected):
    _, findings, _ = run(case)
    assert any(SAME_VALUE in item["text"] for item in findings) == expected


def test_names_are_those_of_the_source_whatever_types_they_would_stand_for():
    *_, report = checked_run(PROGRAM, "names_of_types", 0, LAB_RACECHECK_COUNTS="1")
    objects = {item["object"] for item in report["findings"]}
    assert objects == {"v", "x", "re", "sum", "of_a_namespace::i", "holder<int>::d", "y::f"}
    assert [launch["kernel"] for launch in report["launch_counts"]] == ["y"]

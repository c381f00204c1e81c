# SPDX-License-Identifier: MIT
"""racecheck finds every mistake of mistakes.cu, says what is missing, and passes every twin."""

import concurrent.futures
import json
import os
import re
import subprocess

import pytest

from test_setup import captured, checked_run, marked_lines
from this_build import ROOT, is_by_clang

SOURCES = [
    ROOT / "engine/racecheck/tests" / name
    for name in ("mistakes.cu", "mistakes_of_blocks.cuh", "misuses.cuh")
]
LINES = marked_lines(*SOURCES)
PROGRAM = os.environ["MISTAKES_PROGRAM"]
SEEDS_OF_MISTAKES = range(6)
SEEDS_OF_TWINS = range(100)

# Case: the marks of the two lines, whether two blocks take part, and what is missing.
RACES = {
    "reduction_without_barrier": ("sums written", "sums read", False, ["missing __syncthreads()"]),
    "reduction_without_last_barrier": (
        "sums added", "sums read", False, ["missing __syncthreads()"],
    ),
    "lock_step_warp": (
        "lane written", "lane read", False,
        ["missing __syncwarp()", "volatile is no synchronisation"],
    ),
    "shuffle_as_barrier": ("value written", "value read", False, ["missing __syncwarp()"]),
    "guard_without_fences": (
        "published", "observed", True, ["missing release", "missing acquire"],
    ),
    "guard_block_fences": ("published", "observed", True, ["scope too narrow"]),
    "guard_block_ticket": ("narrow ticket", "narrow ticket", True, ["scope too narrow"]),
    "guard_without_barrier": (
        "published", "observed", True, ["missing barrier before the atomic"],
    ),
    "guard_without_observers_fence": ("published", "observed", True, ["missing acquire"]),
    "guard_classic_single_writer": (
        "published", "observed alone", True, ["missing acquire"],
    ),
    "guard_classic": (
        "published", "observed", True, ["missing barrier before the atomic", "missing acquire"],
    ),
    "guard_early_acq_rel_fences": (
        "published", "observed", True, ["missing barrier before the atomic"],
    ),
    "modern_guard_relaxed": (
        "modern published", "modern observed", True, ["missing release", "missing acquire"],
    ),
    "modern_guard_release_only": (
        "modern published", "modern observed", True, ["missing acquire"],
    ),
    "modern_guard_block_scope": (
        "modern published", "modern observed", True, ["scope too narrow"],
    ),
    "modern_guard_without_barrier": (
        "modern published", "modern observed", True, ["missing barrier before the atomic"],
    ),
    "plain_read_of_counter": (
        "counter read", "counter added", True, ["plain mixed with atomic"],
    ),
    "plain_reset_of_counter": (
        "counter reset", "counter added", True, ["plain mixed with atomic"],
    ),
    "fetch_twice": ("item written", "item read", False, ["missing __syncthreads()"]),
    "fetch_without_barrier": ("item written", "item read", False, ["missing __syncthreads()"]),
    "steal_at_block_scope": ("owner takes", "thief takes", True, ["scope too narrow"]),
    "lock_without_release": ("under lock", "under lock", True, ["missing release"]),
    "lock_without_acquire": ("under lock", "under lock", True, ["missing acquire"]),
    "lock_at_block_scope": ("narrow lock", "narrow unlock", True, ["scope too narrow"]),
    "lock_on_one_side": ("under lock", "under lock", True, ["missing atomic"]),
    "returned_before_the_barrier": (
        "written and gone", "read by those left", False, ["missing __syncthreads()"],
    ),
    "between_grid_barriers": (
        "meanwhile written", "meanwhile read", True, ["no synchronisation"],
    ),
    "shared_of_file_without_barrier": (
        "of the file written", "of the file read", False, ["missing __syncthreads()"],
    ),
    "structure_stored_back": ("stored back", "member stored", True, ["no synchronisation"]),
    "two_blocks_write": ("two writes", "two writes", True, ["no synchronisation"]),
    "plain_and_atomic": ("plain", "atomic", True, ["plain mixed with atomic"]),
}  # fmt: skip

TWINS = [
    "asked_by_one_thread",
    "returned_after_the_barrier",
    "returned_without_writing",
    "reduction",
    "warp_with_syncwarp",
    "shuffle_and_syncwarp",
    "syncthreads_or",
    "syncthreads_and",
    "syncthreads_count",
    "mixed_scopes_in_a_block",
    "guard",
    "guard_single_writer",
    "guard_acq_rel_fences",
    "guard_early_fences",
    "modern_guard",
    "counter_read_atomically",
    "wide_counter",
    "queue",
    "plain_write_before_release",
    "steal_at_device_scope",
    "lock",
    "two_blocks_exchange",
    "two_flags_sc",
    "all_atomic",
    "neighbouring_bytes",
    "neighbouring_atomics",
    "grid_barrier",
    "two_launches",
    "shared_of_file",
    "written_shared",
    "written_device",
    "reads_constants",
    "keeps_to_its_own",
    "meets_in_a_function",
    "written_copy",
]

# Case: kind, mark.
OTHER_FINDINGS = {
    "unwritten_shared": ("unwritten", "unwritten shared"),
    "unwritten_device": ("unwritten", "unwritten device"),
    "unwritten_shared_of_file": ("unwritten", "unwritten of the file"),
    "past_the_end_of_shared_of_file": ("outside", "past the end of the file's"),
    "writes_constant": ("constant", "constant written"),
    "adds_to_constant": ("constant", "constant added to"),
    "local_of_another": ("local", "another's variable read"),
    "atomic_on_local": ("local_atomic", "own variable added to"),
    "lane_that_has_ended": ("lane", "ended lane read"),
    "read_only_load": ("read_only", "read-only load"),
    "unwritten_copy": ("unwritten_use", "unwritten bytes used"),
    "past_the_end": ("outside", "past the end"),
    "past_the_end_of_shared": ("outside", "past the end of shared"),
    "past_the_end_of_dynamic": ("outside", "past the end of dynamic"),
}

# What clang reads of the host's variable is not instrumented.
UNSEEN_BY_CLANG = {"unwritten_copy"}
if is_by_clang():
    OTHER_FINDINGS = {
        case: found for case, found in OTHER_FINDINGS.items() if case not in UNSEEN_BY_CLANG
    }

# Case: what the program must say, under every schedule but those named.
FAILURES = {
    "waits_for_later_block": ("deadlock: every thread that is left waits", {1}),
    "half_a_barrier": ("deadlock: every thread that is left waits", set()),
    "endless": ("no thread has returned or passed a barrier", set()),
    "exits": ("the kernel called exit()", set()),
    "throws": ("an exception left the kernel: thrown by a kernel", set()),
    "host_pointer": ("used a host pointer", set()),
    "nothing_to_see": ("nothing was checked", set()),
}

FLAGS = ("two_flags", "two_flags_awaited", "two_volatile_flags", "flag_raised_further")


def run(case, seed):
    """Exit code, what was printed, and the report."""
    return checked_run(PROGRAM, case, seed, LAB_TIMEOUT="1" if case == "endless" else "20")


def run_all(cases, seeds):
    """{(case, seed): what run() returns}, a few at a time."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        pending = {(case, seed): pool.submit(run, case, seed) for case in cases for seed in seeds}
        return {key: value.result() for key, value in pending.items()}


def test_every_case_is_expected_to_do_something():
    listed = subprocess.run([PROGRAM], stdout=subprocess.PIPE, text=True, check=True)
    known = {
        *RACES,
        *TWINS,
        *OTHER_FINDINGS,
        *UNSEEN_BY_CLANG,
        *FAILURES,
        *FLAGS,
        "waits_by_plain_reads",
        "meets_in_two_branches",
    }
    assert set(listed.stdout.split()) == known


def test_every_mistake_is_found_with_lines_threads_and_diagnosis():
    for (case, seed), (code, output, report) in run_all(RACES, SEEDS_OF_MISTAKES).items():
        first, second, between_blocks, diagnosis = RACES[case]
        assert code == 1, (seed, output)
        lines = sorted([LINES[first], LINES[second]])
        races = [item for item in report["findings"] if item["kind"] == "race"]
        at_lines = [
            item
            for item in races
            if sorted([item["first"]["line"], item["second"]["line"]]) == lines
        ]
        if case == "lock_at_block_scope":  # which of the two comes first is the schedule's
            at_lines = races
        assert at_lines, f"no race at lines {lines}: {races}"
        found = at_lines[0]
        assert found["diagnosis"] == diagnosis
        assert os.path.basename(found["first"]["file"]) in {each.name for each in SOURCES}
        assert (found["first"]["block"] != found["second"]["block"]) == between_blocks
        if not between_blocks:
            assert found["first"]["thread"] != found["second"]["thread"]


def test_what_no_order_of_the_threads_shows_is_found_where_loads_get_older_values():
    line = LINES["found no flag"]
    for (_, seed), (code, output, report) in run_all(["two_flags"], range(20)).items():
        lines = {(item["first"]["line"], item["second"]["line"]) for item in report["findings"]}
        assert lines == ({(line, line)} if seed % 4 == 3 else set()), output
        assert code == (1 if lines else 0), output


def test_the_report_names_the_load_of_an_older_value():
    cases = {
        "two_flags": ("atomic", "looked at the flag"),
        "two_volatile_flags": ("volatile", "looked at the volatile flag"),
    }
    for (case, seed), (_, _, report) in run_all(cases, (3, 7)).items():
        manner, line = cases[case][0], LINES[cases[case][1]]
        found = report["findings"][-1]  # of volatile flags the first one is their own race
        load = found["older_load"]
        assert (load["line"], load["volatile"]) == (line, manner == "volatile"), seed
        block = found["second" if load["by_the_second"] else "first"]["block"][0]
        text = (
            f"the {manner} load at line {line} by block {block} thread 0 got an older value, "
            "which the memory model allows: another thread had already stored a newer one"
        )
        assert found["advice"][-1] == {"code": "older_value_read", "text": text}


def test_no_load_is_named_whose_thread_has_looked_again():
    for (_, seed), (_, _, report) in run_all(["two_flags_awaited"], range(20)).items():
        assert report["findings"], seed
        for found in report["findings"]:
            assert "older_load" not in found


def test_the_report_names_the_element_and_its_threads():
    _, _, report = run("guard_classic", 0)
    found = report["findings"][0]
    assert found["first"]["thread"] == found["second"]["thread"]
    element = 128 * found["first"]["block"][0] + found["first"]["thread"][0]
    assert f"element {element} " in found["object"]
    _, _, report = run("fetch_twice", 0)
    assert report["findings"][0]["object"] == "item (int)"
    _, _, report = run("shared_of_file_without_barrier", 0)
    assert re.search(r"^of_file\[\d+\] \(int ?\[128\]\)$", report["findings"][0]["object"])
    _, _, report = run("past_the_end_of_shared", 0)
    assert re.search(
        r"^values\[128\] \(int ?\[128\]\) of 512 bytes: 4 bytes past its end$",
        report["findings"][0]["object"],
    )


def test_every_correct_twin_is_silent_at_every_seed():
    for (case, seed), (code, output, report) in run_all(TWINS, SEEDS_OF_TWINS).items():
        assert report["findings"] == [], (case, seed)
        assert code == 0, output
        assert report["accesses"] > 0


def test_unwritten_memory_and_accesses_outside_are_found():
    for (case, seed), (code, _, report) in run_all(OTHER_FINDINGS, SEEDS_OF_MISTAKES).items():
        kind, mark = OTHER_FINDINGS[case]
        assert code == 1, (case, seed)
        found = report["findings"][0]
        assert (found["kind"], found["second"]["line"]) == (kind, LINES[mark])


@pytest.mark.skipif(is_by_clang(), reason="clang makes one call of the two")
def test_a_barrier_of_two_branches_is_found_with_both_calls():
    calls = {LINES["meets in one branch"], LINES["meets in the other branch"]}
    for (_, seed), (code, _, report) in run_all(
        ["meets_in_two_branches"], SEEDS_OF_MISTAKES
    ).items():
        found = report["findings"][0]
        lines = {found[which]["line"] for which in ("first", "second")}
        assert (code, found["kind"], lines) == (1, "barriers", calls), seed


def test_a_kernel_that_does_not_end_is_reported():
    for (case, seed), (code, output, _) in run_all(FAILURES, SEEDS_OF_MISTAKES).items():
        message, but = FAILURES[case]
        assert code == (0 if seed in but else 1), output
        if seed not in but:
            assert message in output


def test_a_loop_that_waits_by_volatile_reads_makes_progress():
    for (_, seed), (code, output, report) in run_all(["waits_by_plain_reads"], range(20)).items():
        assert code == 1, (seed, output)
        assert report["failed_launches"] == 0
        assert report["findings"][0]["diagnosis"] == ["volatile is no synchronisation"]


def test_a_seed_gives_the_same_report_again():
    for seed in (0, 5, 11):
        reports = [run("lock_at_block_scope", seed)[2] for _ in range(3)]
        assert reports[0] == reports[1]
        assert reports[0] == reports[2]
    several = {json.dumps(run("lock_at_block_scope", seed)[2]["findings"]) for seed in range(8)}
    assert len(several) > 1, "every seed gave the same schedule"


def test_a_bad_seed_is_refused():
    environment = {**os.environ, "LAB_RACECHECK_SEED": "many"}
    result = captured([PROGRAM, "guard"], env=environment)
    assert result.returncode == 2
    assert "must be a whole number" in result.stderr

# SPDX-License-Identifier: MIT
"""What racecheck says first of each race of causes.cu and causes_in_sources.cu: the cause, and alone."""

import json
import os
import re
import sys
import tempfile

import pytest

from engine.command.paths import ENGINE
from test_setup import captured, marked_lines
from this_build import ROOT, is_by_clang

CASES = ROOT / "engine/racecheck/tests"

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
    **dict.fromkeys(
        ("last_wins", "last_wins_of_blocks"),
        (("chosen by all", "chosen by all"), ["no_synchronisation"],
         "let one thread write it, or give each thread an element of its own", 1),
    ),
    "answer_of_all": (
        ("answered by all", "answered by all"), ["no_synchronisation"], "let one thread write it", 1,
    ),
    "rotated": (
        ("rotated on", "rotated on"), ["missing_syncthreads"], "no barrier separates", None,
    ),
    "mark_or_exchange": (
        ("mark exchanged", "mark stored"), PLAIN, "make line {mark stored} atomic", 1,
    ),
    "mark_or_return": (
        ("mark set", "mark set plainly"), PLAIN, "make line {mark set plainly} atomic", 1,
    ),
    "shorten": (
        ("parents followed", "path shortened"), ["plain_flag"],
        "line {parents followed} goes by a plain read of what line {path shortened} writes", 1,
    ),
    "halve": (
        ("parent followed" if is_by_clang() else "grandparent followed", "root noted"),
        ["plain_flag"], "make both atomic", None,
    ),
    **dict.fromkeys(
        ("one_lane_arrives", "one_lane_arrives_global"),
        (("handed over", "taken over"), ["missing_arrival"],
         "let each thread that comes to line {handed over} arrive at this cuda::barrier", 1),
    ),
    "flag_of_a_warp": (
        ("written by the warp", "read by the other warp"), ["missing_barrier_before"],
        "put __syncwarp() there", 1,
    ),
    "volatile_flag_in_a_block": (
        ("set for the warp", "polled by the warp"), ["volatile_is_no_synchronisation"],
        "use cuda::atomic_ref", 1,
    ),
    "tiles_and_sums": (
        ("base read", "base written"), ["missing_syncthreads"], "missing __syncthreads()", None,
    ),
    **dict.fromkeys(
        ("booked_volatile", "booked_in_a_block", "booked_volatile_in_a_block"),
        (("booked under the lock", "booked without the lock"), ["lock_on_one_side"],
         "line {booked without the lock} does not: take it there as well", 1),
    ),
    **dict.fromkeys(
        ("write_after_unlock", "write_after_unlock_volatile"),
        (("seen under the lock", "written after the unlock"), ["access_after_release"],
         "move line {written after the unlock} before line {unlocked}", 1),
    ),
    "write_after_unlock_function": (
        ("seen in between", "written after the call"), ["access_after_release"],
        "move line {written after the call} before line {unlock called}", 1,
    ),
    **dict.fromkeys(
        ("read_after_signal", "read_after_signal_no_fence", "read_after_signal_volatile_no_fence"),
        (("read once more", "cell of the other block"), ["access_after_release"],
         "move line {read once more} before line {cell given}", None),
    ),
    **dict.fromkeys(
        ("one_meeting", "one_meeting_volatile"),
        (("word of the round", "other's word"), ["missing_meeting"],
         "line {word of the round} does not wait until the other block has come past line {other's word}", 1),
    ),
    "no_way_back": (
        ("item replaced", "item of the round"), ["missing_meeting"],
        "line {item replaced} does not wait until the other block has come past line {item of the round}", 1,
    ),
}  # fmt: skip

# The same of causes_in_sources.cu.
IN_SOURCES = {
    "place_of_largest": (
        ("place stored", "place stored"), ["store_after_decision"],
        "the condition at line {largest decided} decides which thread stores at line {place stored}", 1,
    ),
    "place_of_largest_seen": (
        ("seen stored", "seen stored"), ["store_after_decision"],
        "the condition at line {seen decided} decides", 1,
    ),
    "place_of_largest_plain": (
        ("largest replaced", "plainly decided"), ["missing_atomic"], "or one lock for all", None,
    ),
    **dict.fromkeys(
        ("find", "find_in_a_block"),
        (("found", "found"), ["stored_by_several"], "store with an atomic (atomicExch()", 1),
    ),
    "random_sums": (
        ("state read", "state stored"), ["index_without_block"],
        "give each thread an element of its own", 1,
    ),
    "state_of_all": (
        ("state read", "state stored"), ["missing_atomic"], "missing atomic", None,
    ),
    "squares_double_checked": (
        ("ready checked", "ready set"), ["plain_flag"],
        "line {ready checked} goes by a plain read of what line {ready set} writes", 2,
    ),
    "two_locks": (
        ("under one of two locks", "under one of two locks"), ["different_locks"],
        ":{one of two locks}: let both take the same lock", 1,
    ),
    "guard_without_name": (
        ("added after the guard", "added after the guard"), ["lock_given_back"],
        "line {given back at once} takes the lock and gives it back at once", None,
    ),
    "look_then_enter": (
        ("written by the writer", "read by a reader"), ["lock_lets_both_in"],
        "let each thread announce itself first, then look for the other one", None,
    ),
    "shared_by_writers": (
        ("added by two", "added by two"), ["lock_lets_both_in"], "lock lets both in", None,
    ),
    "left_early": (
        ("still at work", "still at work"), ["missing_barrier_before"],
        "there is no barrier between line {still at work} and", 1,
    ),
    "wiped_in_use": (
        ("wiped", "still read"), ["reclaimed_too_early"],
        "line {taken out} hides the element from later readers only", 1,
    ),
    "take_and_give": (
        ("successor read", "successor written"), ["read_before_its_check"],
        "make line {successor read} and line {successor written} atomic", None,
    ),
    "displace": (
        ("value put", "value displaced"), ["exchanged_in_two_steps"],
        "line {key exchanged} exchanges one word with an atomic", None,
    ),
    "one_neighbour_awaited": (
        ("cell written", "both read"), ["signal_not_awaited"],
        "line {one awaited} waits for another thread's signal", None,
    ),
    "once": (
        ("initialised", "used in progress"), ["observed_too_early"],
        "line {claimed} only claims its word, and the same thread changes it again", None,
    ),
    "insert_into_tree": (
        ("key compared", "key stored"), ["access_after_release"],
        "move line {key stored} before line {linked}", None,
    ),
    "build_and_walk": (
        ("list built", "list walked"), ["no_synchronisation"], "use two launches", None,
    ),
    "stride_of_one_block": (
        ("strided", "strided"), ["stride_of_one_block"],
        "the loop at line {stride} starts at another element in each block", 1,
    ),
    "served_plainly": (
        ("next one served", "turn awaited"), PLAIN, "make line {next one served} atomic", None,
    ),
    "reset_after_the_signal": (
        ("arrives", "reset late"), ["access_after_release"],
        "move line {reset late} before line {lets them go}", None,
    ),
    "ring_overtaken": (
        ("put into the ring", "taken from the ring"), ["missing_meeting"],
        "line {put into the ring} does not wait until the other block has come past", 1,
    ),
    "stack": (
        ("pushed", "popped"), ["write_after_signal"],
        "line {pushed} writes the element after the atomic at line {top raised}", 1,
    ),
    "bins_merged_early": (
        ("bin of a key", "bin merged"), PLAIN, "put __syncthreads() between them", 1,
    ),
}  # fmt: skip
SORTS = ("sort_without_barrier", "phases_without_barrier")
ALL = {**CAUSES, **IN_SOURCES}


def program_of(case):
    is_in_sources = case in {*IN_SOURCES, *SORTS, "tiles_on_two_lines"}
    return "causes_in_sources" if is_in_sources else "causes"


def findings_of(case):
    """Those of the program's 20 schedules, as they are shown, and the lines of each pair."""
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")
        program = os.environ[program_of(case).upper() + "_PROGRAM"]
        command = [sys.executable, ENGINE / "cudacheck", "check", "--program", program]
        run = captured([*command, "--json", report, "--", case])
        if run.returncode != 1:
            raise AssertionError(f"{case}: exit code {run.returncode}\n{run.stdout}{run.stderr}")
        with open(report, encoding="utf-8") as file:
            return json.load(file)[0]["findings"]


@pytest.mark.parametrize("case", ALL)
def test_the_cause_is_told_first(case):
    lines = marked_lines(
        *CASES.glob(f"{program_of(case)}.cu"), *CASES.glob(f"{program_of(case)}_of_*")
    )
    marks, codes, said, count = ALL[case]
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


@pytest.mark.parametrize("case", ("tiles_of_eight", "tiles_on_two_lines", *SORTS))
def test_a_barrier_of_the_block_alone_is_advised(case):
    """And none of the warp; and no atomic where two elements are exchanged."""
    codes = {code for each in findings_of(case) for code in each["codes"]}
    assert codes == {"missing_syncthreads"}


def test_what_a_plain_comparison_decides_is_told_with_its_line():
    lines = marked_lines(CASES / "causes_in_sources.cu")
    advice = [
        each["advice"][0]["text"]
        for each in findings_of("place_of_largest_plain")
        if each["codes"] == ["store_after_decision"]
    ]
    (text,) = advice
    assert f"the condition at line {lines['plainly decided']} decides" in text


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
    [case for case, row in ALL.items() if row[1] != ["missing_release", "missing_acquire", *PLAIN]],
)
def test_one_remedy_is_named(case):
    remarks = {
        "barrier_is_enough",
        "barrier_is_not_enough",
        "same_value_is_no_excuse",
        "older_value_read",
    }
    advice = [each["code"] for each in findings_of(case)[0]["advice"]]
    assert len(set(advice) - remarks) == 1, advice

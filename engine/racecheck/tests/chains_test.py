# SPDX-License-Identifier: MIT
"""The chain from the one access of a race to the other: what orders it, and what is missing."""

import os
import pathlib
import re
import sys
import xml.etree.ElementTree

import pytest

from mistakes_test import PROGRAM, RACES, SEEDS_OF_MISTAKES, run_all
from test_setup import checked_run
from this_build import ROOT

sys.path.insert(0, str(ROOT))
from engine.command.drawing import SMALL
from engine.command.race_picture import MOST_DRAWN, race_figure

DIAGNOSES_PROGRAM = os.environ["DIAGNOSES_PROGRAM"]
OF_A_SIGNAL = {"missing release", "missing acquire", "scope too narrow"}

WRITE = "writes: writes `of.data[mine] = 1;`"
BARRIER = ["writes: barrier `__syncthreads();`", "signals: barrier `__syncthreads();`"]
TICKET = "updates atomically `ticket = atomicAdd(of.counter, 1);`"
FENCE = "fences `__threadfence();`"
BARRIER_AFTER = ["observes: barrier `__syncthreads();`", "reads: barrier `__syncthreads();`"]
READ = "reads: reads `sum += of.data[block * threads + threadIdx.x];`"
UNDER_LOCK = "`of.result[0] += 1;`"

# Either access may come first: where seed 0 leads depends on what the compiler left to be watched.
ACCESSES_OF_A_REDUCTION = {
    "writes": ["writes: barrier `__syncthreads();`", "writes: writes `sums[threadIdx.x] +=`"],
    "reads": ["reads: barrier `__syncthreads();`", "reads: reads `sums[threadIdx.x + half];`"],
}

# Case: the events at seed 0, each with the roles of its thread, and the arrows between them.
CHAINS = {
    "guard_without_fences": (
        [WRITE, *BARRIER, f"signals: {TICKET}", f"observes: {TICKET}", *BARRIER_AFTER, READ],
        ["1 -> 2 barrier", "5 -> 6 barrier", "3 -> 4 lacks missing release, missing acquire"],
    ),
    "guard_block_fences": (
        [
            WRITE, *BARRIER, "signals: fences at block scope `__threadfence_block();`",
            f"signals: {TICKET}", f"observes: {TICKET}",
            "observes: fences at block scope `__threadfence_block();`", *BARRIER_AFTER, READ,
        ],
        ["1 -> 2 barrier", "7 -> 8 barrier", "4 -> 5 lacks scope too narrow"],
    ),
    "guard_without_barrier": (
        [
            WRITE, f"signals: {FENCE}", f"signals: {TICKET}", f"observes: {TICKET}",
            f"observes: {FENCE}", *BARRIER_AFTER, READ,
        ],
        ["5 -> 6 barrier", "0 -> 1 lacks missing barrier before the atomic", "1 -> 4 signal"],
    ),
    "guard_without_observers_fence": (
        [
            WRITE, *BARRIER, f"signals: {FENCE}", f"signals: {TICKET}", f"observes: {TICKET}",
            *BARRIER_AFTER, READ,
        ],
        ["1 -> 2 barrier", "6 -> 7 barrier", "4 -> 5 lacks missing acquire"],
    ),
    "guard_classic": (
        [
            WRITE, f"signals: {FENCE}", f"signals: {TICKET}", f"observes: {TICKET}",
            *BARRIER_AFTER, READ,
        ],
        [
            "4 -> 5 barrier", "0 -> 1 lacks missing barrier before the atomic",
            "2 -> 3 lacks missing acquire",
        ],
    ),
    # It fences before the barrier, which is none for a fence that is not sequentially consistent.
    "guard_early_acq_rel_fences": (
        [
            WRITE, "signals: fences `cuda::atomic_thread_fence(cuda::memory_order_acq_rel,`",
            *BARRIER, f"signals: {TICKET}", f"observes: {TICKET}",
            "observes: fences `cuda::atomic_thread_fence(cuda::memory_order_acq_rel,`",
            *BARRIER_AFTER, READ,
        ],
        [
            "2 -> 3 barrier", "7 -> 8 barrier", "0 -> 1 lacks missing barrier before the atomic",
            "1 -> 6 signal",
        ],
    ),
    "lock_without_release": (
        [
            f"writes, signals: writes {UNDER_LOCK}",
            "writes, signals: updates atomically `atomicExch(of.counter, 0u);`",
            "observes, reads: updates atomically `atomicCAS(of.counter, 0u, 1u)`",
            f"observes, reads: {FENCE}",
            f"observes, reads: reads {UNDER_LOCK}",
        ],
        ["1 -> 2 lacks missing release"],
    ),
    "lock_without_acquire": (
        [
            f"writes, signals: writes {UNDER_LOCK}",
            f"writes, signals: {FENCE}",
            "writes, signals: updates atomically `atomicExch(of.counter, 0u);`",
            "observes, reads: updates atomically `atomicCAS(of.counter, 0u, 1u)`",
            f"observes, reads: reads {UNDER_LOCK}",
        ],
        ["2 -> 3 lacks missing acquire"],
    ),
    "lock_on_one_side": (
        [f"writes: writes {UNDER_LOCK}", f"reads: reads {UNDER_LOCK}"],
        ["0 -> 1 lacks missing atomic"],
    ),
    "reduction_without_last_barrier": (
        ACCESSES_OF_A_REDUCTION, ["0 -> 1 barrier", "2 -> 3 lacks missing __syncthreads()"],
    ),
    "shuffle_as_barrier": (
        ["writes: writes `value = 7;`", "reads: reads `value + lane;`"],
        ["0 -> 1 lacks missing __syncwarp()"],
    ),
    "lock_step_warp": (
        [
            "reads: barrier `__syncwarp();`", "writes: barrier `__syncwarp();`",
            "reads: reads (volatile) `lanes[lane + delta]`",
            "writes: writes (volatile) `lanes[lane] = lanes[lane] + other;`",
        ],
        ["0 -> 1 barrier", "2 -> 3 lacks missing __syncwarp(), volatile is no synchronisation"],
    ),
    "steal_at_block_scope": (
        [
            "writes: updates atomically at block scope `atomicAdd_block(of.counter, 1);`",
            "writes: updates atomically `atomicAdd(of.counter, 1);`",
        ],
        ["0 -> 1 lacks scope too narrow"],
    ),
    "two_blocks_write": (
        ["writes: writes `of.result[0] =`", "writes: writes `of.result[0] =`"],
        ["0 -> 1 lacks no synchronisation"],
    ),
}  # fmt: skip


def races(report):
    return [finding for finding in report["findings"] if finding["kind"] == "race"]


def in_turns(events, first):
    """The events of two threads, each in turn, of which that with the role `first` begins."""
    (role,) = first
    other = (set(events) - {role}).pop()
    return [event for pair in zip(events[role], events[other]) for event in pair]


def names_of(arrow):
    return [lack["name"] for lack in arrow["lacks"]]


def described(event, lanes):
    does = "barrier" if event["kind"] == "barrier" else event["does"]
    return f"{', '.join(lanes[event['lane']]['roles'])}: {does} `"


def arrow_text(arrow):
    what = f"lacks {', '.join(names_of(arrow))}" if arrow["lacks"] else arrow["kind"]
    return f"{arrow['from']} -> {arrow['to']} {what}"


def reaches(chain, arrows):
    """Whether the lanes and these arrows lead from the one racing access to the other."""
    events = chain["events"]
    begin, end = (n for n, event in enumerate(events) if event["kind"] == "access")
    reached = {begin}
    for number in range(begin, len(events)):  # a way never leads back
        lane = events[number]["lane"]
        if any(events[known]["lane"] == lane and known < number for known in reached):
            reached.add(number)
        if any(arrow["to"] == number and arrow["from"] in reached for arrow in arrows):
            reached.add(number)
    return end in reached


maxDiff = None


def test_the_chains_of_many_mistakes():
    for (case, _), (_, _, report) in run_all(CHAINS, [0]).items():
        chain = races(report)[0]["chain"]
        events, arrows = CHAINS[case]
        if events is ACCESSES_OF_A_REDUCTION:
            events = in_turns(events, chain["lanes"][chain["events"][0]["lane"]]["roles"])
        assert len(chain["events"]) == len(events), chain
        for event, expected in zip(chain["events"], events):
            begin, fragment = re.fullmatch(r"(.*`)(.*)`", expected).groups()
            assert described(event, chain["lanes"]) == begin
            assert fragment in event["text"]
        assert [arrow_text(arrow) for arrow in chain["arrows"]] == arrows


def test_no_arrow_is_false():
    lines = {}
    for (case, seed), (_, output, report) in run_all(RACES, SEEDS_OF_MISTAKES).items():
        assert races(report), (case, seed, output)
        for finding in races(report):
            check_arrows(finding)
            for event in finding["chain"]["events"]:
                path = pathlib.Path(event["file"])  # as seen from the current directory
                if path not in lines:
                    lines[path] = path.read_text(encoding="utf-8").splitlines()
                assert lines[path][event["line"] - 1].strip() == event["text"]


def check_arrows(finding):
    chain = finding["chain"]
    lacking = [name for arrow in chain["arrows"] for name in names_of(arrow)]
    assert sorted(lacking) == sorted(finding["diagnosis"])
    existing = [arrow for arrow in chain["arrows"] if not arrow["lacks"]]
    assert not reaches(chain, existing), "the two are ordered, so they do not race"
    assert reaches(chain, chain["arrows"]), "fixing all would not order them"
    for arrow in chain["arrows"]:
        ends = [chain["events"][arrow[end]] for end in ("from", "to")]
        lanes = [chain["lanes"][end["lane"]] for end in ends]
        if arrow["kind"] == "barrier":
            assert lanes[0]["block"] == lanes[1]["block"]
            assert lanes[0]["thread"] != lanes[1]["thread"]
        if arrow in existing and arrow["kind"] == "barrier":
            assert ends[0]["line"] == ends[1]["line"]
            assert re.search("__sync(threads|warp)", ends[0]["text"])
        if arrow["kind"] == "signal":
            kinds = {"atomic"} if arrow["lacks"] else {"atomic", "fence"}
            assert {end["kind"] for end in ends} <= kinds
            wanted = OF_A_SIGNAL & set(finding["diagnosis"])
            assert set(names_of(arrow)) == wanted


def test_atomics_that_hand_the_value_on_are_counted():
    chain = races(checked_run(PROGRAM, "guard_classic", 0)[2])[0]["chain"]
    (signal,) = [arrow for arrow in chain["arrows"] if arrow["kind"] == "signal"]
    assert signal["updates_between"] == 2  # block 0 signals to block 3


def test_a_load_of_an_older_value_is_on_the_way():
    chains = [
        races(report)[0]["chain"]
        for (_, seed), (_, _, report) in run_all(["flag_raised_further"], range(20)).items()
        if races(report)
    ]
    assert chains
    for chain in chains:
        assert [described(event, chain["lanes"]) for event in chain["events"]] == [
            "writes, signals: writes `",
            "writes, signals: writes atomically `",
            "observes, reads: reads atomically `",
            "observes, reads: reads `",
        ]
        assert [arrow_text(arrow) for arrow in chain["arrows"]] == ["1 -> 2 lacks missing release"]


def test_a_store_ends_what_was_handed_on():
    of_data = races(checked_run(DIAGNOSES_PROGRAM, "overwritten_signal", 0)[2])
    assert of_data
    for finding in of_data:
        assert finding["diagnosis"] == ["missing release", "missing acquire"]
        kinds = [arrow["kind"] for arrow in finding["chain"]["arrows"]]
        assert "signal" not in kinds, finding


def picture_of(case, copies=1):
    found = races(checked_run(PROGRAM, case, 0)[2])[:1] * copies
    figure = race_figure([("program", each) for each in found])
    return xml.etree.ElementTree.fromstring(figure.svg())


def texts_of(picture):
    return [text.text for text in picture.iter("{http://www.w3.org/2000/svg}text")]


def arrows(picture, colour, is_dashed):
    every = picture.iter("{http://www.w3.org/2000/svg}polyline")
    return [
        line
        for line in every
        if line.get("class") == f"{colour}-line"
        and (line.get("stroke-dasharray") is not None) == is_dashed
    ]


@pytest.mark.parametrize(
    "case, existing, missing", (("guard_classic", 1, 2), ("guard_without_barrier", 2, 1))
)
def test_what_exists_and_what_is_missing_are_arrows_of_two_kinds(case, existing, missing):
    in_legend = 1
    picture = picture_of(case)
    assert len(arrows(picture, "blue", is_dashed=False)) == existing + in_legend
    assert len(arrows(picture, "red", is_dashed=True)) == missing + in_legend


def test_words_are_text():
    texts = texts_of(picture_of("guard_classic"))
    for words in (
        "block 0 thread 42 writes", "block 0 thread 0 signals", "block 3 thread 0 observes",
        "block 3 thread 42 reads", "A writes, line ", "C and D meet at a barrier, line ",
        "missing barrier before the atomic", "missing acquire",
        "put __threadfence() after the atomic at",
    ):  # fmt: skip
        assert any(text.startswith(words) for text in texts), (words, texts)


def test_nothing_leaves_the_picture():
    for case in RACES:
        picture = picture_of(case)
        width, height = map(int, picture.get("viewBox").split()[2:])
        for text in picture.iter("{http://www.w3.org/2000/svg}text"):
            assert float(text.get("y")) < height
            is_code = "code" in text.get("class")
            letters = SMALL * (0.6 if is_code else 0.5) * len(text.text)
            assert float(text.get("x")) + letters < width, text.text


def test_screen_readers_and_both_themes():
    picture = picture_of("guard_classic")
    assert picture.get("role") == "img"
    description = picture.find("{*}desc").text
    assert "Here is missing: missing acquire" in description
    assert "@media (prefers-color-scheme: dark)" in picture.find("{*}style").text


def test_very_many_races():
    picture = picture_of("two_blocks_write", copies=MOST_DRAWN + 3)
    assert "3 more races are not drawn." in texts_of(picture)
    headings = [text for text in texts_of(picture) if text.startswith("race (")]
    assert len(headings) == MOST_DRAWN

# SPDX-License-Identifier: MIT
"""The drawing of schedules: which multiprocessors it shows, which bars, and that it can be read."""

import json
import os
import re
import resource
import sys

import pytest

import draw_schedules
from svg_checks import problems_of, words_of
from test_setup import captured
from this_build import ROOT

ABOUT = {
    "place": "an invented device",
    "cores": None,
    "date": "2026-01-02",
    "command": "./lab trace 05",
}


def trace(*runs):
    """A trace as --trace writes it: each run is (variant, multiprocessors, slots, bars), a bar is
    (row, begin in ms, length in ms, block)."""
    events, about = [], []
    for pid, (variant, multiprocessors, slots, bars) in enumerate(runs):
        events.append({"name": "process_name", "ph": "M", "pid": pid, "args": {"name": variant}})
        events += [
            {"name": "item", "ph": "X", "pid": pid, "tid": row, "ts": 1000 * begin}
            | {"dur": 1000 * length, "args": {"block": block}}
            for row, begin, length, block in bars
        ]
        about.append(
            {"variant": variant, "multiprocessors": multiprocessors}
            | {"rows_a_multiprocessor": slots, "busy_fraction": 0.5}
            | {"makespan_ms": max((begin + length for _, begin, length, _ in bars), default=0)}
        )
    return {"traceEvents": events, "otherData": {"schedules": about}}


def figure(*runs):
    panels = draw_schedules.panels_of(trace(*runs))
    return draw_schedules.figure_of({"about": ABOUT, "panels": panels})


def test_all_of_a_few_multiprocessors():
    bars = [(0, 0, 2, 0), (2, 0, 1, 1), (2, 1, 4, 2)]
    (panel,) = draw_schedules.panels_of(trace(("queue", 3, 1, bars)))
    assert panel["shown"] == [0, 1, 2]
    assert panel["bars"] == [list(bar) for bar in bars]
    assert (panel["items"], panel["blocks"]) == (3, 3)


def test_of_many_the_first_and_the_last_to_end():
    # Of eight, SM 5 ends first and SM 2 last; each has two slots.
    ends = [4, 5, 9, 6, 7, 1, 3, 8]
    bars = [(2 * sm + 1, 0, end, sm) for sm, end in enumerate(ends)]
    (panel,) = draw_schedules.panels_of(trace(("queue", 8, 2, bars)))
    assert len(panel["shown"]) == draw_schedules.FEW
    assert (panel["shown"][0], panel["shown"][-1]) == (5, 2)
    # The numbers are about the whole device, the bars about the shown multiprocessors.
    assert panel["items"] == 8
    assert sorted(panel["bars"]) == [
        [2 * place + 1, 0, ends[sm], sm] for place, sm in enumerate(panel["shown"])
    ]


def test_one_that_had_no_item_ends_first():
    bars = [(sm, 0, sm, sm) for sm in range(1, 8)]
    (panel,) = draw_schedules.panels_of(trace(("queue", 8, 1, bars)))
    assert panel["shown"][0] == 0


def test_first_and_later_items_of_a_block():
    bars = [[0, 0, 10, 7], [0, 10, 10, 7], [1, 0, 5, 8], [1, 5, 5, 9]]
    assert draw_schedules.shapes_of(bars, 1) == [
        (0, 0, 10, "blue"),
        (0, 10, 10, "orange"),
        (1, 0, 5, "blue"),
        (1, 5, 5, "blue"),
    ]


def test_narrow_neighbours_become_one():
    bars = [[0, 0, 20, 1], *([0, 20 + place / 10, 0.1, 1] for place in range(300))]
    shapes = draw_schedules.shapes_of(bars, 1)
    assert shapes[0] == (0, 0, 20, "blue")
    assert len(shapes) < 20
    assert sum(width for _, _, width, _ in shapes) == pytest.approx(50, abs=5e-8)


def test_a_gap_stays_a_gap():
    shapes = draw_schedules.shapes_of([[0, 0, 1, 1], [0, 1, 1, 1], [0, 9, 1, 1]], 1)
    assert [(x, width) for _, x, width, _ in shapes] == [(0, 1), (1, 1), (9, 1)]


@pytest.mark.parametrize("longest", (0.02, 0.7, 3, 47, 900, 12345))
def test_ticks(longest):
    found = draw_schedules.ticks(longest)
    assert found[0] == 0
    assert 4 <= len(found) <= 9, (longest, found)
    assert found[-1] <= longest


RUNS = (
    ("histogram_one_block_each", 2, 1, [(0, 0, 4, 0), (1, 0, 2, 1), (1, 2, 3, 2)]),
    ("histogram_for_each_canceled", 2, 1, [(0, 0, 4, 0), (1, 0, 2, 1), (1, 2, 2.5, 1)]),
)


def test_it_can_be_read():
    assert problems_of(figure(*RUNS).svg()) == []


def test_the_legend_says_what_is_what():
    words = words_of(figure(*RUNS).svg())
    for said in (
        "first item of a block",
        "later item of the block",
        "with canceling: taken over",
        "a block starts: prologue",
        "the last item ends",
        "Busy is slot time",
        "5 ms, busy 50 %",
        "an invented device; 2026-01-02.",
    ):
        assert said in words
    assert "canceling" not in words_of(figure(("queue", 1, 1, [(0, 0, 1, 0)])).svg())


def test_a_start_for_each_block():
    for run, starts in zip(RUNS, (3, 2)):
        marks = len(re.findall('<rect[^>]*class="ink-text"', figure(run).svg()))
        assert marks - 1 == starts  # One is the legend's.


@pytest.mark.parametrize("cores, is_said", ((1, True), (2, False), (None, False)))
def test_multiprocessors_that_share_cores_are_not_compared_by_time(cores, is_said):
    panels = draw_schedules.panels_of(trace(*RUNS))
    schedules = {"about": {**ABOUT, "cores": cores}, "panels": panels}
    words = words_of(draw_schedules.figure_of(schedules).svg())
    assert ("compare idle slots" in words) == is_said, cores


ONE, EIGHT = ("queue", 1, 1, [(0, 0, 1, 0)]), ("queue_each_warp", 1, 8, [(0, 0, 1, 0)])


@pytest.mark.parametrize(
    "runs, words",
    (
        ((ONE,), " 1 slot per"),
        ((EIGHT,), " 8 slots"),
        ((ONE, EIGHT), "up to 8"),
    ),
    ids="one eight both".split(),
)
def test_slots(runs, words):
    assert words in words_of(figure(*runs).svg())


def test_few_of_many_is_said():
    many = ("queue", 132, 8, [(row, 0, 1 + row, row) for row in range(132 * 8)])
    drawn = figure(many)
    assert "4 of 132 SMs: the first and last to end" in words_of(drawn.svg())
    assert problems_of(drawn.svg()) == []


def with_1000_bytes():
    """No file of the process gets longer, as if the disk were full."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))


def draw(tmp_path, content, **options):
    (tmp_path / "trace.json").write_text(json.dumps(content), encoding="utf-8")
    words = ["--about", json.dumps(ABOUT), "--json", "kept.json", "--output", "a.svg"]
    script = ROOT / "common/lab/draw_schedules.py"
    return captured([sys.executable, script, *words, "trace.json"], cwd=tmp_path, **options)


def test_what_is_kept_draws_the_same_picture(tmp_path):
    result = draw(tmp_path, trace(("queue", 2, 1, [(0, 0, 1 / 3, 0), (1, 0, 2 / 3, 1)])))
    assert result.returncode == 0, result.stderr
    again = draw_schedules.figure_of(draw_schedules.load(tmp_path / "kept.json"))
    assert (tmp_path / "a.svg").read_text(encoding="utf-8") == again.svg()


def test_no_room_is_one_sentence_and_leaves_nothing(tmp_path):
    content = trace(("queue", 2, 1, [(0, 0, 1 / 3, 0), (1, 0, 2 / 3, 1)]))
    result = draw(tmp_path, content, preexec_fn=with_1000_bytes)
    assert result.returncode == 1
    assert result.stderr == "a.svg: File too large\n"
    assert not (tmp_path / "a.svg").exists()
    many = [(0, place, 1 / 3, place) for place in range(100)]
    result = draw(tmp_path, trace(("queue", 2, 1, many)), preexec_fn=with_1000_bytes)
    assert result.stderr == "kept.json: File too large\n"
    assert sorted(os.listdir(tmp_path)) == ["kept.json", "trace.json"]


def test_nothing_to_draw(tmp_path):
    result = draw(tmp_path, trace(("queue", 2, 1, [])))
    assert result.returncode == 1
    assert result.stderr == "these traces have no items, so there is nothing to draw\n"
    assert not (tmp_path / "a.svg").exists()

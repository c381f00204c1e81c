# SPDX-License-Identifier: MIT
"""Pictures of recorded runs: that all lines are in them, in their places, and can be read."""

import json
import os
import pathlib
import re
import resource
import sys
import xml.etree.ElementTree

import pytest

import draw_run
import recorded_run
from lab_tool.chapters import all_chapters
from svg_checks import SVG, problems_of, words_of
from test_setup import captured
from this_build import ROOT

BENCHMARKS = ROOT / "common/benchmark"
RUN = pathlib.Path(__file__).resolve().parent / "invented_run.json"
INVENTED = json.loads(RUN.read_text(encoding="utf-8"))


def heights_of(svg, name):
    """The vertical places of the line's points, from left to right."""
    root = xml.etree.ElementTree.fromstring(svg)
    lines = {each.get("id"): each for each in root.iter(f"{SVG}polyline")}
    points = lines[draw_run.series_id("04", name)].get("points").split()
    return [float(point.split(",")[1]) for point in points]


# What is drawn, of runs that are made up here.


def timed(name, milliseconds, **values):
    first = {**INVENTED["rows"][0], "ratios": [], "part": "variant"}
    times = ("median_ms", "lower_quartile_ms", "upper_quartile_ms")
    return {**first, "name": name, **dict.fromkeys(times, milliseconds), **values}


def define(tmp_path, *words, to="x", kind="float", task="sum"):
    words = [f"chapter=04 task='{task}' type={kind} names=a to={to}", *words]
    marker = f"<!-- picture: run.json {' '.join(words)} -->"
    (tmp_path / "README.md").write_text(marker, encoding="utf-8")


def drawn_lines(tmp_path, rows):
    found = draw_run.plots_of({**INVENTED, "rows": rows}, tmp_path)["04"].lines
    return {name: [(each.place, each.value) for each in line] for name, line in found.items()}


def test_divided_by_the_fastest_at_each_size(tmp_path):
    define(tmp_path, to="x,y")
    rows = [
        timed("a", 6, elements=1024),
        timed("x", 3, elements=1024),
        timed("y", 4, elements=1024),
        timed("a", 6, elements=2048),
        timed("x", 3, elements=2048),
        timed("y", 2, elements=2048),
    ]
    assert drawn_lines(tmp_path, rows) == {"a": [(1024, 2.0), (2048, 3.0)]}


def test_the_ratio_of_the_rounds_if_it_was_recorded(tmp_path):
    define(tmp_path)
    ratio = {"to": "x", "median": 1.9, "lower_quartile": 1.8, "upper_quartile": 2.1}
    rows = [timed("a", 6, ratios=[ratio]), timed("x", 3)]
    assert drawn_lines(tmp_path, rows)["a"] == [(1024, 1.9)]
    (drawn,) = draw_run.plots_of({**INVENTED, "rows": rows}, tmp_path)["04"].lines["a"]
    assert (drawn.low, drawn.high) == (1.8, 2.1)


def test_other_rows_have_no_part_in_it(tmp_path):
    define(tmp_path)
    rows = [
        timed("a", 6),
        timed("x", 3),
        timed("a", 9, data="cache"),
        timed("a", 9, type="double"),
        timed("a", 9, task="minimum"),
        timed("a", 9, elements=2048),  # There x was not measured.
    ]
    assert drawn_lines(tmp_path, rows) == {"a": [(1024, 2.0)]}


def test_several_tasks_stand_next_to_each_other(tmp_path):
    words = ["title=tiles", "labels='16 x 16|64 x 64'"]
    define(tmp_path, *words, kind="uint32", task="small tiles|large tiles")
    both = {"type": "uint32", "data": "none"}
    rows = [
        timed(name, time, task=task, **both)
        for task, name, time in (
            ("large tiles", "a", 8),
            ("large tiles", "x", 2),
            ("small tiles", "a", 3),
            ("small tiles", "x", 2),
        )
    ]
    assert drawn_lines(tmp_path, rows) == {"a": [(0, 1.5), (1, 4.0)]}
    run = {**INVENTED, "rows": rows}
    words = words_of(draw_run.figures_of(run, tmp_path)["04"].svg())
    assert "16 x 16 64 x 64" in words


@pytest.mark.parametrize("data, is_told", (("memory", True), ("none", False)))
def test_where_the_input_is_stands_below_if_there_is_one(tmp_path, data, is_told):
    rows = [timed(name, 6, elements=1024) for name in ("a", "x")]
    define(tmp_path, f"data={data}")
    of_data = [{**row, "data": data} for row in rows]
    plot = draw_run.plots_of({**INVENTED, "rows": of_data}, tmp_path)["04"]
    assert ("finds its input in" in plot.notes[0]) == is_told
    assert plot.axis == "elements"


def test_without_a_definition_the_first_task_over_its_peers(tmp_path):
    plot = draw_run.plots_of(INVENTED, tmp_path)["04"]
    assert list(plot.lines) == ["last_block"]
    assert plot.unit == "time divided by that of cub_device_reduce_sum"


def test_a_run_without_the_defined_lines_too(tmp_path):
    define(tmp_path, kind="int")
    assert list(draw_run.plots_of(INVENTED, tmp_path)["04"].lines) == ["last_block"]


def test_nothing_to_compare_with(tmp_path):
    rows = [timed("a", 6), timed("b", 3)]
    assert draw_run.figures_of({**INVENTED, "rows": rows}, tmp_path) == {}


def test_all_times_of_what_was_timed_over_several_sizes():
    rows = [
        timed(name, time, elements=elements, data=data, part=part)
        for data, sizes in (("memory", (4096, 1024, 2048)), ("cache", (1024, 2048)))
        for elements in sizes
        for name, time, part in (("a", elements / 1024, "variant"), ("x", 0.5, "peer"))
    ]
    (plot,) = draw_run.times_plots({**INVENTED, "rows": rows}, "04")
    assert plot.title == "sum of float, from device memory"
    assert plot.unit == "microseconds per call"
    assert plot.lines["a"][0] == (1024, 1000, 1000, 1000)
    found = {name: [each.place for each in line] for name, line in plot.lines.items()}
    assert found == {"a": [1024, 2048, 4096], "x": [1024, 2048, 4096]}
    assert draw_run.times_plots({**INVENTED, "rows": rows}, "05") == []


def test_lines_of_one_colour_differ_in_their_dashes():
    names = "abcdefg"
    rows = [timed(name, 1, elements=n) for n in (1024, 2048, 4096) for name in names]
    run = {**INVENTED, "rows": rows}
    (plot,) = draw_run.times_plots(run, "04")
    svg = xml.etree.ElementTree.fromstring(draw_run.figure_of("04", plot, run).svg())
    lines = [each for each in svg.iter(f"{SVG}polyline") if each.get("id")]
    looks = [(each.get("class"), each.get("stroke-dasharray")) for each in lines]
    assert len(set(looks)) == len(names)


def test_many_names_make_a_plot_higher():
    names = [f"one_of_many_long_names_{number}" for number in range(14)]
    rows = [timed(name, 1, elements=n) for n in (1024, 2048, 4096) for name in names]
    run = {**INVENTED, "rows": rows}
    (plot,) = draw_run.times_plots(run, "04")
    assert problems_of(draw_run.figure_of("04", plot, run).svg()) == []


def test_all_times_of_the_course_can_be_read():
    for run in runs_of_gpus():
        for chapter in {row["chapter"] for row in run["rows"]}:
            plots = draw_run.times_plots(run, chapter)
            assert bool(plots) == (chapter != "05"), chapter
            for plot in plots:
                svg = draw_run.figure_of(chapter, plot, run).svg()
                assert problems_of(svg) == [], plot.title


def runs_of_gpus():
    files = sorted((ROOT / "docs/benchmarks").glob("*.json"))
    runs = map(recorded_run.load_course_run, files)
    return [run for run in runs if run["backend"] == "cuda"]


def test_every_chapter_of_the_course_has_three_or_four_lines():
    """Three with that of the libraries, which is the line at 1."""
    plots = {}
    for run in runs_of_gpus():
        plots.update(draw_run.plots_of(run))
    assert sorted(plots) == [chapter.number for chapter in all_chapters()]
    for chapter, plot in plots.items():
        assert len(plot.lines) + 1 in (3, 4, 5), chapter
        for name, points in plot.lines.items():
            assert len(points) > 1, f"{chapter}: {name}"


def test_names_in_two_lines():
    assert draw_run.split_name("queue") == ["queue"]
    assert draw_run.split_name("one_element_a_thread") == ["one_element_a_", "thread"]
    assert draw_run.split_name("x" * 20) == ["x" * 16, "xxxx"]


def test_labels_do_not_lie_on_each_other():
    middles = draw_run.spread([50, 50, 51, 10], [20, 20, 20, 20], 0, 100)
    in_order = sorted(middles)
    assert all(y - x >= 20 for x, y in zip(in_order, in_order[1:])), middles
    assert in_order[0] >= 10
    assert in_order[-1] <= 90
    assert middles[3] == 10
    at_the_end = draw_run.spread([99, 99], [20, 20], 0, 100)
    assert at_the_end == [70, 90]


def test_numbers_at_the_axis():
    def height(value):
        return 100 * value

    assert draw_run.values_at_axis(0.9, 5, height) == [1, 1.5, 2, 3, 4, 5]
    assert draw_run.values_at_axis(0.5, 9, lambda v: 10 * v) == [1, 3, 5, 7]


@pytest.mark.parametrize(
    "sizes, words",
    (
        ((1024, 2048, 1000, 32768), ["2¹⁰", "", "", "2¹⁵"]),
        ((4096, 16384, 1 << 20), ["2¹²", "2¹⁴", "2²⁰"]),
        ((132, 1056), ["132", "1,056"]),
    ),
    ids="powers_and_others powers others".split(),
)
def test_words_of_sizes(sizes, words):
    assert list(draw_run.words_of_sizes(sizes).values()) == words


@pytest.mark.parametrize(
    "run, name",
    (
        ("nvidia", "nvidia-07"),
        ("nvidia-07", "nvidia-07"),
        ("nvidia-08", "nvidia-08-07"),
    ),
)
def test_the_name_of_a_picture(run, name):
    assert draw_run.picture_name(run, "07") == name


def with_1000_bytes():
    """No file of the process gets longer, as if the disk were full."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))


def draw(tmp_path, run, **options):
    pytest.importorskip("jsonschema")
    return captured(
        [sys.executable, BENCHMARKS / "draw_run.py", "--output", tmp_path, run], **options
    )


def picture(tmp_path):
    result = draw(tmp_path, RUN)
    assert result.returncode == 0, result.stderr
    assert os.listdir(tmp_path) == ["invented_run-04.svg"]
    return (tmp_path / "invented_run-04.svg").read_text(encoding="utf-8")


def test_every_line_is_there_with_all_its_points(tmp_path):
    svg = picture(tmp_path)
    run = recorded_run.load(RUN)
    plot = draw_run.plots_of(run)["04"]
    assert plot.lines
    for name, points in plot.lines.items():
        heights = heights_of(svg, name)
        assert len(heights) == len(points)
        # What takes longer is drawn higher, and so has the smaller coordinate.
        order = sorted(range(len(points)), key=lambda place: -points[place].value)
        assert sorted(heights) == [heights[place] for place in order]


def test_words(tmp_path):
    svg = picture(tmp_path)
    for words in ("Invented GPU", "last_block", "cub_device_reduce_sum", "Below 1 is faster."):
        assert words in words_of(svg)


def test_it_can_be_read(tmp_path):
    assert problems_of(picture(tmp_path)) == []


def test_the_same_run_gives_the_same_file(tmp_path):
    assert picture(tmp_path) == picture(tmp_path)


@pytest.mark.parametrize(
    "text, says",
    [
        pytest.param("{}", "[^\\n]+ is no recorded run: [^\\n]+", id="no_run"),
        pytest.param(
            RUN.read_text("utf-8").replace("last_block", "l" + "o" * 80 + "ng"),
            r"the name '[^\n]+' leaves no room for the plot\.",
            id="a_name_that_fits_nowhere",
        ),
        pytest.param(
            json.dumps(
                {
                    **INVENTED,
                    "rows": [row for row in INVENTED["rows"] if row["part"] == "variant"],
                }
            ),
            "[^\\n]+ has nothing to draw: [^\\n]+",
            id="nothing_to_draw",
        ),
    ],
)
def test_a_run_that_cannot_be_drawn_is_one_sentence_and_leaves_no_picture(tmp_path, text, says):
    run = tmp_path / "run.json"
    run.write_text(text, encoding="utf-8")
    result = draw(tmp_path, run)
    assert result.returncode == 1
    assert re.search(rf"\A{says}\n\Z", result.stderr)
    assert os.listdir(tmp_path) == ["run.json"]


def test_a_run_that_is_not_as_the_schema_says_leaves_no_picture(tmp_path):
    run = json.loads(RUN.read_text(encoding="utf-8"))
    run["rows"][0]["median_ms"] = "4"
    broken = tmp_path / "broken.json"
    broken.write_text(json.dumps(run), encoding="utf-8")
    result = draw(tmp_path, broken)
    assert result.returncode == 1
    assert result.stderr == f"{broken}: rows[0].median_ms is no number.\n"
    assert os.listdir(tmp_path) == ["broken.json"]


def test_without_jsonschema_it_is_one_sentence(tmp_path):
    # -S: no package of this Python can be imported.
    words = ["-S", BENCHMARKS / "draw_run.py", "--output", tmp_path, RUN]
    result = captured([sys.executable, *words])
    assert result.returncode == 1
    assert re.search(r"\Ajsonschema is not here; [^\n]+\n\Z", result.stderr)
    assert os.listdir(tmp_path) == []


def test_no_room_for_the_picture_is_one_sentence_and_leaves_none(tmp_path):
    result = draw(tmp_path, RUN, preexec_fn=with_1000_bytes)
    assert result.returncode == 1
    assert re.search(r"\A[^\n]*invented_run-04.svg: File too large\n\Z", result.stderr)
    assert os.listdir(tmp_path) == []

# SPDX-License-Identifier: MIT
"""Pictures of recorded runs: that all lines are in them, in their places, and can be read."""

import json
import os
import pathlib
import resource
import sys
import unittest
import xml.etree.ElementTree

import pytest

import draw_run
import recorded_run
from lab_tool.chapters import all_chapters
from svg_checks import SVG, problems_of, words_of
from test_setup import captured, temporary_folder
from this_build import ROOT

BENCHMARKS = ROOT / "common/benchmark"
RUN = pathlib.Path(__file__).resolve().parent / "invented_run.json"


def heights_of(svg, name):
    """The vertical places of the line's points, from left to right."""
    root = xml.etree.ElementTree.fromstring(svg)
    lines = {each.get("id"): each for each in root.iter(f"{SVG}polyline")}
    points = lines[draw_run.series_id("04", name)].get("points").split()
    return [float(point.split(",")[1]) for point in points]


class PlotTest(unittest.TestCase):
    """What is drawn, of runs that are made up here."""

    def setUp(self):
        self.run_ = json.loads(RUN.read_text(encoding="utf-8"))
        self.root = temporary_folder(self)

    def row(self, name, milliseconds, **values):
        first = {**self.run_["rows"][0], "ratios": [], "part": "variant"}
        times = ("median_ms", "lower_quartile_ms", "upper_quartile_ms")
        return {**first, "name": name, **dict.fromkeys(times, milliseconds), **values}

    def define(self, *words, to="x", kind="float", task="sum"):
        words = [f"chapter=04 task='{task}' type={kind} names=a to={to}", *words]
        marker = f"<!-- picture: run.json {' '.join(words)} -->"
        (self.root / "README.md").write_text(marker, encoding="utf-8")

    def lines(self, rows):
        found = draw_run.plots_of({**self.run_, "rows": rows}, self.root)["04"].lines
        return {name: [(each.place, each.value) for each in line] for name, line in found.items()}

    def test_divided_by_the_fastest_at_each_size(self):
        self.define(to="x,y")
        rows = [
            self.row("a", 6, elements=1024),
            self.row("x", 3, elements=1024),
            self.row("y", 4, elements=1024),
            self.row("a", 6, elements=2048),
            self.row("x", 3, elements=2048),
            self.row("y", 2, elements=2048),
        ]
        self.assertEqual(self.lines(rows), {"a": [(1024, 2.0), (2048, 3.0)]})

    def test_the_ratio_of_the_rounds_if_it_was_recorded(self):
        self.define()
        ratio = {"to": "x", "median": 1.9, "lower_quartile": 1.8, "upper_quartile": 2.1}
        rows = [self.row("a", 6, ratios=[ratio]), self.row("x", 3)]
        self.assertEqual(self.lines(rows)["a"], [(1024, 1.9)])
        (drawn,) = draw_run.plots_of({**self.run_, "rows": rows}, self.root)["04"].lines["a"]
        self.assertEqual((drawn.low, drawn.high), (1.8, 2.1))

    def test_other_rows_have_no_part_in_it(self):
        self.define()
        rows = [
            self.row("a", 6),
            self.row("x", 3),
            self.row("a", 9, data="cache"),
            self.row("a", 9, type="double"),
            self.row("a", 9, task="minimum"),
            self.row("a", 9, elements=2048),  # There x was not measured.
        ]
        self.assertEqual(self.lines(rows), {"a": [(1024, 2.0)]})

    def test_several_tasks_stand_next_to_each_other(self):
        words = ["title=tiles", "labels='16 x 16|64 x 64'"]
        self.define(*words, kind="uint32", task="small tiles|large tiles")
        both = {"type": "uint32", "data": "none"}
        rows = [
            self.row(name, time, task=task, **both)
            for task, name, time in (
                ("large tiles", "a", 8),
                ("large tiles", "x", 2),
                ("small tiles", "a", 3),
                ("small tiles", "x", 2),
            )
        ]
        self.assertEqual(self.lines(rows), {"a": [(0, 1.5), (1, 4.0)]})
        run = {**self.run_, "rows": rows}
        words = words_of(draw_run.figures_of(run, self.root)["04"].svg())
        self.assertIn("16 x 16 64 x 64", words)

    def test_where_the_input_is_stands_below_if_there_is_one(self):
        rows = [self.row(name, 6, elements=1024) for name in ("a", "x")]
        for data, is_told in (("memory", True), ("none", False)):
            self.define(f"data={data}")
            of_data = [{**row, "data": data} for row in rows]
            plot = draw_run.plots_of({**self.run_, "rows": of_data}, self.root)["04"]
            self.assertEqual("finds its input in" in plot.notes[0], is_told)
            self.assertEqual(plot.axis, "elements")

    def test_without_a_definition_the_first_task_over_its_peers(self):
        plot = draw_run.plots_of(self.run_, self.root)["04"]
        self.assertEqual(list(plot.lines), ["last_block"])
        self.assertEqual(plot.unit, "time divided by that of cub_device_reduce_sum")

    def test_a_run_without_the_defined_lines_too(self):
        self.define(kind="int")
        self.assertEqual(list(draw_run.plots_of(self.run_, self.root)["04"].lines), ["last_block"])

    def test_nothing_to_compare_with(self):
        rows = [self.row("a", 6), self.row("b", 3)]
        self.assertEqual(draw_run.figures_of({**self.run_, "rows": rows}, self.root), {})

    def test_all_times_of_what_was_timed_over_several_sizes(self):
        rows = [
            self.row(name, time, elements=elements, data=data, part=part)
            for data, sizes in (("memory", (4096, 1024, 2048)), ("cache", (1024, 2048)))
            for elements in sizes
            for name, time, part in (("a", elements / 1024, "variant"), ("x", 0.5, "peer"))
        ]
        (plot,) = draw_run.times_plots({**self.run_, "rows": rows}, "04")
        self.assertEqual(plot.title, "sum of float, from device memory")
        self.assertEqual(plot.unit, "microseconds per call")
        self.assertEqual(plot.lines["a"][0], (1024, 1000, 1000, 1000))
        found = {name: [each.place for each in line] for name, line in plot.lines.items()}
        self.assertEqual(found, {"a": [1024, 2048, 4096], "x": [1024, 2048, 4096]})
        self.assertEqual(draw_run.times_plots({**self.run_, "rows": rows}, "05"), [])

    def test_lines_of_one_colour_differ_in_their_dashes(self):
        names = "abcdefg"
        rows = [self.row(name, 1, elements=n) for n in (1024, 2048, 4096) for name in names]
        run = {**self.run_, "rows": rows}
        (plot,) = draw_run.times_plots(run, "04")
        svg = xml.etree.ElementTree.fromstring(draw_run.figure_of("04", plot, run).svg())
        lines = [each for each in svg.iter(f"{SVG}polyline") if each.get("id")]
        looks = [(each.get("class"), each.get("stroke-dasharray")) for each in lines]
        self.assertEqual(len(set(looks)), len(names))

    def test_all_times_of_the_course_can_be_read(self):
        of_h200 = (("01", 1), ("02", 1), ("03", 1), ("04", 1), ("05", 0), ("06", 1))
        for name, chapter, number in (
            *(("nvidia-h200", *each) for each in of_h200),
            ("nvidia-h100-07", "07", 2),
            ("nvidia-h100-08", "08", 2),
        ):
            run = recorded_run.load_course_run(ROOT / f"docs/benchmarks/{name}.json")
            plots = draw_run.times_plots(run, chapter)
            self.assertEqual(len(plots), number, chapter)
            for plot in plots:
                svg = draw_run.figure_of(chapter, plot, run).svg()
                self.assertEqual(problems_of(svg), [], plot.title)

    def test_every_chapter_of_the_course_has_three_or_four_lines(self):
        """Three with that of the libraries, which is the line at 1."""
        plots = {}
        for name in ("nvidia-h200", "nvidia-h100-07", "nvidia-h100-08"):
            run = recorded_run.load_course_run(ROOT / f"docs/benchmarks/{name}.json")
            plots.update(draw_run.plots_of(run))
        self.assertEqual(list(plots), [chapter.number for chapter in all_chapters()])
        for chapter, plot in plots.items():
            self.assertIn(len(plot.lines) + 1, (3, 4, 5), chapter)
            for name, points in plot.lines.items():
                self.assertGreater(len(points), 1, f"{chapter}: {name}")


class PartsTest(unittest.TestCase):
    def test_names_in_two_lines(self):
        self.assertEqual(draw_run.split_name("queue"), ["queue"])
        self.assertEqual(draw_run.split_name("one_element_a_thread"), ["one_element_a_", "thread"])
        self.assertEqual(draw_run.split_name("x" * 20), ["x" * 16, "xxxx"])

    def test_labels_do_not_lie_on_each_other(self):
        middles = draw_run.spread([50, 50, 51, 10], [20, 20, 20, 20], 0, 100)
        in_order = sorted(middles)
        self.assertTrue(all(y - x >= 20 for x, y in zip(in_order, in_order[1:])), middles)
        self.assertGreaterEqual(in_order[0], 10)
        self.assertLessEqual(in_order[-1], 90)
        self.assertEqual(middles[3], 10)
        at_the_end = draw_run.spread([99, 99], [20, 20], 0, 100)
        self.assertEqual(at_the_end, [70, 90])

    def test_numbers_at_the_axis(self):
        def height(value):
            return 100 * value

        self.assertEqual(draw_run.values_at_axis(0.9, 5, height), [1, 1.5, 2, 3, 4, 5])
        self.assertEqual(draw_run.values_at_axis(0.5, 9, lambda v: 10 * v), [1, 3, 5, 7])

    def test_words_of_sizes(self):
        for sizes, words in (
            ((1024, 2048, 1000, 32768), ["2¹⁰", "", "", "2¹⁵"]),
            ((4096, 16384, 1 << 20), ["2¹²", "2¹⁴", "2²⁰"]),
            ((132, 1056), ["132", "1,056"]),
        ):
            self.assertEqual(list(draw_run.words_of_sizes(sizes).values()), words)

    def test_the_name_of_a_picture(self):
        for run, name in (
            ("nvidia", "nvidia-07"),
            ("nvidia-07", "nvidia-07"),
            ("nvidia-08", "nvidia-08-07"),
        ):
            self.assertEqual(draw_run.picture_name(run, "07"), name)


def with_1000_bytes():
    """No file of the process gets longer, as if the disk were full."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))


class PictureTest(unittest.TestCase):
    def setUp(self):
        pytest.importorskip("jsonschema")
        self.folder = temporary_folder(self)

    def draw(self, run, **options):
        return captured(
            [sys.executable, BENCHMARKS / "draw_run.py", "--output", self.folder, run], **options
        )

    def picture(self):
        result = self.draw(RUN)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(os.listdir(self.folder), ["invented_run-04.svg"])
        return (self.folder / "invented_run-04.svg").read_text(encoding="utf-8")

    def test_every_line_is_there_with_all_its_points(self):
        run = recorded_run.load(RUN)
        svg = self.picture()
        plot = draw_run.plots_of(run)["04"]
        self.assertTrue(plot.lines)
        for name, points in plot.lines.items():
            heights = heights_of(svg, name)
            self.assertEqual(len(heights), len(points))
            # What takes longer is drawn higher, and so has the smaller coordinate.
            order = sorted(range(len(points)), key=lambda place: -points[place].value)
            self.assertEqual(sorted(heights), [heights[place] for place in order])

    def test_words(self):
        svg = self.picture()
        for words in ("Invented GPU", "last_block", "cub_device_reduce_sum", "Below 1 is faster."):
            self.assertIn(words, words_of(svg))

    def test_everybody_can_read_it(self):
        self.assertEqual(problems_of(self.picture()), [])

    def test_the_same_run_gives_the_same_file(self):
        self.assertEqual(self.picture(), self.picture())

    def test_a_broken_run_leaves_no_picture(self):
        broken = self.folder / "broken.json"
        broken.write_text("{}", encoding="utf-8")
        result = self.draw(broken)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"\A[^\n]+ is no recorded run: [^\n]+\n\Z")
        self.assertEqual(os.listdir(self.folder), ["broken.json"])

    def test_a_run_that_is_not_as_the_schema_says_leaves_no_picture(self):
        run = json.loads(RUN.read_text(encoding="utf-8"))
        run["rows"][0]["median_ms"] = "4"
        broken = self.folder / "broken.json"
        broken.write_text(json.dumps(run), encoding="utf-8")
        result = self.draw(broken)
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stderr, f"{broken}: rows[0].median_ms is no number.\n")
        self.assertEqual(os.listdir(self.folder), ["broken.json"])

    def test_without_jsonschema_it_is_one_sentence(self):
        # -S: no package of this Python can be imported.
        words = ["-S", BENCHMARKS / "draw_run.py", "--output", self.folder, RUN]
        result = captured([sys.executable, *words])
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"\Ajsonschema is not here; [^\n]+\n\Z")
        self.assertEqual(os.listdir(self.folder), [])

    def test_no_room_for_the_picture_is_one_sentence_and_leaves_none(self):
        result = self.draw(RUN, preexec_fn=with_1000_bytes)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"\A[^\n]*invented_run-04.svg: File too large\n\Z")
        self.assertEqual(os.listdir(self.folder), [])

    def test_nothing_to_draw_is_one_sentence(self):
        run = json.loads(RUN.read_text(encoding="utf-8"))
        run["rows"] = [row for row in run["rows"] if row["part"] == "variant"]
        alone = self.folder / "alone.json"
        alone.write_text(json.dumps(run), encoding="utf-8")
        result = self.draw(alone)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"\A[^\n]+ has nothing to draw: [^\n]+\n\Z")

    def test_a_name_that_fits_nowhere_is_one_sentence(self):
        text = RUN.read_text(encoding="utf-8").replace("last_block", "l" + "o" * 80 + "ng")
        long = self.folder / "long.json"
        long.write_text(text, encoding="utf-8")
        result = self.draw(long)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"\Athe name '[^\n]+' leaves no room for the plot.\n\Z")
        self.assertEqual(os.listdir(self.folder), ["long.json"])

# SPDX-License-Identifier: MIT
"""Tables of recorded runs: what they say, that a drift is found, and what is refused."""

import copy
import json
import os
import pathlib
import sys
import tempfile
import unittest

import pytest

import lesson_tables
import recorded_run
from test_setup import captured, temporary_folder
from this_build import ROOT

BENCHMARKS = ROOT / "common/benchmark"

HERE = pathlib.Path(__file__).resolve().parent
RUN = HERE / "invented_run.json"
PLACE = "Invented GPU, 4 SMs, driver 1.2.3, CUDA 13.0; 2026-01-02, commit 0123456"

MARKER = (
    "<!-- table: invented_run.json chapter=04 task=sum data=memory elements=2^16,2^29 "
    "show=time,ratio:cub_device_reduce_sum -->"
)
TABLE = f"""{MARKER}

| | median, 2^16 | time of `cub_device_reduce_sum`, 2^16 | median, 2^29 | time of `cub_device_reduce_sum`, 2^29 |
| --- | ---: | ---: | ---: | ---: |
| `last_block` | 4.00 µs | 0.49 | 472 µs | 1.00 |
| `cub_device_reduce_sum` | 8.20 µs | | 472 µs | |
| `empty_kernel` | 3.60 µs | | 3.60 µs | |

Medians of 21 rounds on {PLACE}: `./lab bench --json FILE`. \
Here each call finds its input in device memory, and not in the cache.

<!-- end of table -->"""  # noqa: E501


def run_of(**changes):
    run = json.loads(RUN.read_text(encoding="utf-8"))
    return {**run, **changes}


class TablesTest(unittest.TestCase):
    def rewritten(self, text):
        return lesson_tables.rewritten(text, root=HERE)

    def refuses(self, text, says):
        with self.assertRaisesRegex(recorded_run.RunError, says):
            self.rewritten(text)

    def test_table(self):
        empty = f"Before.\n\n{MARKER}\n<!-- end of table -->\n\nAfter.\n"
        self.assertEqual(self.rewritten(empty), f"Before.\n\n{TABLE}\n\nAfter.\n")

    def test_a_second_time_changes_nothing(self):
        text = f"Before.\n\n{TABLE}\n\nAfter.\n"
        self.assertEqual(self.rewritten(text), text)

    def test_a_table_to_come_waits_for_its_run(self):
        to_come = MARKER.replace("table:", "table to come:")
        self.assertEqual(self.rewritten(f"Before.\n\n{to_come}\n"), f"Before.\n\n{TABLE}\n")
        for waits in (
            f"Before.\n\n{to_come.replace('invented', 'unrecorded')}\n",
            f"```text\n{to_come}\n```\n",
        ):
            self.assertEqual(self.rewritten(waits), waits)
        self.refuses(to_come.replace("task", "tsak"), "'tsak=sum' is no part")

    def test_drift_shows(self):
        for old, new in (("4.00", "3.00"), ("| 0.49", "| 0.48"), ("21 rounds", "9 rounds")):
            drifted = TABLE.replace(old, new)
            self.assertNotEqual(drifted, TABLE)
            self.assertEqual(self.rewritten(drifted), TABLE)

    def test_all_columns(self):
        text = MARKER.replace("2^16,2^29", "2^29").replace(
            "time,ratio:cub_device_reduce_sum", "time,spread,element,bandwidth,copy,peak"
        )
        lines = self.rewritten(f"{text}\n<!-- end of table -->").splitlines()
        self.assertEqual(
            lines[2:5],
            [
                "| | median | quartiles | an element | bandwidth | of a copy | of the memory's peak |",
                "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
                "| `last_block` | 472 µs | 467 to 481 µs | 0.00088 ns | 4,550 GB/s | 106 % | 91 % |",
            ],
        )

    def test_names_choose_and_order(self):
        text = MARKER.replace(" show", " names=empty_kernel,last_block show")
        lines = self.rewritten(f"{text}\n<!-- end of table -->").splitlines()
        self.assertEqual(
            [line.split("|")[1].strip() for line in lines[4:6]], ["`empty_kernel`", "`last_block`"]
        )
        self.assertEqual(lines[6], "")

    def test_ratios_alone_have_their_heading_once(self):
        text = MARKER.replace("time,", "").replace(" show", " names=last_block show")
        lines = self.rewritten(f"{text}\n<!-- end of table -->").splitlines()
        self.assertEqual(lines[2], "| time of `cub_device_reduce_sum` | 2^16 | 2^29 |")
        self.assertEqual(lines[4], "| `last_block` | 0.49 | 1.00 |")

    def test_a_fenced_table_is_an_example(self):
        text = f"```text\n{MARKER}\n<!-- end of table -->\n```\n"
        self.assertEqual(self.rewritten(text), text)

    def test_refuses(self):
        end = "\n<!-- end of table -->"
        self.refuses(MARKER, "no end")
        self.refuses(end.strip(), "no table")
        self.refuses(MARKER.replace("invented_run", "nothing") + end, "nothing.json cannot be read")
        self.refuses(MARKER.replace("task", "tusk") + end, "'tusk=sum' is no part")
        self.refuses(MARKER.replace("2^29", "2^28") + end, "no last_block at 2\\^28 elements")
        self.refuses(MARKER.replace("2^29", "many") + end, "'many' is no number")
        self.refuses(MARKER.replace("=sum", "=product") + end, "no such rows")
        self.refuses(MARKER.replace(" data=memory", "") + end, "in the run twice")
        self.refuses(MARKER.replace("show=time", "show=speed") + end, "no such column")
        self.refuses(MARKER.replace(" elements=2^16,2^29", "") + end, "names its elements")
        self.refuses(MARKER.replace(" show", " names=bubble_sort show") + end, "no bubble_sort at")

    def test_durations(self):
        for milliseconds, text in (
            (1234.5, "1,234 ms"),
            (12.34, "12.3 ms"),
            (1.0, "1.00 ms"),
            (0.9994, "999 µs"),
            (0.0036, "3.60 µs"),
            (0.00014, "140 ns"),
            (0.0000003, "0.3 ns"),
        ):
            self.assertEqual(lesson_tables.duration(milliseconds), text)


class GoalsTest(unittest.TestCase):
    def lines(self, run):
        return lesson_tables.goals(run).splitlines()

    def test_reached_and_not(self):
        lines = self.lines(run_of())
        wanted = [
            "| 04 | sum of float | 2^29 | memory | `last_block` | 0.999 (0.989 to 1.009) "
            "| 1.00 of `cub_device_reduce_sum` | reached |",
            "| 04 | sum of float | 2^20 | memory | `last_block` | 0.625 (0.615 to 0.635) "
            "| 0.60 of `cub_device_reduce_sum` | not reached |",
            # Above the goal, but by less than the run's own spread.
            "| 04 | sum of float | 2^16 | memory | `last_block` | 0.488 (0.478 to 0.498) "
            "| 0.48 of `cub_device_reduce_sum` | reached |",
        ]
        for line in wanted:
            self.assertIn(line, lines)

    def test_what_was_not_measured_is_not_reached(self):
        first = self.lines(run_of())[2]
        self.assertTrue(first.startswith("| 01 | vector add of float | 2^29 |"), first)
        self.assertTrue(first.endswith("| not measured |"), first)

    def test_of_one_chapter(self):
        chapters = {line.split("|")[1].strip() for line in self.lines(run_of()) if "|" in line}
        self.assertLess({"01", "04"}, chapters)
        text = "<!-- goals: invented_run.json chapter=04 -->\n<!-- end of table -->"
        lines = lesson_tables.rewritten(text, root=HERE).splitlines()
        of_it = [line for line in self.lines(run_of()) if line.startswith("| 04 |")]
        self.assertEqual([line for line in lines if line.startswith("| 0")], of_it)
        for words, says in (("chapter=99", "chapter 99 has no goals"), ("task=sum", "no further")):
            with self.assertRaisesRegex(recorded_run.RunError, says):
                lesson_tables.rewritten(text.replace("chapter=04", words), root=HERE)

    def test_the_best_variant_counts(self):
        run = run_of()
        best = [row for row in run["rows"] if row["name"] == "last_block"]
        slow = copy.deepcopy(best)
        for row in slow:
            row["name"] = "slow_guard"
            for ratio in row["ratios"]:
                ratio["median"] *= 2
        run["rows"] = slow + run["rows"]
        self.assertFalse([line for line in self.lines(run) if "slow_guard" in line])


class ChannelsTest(unittest.TestCase):
    """The table of what each chapter's channel costs, of two chapters that are made up here."""

    CELL = "invented_run.json chapter=04 data=memory elements=2^16"

    def setUp(self):
        self.root = temporary_folder(self)
        (self.root / "invented_run.json").write_bytes(RUN.read_bytes())
        other = run_of(device={**run_of()["device"], "name": "Other GPU"})
        (self.root / "other_run.json").write_text(json.dumps(other), encoding="utf-8")

    def table(self, *chapters):
        for number, costs in enumerate(chapters, 1):
            folder = self.root / f"chapters/0{number}_name"
            folder.mkdir(parents=True, exist_ok=True)
            words = {"channel": f"channel {number}", "right_when": "right", "who_waits": "nobody"}
            facts = {**words, "costs": [{"of": of, "measured": cell} for of, cell in costs]}
            (folder / "chapter.json").write_text(json.dumps(facts), encoding="utf-8")
        text = "<!-- channels: chapters -->\n<!-- end of table -->"
        return lesson_tables.rewritten(text, self.root, self.root / "docs").splitlines()[2:-2]

    def test_each_machine_has_its_column(self):
        lines = self.table(
            [
                ("a launch", f"{self.CELL} names=empty_kernel"),
                ("a sum", f"{self.CELL} names=last_block show=ratio:cub_device_reduce_sum"),
            ],
            [("a sum", f"{self.CELL.replace('invented', 'other')} names=last_block")],
        )
        other = PLACE.replace("Invented", "Other")
        start = "Medians of 21 rounds on"
        self.assertEqual(
            lines,
            [
                "| channel | lesson | right when | who waits for whom | measured on Invented GPU "
                "| measured on Other GPU |",
                "| --- | --- | --- | --- | --- | --- |",
                "| channel 1 | [01](../chapters/01_name/README.md) | right | nobody "
                "| a launch: 3.60 µs; a sum: 0.49 | |",
                "| channel 2 | [02](../chapters/02_name/README.md) | right | nobody "
                "| | a sum: 4.00 µs |",
                "",
                f"- {start} {PLACE}: `./lab bench --json FILE`.",
                f"- {start} {other}: `./lab bench --json FILE`.",
            ],
        )

    def test_a_cost_is_one_cell(self):
        for cell, says in (
            (self.CELL, "is not one row"),
            (f"{self.CELL} names=bubble_sort", "is not one row"),
            (f"{self.CELL},2^20 names=last_block", "is not one row"),
            (f"{self.CELL.replace(' data=memory', '')} names=last_block", "in the run twice"),
            ("nothing.json elements=1 names=x", "nothing.json cannot be read"),
        ):
            with self.assertRaisesRegex(recorded_run.RunError, says):
                self.table([("a sum", cell)])


class RecordedRunTest(unittest.TestCase):
    def setUp(self):
        pytest.importorskip("jsonschema")

    def refuses(self, content, says):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "run.json")
            file.write_text(content, encoding="utf-8")
            with self.assertRaisesRegex(recorded_run.RunError, says):
                recorded_run.load(file)

    def test_refuses(self):
        self.refuses("{", "is no JSON")
        self.refuses("[]", "is no recorded run")
        self.refuses(json.dumps(run_of(format=2)), "has format 2")
        self.refuses(json.dumps(run_of(rows=[])), "has no rows")
        self.refuses(
            json.dumps(run_of(rows=[{"name": "x"}])),
            r"rows\[0\] has no bytes, calls_in_a_row, chapter",
        )
        without = run_of()
        del without["machine"]
        self.refuses(json.dumps(without), "it has no machine")

    def test_refuses_what_the_schema_does_not_allow(self):
        def refuses(says, **changes):
            first, *others = run_of()["rows"]
            self.refuses(json.dumps(run_of(rows=[{**first, **changes}, *others])), says)

        refuses(r"rows\[0\]\.median_ms is no number", median_ms="4")
        refuses(r"rows\[0\]\.bytes is no integer", bytes=True)
        refuses(r"rows\[0\]\.elements is no integer", elements=1024.0)
        refuses(r"rows\[0\]\.inputs is 0, and less than 1", inputs=0)
        refuses(r"rows\[0\]\.part is 'winner', and none of 'variant', ", part="winner")
        refuses(r"rows\[0\]\.ratios\[0\] has no lower_quartile, ", ratios=[{"to": "x"}])
        refuses(r"rows\[0\] has speed, which the format does not know", speed=1)
        self.refuses(json.dumps(run_of(rounds=None)), "rounds is no integer")

    def test_every_word_of_the_schema_is_checked(self):
        """jsonschema says nothing about a word that it does not know."""
        from jsonschema import Draft202012Validator

        known = {*Draft202012Validator.VALIDATORS, "$schema", "$defs", "title", "description"}

        def unknown_words(schema):
            inner = [*schema.get("properties", {}).values(), *schema.get("$defs", {}).values()]
            inner += [schema["items"]] if "items" in schema else []
            return (set(schema) - known).union(*map(unknown_words, inner))

        Draft202012Validator.check_schema(recorded_run.DEFINITION)
        self.assertEqual(unknown_words(recorded_run.DEFINITION), set())
        self.assertEqual(unknown_words({"properties": {"date": {"patern": "^2"}}}), {"patern"})

    def test_the_recorded_runs_of_the_course(self):
        runs = sorted((lesson_tables.ROOT / "docs/benchmarks").glob("*.json"))
        self.assertTrue(runs)
        for run in runs:
            with self.subTest(run=run.name):
                recorded_run.load(run)


class DocumentsTest(unittest.TestCase):
    def test_no_table_of_the_course_has_drifted(self):
        for document in lesson_tables.documents():
            with self.subTest(document=str(document.relative_to(lesson_tables.ROOT))):
                text = document.read_text(encoding="utf-8")
                self.assertEqual(
                    lesson_tables.rewritten(text, directory=document.parent),
                    text,
                    "common/benchmark/lesson_tables.py writes the tables anew",
                )

    def command(self, *words):
        return captured([sys.executable, BENCHMARKS / "lesson_tables.py", *words])

    def test_the_command_finds_and_mends_a_drift(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "lesson.md")
            source = os.path.relpath(RUN, lesson_tables.ROOT)
            right = TABLE.replace("invented_run.json", source)
            file.write_text(right.replace("4.00", "3.00"), encoding="utf-8")
            found = self.command("--check", file)
            self.assertEqual((found.returncode, found.stdout), (1, ""))
            self.assertIn("differ from the recorded runs", found.stderr)
            self.assertIn("3.00", file.read_text(encoding="utf-8"))
            self.assertEqual(self.command(file).returncode, 0)
            self.assertEqual(file.read_text(encoding="utf-8"), right)
            self.assertEqual(self.command("--check", file).returncode, 0)

    def test_the_command_prints_the_goals(self):
        pytest.importorskip("jsonschema")
        result = self.command("--goals", RUN)
        run = recorded_run.load(RUN)
        self.assertEqual((result.returncode, result.stdout), (0, lesson_tables.goals(run) + "\n"))
        result = self.command("--goals", "nothing.json")
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertRegex(result.stderr, r"\Anothing\.json cannot be read: [^\n]+\n\Z")

    def test_the_command_names_the_file_with_a_mistake(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "lesson.md")
            file.write_text(MARKER, encoding="utf-8")
            result = self.command(file)
            self.assertEqual(result.returncode, 1)
            self.assertRegex(result.stderr, r"\A\S+lesson\.md: a table has no end[^\n]*\n\Z")

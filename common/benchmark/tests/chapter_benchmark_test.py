# SPDX-License-Identifier: MIT
"""The benchmark program on the CPU backend: no library is beside the chapters, and its times say
nothing about a GPU, but everything else is as on one."""

import json
import os
import pathlib
import re
import tempfile
import unittest

import pytest

import recorded_run
from lab_tool.chapters import all_chapters
from test_setup import captured

PROGRAM = pathlib.Path(os.environ["CHAPTER_BENCHMARK"])
SMALL = ["--rounds", "3", "--largest", "2^12", "--cache", "40000"]


def run(*options, folder=None):
    return captured([PROGRAM, *options], cwd=folder, timeout=300)


class WrongUse(unittest.TestCase):
    def refuses(self, *options, says):
        with self.subTest(options=options), tempfile.TemporaryDirectory() as folder:
            result = run(*options, folder=folder)
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            self.assertRegex(result.stderr, r"\Achapter_benchmark: [^\n]+\n\Z")
            self.assertIn(says, result.stderr)
            self.assertEqual(os.listdir(folder), [])

    def test_refuses(self):
        self.refuses("--chapter", "99", says="no benchmark of chapter '99'; there are 01, 02")
        self.refuses("--fast", says="'--fast' is not understood")
        self.refuses("04", says="'04' is not understood")
        self.refuses("--rounds", says="--rounds needs a value")
        self.refuses("--rounds", "2", says="from 3 to 10000")
        self.refuses("--quick", "--quick", says="given more than once")
        self.refuses("--largest", "1000000", says="--largest must be a power of two")
        self.refuses("--largest", "2^64", says="--largest must be a whole number")
        self.refuses("--smallest", "2^12", "--largest", "2^11", says="--smallest is larger")
        self.refuses("--only", "speed", says="--only must be one of kernels, launches, not 'speed'")
        nothing = ["--chapter", "01", "--only", "launches"]
        self.refuses(*nothing, *SMALL, says="chapter 01 has no benchmark of launches")
        self.refuses("--cache", "-1", says="--cache must be a whole number")
        self.refuses("--json", "", says="needs the name of a file")
        self.refuses("--json", "no/such/run.json", says="cannot write 'no/such/run.json'")

    def test_help(self):
        result = run("--help")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("--chapter NN", result.stdout)


class WholeRun(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            cls.result = run(*SMALL, "--json", "run.json", folder=folder)
            cls.found = json.loads(pathlib.Path(folder, "run.json").read_text(encoding="utf-8"))

    def rows(self, **values):
        return [
            row
            for row in self.found["rows"]
            if all(row[key] == value for key, value in values.items())
        ]

    def test_all_is_right(self):
        self.assertEqual((self.result.returncode, self.result.stderr), (0, ""))
        last = self.result.stdout.splitlines()[-1]
        self.assertEqual(last, f"all results of {len(self.found['rows'])} rows are right")

    def test_what_it_writes_is_a_recorded_run(self):
        """With what `./lab bench` adds, taken from another run."""
        pytest.importorskip("jsonschema")
        invented = pathlib.Path(__file__).with_name("invented_run.json")
        added = json.loads(invented.read_text(encoding="utf-8"))
        added = {name: added[name] for name in ("backend", "command", "date", "commit", "machine")}
        self.assertEqual(list(recorded_run.problems({**added, **self.found})), [])

    def test_every_chapter_has_its_benchmark(self):
        chapters = {row["chapter"] for row in self.found["rows"]}
        self.assertEqual(chapters, {item.folder[:2] for item in all_chapters()})

    def test_all_sizes_from_memory_and_from_the_cache(self):
        sizes = {(row["elements"], row["data"]) for row in self.rows(chapter="04", task="sum")}
        memory = {(size, "memory") for size in (1024, 2048, 4096)}
        # A cache of 40,000 bytes holds 4,096 floats twice.
        self.assertEqual(sizes, memory | {(size, "cache") for size in (1024, 2048, 4096)})
        for row in self.rows(chapter="04", task="sum", data="memory"):
            self.assertGreaterEqual(row["inputs"] * row["elements"] * 4, 2 * 40000)

    def test_bytes(self):
        for row in self.rows(name="sixteen_byte_loads", chapter="01"):
            self.assertEqual(row["bytes"], 12 * row["elements"])
        for row in self.rows(name="sixteen_byte_loads", chapter="02", type="double"):
            self.assertEqual(row["bytes"], 16 * row["elements"])
        for row in self.rows(name="last_block", task="sum"):
            self.assertEqual(row["bytes"], 4 * row["elements"])

    def test_times_and_ratios(self):
        variants = self.rows(part="variant")
        self.assertTrue(variants)
        for row in self.found["rows"]:
            ordered = [row[f"{name}_ms"] for name in ("minimum", "lower_quartile", "median")]
            ordered += [row[f"{name}_ms"] for name in ("upper_quartile", "maximum")]
            self.assertEqual(ordered, sorted(ordered))
            self.assertGreater(ordered[0], 0)
            self.assertEqual(row["rounds"], 3)
        for row in variants:
            self.assertIn("empty_kernel", [ratio["to"] for ratio in row["ratios"]])
        for row in self.rows(chapter="04", part="variant"):
            self.assertIn("two_kernels", [ratio["to"] for ratio in row["ratios"]])

    def test_missing_libraries_are_named_and_in_no_row(self):
        missing = {each["name"] for each in self.found["not_run"]}
        self.assertEqual(
            missing,
            {
                "thrust_transform",
                "cublas_dot",
                "cublas_dot_to_host",
                "cub_transform_reduce",
                "cub_device_reduce_sum",
                "cub_device_reduce_min",
                "two_kernels_dependent_launch",
                "two_kernels_graph",
                "last_block_dependent_launch",
                "last_block_graph",
                "last_block_dependent_graph",
                "first_warp_dependent_graph",
                "first_warp_early_graph",
                "cub_device_reduce_sum_graph",
                "dependent_launches",
                "launches_in_a_graph",
                "cub_device_scan",
                "bulk_look_back",
                "look_back_dependent_launch",
                # A cooperative grid has at most a block for each simulated SM.
                "8 blocks",
                "16 blocks",
                "32 blocks",
            },
        )
        self.assertFalse(missing & {row["name"] for row in self.found["rows"]})
        self.assertIn(
            "no two_kernels_graph: the CPU backend has no CUDA graphs", self.result.stdout
        )
        self.assertIn("no thrust_transform: the CPU backend has no Thrust", self.result.stdout)

    def test_one_subject(self):
        result = run("--only", "launches", *SMALL)
        self.assertEqual(result.returncode, 0, result)
        headings = re.findall(r"^(\d\d) (.*) elements from (\w+)", result.stdout, re.M)
        self.assertEqual({chapter for chapter, _, _ in headings}, {"03", "04"})
        self.assertEqual({place for _, _, place in headings}, {"cache"})
        self.assertTrue(all("sum by launch" in words for _, words, _ in headings), headings)

    def test_one_chapter(self):
        result = run("--chapter", "01", *SMALL)
        self.assertEqual(result.returncode, 0, result)
        headings = re.findall(r"^(\d\d) .* elements from ", result.stdout, re.M)
        self.assertEqual(set(headings), {"01"})

# SPDX-License-Identifier: MIT
"""The benchmark program on the CPU backend: no library is beside the chapters, and its times say
nothing about a GPU, but everything else is as on one."""

import json
import os
import pathlib
import re
import tempfile

import pytest

import recorded_run
from lab_tool.chapters import all_chapters
from test_setup import captured

PROGRAM = pathlib.Path(os.environ["CHAPTER_BENCHMARK"])
SMALL = ["--rounds", "3", "--largest", "2^12", "--cache", "40000"]


def run(*options, folder=None):
    return captured([PROGRAM, *options], cwd=folder, timeout=300)


def refuses(*options, says):
    with tempfile.TemporaryDirectory() as folder:
        result = run(*options, folder=folder)
        assert (result.returncode, result.stdout) == (2, "")
        assert re.search(r"\Achapter_benchmark: [^\n]+\n\Z", result.stderr)
        assert says in result.stderr
        assert os.listdir(folder) == []


def test_refuses():
    refuses("--chapter", "99", says="no benchmark of chapter '99'; there are 01, 02")
    refuses("--fast", says="'--fast' is not understood")
    refuses("04", says="'04' is not understood")
    refuses("--rounds", says="--rounds needs a value")
    refuses("--rounds", "2", says="from 3 to 10000")
    refuses("--quick", "--quick", says="given more than once")
    refuses("--largest", "1000000", says="--largest must be a power of two")
    refuses("--largest", "2^64", says="--largest must be a whole number")
    refuses("--smallest", "2^12", "--largest", "2^11", says="--smallest is larger")
    refuses("--only", "speed", says="--only must be one of kernels, launches, not 'speed'")
    nothing = ["--chapter", "01", "--only", "launches"]
    refuses(*nothing, *SMALL, says="chapter 01 has no benchmark of launches")
    refuses("--cache", "-1", says="--cache must be a whole number")
    refuses("--json", "", says="needs the name of a file")
    refuses("--json", "no/such/run.json", says="cannot write 'no/such/run.json'")


def test_help():
    result = run("--help")
    assert (result.returncode, result.stderr) == (0, "")
    assert "--chapter NN" in result.stdout


class WholeRun:
    def __init__(self):
        with tempfile.TemporaryDirectory() as folder:
            self.result = run(*SMALL, "--json", "run.json", folder=folder)
            self.found = json.loads(pathlib.Path(folder, "run.json").read_text(encoding="utf-8"))

    def rows(self, **values):
        return [
            row
            for row in self.found["rows"]
            if all(row[key] == value for key, value in values.items())
        ]


@pytest.fixture(scope="module")
def whole_run():
    return WholeRun()


def test_all_is_right(whole_run):
    assert (whole_run.result.returncode, whole_run.result.stderr) == (0, "")
    last = whole_run.result.stdout.splitlines()[-1]
    assert last == f"all results of {len(whole_run.found['rows'])} rows are right"


def test_what_it_writes_is_a_recorded_run(whole_run):
    """With what `./lab bench` adds, taken from another run."""
    pytest.importorskip("jsonschema")
    invented = pathlib.Path(__file__).with_name("invented_run.json")
    added = json.loads(invented.read_text(encoding="utf-8"))
    added = {name: added[name] for name in ("backend", "command", "date", "commit", "machine")}
    assert list(recorded_run.problems({**added, **whole_run.found})) == []


def test_every_chapter_has_its_benchmark(whole_run):
    chapters = {row["chapter"] for row in whole_run.found["rows"]}
    assert chapters == {item.folder[:2] for item in all_chapters()}


def test_all_sizes_from_memory_and_from_the_cache(whole_run):
    sizes = {(row["elements"], row["data"]) for row in whole_run.rows(chapter="04", task="sum")}
    memory = {(size, "memory") for size in (1024, 2048, 4096)}
    # A cache of 40,000 bytes holds 4,096 floats twice.
    assert sizes == memory | {(size, "cache") for size in (1024, 2048, 4096)}
    for row in whole_run.rows(chapter="04", task="sum", type="float", data="memory"):
        assert row["inputs"] * row["elements"] * 4 >= 2 * 40000


def test_bytes(whole_run):
    for row in whole_run.rows(name="sixteen_byte_loads", chapter="01"):
        assert row["bytes"] == 12 * row["elements"]
    for row in whole_run.rows(name="sixteen_byte_loads", chapter="02", type="double"):
        assert row["bytes"] == 16 * row["elements"]
    for row in whole_run.rows(name="last_block", task="sum", type="float"):
        assert row["bytes"] == 4 * row["elements"]


def test_times_and_ratios(whole_run):
    variants = whole_run.rows(part="variant")
    assert variants
    for row in whole_run.found["rows"]:
        ordered = [row[f"{name}_ms"] for name in ("minimum", "lower_quartile", "median")]
        ordered += [row[f"{name}_ms"] for name in ("upper_quartile", "maximum")]
        assert ordered == sorted(ordered)
        assert ordered[0] > 0
        assert row["rounds"] == 3
    for row in variants:
        assert "empty_kernel" in [ratio["to"] for ratio in row["ratios"]]
    for row in whole_run.rows(chapter="04", part="variant"):
        assert "two_kernels" in [ratio["to"] for ratio in row["ratios"]]


def test_missing_libraries_are_named_and_in_no_row(whole_run):
    missing = {each["name"] for each in whole_run.found["not_run"]}
    assert missing == {
        "sixteen_byte_loads_dependent_launch",
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
        "cub_sum_not_guaranteed",
        "cub_sum_not_guaranteed_graph",
        "cub_device_scan_graph",
        "cub_scan_run_to_run",
        "last_block_dependent_launch_graph",
        "first_warp_dependent_launch",
        "first_warp_dependent_launch_graph",
        "look_back_graph",
        "look_back_dependent_launch_graph",
        "three_kernels_graph",
        "dependent_launches",
        "launches_in_a_graph",
        "cub_device_scan",
        "bulk_look_back",
        "bulk_look_back_dependent_launch",
        "look_back_dependent_launch",
        # A cooperative grid has at most a block for each simulated SM.
        "8 blocks",
        "16 blocks",
        "32 blocks",
    }
    assert not missing & {row["name"] for row in whole_run.found["rows"]}
    assert "no two_kernels_graph: the CPU backend has no CUDA graphs" in whole_run.result.stdout
    assert "no thrust_transform: the CPU backend has no Thrust" in whole_run.result.stdout


def test_one_subject():
    result = run("--only", "launches", *SMALL)
    assert result.returncode == 0, result
    headings = re.findall(r"^(\d\d) (.*) elements from (\w+)", result.stdout, re.M)
    assert {chapter for chapter, _, _ in headings} == {"03", "04"}
    assert {place for _, _, place in headings} == {"cache"}
    assert all("sum by launch" in words for _, words, _ in headings), headings


def test_one_chapter():
    result = run("--chapter", "01", *SMALL)
    assert result.returncode == 0, result
    headings = re.findall(r"^(\d\d) .* elements from ", result.stdout, re.M)
    assert set(headings) == {"01"}


def test_sums_and_scans_of_four_types_and_in_a_chain(whole_run):
    for chapter, task in (("04", "sum"), ("08", "inclusive sum")):
        types = {row["type"] for row in whole_run.rows(chapter=chapter, task=task)}
        assert types == {"int32", "int64", "float", "double"}
        chain = whole_run.rows(chapter=chapter, task=f"{task} in a chain")
        assert {row["elements"] for row in chain} == {1024, 2048, 4096}
        calls = {row["calls_in_a_row"] % 20 for row in chain if row["part"] != "floor"}
        assert calls == {0}

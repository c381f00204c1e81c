# SPDX-License-Identifier: MIT
"""The CPU backend's own benchmark, from `./lab bench` to the recorded run."""

import pathlib
import re
import sys
import tempfile

import pytest

import recorded_run
from test_setup import captured
from this_build import BUILD, ROOT

BUILD_FOLDER = str(BUILD)
PROGRAM = pathlib.Path(BUILD_FOLDER, "common/benchmark/cpu_backend/cpu_backend_benchmark")


def run(*words):
    return captured(words, timeout=250)


def test_recorded_run():
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "run.json")
        words = ["bench", "--build", BUILD_FOLDER, "--quick", "--json", str(file)]
        result = run(sys.executable, ROOT / "lab", *words)
        assert result.returncode == 0, result
        assert result.stderr.endswith(f"\nNext: ./lab plot {file}\n"), result
        found = recorded_run.load(file)
    assert found["backend"] == "cpu"
    assert found["rounds"] == 5
    sizes = sorted({row["threads"] for row in found["rows"]})
    assert sizes == [2**10, 2**15, 2**20]
    names = {"kernel", "serial_loop", "nine_barriers", "sixty_four_barriers"}
    for size in sizes:
        rows = {row["name"]: row for row in found["rows"] if row["threads"] == size}
        assert set(rows) == names
        assert rows["kernel"]["bytes"] == 12 * size
        assert rows["serial_loop"]["elements"] == size
        # A quarter of the blocks, and one more; 256 threads, and so many barriers.
        at_barriers = (size // 256 // 4 + 1) * 256
        assert rows["nine_barriers"]["elements"] == 9 * at_barriers
        assert rows["sixty_four_barriers"]["elements"] == 64 * at_barriers
    for row in found["rows"]:
        times = [row[f"{name}_ms"] for name in ("minimum", "lower_quartile", "median")]
        times += [row[f"{name}_ms"] for name in ("upper_quartile", "maximum")]
        assert times == sorted(times)
        assert times[0] > 0
        # The text has the same figures.
        nanoseconds = row["median_ms"] * 1e6 / row["elements"]
        assert f" {nanoseconds:.2f}" in result.stdout


def test_ratios_to_a_plain_loop():
    result = run(pathlib.Path(BUILD_FOLDER, "common/benchmark/cpu_backend/all_cores_benchmark"))
    assert (result.returncode, result.stderr) == (0, "")
    rows = re.findall(r"^(\w.*?)  +([\d.]+) +([\d.]+) +([\d.]+)$", result.stdout, re.M)
    assert [row[0] for row in rows] == ["vector add", "sums of blocks, 9 barriers"]
    for _, kernel, loop, ratio in rows:
        assert float(kernel) / float(loop) == pytest.approx(float(ratio), abs=0.02 * float(ratio))


@pytest.mark.parametrize("words", (["--fast"], ["--json"]), ids="unknown no_file".split())
def test_wrong_use(words):
    result = run(PROGRAM, *words)
    assert (result.returncode, result.stdout) == (2, "")
    assert re.search(r"\Acpu_backend_benchmark: [^\n]+\n\Z", result.stderr)

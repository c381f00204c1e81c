# SPDX-License-Identifier: MIT
"""What nvcc makes of chapters 05 and 06: who cancels blocks, and that untraced kernels keep no time."""

import pathlib
import re
import shutil
import subprocess
import tempfile

import pytest

from lab_tool.builds.backends import put_nvcc_on_path
from this_build import ROOT

CANCEL = "clusterlaunchcontrol.try_cancel"

put_nvcc_on_path()
pytestmark = pytest.mark.skipif(not shutil.which("nvcc"), reason="nvcc is not here")


def kernels_of(source, architecture):
    """{name of the kernel: its PTX}"""
    with tempfile.TemporaryDirectory() as scratch:
        output = pathlib.Path(scratch, "out.ptx")
        command = ["nvcc", "-std=c++20", "-O3", "-ptx", f"-arch=compute_{architecture}"]
        command += [f"-I{ROOT / folder}" for folder in ("common", "chapters", "engine")]
        command += ["-o", output]
        subprocess.run([*command, ROOT / "chapters" / source], check=True, timeout=300)
        text = output.read_text(encoding="utf-8")
    # A kernel in an unnamed namespace is not visible.
    kernels = re.findall(r"^(?:\.visible )?\.entry (\w+)\((.*?)^\}", text, re.M | re.S)
    assert kernels
    return dict(kernels)


@pytest.mark.parametrize("architecture, cancels", (("90", False), ("100", True), ("120", True)))
def test_blocks_are_canceled_from_sm_100_on(architecture, cancels):
    kernels = kernels_of("06_work_stealing/work_stealing.cu", architecture)
    by_name = {
        name: CANCEL in text
        for name, text in kernels.items()
        if re.search("vec_add|add_canceling|by_canceling|total_count", name)
    }
    # vec_add; add_canceling for three ranks, and sixteen bytes; the sum of all counts; tiles
    # tallied, and with and without a histogram and a trace.
    assert len(by_name) == 11, by_name
    assert set(by_name.values()) == {cancels}, by_name
    others = [text for name, text in kernels.items() if name not in by_name]
    assert not any(CANCEL in text for text in others)


def test_a_canceled_block_has_components_beyond_the_rank():
    kernels = kernels_of("06_work_stealing/work_stealing.cu", "100")
    (rank_1,) = (text for name, text in kernels.items() if "vec_add" in name)
    # Otherwise they were 1 there, as in the block's own index.
    for component in "xyz":
        assert f"get_first_ctaid::{component}" in rank_1


def test_a_kernel_that_is_not_traced_reads_no_clock():
    kernels = kernels_of("05_work_queue/work_queue.cu", "90")
    reads_clock = {name: "%globaltimer" in text for name, text in kernels.items()}
    reads_place = {name: "%smid" in text for name, text in kernels.items()}
    traced = {name: "traced" in name for name in kernels}
    assert True in traced.values()
    assert False in traced.values()
    assert reads_clock == traced
    assert reads_place == traced

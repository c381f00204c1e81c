# SPDX-License-Identifier: MIT
"""What nvcc makes of chapters 05 and 06: who cancels blocks, and that untraced kernels keep no time."""

import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from lab_tool.builds.backends import put_nvcc_on_path
from this_build import ROOT

CANCEL = "clusterlaunchcontrol.try_cancel"

put_nvcc_on_path()


@unittest.skipUnless(shutil.which("nvcc"), "nvcc is not here")
class Ptx(unittest.TestCase):
    def kernels(self, source, architecture):
        """{name of the kernel: its PTX}"""
        with tempfile.TemporaryDirectory() as folder:
            output = pathlib.Path(folder, "out.ptx")
            command = ["nvcc", "-std=c++20", "-O3", "-ptx", f"-arch=compute_{architecture}"]
            command += [
                *(f"-I{ROOT / house}" for house in ("common", "chapters", "engine")),
                "-o",
                output,
            ]
            subprocess.run([*command, ROOT / "chapters" / source], check=True, timeout=300)
            text = output.read_text(encoding="utf-8")
        # A kernel in an unnamed namespace is not visible.
        kernels = re.findall(r"^(?:\.visible )?\.entry (\w+)\((.*?)^\}", text, re.M | re.S)
        self.assertTrue(kernels)
        return dict(kernels)

    def test_blocks_are_canceled_from_sm_100_on(self):
        for architecture, cancels in (("90", False), ("100", True), ("120", True)):
            kernels = self.kernels("06_work_stealing/work_stealing.cu", architecture)
            by_name = {
                name: CANCEL in text
                for name, text in kernels.items()
                if re.search("vec_add|add_canceling|by_canceling|total_count", name)
            }
            # vec_add; add_canceling for three ranks, and sixteen bytes; the sum of all counts; tiles
            # tallied, and with and without a histogram and a trace.
            with self.subTest(architecture=architecture):
                self.assertEqual(len(by_name), 11, by_name)
                self.assertEqual(set(by_name.values()), {cancels}, by_name)
                others = [text for name, text in kernels.items() if name not in by_name]
                self.assertFalse(any(CANCEL in text for text in others))

    def test_a_canceled_block_has_components_beyond_the_rank(self):
        kernels = self.kernels("06_work_stealing/work_stealing.cu", "100")
        (rank_1,) = (text for name, text in kernels.items() if "vec_add" in name)
        # Otherwise they were 1 there, as in the block's own index.
        for component in "xyz":
            self.assertIn(f"get_first_ctaid::{component}", rank_1)

    def test_a_kernel_that_is_not_traced_reads_no_clock(self):
        kernels = self.kernels("05_work_queue/work_queue.cu", "90")
        reads_clock = {name: "%globaltimer" in text for name, text in kernels.items()}
        reads_place = {name: "%smid" in text for name, text in kernels.items()}
        traced = {name: "traced" in name for name in kernels}
        self.assertIn(True, traced.values())
        self.assertIn(False, traced.values())
        self.assertEqual(reads_clock, traced)
        self.assertEqual(reads_place, traced)

# SPDX-License-Identifier: MIT
"""Each piece compiles and runs in a folder that has only the files that its page in docs/use names."""

import re
import sys
import unittest

from own_code import (
    compile_for_cpu,
    for_each_page,
    needs_cpu_backend,
    needs_racecheck,
    pages,
    run,
    write_sources_of,
)
from this_build import BUILD, ROOT

PIECES = ["block_reduce", "grid_barrier", "last_block", "look_back", "work_queue"]


class ReusableHeaders(unittest.TestCase):
    def test_each_piece_has_a_page(self):
        self.assertEqual([page.name for page in pages()], PIECES)

    @for_each_page
    def test_the_page_names_the_piece(self, page, folder):
        self.assertIn(page.name, [header.stem for header in page.headers])

    @for_each_page
    def test_headers_include_what_the_page_names_and_no_more(self, page, folder):
        for header in folder.glob("*.cuh"):
            for name in re.findall(r'#include "([^"]+)"', header.read_text(encoding="utf-8")):
                self.assertTrue((folder / name).is_file(), f"{header.name} includes {name}")

    @needs_cpu_backend
    @for_each_page
    def test_compiles_for_the_cpu(self, page, folder):
        for source in write_sources_of(page, folder):
            messages, included = compile_for_cpu(source, folder)
            self.assertEqual(messages, "")
            self.assertTrue(included)
            ours = [path for path in included if "/chapters/" in path or "/common/lab/" in path]
            self.assertEqual(ours, [])

    @needs_cpu_backend
    @for_each_page
    def test_the_example_is_right(self, page, folder):
        lab = [sys.executable, ROOT / "lab", "run", "--build", BUILD]
        code, printed = run([*lab, page.example.name], folder)
        self.assertEqual(code, 0, printed)

    @needs_racecheck
    @for_each_page
    def test_the_example_has_no_race(self, page, folder):
        lab = [sys.executable, ROOT / "lab", "racecheck", "--build", BUILD, "--seeds", "4"]
        code, printed = run([*lab, page.example.name], folder)
        self.assertEqual(code, 0, printed)
        self.assertRegex(printed, r"\n[0-9,]*[1-9][0-9,]* accesses checked .* 0 found")

    @for_each_page
    def test_the_page_prints_the_kernel_and_its_launch(self, page, folder):
        source = page.example.read_text(encoding="utf-8")
        kernel = re.search(r"^__global__ .*?^}\n", source, re.MULTILINE | re.DOTALL)[0]
        launch = re.search(
            r"^(?:void|cudaError_t) launch\(.*?^}\n", source, re.MULTILINE | re.DOTALL
        )[0]
        self.assertLessEqual(len((kernel + launch).splitlines()), 20)
        for part in (kernel, launch):
            self.assertIn(part, _text_of_page(page))


def _text_of_page(page):
    return (ROOT / "docs/use" / f"{page.name}.md").read_text(encoding="utf-8")

# SPDX-License-Identifier: MIT
"""The figures in the repository: each is what its script draws today, and every reader can read it."""

import contextlib
import io
import shutil
import sys
import unittest
from unittest import mock

import draw_all
from lab_tool.chapters import all_chapters
from svg_checks import problems_of, words_of
from test_setup import temporary_folder
from this_build import ROOT

FIGURES = draw_all.all_figures(ROOT)


class FiguresTest(unittest.TestCase):
    def test_every_chapter_has_a_drawn_one(self):
        for chapter in all_chapters():
            folder = ROOT / "chapters" / chapter.folder / "figures"
            self.assertIn(
                folder, {path.parent for path in FIGURES}, "no script draws a figure here"
            )

    def test_every_one_is_what_its_script_draws(self):
        for path, figure in FIGURES.items():
            with self.subTest(path=str(path.relative_to(ROOT))):
                self.assertTrue(
                    draw_all.is_as_drawn(path, figure), "python3 common/figures/draw_all.py"
                )

    def test_no_picture_without_a_script(self):
        folders = (*draw_all.FOLDERS, "docs/benchmarks")
        kept = {path for folder in folders for path in ROOT.glob(f"{folder}/*.svg")}
        self.assertEqual(kept, set(FIGURES))
        self.assertEqual(list(ROOT.glob("chapters/*/*.svg")), [])

    def test_everybody_can_read_them(self):
        for path, figure in FIGURES.items():
            with self.subTest(path=str(path.relative_to(ROOT))):
                self.assertEqual(problems_of(figure.svg()), [])

    def test_none_is_large(self):
        for path, figure in FIGURES.items():
            self.assertLess(len(figure.svg()), 64 * 1024, path.name)

    def test_what_they_say(self):
        words = {path.name: words_of(figure.svg()) for path, figure in FIGURES.items()}
        for name, said in {
            "array.svg": "= 1 * 4 + 2 = 6",
            "halving_tree.svg": "31",
            "two_kernels.svg": "kernel 2",
            "ticket_chain.svg": "old copy of A's data",
            "queue.svg": "adds 1, gets 8",
            "taken_over.svg": "canceled: never starts",
            "parts.svg": "command/: the recipe of a .cu file, and its runs",
            "nvidia-h200-01.svg": "time divided by that of thrust_transform",
        }.items():
            self.assertIn(said, words[name], name)


class DrawAllTest(unittest.TestCase):
    """The command, in a copy of one chapter's figures."""

    def setUp(self):
        self.root = temporary_folder(self)
        self.folder = self.root / "chapters/02_shared_memory_dot_product/figures"
        shutil.copytree(ROOT / "chapters/02_shared_memory_dot_product/figures", self.folder)
        self.svg = self.folder / "halving_tree.svg"

    def run_it(self, *words):
        out = io.StringIO()
        with (
            mock.patch.object(sys, "argv", ["draw_all.py", "--root", str(self.root), *words]),
            contextlib.redirect_stdout(out),
        ):
            return draw_all.main(), out.getvalue()

    def test_nothing_to_do(self):
        self.assertEqual(self.run_it("--check"), (0, ""))
        self.assertEqual(self.run_it(), (0, ""))

    def test_a_changed_one_is_named_and_drawn_anew(self):
        right = self.svg.read_text(encoding="utf-8")
        self.svg.write_text(right.replace("barrier", "fence"), encoding="utf-8")
        code, out = self.run_it("--check")
        self.assertEqual(code, 1)
        self.assertRegex(out, r"\Achapters/02_\w+/figures/halving_tree.svg is not what [^\n]+\n\Z")
        self.assertNotEqual(self.svg.read_text(encoding="utf-8"), right)
        self.assertEqual(self.run_it()[0], 0)
        self.assertEqual(self.svg.read_text(encoding="utf-8"), right)

    def test_a_missing_one_too(self):
        self.svg.unlink()
        self.assertEqual(self.run_it("--check")[0], 1)

# SPDX-License-Identifier: MIT
"""Pictures of recorded runs: that all series are in them, and readable on white and on a dark page."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

import python_test

BENCHMARKS = pathlib.Path(os.environ["BENCHMARKS_FOLDER"])
sys.path.insert(0, str(BENCHMARKS))

import draw_run  # noqa: E402
import recorded_run  # noqa: E402

RUN = pathlib.Path(__file__).resolve().parent / "invented_run.json"
PAGES = ("#ffffff", "#0d1117")  # GitHub's, light and dark.
SVG = "{http://www.w3.org/2000/svg}"

lab = python_test.load_lab()


def python_that_draws():
    """A Python with matplotlib, or None: the test installs nothing."""
    for python in (sys.executable, str(lab.VENV / "bin/python")):
        if lab.output_of([python, "-c", "import matplotlib"]) is not None:
            return python
    return None


def luminance(colour):
    """Relative luminance, by the Web Content Accessibility Guidelines 2.1."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [
        part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


class colours_test(unittest.TestCase):
    def test_the_measure_itself(self):
        self.assertAlmostEqual(contrast("#000000", "#ffffff"), 21)
        self.assertLess(contrast("#ffff00", "#ffffff"), 3)

    def test_every_colour_is_readable_on_both_pages(self):
        for colour in [draw_run.INK, *draw_run.COLOURS]:
            for page in PAGES:
                self.assertGreaterEqual(contrast(colour, page), 3, f"{colour} on {page}")

    def test_no_two_series_look_alike(self):
        looks = list(zip(draw_run.COLOURS, draw_run.MARKERS))
        self.assertEqual(len(set(looks)), len(draw_run.COLOURS))


class picture_test(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.python = python_that_draws()
        if cls.python is None:
            raise unittest.SkipTest("matplotlib is not here; ./lab plot installs it")

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def draw(self, run):
        return subprocess.run(
            [self.python, BENCHMARKS / "draw_run.py", "--output", self.folder, run],
            capture_output=True,
            text=True,
            check=False,
        )

    def picture(self):
        result = self.draw(RUN)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(os.listdir(self.folder), ["invented_run-04.svg"])
        return (self.folder / "invented_run-04.svg").read_text(encoding="utf-8")

    def test_every_series_is_there(self):
        root = xml.etree.ElementTree.fromstring(self.picture())
        groups = {group.get("id"): group for group in root.iter(f"{SVG}g")}
        run = recorded_run.load(RUN)
        names = {(row["name"], row["data"], row["bytes"] > 0) for row in run["rows"]}
        self.assertEqual(len(names), 6)
        for name, data, has_bytes in names:
            for what in [draw_run.TIME] + ([draw_run.BANDWIDTH] if has_bytes else []):
                group = groups.get(draw_run.series_id("04", "sum of float", name, data, what))
                self.assertIsNotNone(group, f"{name}, {data}: {what.title}")
                path = group.find(f"{SVG}path").get("d")
                sizes = {
                    row["elements"]
                    for row in run["rows"]
                    if (row["name"], row["data"]) == (name, data)
                }
                self.assertEqual(len(re.findall("[ML]", path)), len(sizes), f"{name}, {data}")

    def test_what_has_one_size_alone_has_bars(self):
        run = json.loads(RUN.read_text(encoding="utf-8"))
        first = run["rows"][0]
        names = {"queue": "variant", "one_block_a_tile": "peer", "empty_kernel": "floor"}
        run["rows"] = [
            {**first, "chapter": "05", "task": "tiles", "type": "uint32", "data": "none"}
            | {"bytes": 0, "name": name, "part": part, "ratios": []}
            for name, part in names.items()
        ]
        tiles = self.folder / "tiles.json"
        tiles.write_text(json.dumps(run), encoding="utf-8")
        result = self.draw(tiles)
        self.assertEqual(result.returncode, 0, result.stderr)
        root = xml.etree.ElementTree.parse(self.folder / "tiles-05.svg")
        groups = {group.get("id") for group in root.iter(f"{SVG}g")}
        for name, part in names.items():
            bar = draw_run.series_id("05", "tiles of uint32", name, "none", draw_run.TIME)
            self.assertEqual(bar in groups, part != "floor", name)

    def test_words(self):
        text = self.picture()
        for words in ("Invented GPU", "last_block, cached", "empty_kernel", "bandwidth, GB/s"):
            self.assertIn(words, text)
        self.assertIn("SPDX-License-Identifier", text.splitlines()[1])

    def test_no_ground_and_no_other_colours(self):
        text = self.picture()
        allowed = {draw_run.INK, *draw_run.COLOURS}
        self.assertLessEqual(set(re.findall(r"(?:stroke|fill): (#[0-9a-f]{6})", text)), allowed)
        # What has no colour of its own would be black.
        texts = re.findall(r"<text [^>]*>", text)
        self.assertTrue(texts)
        for each in texts:
            self.assertIn(f"fill: {draw_run.INK}", each)

    def test_the_same_run_gives_the_same_file(self):
        self.assertEqual(self.picture(), self.picture())

    def test_a_broken_run_leaves_no_picture(self):
        broken = self.folder / "broken.json"
        broken.write_text("{}", encoding="utf-8")
        result = self.draw(broken)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"\A[^\n]+ is no recorded run: [^\n]+\n\Z")
        self.assertEqual(os.listdir(self.folder), ["broken.json"])


if __name__ == "__main__":
    python_test.main()

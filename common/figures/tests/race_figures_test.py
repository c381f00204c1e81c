# SPDX-License-Identifier: MIT
"""The lessons' figures of races show what stands in the sources, and are what their data draws."""

import json
import sys
import unittest

from engine.command.race_picture import race_figure
from svg_checks import words_of
from this_build import ROOT

sys.path.insert(0, str(ROOT / "common/lab"))
from race_figure import figure_of, races_in

DATA = sorted(ROOT.glob("chapters/*/figures/race.json"))


class RaceFigures(unittest.TestCase):
    def test_three_lessons_have_one(self):
        self.assertEqual([path.parts[-3][:2] for path in DATA], ["02", "04", "05"])

    def test_each_is_what_its_data_draws(self):
        for path in DATA:
            with self.subTest(path=path):
                drawn = path.with_suffix(".svg").read_text(encoding="utf-8")
                self.assertEqual(drawn, figure_of(path).svg())

    def test_the_lines_are_those_of_the_sources(self):
        for path in DATA:
            for _, finding in races_in(path):
                for event in finding["chain"]["events"]:
                    with self.subTest(path=path, line=event["line"]):
                        lines = (ROOT / event["file"]).read_text(encoding="utf-8").splitlines()
                        self.assertEqual(lines[event["line"] - 1].strip(), event["text"])

    def test_any_names_and_lines_can_be_drawn(self):
        for path in DATA:
            for program, finding in races_in(path):
                finding["object"] = "a_very_long_name" * 30
                for event in finding["chain"]["events"]:
                    event["file"] = "folder/" * 40 + "a.cu"
                    event["text"] = "a\x07b <&> " + "f(" * 200 + " \N{SNOWMAN}\n"
                svg = race_figure([(program, finding)]).svg()
                words = words_of(svg)
                self.assertIn("a b <&>", words)
                self.assertIn("...", words)
                self.assertNotIn("SPDX", svg)

    def test_the_data_names_no_machine(self):
        for path in DATA:
            with open(path, encoding="utf-8") as file:
                (result,) = json.load(file)
            self.assertFalse(result["program"].startswith("/"), result["program"])

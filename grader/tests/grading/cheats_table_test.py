# SPDX-License-Identifier: MIT
"""The table of cheats on the page about the security of grading: it has each file, and says of it what the
file's head says."""

import re
import unittest

from cheats_test import FOLDER, HEAD

from grader.exercises.catalogue import chosen_exercise
from this_build import ROOT

PAGE = ROOT / "docs/grading-security.md"
ROW = re.compile(r"^\| `(?P<file>\w+)` \| (?P<what>.+) \| (?P<layer>[\w ]+) \| (?P<verdict>.+) \|$")
NOTHING = "nothing"  # finds a cheat that gets all points


def section(heading):
    text = PAGE.read_text(encoding="utf-8")
    return re.search(rf"^### {heading}\n(.*?)^#", text, re.MULTILINE | re.DOTALL)[1]


class CheatsTableTest(unittest.TestCase):
    def setUp(self):
        rows = [ROW.match(line) for line in section("All cheats").splitlines()]
        self.rows = {row["file"]: row for row in rows if row}
        self.heads = {
            file.stem: HEAD.match(file.read_text(encoding="utf-8")) for file in FOLDER.glob("*.cu")
        }

    def test_each_file_has_a_row_and_each_row_a_file(self):
        self.assertEqual(sorted(self.rows), sorted(self.heads))

    def test_a_row_says_what_the_head_of_its_file_says(self):
        for name, head in self.heads.items():
            with self.subTest(name):
                row = self.rows[name]
                of = sum(chosen_exercise(head["exercise"]).points.values())
                self.assertEqual(row["what"], head["what"])
                self.assertEqual(row["verdict"], f"{head['status']}, {head['points']} of {of}")
                has_all = int(head["points"]) == of
                self.assertEqual(row["layer"] == NOTHING, has_all)
                self.assertEqual(head["says"] == "", has_all or "disguise" in name)

    def test_layers_are_those_of_the_page(self):
        layers = re.findall(
            r"^\| ([a-z ]+) \| .+ \| .+ \|$", section("Which layer holds what"), re.MULTILINE
        )
        self.assertGreater(len(layers), 8)
        for name, row in self.rows.items():
            self.assertIn(row["layer"], {*layers[1:], NOTHING}, name)

# SPDX-License-Identifier: MIT
"""docs/racecheck.md explains every diagnosis of a race, and no other one."""

import json
import re
import unittest

from this_build import ROOT

TABLE = ROOT / "engine/racecheck/races/diagnoses.json"
# Of memory, and no race.
OTHERS = {"unwritten memory", "outside of the allocation"}


class ExplainedDiagnoses(unittest.TestCase):
    def test_the_table_of_the_page_has_the_names_of_the_checkers_table(self):
        page = (ROOT / "docs/racecheck.md").read_text(encoding="utf-8")
        rows = re.match(r"(?:\|.*\n)+", page[page.index("| diagnosis |") :])[0].splitlines()[2:]
        explained = [row.split("|")[1].strip().replace("`", "") for row in rows]
        diagnoses = json.loads(TABLE.read_text(encoding="utf-8"))["diagnoses"]
        names = {row["name"] for row in diagnoses if "name" in row}
        self.assertEqual(sorted(explained), sorted(names - OTHERS))

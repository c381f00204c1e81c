# SPDX-License-Identifier: MIT
"""The table of diagnoses: what each row must have, and what is refused before it is compiled."""

import json
import pathlib
import sys
import tempfile
import unittest

from test_setup import captured
from this_build import ROOT

RACES = ROOT / "engine/racecheck/races"
TABLE = json.loads((RACES / "diagnoses.json").read_text(encoding="utf-8"))
# Of memory, and no race.
OTHERS = {"unwritten_memory", "outside_of_the_allocation"}


def compiled(text):
    """Exit code, stderr and whether a header was written of the table that the text is."""
    with tempfile.TemporaryDirectory() as folder:
        table, header = pathlib.Path(folder, "table.json"), pathlib.Path(folder, "table.hpp")
        table.write_text(text, encoding="utf-8")
        result = captured([sys.executable, RACES / "generate_diagnoses.py", table, header])
        return result.returncode, result.stderr, header.exists()


class DiagnosisTable(unittest.TestCase):
    def test_each_diagnosis_of_a_race_says_what_to_do(self):
        for row in TABLE["diagnoses"]:
            if row.get("name") and row["code"] not in OTHERS:
                self.assertTrue(row["advice"] and row["repair"], row)

    def test_the_table_is_compiled(self):
        self.assertEqual(compiled(json.dumps(TABLE)), (0, "", True))

    def test_a_wrong_table_is_refused_with_one_sentence(self):
        row = {"code": "missing_food", "advice_if": {"hungry": "eat"}}
        for text, sentence in (
            ("{", "Expecting property name"),
            ("[]", "list indices"),
            (json.dumps({"diagnoses": [{}]}), "'code'"),
            (json.dumps({"diagnoses": [row, row]}), "is there twice"),
            (json.dumps({"diagnoses": [{**row, "advise": ""}]}), "unknown key 'advise'"),
            (json.dumps({"diagnoses": [{**row, "refines": "thirst"}]}), "which is no diagnosis"),
            (json.dumps({"diagnoses": [{**row, "advice": "eat {More}"}]}), "is no word"),
        ):
            with self.subTest(sentence):
                code, error, is_written = compiled(text)
                self.assertEqual((code, is_written), (1, False))
                self.assertIn("is no table of diagnoses: ", error)
                self.assertIn(sentence, error)
                self.assertEqual(error.count("\n"), 1)

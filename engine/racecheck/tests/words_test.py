# SPDX-License-Identifier: MIT
"""The table of words: C++ and Python fill the gaps of each row alike, and each diagnosis has its words."""

import os
import subprocess

import pytest

from engine.translate.words import GAP, filled, rows

PROGRAM = os.environ["WORDS_PROGRAM"]
# Of memory, and no race.
OTHERS = {"unwritten_memory", "outside_of_the_allocation", "written_constant"} | {
    "local_of_another",
    "atomic_on_local",
    "ended_lane",
    "read_only_load",
    "two_barriers",
    "unwritten_use",
}
OF_DIAGNOSES = [code.split(".") for code in rows() if "." in code]


def printed(*words):
    run = subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=True)
    return run.stdout.splitlines()


def test_both_languages_fill_each_row_alike():
    def by_python(code, has_fields):
        return filled(code, lambda _: has_fields, lambda name, form: f"<{name}|{form or ''}>")

    expected = [f"{code}\t{by_python(code, True)}\t{by_python(code, False)}" for code in rows()]
    assert printed() == expected


def test_the_rows_of_diagnoses_ask_for_what_a_finding_has():
    known = set(printed("findings"))
    for parts in OF_DIAGNOSES:
        names = {name for name, _ in GAP.findall(rows()[".".join(parts)])}
        assert {*names, *parts[2:]} <= known, parts


@pytest.mark.parametrize("code", [code for code, *part in OF_DIAGNOSES if part == ["name"]])
def test_each_diagnosis_of_a_race_says_what_to_do(code):
    if code not in OTHERS:
        assert f"{code}.advice" in rows() and f"{code}.repair" in rows()

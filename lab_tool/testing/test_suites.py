# SPDX-License-Identifier: MIT
"""The table of the tests' suites, from where Meson reads it too."""

import re
from typing import NamedTuple

from lab_tool.paths import ROOT
from lab_tool.testing.test_selection import suites_of


class Suite(NamedTuple):
    name: str
    what: str


def all_suites(root=ROOT):
    """The suites, in their order."""
    return [Suite(*row) for row in _rows(root, "test_suites")]


def all_marks(root=ROOT):
    """What else stands among a test's suites, and what it means."""
    return dict(_rows(root, "test_marks"))


def suite_of(test, suites):
    """The place in `suites` of the one that the test belongs to; the last place if it has none."""
    own = suites_of(test)
    return next((place for place, suite in enumerate(suites) if suite.name in own), len(suites) - 1)


def _rows(root, table):
    text = (root / "tests/suites/meson.build").read_text(encoding="utf-8")
    rows = re.search(rf"^{table} = {{\n(.*?)^}}", text, re.M | re.S)[1]
    return re.findall(r"^  '(\w+)': '(.*)',$", rows, re.M)

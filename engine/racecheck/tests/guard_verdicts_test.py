# SPDX-License-Identifier: MIT
"""guard_verdicts.hpp is what the reference model says today."""

import pathlib
import tempfile

import generate_guard_verdicts
from this_build import ROOT

HEADER = ROOT / "engine/racecheck/tests/guard_verdicts.hpp"


def test_header_is_up_to_date():
    with tempfile.TemporaryDirectory() as folder:
        made = pathlib.Path(folder, HEADER.name)
        generate_guard_verdicts.main(made)
        assert made.read_text(encoding="utf-8") == HEADER.read_text(encoding="utf-8")

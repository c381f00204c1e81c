# SPDX-License-Identifier: MIT
"""How long each test took when it last ran in a build folder, and how often it has failed there."""

import json
import os
from typing import NamedTuple

from engine.command.output_files import write_whole

PASSED = ("OK", "EXPECTEDFAIL")


class Past(NamedTuple):
    seconds: float
    failures: int
    has_failed_last: bool


class RunHistory:
    """Of a build folder; the brief form of the tests (LAB_BRIEF_TESTS) has times of its own."""

    def __init__(self, folder, brief):
        self.file = folder / "test_history.json"
        self.form = "brief" if brief else "whole"
        try:
            self.known = json.loads(self.file.read_text(encoding="utf-8"))
        except (OSError, ValueError):  # it is a help, and no more
            self.known = {}

    def past_of(self, name):
        """The Past of a test; None if it has not run here."""
        row = self.known.get(name)
        if row is None:
            return None
        seconds = row["seconds"].get(self.form, max(row["seconds"].values()))
        return Past(seconds, row["failures"], row["has_failed_last"])

    def has_failed(self, name):
        """Whether it failed when it last ran here."""
        return bool(self.known.get(name, {}).get("has_failed_last"))

    def add(self, results):
        """Adds what Meson has recorded of a run: of tests that came to an end, and did not skip."""
        for result in results:
            if result["result"] not in (*PASSED, "FAIL", "TIMEOUT", "ERROR"):
                continue
            row = self.known.setdefault(result["name"], {"seconds": {}, "failures": 0})
            has_failed = result["result"] not in PASSED
            row["seconds"][self.form] = round(result["duration"], 2)
            row["failures"] += has_failed
            row["has_failed_last"] = has_failed
        if os.access(self.file.parent, os.W_OK):
            write_whole(self.file, json.dumps(self.known, indent=1, sort_keys=True) + "\n")

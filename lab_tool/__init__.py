# SPDX-License-Identifier: MIT
"""The course's command, ./lab: it builds, runs, checks and grades what is in this checkout."""

from engine.command.output import Invocation, set_invocation
from lab_tool.paths import ROOT

set_invocation(Invocation("lab", "./lab", "racecheck", (ROOT / "common",)))

# SPDX-License-Identifier: MIT
"""The figure of a lesson that shows a race: drawn from what `./lab racecheck FILE --json` wrote."""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))

from engine.command.drawing import LICENSE
from engine.command.race_picture import race_figure, races_of


def races_in(path):
    """The races that are recorded in this file."""
    return races_of(json.loads(path.read_text(encoding="utf-8")))


def figure_of(path):
    return race_figure(races_in(path), LICENSE)

# SPDX-License-Identifier: MIT
"""The race of naive_last_block_guard.cu, as racecheck finds it. The data are the races' chains
of what this writes:

./lab racecheck chapters/04_last_block_guard/naive_last_block_guard.cu \\
    --json chapters/04_last_block_guard/figures/race.json -- 1
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "common/lab"))

from race_figure import figure_of


def figure():
    return figure_of(pathlib.Path(__file__).with_suffix(".json"))

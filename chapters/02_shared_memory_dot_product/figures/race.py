# SPDX-License-Identifier: MIT
"""The race of naive_barrier.cu, as racecheck finds it. The data are the races' chains
of what this writes:

./lab racecheck chapters/02_shared_memory_dot_product/naive_barrier.cu \\
    --json chapters/02_shared_memory_dot_product/figures/race.json
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "common/lab"))

from race_figure import figure_of


def figure():
    return figure_of(pathlib.Path(__file__).with_suffix(".json"))

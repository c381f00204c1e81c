# SPDX-License-Identifier: MIT
"""The race of naive_last_block_guard.cu, as racecheck finds it. The data are the races' chains
of what this writes:

./lab racecheck chapters/04_last_block_guard/naive_last_block_guard.cu \\
    --json chapters/04_last_block_guard/figures/race.json -- 1
"""

import json
import pathlib

from engine.command.drawing import LICENSE
from engine.command.race_picture import race_figure, races_of


def figure():
    recorded = pathlib.Path(__file__).with_suffix(".json").read_text(encoding="utf-8")
    return race_figure(races_of(json.loads(recorded)), LICENSE)

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes guard_verdicts.hpp: what the reference model says of each variant of the last-block guard.

    PYTHONPATH=. engine/racecheck/tests/generate_guard_verdicts.py guard_verdicts.hpp

One digit for each of memory_model's ALL_VARIANTS, in their order: 1 where the variant has a race.
"""

import pathlib
import sys

from engine.prove.memory_model import axioms
from engine.prove.memory_model.last_block_guard import ALL_VARIANTS, build

HEADER = """\
// SPDX-License-Identifier: MIT
// Made by generate_guard_verdicts.py.
#pragma once

inline constexpr char guard_verdicts[] =
"""


def has_race(variant):
    built, given = build(variant, merging_threads=(1,))
    return bool(axioms.verdict_of(built, given=given).races)


def main(output):
    digits = "".join("1" if has_race(variant) else "0" for variant in ALL_VARIANTS)
    lines = [f'    "{digits[first : first + 80]}"' for first in range(0, len(digits), 80)]
    pathlib.Path(output).write_text(HEADER + "\n".join(lines) + ";\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])

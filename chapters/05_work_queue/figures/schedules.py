# SPDX-License-Identifier: MIT
"""The schedules of a recorded run, schedules.json, which ./lab trace 05 --json has written."""

import pathlib

import draw_schedules


def figure():
    recorded = pathlib.Path(__file__).with_suffix(".json")
    return draw_schedules.figure_of(draw_schedules.load(recorded))

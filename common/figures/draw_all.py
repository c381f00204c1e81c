#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws every figure of the course that is kept in the repository, from its script and its data.

NAME.py in one of the FOLDERS, with a function figure(), makes NAME.svg next to it; a script without
that function is shared by others of its folder. Of what was recorded, race.json and schedules.json of a
chapter make the SVG of their name; docs/benchmarks/NAME.json makes NAME-NN.svg for each chapter NN that
it measured, and the run of one chapter may be called NAME-NN.json.
"""

import argparse
import importlib.util
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / folder) for folder in ("", "common/benchmark", "common/lab")]

import draw_run  # noqa: E402
import draw_schedules  # noqa: E402
import recorded_run  # noqa: E402
from engine.command.drawing import LICENSE  # noqa: E402
from engine.command.output_files import write_whole  # noqa: E402
from engine.command.race_picture import race_figure, races_of  # noqa: E402

FOLDERS = ("chapters/*/figures", "docs/figures", "docs/internals/figures")  # of the scripts


def figure_of(script):
    """The figure that this script draws, or None if it draws none itself."""
    sys.path.insert(0, str(script.parent))  # It may import its neighbours.
    try:
        specification = importlib.util.spec_from_file_location(f"figure_{script.stem}", script)
        module = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(module)
        return module.figure() if hasattr(module, "figure") else None
    finally:
        sys.path.remove(str(script.parent))


def all_figures(root=ROOT):
    """{path of the SVG: its Figure}"""
    found = {}
    scripts = (script for folder in FOLDERS for script in root.glob(f"{folder}/*.py"))
    for script in sorted(scripts):
        figure = figure_of(script)
        if figure:
            found[script.with_suffix(".svg")] = figure
    for data in sorted(root.glob("chapters/*/figures/race.json")):
        recorded = json.loads(data.read_text(encoding="utf-8"))
        found[data.with_suffix(".svg")] = race_figure(races_of(recorded), LICENSE)
    for data in sorted(root.glob("chapters/*/figures/schedules.json")):
        found[data.with_suffix(".svg")] = draw_schedules.figure_of(draw_schedules.load(data))
    for run in sorted(root.glob("docs/benchmarks/*.json")):
        for chapter, figure in draw_run.figures_of(recorded_run.load_course_run(run), root).items():
            found[run.with_name(f"{draw_run.picture_name(run.stem, chapter)}.svg")] = figure
    return found


def is_as_drawn(path, figure):
    return path.is_file() and path.read_text(encoding="utf-8") == figure.svg()


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--check", action="store_true", help="change nothing; exit 1 where an SVG differs"
    )
    parser.add_argument("--root", type=pathlib.Path, default=ROOT, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    differ = [
        (path, figure)
        for path, figure in all_figures(arguments.root).items()
        if not is_as_drawn(path, figure)
    ]
    for path, figure in differ:
        shown = path.relative_to(arguments.root)
        if arguments.check:
            print(f"{shown} is not what its script draws; python3 common/figures/draw_all.py")
        else:
            write_whole(path, figure.svg())
            print(f"{shown}: drawn anew")
    return 1 if arguments.check and differ else 0


if __name__ == "__main__":
    sys.exit(main())

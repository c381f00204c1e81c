# SPDX-License-Identifier: MIT
"""./lab plot: draws a recorded run."""

import os
import pathlib

from engine.command.arguments import WRONG_USE_MEANING, Verb, add_verbose, require_file
from engine.command.errors import WRONG_USE, CommandError
from engine.command.output import say_next
from engine.command.output_files import add_force
from engine.command.paths import shown
from engine.command.processes import run_quietly
from lab_tool.builds.recorded_runs import is_recorded_run
from lab_tool.paths import ROOT
from lab_tool.setup.python_packages import JSONSCHEMA, python_with_installed

RUN_DRAWER = ROOT / "common/benchmark/draw_run.py"


def add_options(parser):
    parser.add_argument("target", metavar="FILE.json", help="what ./lab bench --json has written")
    parser.add_argument(
        "--output", metavar="FOLDER", help="where the pictures go (default: next to FILE.json)"
    )
    add_force(parser)
    add_verbose(parser)


def act(arguments):
    file = pathlib.Path(arguments.target)
    require_file(file)
    folder = pathlib.Path(arguments.output) if arguments.output else file.parent
    if not folder.is_dir():
        raise CommandError(f"--output {folder}: there is no such folder.", WRONG_USE)
    if not os.access(folder, os.W_OK):
        raise CommandError(f"--output {folder}: nothing can be written there.", WRONG_USE)
    if not is_recorded_run(file):
        raise CommandError(f"{file} is no recorded run of ./lab bench --json.", WRONG_USE)
    python = python_with_installed(JSONSCHEMA)
    force = ["--force"] if arguments.force else []
    command = [python, shown(RUN_DRAWER), *force, "--output", shown(folder), shown(file)]
    code = run_quietly(command, "Drawing", shows_output=True)
    if code == WRONG_USE:  # a file of the user's is there; that is said
        return code
    if code != 0:
        raise CommandError("the pictures could not be drawn; the message is above.")
    say_next(f"open the pictures in {shown(folder)} in a browser")
    return 0


VERB = Verb(
    summary="draws what bench has recorded",
    usage=["plot FILE.json [--output FOLDER] [options]"],
    description="""\
Draws a recorded run of ./lab bench --json: one SVG picture for each chapter that it timed, with the
time of its variants divided by the best library's.""",
    examples=[
        ("./lab plot run.json", "pictures next to run.json"),
        ("./lab plot run.json --output pictures", "pictures in another folder"),
    ],
    exit_codes=[
        (0, "the pictures are drawn"),
        (1, "they could not be drawn"),
        WRONG_USE_MEANING,
    ],
    add_options=add_options,
    act=act,
)

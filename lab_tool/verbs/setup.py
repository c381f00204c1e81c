# SPDX-License-Identifier: MIT
"""./lab setup: installs, configures, and builds what exercises are checked with."""

from engine.command.arguments import WRONG_USE_MEANING, Verb, add_verbose
from engine.command.build_folder import build
from engine.command.output import say, say_next
from engine.command.paths import shown
from grader.exercises.catalogue import all_exercises
from lab_tool.builds.build_folders import configured
from lab_tool.builds.editor_database import write_database
from lab_tool.builds.exercise_builds import exercise_build
from lab_tool.options import add_backend
from lab_tool.setup.requirements import dotted


def add_options(parser):
    add_backend(parser)
    parser.add_argument(
        "--no-build",
        action="store_true",
        help="configure only: the first check of an exercise then builds what it needs",
    )
    add_verbose(parser)


def act(arguments):
    place = configured(arguments)
    # Does what there is to do if a meson.build has changed since the folder was configured.
    build(place, ["build.ninja"], "the configuration")
    for name, tool in place.tools.items():
        say(f"{name:14} {dotted(tool.version):10} {tool.path}")
    if not arguments.no_build:
        exercise_build(place, all_exercises())
    done = "configured" if arguments.no_build else "ready to check exercises"
    say(f"All is here, and {shown(place.folder)} is {done}.")
    say(f"{shown(write_database(place))} tells clangd how to read the .cu files.")
    say_next("./lab run")
    return 0


VERB = Verb(
    summary="installs what is missing; run and test do this too",
    usage=["setup [--backend auto|cpu|cuda] [--no-build] [--verbose]"],
    description="""\
Installs what is missing, configures the build folder, tells clangd, which editors
ask about C++, how to read the .cu files, and builds what exercises are checked with.
Each command that changes the machine is printed before it runs.""",
    examples=[
        ("./lab setup", "for the backend that auto takes"),
        ("./lab setup --backend cpu", "for the CPU backend"),
    ],
    exit_codes=[
        (0, "all is here"),
        (1, "something could not be installed, configured or built"),
        WRONG_USE_MEANING,
    ],
    add_options=add_options,
    act=act,
)

# SPDX-License-Identifier: MIT
"""./lab trace: which SM worked on which item, and when, as a picture."""

import datetime
import json
import pathlib
import shlex
import sys

from engine.command.arguments import NO_DEVICE_MEANING, WRONG_USE_MEANING, Verb, add_verbose
from engine.command.build_folder import build, settings_of
from engine.command.drawing import BEGINNING as PICTURE
from engine.command.errors import WRONG_USE, CommandError, hint, listed
from engine.command.output import remark, say_next
from engine.command.output_files import NamedOutputs, add_force, make_own_folder
from engine.command.paths import shown
from engine.command.processes import output_of, run_quietly
from engine.command.program_runs import name_command, run_finished_program
from lab_tool.builds.backends import require_gpu
from lab_tool.builds.build_folders import configured
from lab_tool.builds.recorded_runs import circumstances, device_in_words
from lab_tool.chapters import chosen_chapters, may_hand_out_items, variants_of
from lab_tool.options import add_backend, add_build
from lab_tool.paths import ROOT

DRAWER = ROOT / "common/lab/draw_schedules.py"
SCHEDULES = rb'\{\n  "about": \{\n'  # what the drawer's file of --json begins with
NO_ITEMS = "{} hands out no items, so it has no --trace."


def add_options(parser):
    parser.add_argument(
        "target", metavar="CHAPTER", help="a chapter that hands out items: 05 or 06"
    )
    parser.add_argument(
        "--panels",
        metavar="A,B,C",
        help="the variants to draw, one below the other (default: all that the program runs)",
    )
    parser.add_argument(
        "--output",
        metavar="FILE.svg",
        help="the picture (default: the chapter's folder name, in the current folder)",
    )
    parser.add_argument(
        "--json",
        metavar="FILE.json",
        help="also keep what the picture shows, to draw it again without another run",
    )
    add_force(parser)
    add_backend(parser)
    add_build(parser)
    add_verbose(parser)


def act(arguments):
    chapters = chosen_chapters(arguments.target)
    chapter = chapters[0]
    output = pathlib.Path(arguments.output or f"{chapter.folder}.svg")
    if len(chapters) > 1:
        raise CommandError("trace takes one chapter, as in ./lab trace 05.", WRONG_USE)
    if not may_hand_out_items(chapter):
        raise CommandError(NO_ITEMS.format(chapter.program), WRONG_USE)
    panels = arguments.panels.split(",") if arguments.panels else [""]
    if arguments.panels and not all(panels):
        raise CommandError(
            f"--panels {arguments.panels}: it takes names of variants with commas between them, as in "
            "--panels A,B,C.",
            WRONG_USE,
        )
    variants = variants_of(chapter)
    for panel in filter(None, panels if variants else []):
        if panel not in variants:
            more = hint(panel, variants, f"there are {listed(variants)}.")
            raise CommandError(
                f"--panels: {chapter.program} has no variant {panel}; {more}", WRONG_USE
            )
    if output.suffix != ".svg":
        raise CommandError(f"--output {output}: the picture is an SVG file, FILE.svg.", WRONG_USE)
    outputs = NamedOutputs(arguments.force)
    outputs.add("--output", output, PICTURE)
    kept = outputs.add("--json", arguments.json, SCHEDULES)
    require_gpu(arguments)
    place = configured(arguments)
    build(place, [chapter.target], chapter.program)
    program = place.folder / chapter.target
    if "--trace " not in (output_of([str(program), "--help"]) or ""):
        raise CommandError(NO_ITEMS.format(chapter.program), WRONG_USE)
    name_command(f"./lab run {chapter.number} --")
    traces = place.folder / "traces"
    make_own_folder(traces)
    files = []
    for panel in panels:
        files.append(traces / f"{chapter.folder}{'-' if panel else ''}{panel}.json")
        options = ["--trace", shown(files[-1])] + (["--variant", panel] if panel else [])
        code = run_finished_program(program, [*arguments.program_options, *options])
        if code != 0:
            return code
    where = circumstances(settings_of(place.folder)["backend"])
    about = {
        "place": device_in_words(where),
        "cores": where["machine"]["cores"] if where["backend"] == "cpu" else None,
        "date": datetime.date.today().isoformat(),
        "command": command_of(chapter, arguments),
    }
    command = [sys.executable, shown(DRAWER), "--about", json.dumps(about)]
    command += ["--force"] if arguments.force else []
    command += ["--output", shown(output), *(["--json", shown(kept.path)] if kept else [])]
    command += map(shown, files)
    if run_quietly(command, "Drawing") != 0:
        raise CommandError("the picture could not be drawn; the message is above.")
    remark(f"{shown(output)} is the picture. Perfetto opens {', '.join(map(shown, files))}.")
    say_next(f"open {shown(output)} in a browser")
    return 0


def command_of(chapter, arguments):
    """The command line that draws the same again, elsewhere too."""
    words = ["./lab", "trace", chapter.number]
    words += ["--panels", arguments.panels] if arguments.panels else []
    words += ["--", *arguments.program_options] if arguments.program_options else []
    return shlex.join(words)


VERB = Verb(
    summary="draws which SM worked on which item, and when",
    usage=["trace CHAPTER [--panels A,B,C] [options] [-- program options]"],
    description="""\
Runs a chapter that hands out items (05 or 06), and draws which SM worked on which item when. Of a
device with many SMs the picture shows a few: those that end first and last, and others between.""",
    examples=[
        ("./lab trace 05", "writes 05_work_queue.svg"),
        ("./lab trace 05 --panels grid_stride,queue", "two of the variants"),
    ],
    exit_codes=[
        (0, "the picture is drawn"),
        (1, "a result is wrong, or something failed while it was built, run or drawn"),
        WRONG_USE_MEANING,
        NO_DEVICE_MEANING,
    ],
    add_options=add_options,
    act=act,
    takes_program_options=True,
)

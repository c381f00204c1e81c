# SPDX-License-Identifier: MIT
"""./lab run and ./lab trace: the chapters' programs, or one CUDA file; and which SM worked on which item."""

import datetime
import json
import pathlib
import shlex
import sys

from engine.command.arguments import (
    NO_DEVICE_MEANING,
    WRONG_USE_MEANING,
    Verb,
    add_include,
    add_verbose,
    check_file,
    options_of_program,
    words_of,
)
from engine.command.build_folder import build, settings_of
from engine.command.drawing import BEGINNING as PICTURE
from engine.command.errors import WRONG_USE, CommandError, hint, listed
from engine.command.output import remark, say_next
from engine.command.output_files import NamedOutputs, add_force, make_own_folder
from engine.command.paths import shown
from engine.command.processes import output_of, run_quietly
from engine.command.program_runs import (
    add_weak_options,
    name_command,
    run_finished_program,
    run_programs,
    run_weak_programs,
    say_next_after,
)
from engine.command.recipe import build_file
from lab_tool.builds.backends import require_gpu
from lab_tool.builds.build_folders import configured
from lab_tool.builds.program_builds import observed_programs
from lab_tool.builds.recorded_runs import circumstances, device_in_words
from lab_tool.chapters import chosen_chapters, may_hand_out_items, options_in_lesson, variants_of
from lab_tool.options import (
    add_backend,
    add_build,
    add_chapter_or_file,
    is_file,
    refuse_with_chapter,
)
from lab_tool.paths import ROOT

DOCTOR = "./lab doctor"


def add_run_options(parser):
    add_chapter_or_file(parser)
    add_include(parser)
    add_backend(parser)
    add_build(parser)
    add_verbose(parser)
    parser.add_argument(
        "--weak",
        action="store_true",
        help="let plain reads get old values, as far as CUDA's memory model allows it",
    )
    parser.add_argument(
        "--keep-translated",
        action="store_true",
        help="say where the C++ is that a FILE.cu becomes for the CPU",
    )
    add_weak_options(parser, "with --weak: ")


def run(arguments):
    if arguments.weak:
        return run_weak(arguments)
    for option, given in (("--seed", arguments.seed is not None), ("--explain", arguments.explain)):
        if given:
            raise CommandError(f"{option} goes with --weak alone.", WRONG_USE)
    if is_file(arguments):
        return run_file(arguments)
    chapters = chosen_chapters(arguments.target)
    refuse_with_chapter(arguments)
    require_gpu(arguments)
    place = configured(arguments)
    if len(chapters) == 1:
        build(place, [chapters[0].target], chapters[0].program)
    else:
        build(place, ["programs"], f"the {len(chapters)} chapters' programs")
    code = run_programs(
        [(place.folder / chapter.target, arguments.program_options) for chapter in chapters],
        [f"./lab run {chapter.number} --" for chapter in chapters],
    )
    following = "./lab test" if len(chapters) > 1 else f"./lab racecheck {chapters[0].number}"
    say_next_after_chapter(code, following)
    return code


def say_next_after_chapter(code, following):
    """Nothing after a 1: a chapter's results are right, so it was refused, and would be again."""
    if code != 1:
        say_next_after(code, following, DOCTOR)


def run_file(arguments):
    check_file(arguments)
    require_gpu(arguments)
    place = configured(arguments)
    if arguments.keep_translated and settings_of(place.folder)["backend"] != "cpu":
        raise CommandError(
            "--keep-translated goes with --backend cpu: nvcc compiles the file as it is.", WRONG_USE
        )
    program = build_file(place, arguments)
    code = run_finished_program(program, arguments.program_options)
    say_next_after(code, _racecheck_command(arguments, words_of(arguments)), DOCTOR)
    return code


def _racecheck_command(arguments, target):
    """With the options that the lesson has for this file: a run may do more than a race check can."""
    given = options_of_program(arguments)
    options = options_in_lesson("racecheck", arguments.target, given)
    if options is None:
        options = given
    return shlex.join(["./lab", "racecheck", *target, *options])


def run_weak(arguments):
    """The same programs in the weak form: see docs/racecheck.md."""
    if arguments.backend == "cuda":
        raise CommandError("--weak runs on the cpu backend alone.", WRONG_USE)
    programs = observed_programs(arguments)
    chapters = [] if is_file(arguments) else chosen_chapters(arguments.target)
    commands = [f"./lab run --weak {chapter.number} --" for chapter in chapters]
    code = run_weak_programs(programs, arguments, commands)
    if is_file(arguments):
        say_next_after(code, _racecheck_command(arguments, words_of(arguments)), DOCTOR)
    else:
        say_next_after_chapter(code, _racecheck_command(arguments, [arguments.target]))
    return code


RUN = Verb(
    summary="builds and runs the chapters' programs, or a file of yours",
    usage=[
        "run [CHAPTER|all] [options] [-- program options]",
        "run FILE.cu ... [options] [-- program options]",
    ],
    description="""\
Builds and runs the program of a chapter, those of all chapters one after the other, or one CUDA
file of your own. The programs check their own results. What they print is on stdout; all that lab
itself says is on stderr.""",
    examples=[
        ("./lab run 04 -- --threads 128", "chapter 04, with an option of its program"),
        ("./lab run FILE.cu > out.txt", "a file of yours; out.txt has its output alone"),
        ("./lab run a.cu b.cu -DN=4", "one program of two files, with a macro"),
        ("./lab run --weak FILE.cu", "what may go wrong goes wrong"),
    ],
    exit_codes=[
        (0, "all results are right"),
        (1, "a result is wrong, or something failed while it was built or run"),
        WRONG_USE_MEANING,
        NO_DEVICE_MEANING,
    ],
    add_options=add_run_options,
    act=run,
    takes_program_options=True,
)


DRAWER = ROOT / "common/lab/draw_schedules.py"
SCHEDULES = rb'\{\n  "about": \{\n'  # what the drawer's file of --json begins with
NO_ITEMS = "{} hands out no items, so it has no --trace."


def add_trace_options(parser):
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


def trace(arguments):
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


TRACE = Verb(
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
    add_options=add_trace_options,
    act=trace,
    takes_program_options=True,
)

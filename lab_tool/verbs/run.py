# SPDX-License-Identifier: MIT
"""./lab run: the chapters' programs, or one CUDA file."""

import shlex

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
from engine.command.build_folder import build
from engine.command.errors import WRONG_USE, CommandError
from engine.command.program_runs import (
    add_weak_options,
    run_finished_program,
    run_programs,
    run_weak_programs,
    say_next_after,
)
from engine.command.recipe import build_file
from lab_tool.builds.backends import require_gpu
from lab_tool.builds.build_folders import configured
from lab_tool.builds.observed_programs import observed_programs
from lab_tool.chapters import chosen_chapters
from lab_tool.lesson_commands import options_in_lesson
from lab_tool.options import add_backend, add_build, add_chapter_or_file
from lab_tool.own_files import is_file, refuse_with_chapter

DOCTOR = "./lab doctor"


def add_options(parser):
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
    add_weak_options(parser, "with --weak: ")


def act(arguments):
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
    say_next_after(code, following, DOCTOR)
    return code


def run_file(arguments):
    check_file(arguments)
    require_gpu(arguments)
    place = configured(arguments)
    program = build_file(place, arguments)
    code = run_finished_program(program, arguments.program_options)
    say_next_after(code, _racecheck_command(arguments, words_of(arguments)), DOCTOR)
    return code


def _racecheck_command(arguments, target):
    """With the options that the lesson has for this file: a run may do more than a race check can."""
    options = options_in_lesson("racecheck", arguments.target)
    if options is None:
        options = options_of_program(arguments)
    return shlex.join(["./lab", "racecheck", *target, *options])


def run_weak(arguments):
    """The same programs in the weak form: see docs/racecheck.md."""
    if arguments.backend == "cuda":
        raise CommandError("--weak runs on the cpu backend alone.", WRONG_USE)
    programs = observed_programs(arguments)
    chapters = [] if is_file(arguments) else chosen_chapters(arguments.target)
    commands = [f"./lab run --weak {chapter.number} --" for chapter in chapters]
    code = run_weak_programs(programs, arguments, commands)
    target = words_of(arguments) if is_file(arguments) else [arguments.target]
    say_next_after(code, _racecheck_command(arguments, target), DOCTOR)
    return code


VERB = Verb(
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
    add_options=add_options,
    act=act,
    takes_program_options=True,
)

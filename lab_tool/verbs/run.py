# SPDX-License-Identifier: MIT
"""./lab run: the chapters' programs, or one CUDA file."""

import os
import shlex

from engine.driver.building import build
from engine.driver.errors import NOTHING_COULD_RUN, WRONG_USE, LabError
from engine.driver.output import remark, say_next
from engine.driver.recipe import build_file
from engine.driver.user_files import check_file, options_of_program, words_of
from lab_tool.arguments import (
    NO_DEVICE_MEANING,
    WRONG_USE_MEANING,
    Verb,
    add_backend,
    add_build,
    add_chapter_or_file,
    add_include,
    add_verbose,
    whole_number,
)
from lab_tool.builds.build_folders import configured
from lab_tool.builds.observed_programs import observed_programs
from lab_tool.builds.programs import exit_code_of_all, run_finished_program
from lab_tool.chapters import chosen_chapters
from lab_tool.own_files import is_file, refuse_with_chapter


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
    parser.add_argument(
        "--seed",
        type=whole_number(0, 2**63 - 1),
        metavar="S",
        help="with --weak: draw the schedule, and which of its old values a read gets, from seed S "
        "(default: the oldest and the newest in turn)",
    )
    parser.add_argument(
        "--explain",
        action="store_true",
        help="with --weak: say of each pair of lines why a read could get an old value",
    )


def act(arguments):
    if arguments.weak:
        return run_weak(arguments)
    for option, given in (("--seed", arguments.seed is not None), ("--explain", arguments.explain)):
        if given:
            raise LabError(f"{option} goes with --weak alone.", WRONG_USE)
    if is_file(arguments):
        return run_file(arguments)
    chapters = chosen_chapters(arguments.target)
    refuse_with_chapter(arguments)
    place = configured(arguments)
    if len(chapters) == 1:
        build(place, [chapters[0].target], chapters[0].program)
    else:
        build(place, ["programs"], f"the {len(chapters)} chapters' programs")
    code = run_all(
        [(place.folder / chapter.target, arguments.program_options) for chapter in chapters]
    )
    following = "./lab test" if len(chapters) > 1 else f"./lab racecheck {chapters[0].number}"
    say_next_after(code, following)
    return code


def run_file(arguments):
    check_file(arguments)
    place = configured(arguments)
    program = build_file(place, arguments)
    code = run_finished_program(program, arguments.program_options)
    words = ["./lab", "racecheck", *words_of(arguments), *options_of_program(arguments)]
    say_next_after(code, shlex.join(words))
    return code


def run_weak(arguments):
    """The same programs in the weak form: see docs/racecheck.md."""
    if arguments.backend == "cuda":
        raise LabError("--weak runs on the cpu backend alone.", WRONG_USE)
    programs = observed_programs(arguments)
    if arguments.seed is None:
        os.environ["LAB_WEAK"] = "1"
    else:
        os.environ["LAB_WEAK_SEED"] = str(arguments.seed)
    if arguments.explain:
        os.environ["LAB_WEAK_EXPLAIN"] = "1"
    code = run_all(programs)
    target = words_of(arguments) if is_file(arguments) else [arguments.target]
    words = ["./lab", "racecheck", *target, *options_of_program(arguments)]
    say_next_after(code, shlex.join(words))
    return code


def run_all(programs):
    """Runs [(program, its options)], with an empty line after each; returns one exit code for all."""
    codes = []
    for program, options in programs:
        codes.append(run_finished_program(program, options))
        remark()
    return exit_code_of_all(codes)


def say_next_after(code, following):
    """What to do after a program that ended with this code; `following` if it ran to its end."""
    if code in (0, 1):
        say_next(following)
    elif code == NOTHING_COULD_RUN:
        say_next("./lab doctor", "what can run here")


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

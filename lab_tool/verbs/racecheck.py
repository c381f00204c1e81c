# SPDX-License-Identifier: MIT
"""./lab racecheck: programs under the race checker."""

import pathlib
import shlex

from engine.command.arguments import (
    NO_DEVICE_MEANING,
    WRONG_USE_MEANING,
    Verb,
    add_include,
    add_verbose,
    options_of_program,
    sources_of,
    words_of,
)
from engine.command.checking import add_check_options, check, require_program
from engine.command.program_runs import name_command
from lab_tool.builds.observed_programs import observed_programs, observing_folder
from lab_tool.chapters import chosen_chapters, next_chapter
from lab_tool.options import add_build, add_chapter_or_file
from lab_tool.own_files import is_file
from lab_tool.paths import ROOT


def add_options(parser):
    add_chapter_or_file(parser)
    add_check_options(parser)
    add_include(parser)
    add_build(parser)
    add_verbose(parser)


def act(arguments):
    def configure():
        return observing_folder(arguments)

    if arguments.program:
        require_program(arguments, "all")
        checks = [(pathlib.Path(arguments.program), arguments.program_options)]
        return check(arguments, [arguments.program], lambda: checks, configure, None, None)

    if not is_file(arguments):
        name_command(f"./lab racecheck {chosen_chapters(arguments.target)[0].number} --")

    def again(seed):
        target = [] if arguments.target == "all" else words_of(arguments)
        words = [*target, "--seed", str(seed), *options_of_program(arguments)]
        return shlex.join(["./lab", "racecheck", *words])

    return check(
        arguments,
        sources_of(arguments) if is_file(arguments) else _sources_of_chapters(),
        lambda: observed_programs(arguments),
        configure,
        lambda: _next_command(arguments),
        again,
    )


def _sources_of_chapters():
    """A chapter's program includes files of other chapters, too."""
    return [
        path
        for ending in ("cu", "cuh", "hpp", "cpp")
        for path in (ROOT / "chapters").rglob(f"*.{ending}")
    ]


def _next_command(arguments):
    """What to do if all of it is right."""
    if is_file(arguments):
        words = [*words_of(arguments), *options_of_program(arguments)]
        return shlex.join(["./lab", "run", *words])
    chapters = chosen_chapters(arguments.target)
    if len(chapters) > 1:
        return "./lab test"
    return f"./lab run {next_chapter(chapters[0]).number}"


VERB = Verb(
    summary="looks for races in a chapter's program, or in a file of yours",
    usage=[
        "racecheck [CHAPTER|all] [options] [-- program options]",
        "racecheck FILE.cu ... [options] [-- program options]",
    ],
    description="""\
Runs programs under the race checker, each with different schedules of its blocks and threads, and
says which two accesses race and what is missing between them. Always on the CPU backend.""",
    examples=[
        ("./lab racecheck 04", "chapter 04, with 20 schedules"),
        ("./lab racecheck FILE.cu --seed 7", "your file, one schedule alone"),
        ("./lab racecheck FILE.cu --picture race.svg", "and a picture of it"),
    ],
    exit_codes=[
        (0, "something was checked, and no race was found"),
        (1, "a race, a program that failed, or nothing that could be checked"),
        WRONG_USE_MEANING,
        NO_DEVICE_MEANING,
    ],
    add_options=add_options,
    act=act,
    takes_program_options=True,
)

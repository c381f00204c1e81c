# SPDX-License-Identifier: MIT
"""./lab racecheck and ./lab prove: a sample of schedules under the race checker, or all executions."""

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
from engine.command.checking import (
    add_check_options,
    bad_seed,
    checked,
    outputs_of,
    require_program,
    say_next_after_check,
    written,
)
from engine.command.errors import WRONG_USE, CommandError
from engine.command.output import counted, say, say_next
from engine.command.program_runs import name_command
from engine.command.prove_command import add_options_of_prove, run_prove
from engine.command.racecheck_runs import MergeReports
from engine.prove.proving import (
    SECONDS_OF_SMALL,
    explore_small,
    say_findings_of,
)
from lab_tool.builds.program_builds import (
    merging_program,
    observed_programs,
    observed_recipe,
    observing_folder,
)
from lab_tool.chapters import case_to_prove, chosen_chapters, next_chapter
from lab_tool.options import add_build, add_chapter_or_file, is_file
from lab_tool.paths import ROOT


def add_racecheck_options(parser):
    add_chapter_or_file(parser)
    add_check_options(parser)
    add_include(parser)
    add_build(parser)
    add_verbose(parser)


def racecheck(arguments):
    if arguments.program:
        require_program(arguments, "all")
        outputs = outputs_of(arguments, [arguments.program])
        programs = [(pathlib.Path(arguments.program), arguments.program_options)]
    else:
        outputs = outputs_of(arguments, _sources(arguments))
        programs = observed_programs(arguments)
    results = checked(arguments, programs, merging_program(programs[0][0], arguments))
    code = written(results, outputs)
    if arguments.program:
        return code
    again = _one_schedule(arguments, bad_seed(results))
    is_whole = arguments.seed is None and not arguments.counts
    if code == 0 and is_whole and is_file(arguments):
        code = _explored_as_well(programs[0], merging_program(programs[0][0], arguments))
        if code != 0:
            words = [*words_of(arguments), *options_of_program(arguments)]
            say_next(shlex.join(["./lab", "prove", *words]), "with the decisions that lead to it")
            return code
    # A chapter's program without a finding was refused, and would be again.
    if code != 1 or is_file(arguments) or any(item.get("findings") for item in results):
        say_next_after_check(code, _next_command(arguments), again)
    return code


def _explored_as_well(program, merge_reports):
    """What an execution shows that no schedule has, if the launches are small; returns the exit code."""
    explored = explore_small(*program)
    if not explored:
        return 0
    executions = counted(len(explored.executions), "execution")
    if not explored.failed:
        number = f"for a second, {executions}" if explored.unfinished else f"all {executions}"
        say(f"Explored as well, as the launches are small: {number}, none with a race or a fault")
        return 0
    number = len(explored.executions)
    say(f"\nExplored as well, as the launches are small, and refuted by execution {number}:")
    say_findings_of(program[0], explored.failed[0], MergeReports(merge_reports), SECONDS_OF_SMALL)
    return 1


def _sources(arguments):
    if is_file(arguments):
        return sources_of(arguments)
    name_command(f"./lab racecheck {chosen_chapters(arguments.target)[0].number} --")
    # A chapter's program includes files of other chapters, too.
    endings = (".cu", ".cuh", ".hpp", ".cpp")
    return [path for path in (ROOT / "chapters").rglob("*.*") if path.suffix in endings]


def _one_schedule(arguments, seed):
    """The command that runs this seed's schedule alone."""
    target = [] if arguments.target == "all" else words_of(arguments)
    words = [*target, "--seed", str(seed), *options_of_program(arguments)]
    return shlex.join(["./lab", "racecheck", *words])


def _next_command(arguments):
    """What to do if all of it is right."""
    if is_file(arguments):
        words = [*words_of(arguments), *options_of_program(arguments)]
        return shlex.join(["./lab", "run", *words])
    chapters = chosen_chapters(arguments.target)
    if len(chapters) > 1:
        return "./lab test"
    following = next_chapter(chapters[0])
    return f"./lab run {following.number}" if following else "./lab learn"


RACECHECK = Verb(
    summary="looks for races in a chapter's program or in your file",
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
    add_options=add_racecheck_options,
    act=racecheck,
    takes_program_options=True,
)


def add_prove_options(parser):
    add_chapter_or_file(parser)
    add_options_of_prove(parser)
    add_include(parser)
    add_build(parser)
    add_verbose(parser)


def prove(arguments):
    asked = words_of(arguments)
    if not is_file(arguments):
        chapters = chosen_chapters(arguments.target)
        if len(chapters) > 1:
            raise CommandError("prove takes one chapter or file, as in ./lab prove 04.", WRONG_USE)
        arguments.target = str(case_to_prove(chapters[0]))
    return run_prove(arguments, asked, built, lambda: observing_folder(arguments).folder)


def built(arguments):
    """The Recipe of the program, its options, and who merges its report."""
    recipe = observed_recipe(arguments)
    merging = MergeReports(merging_program(recipe.program, arguments))
    return recipe, arguments.program_options, merging


PROVE = Verb(
    summary="explores all executions of a small program",
    usage=[
        "prove CHAPTER [options] [-- program options]",
        "prove FILE.cu ... [options] [-- program options]",
    ],
    description="""\
Runs a program under the race checker once for each execution that its atomics allow, and says what
is proved, within which bounds. For small grids and inputs. Always on the CPU backend.""",
    examples=[
        ("./lab prove 04", "chapter 04's guard, with 3 blocks"),
        ("./lab prove FILE.cu --limit 100", "your file, and at most 100 executions"),
        ("./lab prove FILE.cu --replay DECISIONS", "one execution that failed, again"),
    ],
    exit_codes=[
        (0, "proved; or the execution of --replay has neither a race nor a fault"),
        (1, "a race, a fault, or not proved"),
        WRONG_USE_MEANING,
        NO_DEVICE_MEANING,
    ],
    add_options=add_prove_options,
    act=prove,
    takes_program_options=True,
)

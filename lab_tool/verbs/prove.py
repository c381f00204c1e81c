# SPDX-License-Identifier: MIT
"""./lab prove: all executions of a small program, and not a sample of schedules."""

import shlex

from engine.command.arguments import (
    NO_DEVICE_MEANING,
    WRONG_USE_MEANING,
    Verb,
    add_include,
    add_verbose,
    options_of_program,
    sources_of,
    whole_number,
    words_of,
)
from engine.command.checking import merge_reports_of
from engine.command.errors import WRONG_USE, CommandError
from engine.command.output import say, say_next
from engine.command.output_files import NamedOutputs, OutputFile, add_force
from engine.command.paths import shown
from engine.command.racecheck_runs import Merging
from engine.prove.proving import explore, read_decisions, replay, say_explored, say_findings_of
from lab_tool.builds.observed_programs import observed_programs, observing_folder
from lab_tool.chapters import case_to_prove, chosen_chapters
from lab_tool.options import add_build, add_chapter_or_file
from lab_tool.own_files import is_file

MOST = 1_000_000
BEGINNING = "# Decisions of lab prove: whose strong access is next, as block.thread"


def add_options(parser):
    add_chapter_or_file(parser)
    parser.add_argument(
        "--limit",
        type=whole_number(1, MOST),
        default=10_000,
        metavar="N",
        help="stop after N executions (default: 10000)",
    )
    parser.add_argument(
        "--seconds",
        type=whole_number(1, MOST),
        default=600,
        metavar="S",
        help="stop after S seconds (default: 600)",
    )
    parser.add_argument(
        "--decisions",
        metavar="FILE",
        help="write the decisions of an execution that fails to FILE (default: prove.txt in the build "
        "folder)",
    )
    parser.add_argument(
        "--replay", metavar="FILE", help="run one execution again, by the decisions in FILE"
    )
    add_force(parser)
    add_include(parser)
    add_build(parser)
    add_verbose(parser)


def act(arguments):
    asked = words_of(arguments)
    if not is_file(arguments):
        chapters = chosen_chapters(arguments.target)
        if len(chapters) > 1:
            raise CommandError("prove takes one chapter or file, as in ./lab prove 04.", WRONG_USE)
        arguments.target = str(case_to_prove(chapters[0]))
    if arguments.replay is not None:
        return replay_one(arguments)
    outputs = NamedOutputs(arguments.force, sources_of(arguments))
    file = outputs.add("--decisions", arguments.decisions, BEGINNING.encode())
    program, options, merging = built(arguments)
    explored = explore(program, options, arguments.limit, arguments.seconds)
    if not explored.failed:
        return say_explored(explored)
    run, decisions = explored.failed
    say(explored.hang or f"refuted by execution {len(explored.executions)}:")
    say_findings_of(program, run, merging, arguments.seconds)
    if file is None:  # then nothing is left among the user's files
        path = observing_folder(arguments).folder / "prove.txt"
        file = OutputFile(path, BEGINNING.encode(), shown(path), force=True)
    file.write("\n".join([BEGINNING, *decisions]) + "\n")
    words = [*asked, "--replay", shown(file.path), *options_of_program(arguments)]
    say_next(shlex.join(["./lab", "prove", *words]), "this execution alone")
    return 1


def built(arguments):
    """The program, its options, and who merges its report."""
    ((program, options),) = observed_programs(arguments)
    return program, options, Merging(merge_reports_of(program, lambda: observing_folder(arguments)))


def replay_one(arguments):
    """Runs one list of decisions again; returns what racecheck's exit code would be."""
    decisions = read_decisions(arguments.replay)
    program, options, merging = built(arguments)
    run = replay(program, options, arguments.replay, decisions, arguments.seconds)
    return say_findings_of(program, run, merging, arguments.seconds)


VERB = Verb(
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
    add_options=add_options,
    act=act,
    takes_program_options=True,
)

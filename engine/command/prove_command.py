# SPDX-License-Identifier: MIT
"""All executions of a small program: what the command line says of it."""

from engine.command.arguments import options_of_program, sources_of, whole_number
from engine.command.output import invocation, say, say_next
from engine.command.output_files import NamedOutputs, OutputFile, add_force
from engine.command.paths import shown
from engine.prove.proving import (
    explore,
    in_one_line,
    read_decisions,
    replay,
    say_explored,
    say_findings_of,
    shown_results,
)

MOST = 1_000_000
BEGINNING = "# Decisions of lab prove: whose strong access is next, as block.thread"


def add_options_of_prove(parser):
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


def run_prove(arguments, asked, built, folder):
    """Explores the program, or runs one execution again; returns the exit code.

    `asked` is what the user has typed of the program, built(arguments) makes its Recipe, its options and its
    MergeReports, and folder() is the build folder.
    """
    if arguments.replay is not None:
        return replay_one(arguments, built)
    outputs = NamedOutputs(arguments.force, sources_of(arguments))
    file = outputs.add("--decisions", arguments.decisions, BEGINNING.encode())
    recipe, options, merging = built(arguments)
    program = recipe.program
    explored = explore(program, options, arguments.limit, arguments.seconds, recipe.other_program)
    if not explored.failed:
        code = say_explored(explored)
        for number, (_, (_, decisions)) in enumerate(shown_results(explored), 1):
            path = folder() / f"prove-{number}.txt"
            made = OutputFile(path, BEGINNING.encode(), shown(path), force=True)
            made.write("\n".join([BEGINNING, *decisions]) + "\n")
            say(f"decisions that lead to output {number}: {shown(path)}")
        return code
    run, decisions = explored.failed
    say(explored.hang or f"refuted by execution {len(explored.executions)}:")
    say_findings_of(program, run, merging, arguments.seconds)
    if file is None:  # then nothing is left among the user's files
        path = folder() / "prove.txt"
        file = OutputFile(path, BEGINNING.encode(), shown(path), force=True)
    file.write("\n".join([BEGINNING, *decisions]) + "\n")
    words = [*asked, "--replay", shown(file.path), *options_of_program(arguments)]
    say_next(invocation().command("prove", *words), "this execution alone")
    return 1


def replay_one(arguments, built):
    """Runs one list of decisions again; returns what racecheck's exit code would be."""
    decisions = read_decisions(arguments.replay)
    recipe, options, merging = built(arguments)
    program = recipe.program
    run = replay(program, options, arguments.replay, decisions, arguments.seconds)
    if run.output.strip():
        say(f"printed: {in_one_line(run.output)}")
    return say_findings_of(program, run, merging, arguments.seconds)

# SPDX-License-Identifier: MIT
"""Programs under the race checker, with the schedules of many seeds: what the command line says of it."""

import json
import os
import pathlib
import shlex

from engine.command.arguments import require_file, whole_number
from engine.command.build_folder import build, settings_of
from engine.command.drawing import BEGINNING as PICTURE
from engine.command.errors import NOTHING_COULD_RUN, WRONG_USE, CommandError
from engine.command.output import is_verbose, say, say_command, say_next
from engine.command.output_files import NamedOutputs, add_force
from engine.command.paths import shown
from engine.command.race_picture import races_of, write_picture
from engine.command.racecheck_runs import Merging, answer, schedules_text, standard_input
from engine.command.schedules import scheduled_runs

DEFAULT_SEEDS = 20
DEFAULT_SECONDS = 600
MOST_SEEDS = 100_000
MOST_SECONDS = 1_000_000
RESULTS = rb'\[\n  \{\n    "(program|code)": '  # what the file of --json begins with


def add_check_options(parser):
    """The options of a verb that looks for races."""
    parser.add_argument(
        "--seeds",
        type=whole_number(1, MOST_SEEDS),
        metavar="N",
        help=f"run N different schedules (default: {DEFAULT_SEEDS})",
    )
    parser.add_argument(
        "--seed",
        type=whole_number(0, 2**63 - 1),
        metavar="S",
        help="run the schedule of seed S alone; with --seeds, N schedules from S on",
    )
    parser.add_argument(
        "--lenient",
        action="store_true",
        help="let findings pass that only the strict reading of the memory model forbids",
    )
    parser.add_argument(
        "--counts",
        action="store_true",
        help="also say how often each kernel accesses memory and waits, in the first schedule",
    )
    parser.add_argument("--json", metavar="FILE", help="write what was found to FILE as well")
    parser.add_argument(
        "--picture",
        metavar="FILE.svg",
        help="draw each race as a sequence diagram: who did what, and what is missing between",
    )
    add_force(parser)
    parser.add_argument(
        "--timeout",
        type=whole_number(1, MOST_SECONDS),
        default=DEFAULT_SECONDS,
        metavar="SECONDS",
        help=f"stop a run after so many seconds (default: {DEFAULT_SECONDS})",
    )
    parser.add_argument(
        "--program", metavar="PROGRAM", help="check a racecheck program that is built already"
    )


def require_program(arguments, default):
    """Refuses a --program that can't be started, and next to it what else would say what is to be
    checked; `default` is the target if none is given."""
    given = [] if arguments.target == default else [arguments.target]
    given += [*arguments.more_files, *(f"--include {each}" for each in arguments.include)]
    given += [f"-D{each}" for each in arguments.define]
    if given:
        raise CommandError(
            f"--program names a program that is built already: leave {given[0]} out.", WRONG_USE
        )
    require_file(arguments.program)
    if not os.access(arguments.program, os.X_OK):
        raise CommandError(f"{arguments.program} is no program that can be started.", WRONG_USE)


def check(arguments, inputs, built_programs, configure, next_command, again):
    """Checks the programs, and says, writes and draws what was found; returns the exit code.

    `inputs` are the user's files that are read for it.
    `built_programs` returns [(program, its options)], up to date, when all options are known to be right.
    `configure` returns the BuildFolder that the options mean, which has the race checker.
    `next_command` is recommended if all of it is right, and `again`, a function, returns the command that
    runs the schedule of a seed alone; either may be None.
    """
    outputs = NamedOutputs(arguments.force, inputs)
    file = outputs.add("--json", arguments.json, RESULTS)
    if arguments.picture is not None and not arguments.picture.endswith(".svg"):
        raise CommandError(
            f"--picture {arguments.picture}: the picture is an SVG file, so its name must end in .svg.",
            WRONG_USE,
        )
    picture = outputs.add("--picture", arguments.picture, PICTURE)
    results = check_all(arguments, built_programs(), configure)
    if file:
        file.write(json.dumps(results, indent=2) + "\n")
    if picture:
        write_picture(races_of(results), picture)
    codes = [result["code"] for result in results]
    code = next((code for code in (WRONG_USE, 1, NOTHING_COULD_RUN) if code in codes), 0)
    if code == 0 and next_command:
        say_next(next_command())
    elif code == 1 and again:
        seed = next((item["seed"] for result in results for item in _bad(result)), 0)
        say_next(again(seed), "this schedule alone, after a change")
    return code


def check_all(arguments, checks, configure):
    """Runs all schedules of all programs, and says what each program's have found."""
    seeds = chosen_seeds(arguments)
    timeout, lenient = arguments.timeout, arguments.lenient
    results = []
    given, counts = standard_input(), arguments.counts
    with scheduled_runs(checks, seeds, timeout, lenient, given, counts) as finished:
        for (program, options), runs_of_program in zip(checks, finished):
            if is_verbose():
                say_command([shown(program), *options])
            name = shlex.join([program.name.removesuffix("_racecheck"), *options])
            say(f"{name}: {schedules_text(len(seeds))}")
            runs = runs_of_program()
            merging = Merging(merge_reports_of(program, configure))
            results.append(answer(program, seeds, runs, timeout, lenient, merging))
    return results


def can_observe(folder):
    """Whether it is a build folder with the race checker."""
    return bool((settings_of(folder) or {}).get("racecheck_libraries"))


def target_of_merging(folder):
    """The target of this build folder that merges reports."""
    return os.path.relpath(settings_of(folder)["racecheck_merge_reports"], folder.resolve())


def merge_reports_of(program, configure):
    """The program that merges this one's reports: of the build folder that it is in, or else of the one
    that `configure` returns. Builds it, if it is not there."""
    folder = next(filter(can_observe, pathlib.Path(program).resolve().parents), None)
    folder = folder or configure().folder
    merge_reports = settings_of(folder)["racecheck_merge_reports"]
    if not os.path.isfile(merge_reports):
        place = configure()._replace(folder=folder)
        build(place, [target_of_merging(folder)], "the merging of reports")
    return merge_reports


def chosen_seeds(arguments):
    first = arguments.seed or 0
    if arguments.seed is not None and arguments.seeds is None:
        return [first]
    return list(range(first, first + (arguments.seeds or DEFAULT_SEEDS)))


def _bad(result):
    """What a finding and a problem have in common: the seed that shows it."""
    return [*result.get("findings", ()), *result.get("problems", ())]

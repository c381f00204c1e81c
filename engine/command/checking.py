# SPDX-License-Identifier: MIT
"""Programs under the race checker, with the schedules of many seeds: what the command line says of it."""

import json
import os
import pathlib
import shlex
from typing import NamedTuple, Optional

from engine.command.arguments import require_file, whole_number
from engine.command.build_folder import build, settings_of
from engine.command.drawing import BEGINNING as PICTURE
from engine.command.errors import NOTHING_COULD_RUN, WRONG_USE, CommandError
from engine.command.output import is_verbose, say, say_command, say_next
from engine.command.output_files import NamedOutputs, OutputFile, add_force
from engine.command.paths import shown
from engine.command.race_picture import races_of, write_picture
from engine.command.racecheck_runs import MergeReports, say_result, schedules_text, standard_input
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


class Outputs(NamedTuple):
    """The files that a check is to write; None for those that were not asked for."""

    results: Optional[OutputFile]
    picture: Optional[OutputFile]


def outputs_of(arguments, inputs):
    """The Outputs, none of which is one of the `inputs`, the user's files that are read."""
    outputs = NamedOutputs(arguments.force, inputs)
    results = outputs.add("--json", arguments.json, RESULTS)
    if arguments.picture is not None and not arguments.picture.endswith(".svg"):
        raise CommandError(
            f"--picture {arguments.picture}: the picture is an SVG file, so its name must end in .svg.",
            WRONG_USE,
        )
    return Outputs(results, outputs.add("--picture", arguments.picture, PICTURE))


def checked(arguments, programs, merge_reports):
    """Runs all schedules of all `programs`, [(program, its options)], and says what each program's have
    found, which the program `merge_reports` merges. Returns a dictionary for each."""
    seeds = chosen_seeds(arguments)
    timeout, lenient, counts = arguments.timeout, arguments.lenient, arguments.counts
    forks = not arguments.program  # a stranger's program may be a script that starts others
    results = []
    given = standard_input()
    with scheduled_runs(programs, seeds, timeout, lenient, given, counts, forks) as finished:
        for (program, options), runs_of_program in zip(programs, finished):
            if is_verbose():
                say_command([shown(program), *options])
            name = shlex.join([program.name.removesuffix("_racecheck"), *options])
            say(f"{name}: {schedules_text(len(seeds))}")
            runs = runs_of_program()
            results.append(
                say_result(program, seeds, runs, timeout, lenient, MergeReports(merge_reports))
            )
    return results


def written(results, outputs):
    """Writes and draws what was found; returns the exit code."""
    if outputs.results:
        outputs.results.write(json.dumps(results, indent=2) + "\n")
    if outputs.picture:
        write_picture(races_of(results), outputs.picture)
    codes = [result["code"] for result in results]
    return next((code for code in (WRONG_USE, 1, NOTHING_COULD_RUN) if code in codes), 0)


def bad_seed(results):
    """The first seed that shows what is not right; 0 if none does."""
    bad = (
        each for item in results for each in (*item.get("findings", ()), *item.get("problems", ()))
    )
    return next((each["seed"] for each in bad), 0)


def say_next_after_check(code, following, again):
    """Recommends the command `following` if all is right, or else the one that runs a bad schedule again."""
    if code == 0:
        say_next(following)
    elif code == 1:
        say_next(again, "this schedule alone, after a change")


def can_observe(folder):
    """Whether it is a build folder with the race checker."""
    return bool((settings_of(folder) or {}).get("scheduled_libraries"))


def merge_reports_target(folder):
    """The target of this build folder that merges reports."""
    return os.path.relpath(settings_of(folder)["scheduled_merge_reports"], folder.resolve())


def _folder_of(program):
    """The build folder that it is in; None if it is in none."""
    return next(filter(can_observe, pathlib.Path(program).resolve().parents), None)


def merge_reports_of(program):
    """The program that merges this one's reports, of the build folder that it is in; None if there is
    none."""
    folder = _folder_of(program)
    path = folder and settings_of(folder)["scheduled_merge_reports"]
    return path if path and os.path.isfile(path) else None


def built_merge_reports(program, place):
    """The same, which is built; of `place`, a BuildFolder, if the program is in none."""
    place = place._replace(folder=_folder_of(program) or place.folder)
    build(place, [merge_reports_target(place.folder)], "the merging of reports")
    return settings_of(place.folder)["scheduled_merge_reports"]


def chosen_seeds(arguments):
    first = arguments.seed or 0
    if arguments.seed is not None and arguments.seeds is None:
        return [first]
    return list(range(first, first + (arguments.seeds or DEFAULT_SEEDS)))

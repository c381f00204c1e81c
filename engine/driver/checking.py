# SPDX-License-Identifier: MIT
"""Programs under the race checker, with the schedules of many seeds: what the command line says of it."""

import json
import os
import pathlib
import shlex

from engine.driver.arguments import whole_number
from engine.driver.build_folder import settings_of
from engine.driver.building import build
from engine.driver.errors import NOTHING_COULD_RUN, WRONG_USE, CommandError
from engine.driver.output import is_verbose, say, say_command, say_next
from engine.driver.paths import require_writable, shown, write_whole
from engine.driver.race_picture import races_of, write_picture
from engine.driver.racecheck_runs import Merging, answer, schedules_text, standard_input
from engine.driver.schedules import scheduled_runs

DEFAULT_SEEDS = 20
DEFAULT_SECONDS = 600
MOST_SEEDS = 100_000
MOST_SECONDS = 1_000_000


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


def check(arguments, built_programs, configure, next_command, again):
    """Checks the programs, and says, writes and draws what was found; returns the exit code.

    `built_programs` returns [(program, its options)], up to date, when all options are known to be right.
    `configure` returns the BuildFolder that the options mean, which has the race checker.
    `next_command` is recommended if all of it is right, and `again`, a function, returns the command that
    runs the schedule of a seed alone; either may be None.
    """
    file = pathlib.Path(arguments.json) if arguments.json else None
    if file:
        require_writable("--json", file)
    picture = pathlib.Path(arguments.picture) if arguments.picture is not None else None
    if picture is not None:
        if picture.suffix != ".svg":
            raise CommandError(
                f"--picture {picture}: the picture is an SVG file, so its name must end in .svg.",
                WRONG_USE,
            )
        require_writable("--picture", picture)
    results = check_all(arguments, built_programs(), configure)
    if file:
        write_whole(file, json.dumps(results, indent=2) + "\n")
    if picture is not None:
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

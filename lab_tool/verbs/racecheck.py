# SPDX-License-Identifier: MIT
"""./lab racecheck: programs under the race checker."""

import json
import pathlib
import shlex

from engine.driver.errors import NOTHING_COULD_RUN, WRONG_USE, LabError
from engine.driver.output import is_verbose, say, say_command, say_next
from engine.driver.paths import require_writable, shown, write_whole
from engine.driver.race_picture import races_of, write_picture
from engine.driver.racecheck_runs import answer, schedules_text, standard_input
from engine.driver.schedules import scheduled_runs
from engine.driver.user_files import options_of_program, words_of
from lab_tool.arguments import (
    NO_DEVICE_MEANING,
    WRONG_USE_MEANING,
    Verb,
    add_build,
    add_chapter_or_file,
    add_include,
    add_verbose,
    whole_number,
)
from lab_tool.builds.observed_programs import observed_programs
from lab_tool.chapters import chosen_chapters, next_chapter
from lab_tool.own_files import is_file

DEFAULT_SEEDS = 20
DEFAULT_SECONDS = 600
MOST_SEEDS = 100_000
MOST_SECONDS = 1_000_000


def add_options(parser):
    add_chapter_or_file(parser)
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
    add_include(parser)
    add_build(parser)
    add_verbose(parser)


def act(arguments):
    file = pathlib.Path(arguments.json) if arguments.json else None
    if file:
        require_writable("--json", file)
    picture = pathlib.Path(arguments.picture) if arguments.picture is not None else None
    if picture is not None:
        if picture.suffix != ".svg":
            raise LabError(
                f"--picture {picture}: the picture is an SVG file, so its name must end in .svg.",
                WRONG_USE,
            )
        require_writable("--picture", picture)
    checks, next_command = built_programs(arguments)
    results = check_all(arguments, checks)
    if file:
        write_whole(file, json.dumps(results, indent=2) + "\n")
    if picture is not None:
        write_picture(races_of(results), picture)
    codes = [result["code"] for result in results]
    code = next((code for code in (WRONG_USE, 1, NOTHING_COULD_RUN) if code in codes), 0)
    if code == 0 and next_command:
        say_next(next_command)
    elif code == 1 and next_command:
        seed = next((item["seed"] for result in results for item in _bad(result)), 0)
        say_next(_same_command(arguments, seed), "this schedule alone, after a change")
    return code


def built_programs(arguments):
    """[(program, its options)], up to date, and the command to recommend if all of it is right."""
    if arguments.program:
        return [(pathlib.Path(arguments.program), arguments.program_options)], None
    checks = observed_programs(arguments)
    if is_file(arguments):
        words = [*words_of(arguments), *options_of_program(arguments)]
        return checks, shlex.join(["./lab", "run", *words])
    if len(checks) > 1:
        return checks, "./lab test"
    return checks, f"./lab run {next_chapter(chosen_chapters(arguments.target)[0]).number}"


def check_all(arguments, checks):
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
            results.append(answer(program, seeds, runs_of_program(), timeout, lenient))
    return results


def chosen_seeds(arguments):
    first = arguments.seed or 0
    if arguments.seed is not None and arguments.seeds is None:
        return [first]
    return list(range(first, first + (arguments.seeds or DEFAULT_SEEDS)))


def _bad(result):
    """What a finding and a problem have in common: the seed that shows it."""
    return [*result.get("findings", ()), *result.get("problems", ())]


def _same_command(arguments, seed):
    target = [] if arguments.target == "all" else words_of(arguments)
    words = [*target, "--seed", str(seed), *options_of_program(arguments)]
    return shlex.join(["./lab", "racecheck", *words])


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

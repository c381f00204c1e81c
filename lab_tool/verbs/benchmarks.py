# SPDX-License-Identifier: MIT
"""./lab bench and ./lab plot: times the chapters, the CPU backend or checks, and draws a recorded run."""

import json
import os
import pathlib
import shlex
import tempfile
import time
from typing import NamedTuple

from engine.command.arguments import WRONG_USE_MEANING, Verb, add_verbose, require_file
from engine.command.build_folder import alone_in, build, configure, settings_of, word_for
from engine.command.errors import NOTHING_COULD_RUN, WRONG_USE, CommandError, hint, listed
from engine.command.output import remark, say, say_next
from engine.command.output_files import NamedOutputs, add_force
from engine.command.paths import shown
from engine.command.processes import run_quietly
from engine.command.program_runs import run_finished_program
from grader.exercises.catalogue import all_exercises
from grader.exercises.solutions import solution_of
from lab_tool.builds.backends import choose_backend, require_gpu
from lab_tool.builds.build_folders import configured
from lab_tool.builds.program_builds import exercise_build
from lab_tool.builds.recorded_runs import BEGINNING as RECORDED_RUN
from lab_tool.builds.recorded_runs import circumstances, is_recorded_run, recorded
from lab_tool.chapters import chosen_chapters
from lab_tool.options import add_backend, add_build
from lab_tool.paths import ROOT
from lab_tool.setup.cccl import check_peers, headers_to_take, require_headers
from lab_tool.setup.packages import JSONSCHEMA, python_with_installed

# The program that measures, of each backend.
BENCHMARKS = {
    "cuda": "common/benchmark/chapter_benchmark",
    "cpu": "common/benchmark/cpu_backend/cpu_backend_benchmark",
}
SUBJECTS = ["kernels", "launches"]  # what the chapters' benchmarks time
# What they measure is printed, and not part of the recorded run.
ALL_CORES_BENCHMARK = "common/benchmark/cpu_backend/all_cores_benchmark"
RACECHECK_BENCHMARK = "engine/racecheck/racecheck_benchmark"
# How often an exercise is checked, and how long that may take.
RUNS = 9
GOAL_RESULTS, GOAL_ALL = 2.5, 6.0  # seconds, on two idle cores


def add_bench_options(parser):
    parser.add_argument(
        "target",
        nargs="?",
        default="all",
        metavar="CHAPTER",
        help="a chapter by its number or name, or all (the default)",
    )
    parser.add_argument("--json", metavar="FILE", help="record the run in FILE")
    add_force(parser)
    parser.add_argument(
        "--quick", action="store_true", help="fewer rounds and sizes, in a fraction of the time"
    )
    parser.add_argument(
        "--goals",
        metavar="RUN.json",
        help="measure nothing, and compare this recorded run with the goals of what it measured",
    )
    parser.add_argument(
        "--exercises",
        action="store_true",
        help="time the checks of all exercises instead, on the CPU backend",
    )
    parser.add_argument(
        "--only",
        metavar="SUBJECT",
        help="kernels (against each other) or launches (stream, dependent launch, graph)",
    )
    parser.add_argument(
        "--toolkit-libraries",
        action="store_true",
        help="compare with the CUDA toolkit's CCCL, be it older than PyPI's",
    )
    parser.add_argument("--cccl", metavar="FOLDER", help="compare with the CCCL of these headers")
    parser.add_argument(
        "--check-peers",
        action="store_true",
        help="measure nothing, and look for a newer CCCL than the one that is pinned",
    )
    add_backend(parser)
    add_build(parser)
    add_verbose(parser)


class CheckTime(NamedTuple):
    """Medians of RUNS checks of the solution, in seconds."""

    results: float  # until the results are judged
    all: float  # until races and limits are as well


def time_checks(make_build, exercise, runs=RUNS):
    """Checks the solution `runs` times, each time with another comment so that it is compiled anew.

    `make_build` returns the ExerciseBuild; that it finds everything up to date is part of the time.
    """
    # Not above: the chapters are timed without these.
    import statistics

    from grader.judging.check import check

    text = solution_of(exercise.source.read_text(encoding="utf-8"), exercise.source.name)
    until_results, until_all = [], []
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, exercise.file_name)
        for run in range(runs):
            file.write_text(f"{text}// {time.time_ns()} {run}\n", encoding="utf-8")
            steps = {}
            start = time.monotonic()
            check(
                make_build()._replace(files=pathlib.Path(folder)),
                exercise,
                file,
                has_begun=lambda step, _, steps=steps: steps.update({step: time.monotonic()}),
            )
            end = time.monotonic()
            after = [steps[part] for part in ("races", "limits") if part in steps]
            until_results.append(min(after, default=end) - start)
            until_all.append(end - start)
    return CheckTime(statistics.median(until_results), statistics.median(until_all))


def time_exercises(arguments):
    """A table: how long a check of each exercise takes. The target may be a chapter."""
    if arguments.backend == "cuda":
        raise CommandError(
            "--exercises times the CPU backend's checks; leave --backend out.", WRONG_USE
        )
    if arguments.json or arguments.quick or arguments.only:
        raise CommandError("--exercises goes with none of --json, --quick and --only.", WRONG_USE)
    folders = [chapter.folder for chapter in chosen_chapters(arguments.target)]
    exercises = [each for each in all_exercises() if each.chapter in folders]
    arguments.backend = "cpu"
    place = configured(arguments)
    exercise_build(place, exercises)
    say(
        f"{'exercise':<36} results      all   seconds from saved file to verdict, medians of {RUNS}"
    )
    slow = 0
    for each in exercises:
        taken = time_checks(lambda each=each: exercise_build(place, [each]), each)
        slow += taken.results > GOAL_RESULTS or taken.all > GOAL_ALL
        say(f"{each.title:<36} {taken.results:7.2f}  {taken.all:7.2f}")
    say(f"{slow} of {len(exercises)} are above {GOAL_RESULTS} or {GOAL_ALL:g} s")
    return 0


def refuse_chapter_on_cpu(arguments):
    if arguments.target != "all" or arguments.only:
        raise CommandError(
            "on the CPU backend bench measures the backend itself, and no chapter.", WRONG_USE
        )


def compare_with_goals(file):
    """A table; the code is 1 if the run misses a goal."""
    _require_recorded_run(file)
    python = python_with_installed(JSONSCHEMA)
    return run_finished_program(python, [shown(TABLE_FILLER), "--goals", shown(file)])


def _require_recorded_run(file):
    require_file(file)
    if not is_recorded_run(file):
        raise CommandError(f"{file} is no recorded run of ./lab bench --json.", WRONG_USE)


def take_cccl(place, settings, arguments):
    """Has the benchmarks, and nothing else, compiled with the CCCL that the options ask for."""
    folder = headers_to_take(arguments)
    if settings.get("cccl_headers", "") == folder:
        return
    meson = word_for(place.tools["Meson"])
    with alone_in(place.folder):
        configure(
            [meson, "configure", shown(place.folder), f"-Dcccl_headers={folder}"], place.folder
        )


def bench(arguments):
    if arguments.check_peers:
        return check_peers()
    if arguments.goals:
        return compare_with_goals(pathlib.Path(arguments.goals))
    if arguments.exercises:
        return time_exercises(arguments)
    chapters = chosen_chapters(arguments.target)
    if arguments.only and arguments.only not in SUBJECTS:
        more = hint(arguments.only, SUBJECTS, f"there are {listed(SUBJECTS)}.")
        raise CommandError(f"--only {arguments.only}: there is no such subject; {more}", WRONG_USE)
    if arguments.backend == "cpu":
        refuse_chapter_on_cpu(arguments)
    require_headers(arguments)
    file = NamedOutputs(arguments.force).add("--json", arguments.json, RECORDED_RUN)
    if arguments.backend == "auto" and not arguments.build:
        choice = choose_backend()
        if choice.backend != "cuda":
            raise CommandError(
                f"bench needs a GPU: {choice.reason}; --backend cpu measures the CPU backend itself.",
                NOTHING_COULD_RUN,
            )
    require_gpu(arguments)
    place = configured(arguments)
    settings = settings_of(place.folder)
    backend = settings["backend"]
    if backend == "cpu":
        refuse_chapter_on_cpu(arguments)
    else:
        take_cccl(place, settings, arguments)
    only = ["--only", arguments.only] if arguments.only else []
    chosen = [*only, *(["--quick"] if arguments.quick else [])]
    libraries = ["--toolkit-libraries"] if arguments.toolkit_libraries else []
    chapter = [] if arguments.target == "all" else [chapters[0].number]
    program = BENCHMARKS[backend]
    build(place, [program], program.rsplit("/", 1)[1])
    with tempfile.TemporaryDirectory(dir=place.folder) as folder:
        result = pathlib.Path(folder, "result.json")
        about = circumstances(backend)
        options = [*chosen, *(["--chapter", *chapter] if chapter else []), "--json", shown(result)]
        code = run_finished_program(place.folder / program, options)
        if code != 0:
            return code
        found = json.loads(result.read_text(encoding="utf-8"))
    of_backend = ["--backend", "cpu"] if backend == "cpu" else []
    if file:
        words = ["./lab", "bench", *chapter, *chosen, *libraries, *of_backend, "--json", "FILE"]
        file.write(recorded(found, {**about, "command": shlex.join(words)}))
        remark(f"{shown(file.path)} is the recorded run.")
    printed_only = [ALL_CORES_BENCHMARK] if backend == "cpu" else []
    if settings.get("scheduled_libraries") and not arguments.quick:
        printed_only.append(RACECHECK_BENCHMARK)
    for each in printed_only:
        if code == 0:
            build(place, [each], each.rsplit("/", 1)[1])
            code = run_finished_program(place.folder / each, [])
    if code == 0 and file:
        say_next(shlex.join(["./lab", "plot", shown(file.path)]))
    elif code == 0:
        words = ["./lab", "bench", *chapter, *chosen, *libraries, *of_backend, "--json", "run.json"]
        say_next(shlex.join(words), "the same, recorded")
    return code


BENCH = Verb(
    summary="times the chapters next to CUB, Thrust and cuBLAS",
    usage=[
        "bench [CHAPTER|all] [--quick] [--json FILE] [options]",
        "bench --goals RUN.json [--verbose]",
        "bench --check-peers [--verbose]",
        "bench [CHAPTER|all] --exercises [--build FOLDER] [--verbose]",
    ],
    description="""\
Times the chapters' kernels next to CUB, Thrust and cuBLAS in one run, on a GPU. With --backend cpu it
times the CPU backend next to a serial loop, and the race checker. CUB and Thrust are those of the CCCL
that lab pins and installs from PyPI into .venv, unless the CUDA toolkit's is newer.""",
    examples=[
        ("./lab bench 04 --quick", "chapter 04, in a fraction of the time"),
        ("./lab bench --only launches", "what a launch costs, in 03 and 04"),
        ("./lab bench --json run.json", "all chapters, recorded for ./lab plot"),
        ("./lab bench --goals run.json", "which of the course's goals that run reaches"),
    ],
    exit_codes=[
        (0, "all was measured, and every result was right"),
        (1, "a result is wrong, a goal is missed, a pin is old, or something failed"),
        WRONG_USE_MEANING,
        (NOTHING_COULD_RUN, "there is no GPU, and --backend cpu was not asked for"),
    ],
    add_options=add_bench_options,
    act=bench,
)


RUN_DRAWER = ROOT / "common/benchmark/draw_run.py"
TABLE_FILLER = ROOT / "common/benchmark/lesson_tables.py"


def add_plot_options(parser):
    parser.add_argument("target", metavar="FILE.json", help="what ./lab bench --json has written")
    parser.add_argument(
        "--output", metavar="FOLDER", help="where the pictures go (default: next to FILE.json)"
    )
    add_force(parser)
    add_verbose(parser)


def plot(arguments):
    file = pathlib.Path(arguments.target)
    require_file(file)
    folder = pathlib.Path(arguments.output) if arguments.output else file.parent
    if not folder.is_dir():
        raise CommandError(f"--output {folder}: there is no such folder.", WRONG_USE)
    if not os.access(folder, os.W_OK):
        raise CommandError(f"--output {folder}: nothing can be written there.", WRONG_USE)
    _require_recorded_run(file)
    python = python_with_installed(JSONSCHEMA)
    force = ["--force"] if arguments.force else []
    command = [python, shown(RUN_DRAWER), *force, "--output", shown(folder), shown(file)]
    code = run_quietly(command, "Drawing", shows_output=True)
    if code == WRONG_USE:  # a file of the user's is there; that is said
        return code
    if code != 0:
        raise CommandError("the pictures could not be drawn; the message is above.")
    say_next(f"open the pictures in {shown(folder)} in a browser")
    return 0


PLOT = Verb(
    summary="draws what bench has recorded",
    usage=["plot FILE.json [--output FOLDER] [options]"],
    description="""\
Draws a recorded run of ./lab bench --json: one SVG picture for each chapter that it timed, with the
time of its variants divided by the best library's.""",
    examples=[
        ("./lab plot run.json", "pictures next to run.json"),
        ("./lab plot run.json --output pictures", "pictures in another folder"),
    ],
    exit_codes=[
        (0, "the pictures are drawn"),
        (1, "they could not be drawn"),
        WRONG_USE_MEANING,
    ],
    add_options=add_plot_options,
    act=plot,
)

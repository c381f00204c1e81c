# SPDX-License-Identifier: MIT
"""The command cudacheck: CUDA files without a GPU, run, checked for races, or run with old values."""

import hashlib
import os
import pathlib
import shutil
import sys
from typing import NamedTuple

from engine.command.arguments import (
    NO_DEVICE_MEANING,
    WRONG_USE_MEANING,
    Command,
    Verb,
    add_include,
    add_verbose,
    check_file,
    options_of_program,
    run_command,
    sources_of,
    words_of,
)
from engine.command.build_folder import (
    BuildFolder,
    alone_in,
    configure,
    require_usable_path,
    settings_of,
)
from engine.command.checking import (
    add_check_options,
    bad_seed,
    built_merge_reports,
    checked,
    merge_reports_of,
    outputs_of,
    require_program,
    say_next_after_check,
    written,
)
from engine.command.errors import WRONG_USE, CommandError
from engine.command.nvcc_options import without_gpu_options
from engine.command.output import CUDACHECK, invocation, set_invocation
from engine.command.paths import ENGINE, shown
from engine.command.processes import on_path, output_of, run_program
from engine.command.program_runs import (
    add_weak_options,
    run_finished_program,
    run_weak_programs,
    say_next_after,
)
from engine.command.prove_command import add_options_of_prove, run_prove
from engine.command.racecheck_runs import MergeReports
from engine.command.recipe import CONCURRENT, SCHEDULED, build_file, built_recipe
from engine.command.started_programs import add_options, run_started
from engine.command.started_programs import run_command as run_whole_command

OLDEST_MESON = (1, 4, 0)
OVERVIEW = """\
usage: cudacheck VERB FILE.cu ... [options] [-- program options]
       cudacheck [options] -- COMMAND

{verbs}

CUDA files run on the CPU, with no GPU and no CUDA toolkit. What a verb takes: cudacheck VERB --help
"""


def default_build_folder():
    """Of this copy of the engine, below the user's folder for what can be made anew."""
    try:
        cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    except RuntimeError:
        raise CommandError(
            "there is no home folder to build in: set HOME, or name a folder with --build.",
            WRONG_USE,
        ) from None
    compiler = os.environ.get("CXX", "")
    digest = hashlib.sha256(f"{ENGINE}\0{compiler}".encode()).hexdigest()[:12]
    return cache / "cudacheck" / digest


def configured(arguments):
    """The BuildFolder that --build names, or the default one, ready to be built in. Raises CommandError."""
    tools = {name: _tool(name, oldest) for name, oldest in (("Meson", OLDEST_MESON), ("Ninja", ()))}
    place = pathlib.Path(arguments.build) if arguments.build else default_build_folder()
    for path in (ENGINE, place.absolute()):
        require_usable_path(path)
    sources, folder = place / "source", place / "build"
    try:
        sources.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CommandError(f"{place} can't be written to: {error.strerror}.", WRONG_USE) from error
    link = sources / "engine"
    if link.exists() and link.resolve() != ENGINE:
        raise CommandError(
            f"--build {place}: that folder is of the engine in {link.resolve()}, and this is {ENGINE}; "
            "name another one.",
            WRONG_USE,
        )
    with alone_in(place):
        if settings_of(folder) is None:
            shutil.copyfile(ENGINE / "standalone/meson.build", sources / "meson.build")
            if not link.exists():
                link.unlink(missing_ok=True)  # to a copy that has gone
                link.symlink_to(ENGINE, target_is_directory=True)
            shutil.rmtree(folder, ignore_errors=True)
            configure([tools["Meson"].path, "setup", str(folder), str(sources)], folder)
    return BuildFolder(folder, tools)


class _Tool(NamedTuple):
    path: str
    version: tuple


def _tool(name, oldest):
    tools = [_Tool(path, _version_of(path)) for path in on_path(name.lower())]
    chosen = next((tool for tool in tools if tool.version >= oldest), None)
    if chosen:
        return chosen
    path, version = tools[0] if tools else ("", ())
    wanted = f"{name} {'.'.join(map(str, oldest))} or newer" if oldest else name
    here = f"{'.'.join(map(str, version))} is here" if path else "it is not here"
    raise CommandError(
        f"cudacheck builds with {wanted}, and {here}: python3 -m pip install {name.lower()} brings it, "
        "in a virtual environment."
    )


def _version_of(path):
    text = (output_of([path, "--version"]) or "").strip()
    return tuple(int(part) for part in text.split(".") if part.isdigit())


def add_files(parser, number=None):
    parser.add_argument(
        "target", nargs=number, metavar="FILE.cu", help="CUDA files that make one program"
    )
    add_include(parser)
    parser.add_argument(
        "--build",
        metavar="FOLDER",
        help="where the engine is built, once (default: a folder below ~/.cache/cudacheck)",
    )
    add_verbose(parser)


def _given_again(arguments):
    return [*words_of(arguments), *options_of_program(arguments)]


def run(arguments):
    check_file(arguments)
    program = build_file(configured(arguments), arguments, CONCURRENT)
    code = run_finished_program(program, arguments.program_options)
    say_next_after(code, invocation().command("check", *_given_again(arguments)))
    return code


def weak(arguments):
    check_file(arguments)
    program = build_file(configured(arguments), arguments, SCHEDULED)
    code = run_weak_programs([(program, arguments.program_options)], arguments)
    say_next_after(code, invocation().command("check", *_given_again(arguments)))
    return code


def check_races(arguments):
    if not arguments.target and not arguments.program:
        raise CommandError(
            "cudacheck check needs FILE.cu; cudacheck check --help shows what there is.", WRONG_USE
        )
    if arguments.program:
        require_program(arguments, None)
        outputs = outputs_of(arguments, [arguments.program])
        program = pathlib.Path(arguments.program)
    else:
        outputs = outputs_of(arguments, sources_of(arguments))
        check_file(arguments)
        program = build_file(configured(arguments), arguments, SCHEDULED)
    merging = merge_reports_of(program) or built_merge_reports(program, configured(arguments))
    results = checked(arguments, [(program, arguments.program_options)], merging)
    code = written(results, outputs)
    if not arguments.program:
        following = invocation().command("run", *_given_again(arguments))
        seed = bad_seed(results)
        words = [*words_of(arguments), "--seed", seed, *options_of_program(arguments)]
        say_next_after_check(code, following, invocation().command("check", *words))
    return code


def test(arguments):
    """The engine's own tests."""
    place = configured(arguments)
    words = ["test", "-C", str(place.folder), "--print-errorlogs", *arguments.names]
    return 1 if run_program([place.tools["Meson"].path, *words]) else 0


def prove(arguments):
    check_file(arguments)
    place = configured(arguments)
    return run_prove(arguments, words_of(arguments), _built_for_prove, lambda: place.folder)


def _built_for_prove(arguments):
    place = configured(arguments)
    recipe = built_recipe(place, arguments, SCHEDULED)
    merging = merge_reports_of(recipe.program) or built_merge_reports(recipe.program, place)
    return recipe, arguments.program_options, MergeReports(merging)


def _add_prove(parser):
    add_files(parser)
    add_options_of_prove(parser)


def command(arguments):
    """A command of a build system, which starts programs."""
    return run_whole_command(arguments, configured(arguments))


def _add_command(parser):
    add_options(parser)
    parser.add_argument("--build", metavar="FOLDER", help="as for the other verbs")
    add_verbose(parser)


def _add_check(parser):
    add_files(parser, "?")  # --program needs none
    add_check_options(parser)


def _add_weak(parser):
    add_files(parser)
    add_weak_options(parser)


def _add_test(parser):
    parser.add_argument(
        "names", nargs="*", metavar="TEST", help="tests by their names (default: all)"
    )
    parser.add_argument("--build", metavar="FOLDER", help="as for the other verbs")
    add_verbose(parser)


EXIT_CODES = [
    (0, "all is right"),
    (1, "something is wrong, or failed while it was built or run"),
    WRONG_USE_MEANING,
]
PROGRAM_OPTIONS = "[options] [-- program options]"
VERBS = {
    "run": Verb(
        summary="builds and runs CUDA files",
        usage=[f"run FILE.cu ... {PROGRAM_OPTIONS}"],
        description="Builds one program of these files, and runs it on the CPU.",
        examples=[
            ("cudacheck run FILE.cu", "one file"),
            ("cudacheck run a.cu b.cu -DN=4", "one program of two files, with a macro"),
        ],
        exit_codes=[(0, "the program's own, as any other that it ends with"), *EXIT_CODES[1:]],
        add_options=add_files,
        act=run,
        takes_program_options=True,
    ),
    "check": Verb(
        summary="looks for races, between blocks too",
        usage=[f"check FILE.cu ... {PROGRAM_OPTIONS}"],
        description="Runs the program under the race checker with different schedules of its blocks and "
        "threads, and says which two accesses race and what is missing between them.",
        examples=[
            ("cudacheck check FILE.cu", "20 schedules"),
            ("cudacheck check FILE.cu --seed 7", "one schedule alone"),
        ],
        exit_codes=[
            (0, "something was checked, and no race was found"),
            (1, "a race, a program that failed, or nothing that could be checked"),
            WRONG_USE_MEANING,
            NO_DEVICE_MEANING,
        ],
        add_options=_add_check,
        act=check_races,
        takes_program_options=True,
    ),
    "weak": Verb(
        summary="runs with old values, as far as the memory model allows",
        usage=[f"weak FILE.cu ... {PROGRAM_OPTIONS}"],
        description="Runs the program so that plain reads get old values, as far as CUDA's memory model "
        "allows it: what may go wrong goes wrong.",
        examples=[
            ("cudacheck weak FILE.cu", "the oldest and the newest values in turn"),
            ("cudacheck weak FILE.cu --explain", "and why a read could get an old value"),
        ],
        exit_codes=[(0, "the program's own, as any other that it ends with"), *EXIT_CODES[1:]],
        add_options=_add_weak,
        act=weak,
        takes_program_options=True,
    ),
    "prove": Verb(
        summary="explores all executions of a small program",
        usage=[f"prove FILE.cu ... {PROGRAM_OPTIONS}"],
        description="Runs the program under the race checker once for each execution that its atomics allow, "
        "and says what is proved, within which bounds. For small grids and inputs.",
        examples=[
            ("cudacheck prove FILE.cu", "at most 10,000 executions"),
            ("cudacheck prove FILE.cu --replay DECISIONS", "one execution that failed, again"),
        ],
        exit_codes=[
            (0, "proved; or the execution of --replay has neither a race nor a fault"),
            (1, "a race, a fault, or not proved"),
            WRONG_USE_MEANING,
        ],
        add_options=_add_prove,
        act=prove,
        takes_program_options=True,
    ),
    "command": Verb(
        summary="checks what a command starts: cudacheck -- make test",
        usage=["[options] -- COMMAND"],
        description="Runs the command. Each program that it starts, and that engine/bin/nvcc has built under "
        "cudacheck -- before, runs under the race checker with different schedules.",
        examples=[
            ("cudacheck -- make NVCC=engine/bin/nvcc test", "builds the programs, and checks them"),
            (
                "cudacheck --sarif races.sarif -- ctest --test-dir build",
                "and writes what was found",
            ),
        ],
        exit_codes=[
            (0, "the command's own, as any other that it ends with"),
            (1, "a race, a program that failed, or nothing that could be checked"),
            WRONG_USE_MEANING,
        ],
        add_options=_add_command,
        act=command,
        takes_program_options=True,
    ),
    "test": Verb(
        summary="runs the engine's own tests, for which it takes Catch2 and pytest",
        usage=["test [TEST ...] [options]"],
        description="Builds and runs the engine's own tests.",
        examples=[
            ("cudacheck test", "all of them"),
            ("cudacheck test barrier_test", "one of them"),
        ],
        exit_codes=EXIT_CODES,
        add_options=_add_test,
        act=test,
    ),
}


def main(words):
    """Runs the verb; returns the exit code."""
    typed = shown(sys.argv[0]) if os.sep in sys.argv[0] else CUDACHECK.typed
    set_invocation(CUDACHECK._replace(typed=typed))
    if words[:1] == ["--started"]:
        return run_started(words[1:])
    if "--" in words and words[0].startswith("--"):
        words = ["command", *words]
    elif words[:1] != ["test"]:
        words = without_gpu_options(words)
    return run_command(Command(OVERVIEW, list(VERBS), VERBS.__getitem__), words)

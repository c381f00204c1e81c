# SPDX-License-Identifier: MIT
"""./lab doctor and ./lab setup: what is here, what can run, and the rest installed and built."""

import contextlib
import os
import platform
import shutil
import sys

from engine.command.arguments import WRONG_USE_MEANING, Verb, add_verbose
from engine.command.build_folder import build
from engine.command.errors import CommandError
from engine.command.output import remark, say, say_fitted, say_next
from engine.command.paths import shown
from grader.exercises.catalogue import all_exercises
from lab_tool.builds.backends import choose_backend, nvcc_version, visible_gpus
from lab_tool.builds.build_folders import LEAST_FREE_SPACE, configured, free_space
from lab_tool.builds.editor_database import write_database
from lab_tool.builds.program_builds import exercise_build
from lab_tool.options import add_backend
from lab_tool.paths import ROOT
from lab_tool.setup.newer_python import OLD
from lab_tool.setup.packages import python_with, python_with_installed
from lab_tool.setup.probe import look_around
from lab_tool.setup.requirements import (
    OPTIONAL,
    REQUIREMENTS,
    dotted,
    minimum_of,
    missing_from,
    operating_system,
    why_no_cpu_backend,
)
from lab_tool.task_page import RICH


def add_doctor_options(parser):
    parser.add_argument(
        "--choice",
        action="store_true",
        help="only what auto takes, in three lines: the backend, the architectures, and why",
    )


def doctor(arguments):
    choice = choose_backend()
    if arguments.choice:
        print(choice.backend, ",".join(choice.architectures), choice.reason, sep="\n")
        return 0

    system = operating_system()
    here = look_around()
    missing = missing_from(here, "cpu")
    missing_for_cuda = missing_from(here, "cuda")
    say("This machine")
    row("system", system["PRETTY_NAME"], f"{platform.machine()}, {os.cpu_count()} cores{memory()}")
    first = shutil.which("python3")
    is_shadowed = first and os.environ.get(OLD) == first
    before = f"; {first} comes first on PATH and is too old" if is_shadowed else ""
    row("Python", platform.python_version(), sys.executable + before)
    free = free_space(ROOT)
    if free is not None:
        enough = "" if free >= LEAST_FREE_SPACE else "too little for a first build"
        row("disk", f"{free >> 20:,} MiB free", enough)
    if not os.access(ROOT, os.W_OK):
        row("folder", "read-only", "make a clone of your own, and run lab there")
    say("\nWhat the course needs")
    say_requirements(here, missing)
    say("\nWhat a GPU needs")
    version = nvcc_version()
    gpus = visible_gpus()
    say_gpu(version, gpus)

    say("\nWhat can run")
    why_no_cpu = why_no_cpu_backend() or (f"missing: {', '.join(missing)}" if missing else "")
    row("cpu", "no" if why_no_cpu else "yes", why_no_cpu)
    if choice.backend == "cuda" and not missing_for_cuda:
        row("cuda", "yes", choice.reason)
    elif version and not missing_for_cuda:
        row("cuda", "compiles only", choice.reason)
    else:
        row("cuda", "no", f"missing: {', '.join(missing_for_cuda)}" if version else choice.reason)

    say("\nWhat to do")
    missing = missing_for_cuda if choice.backend == "cuda" else missing
    if gpus and choice.backend == "cpu":
        say_fitted(
            "  for the GPU: install a CUDA toolkit whose nvcc knows it, and put nvcc on PATH"
        )
    if version and not gpus:
        say_fitted("  for a GPU: nvidia-smi must show one; without it all runs on the cpu backend")
    if missing:
        say("  ./lab setup    installs what is missing, and prints the commands before it does")
    else:
        say("  ./lab run      runs the chapters")
    # Not a remark on stderr as elsewhere: what to do is part of what a doctor is asked for.
    say(f"\nNext: {'./lab setup' if missing else './lab run'}")
    return 1 if missing else 0


def row(name, state, note=""):
    say_fitted(f"  {name:17} {state:13} {note}".rstrip(), indent=" " * 34)


def say_requirements(here, missing):
    for item in REQUIREMENTS:
        if item.name in here:
            version = dotted(here[item.name].version)
            old = (
                f"too old: {dotted(minimum_of(item.name, here))} is needed; "
                if item.name in missing
                else ""
            )
            shadow = here[item.name].shadow
            before = f"; {shadow} comes first on PATH and is too old" if shadow else ""
            row(item.name, version, old + here[item.name].path + before)
        else:
            row(item.name, "not found", f"{dotted(item.minimum)} or newer is needed")
    for item in OPTIONAL:
        if item.name in here:
            row(item.name, dotted(here[item.name].version), here[item.name].path)
        else:
            row(item.name, "not found", f"for --image alone; the package is {item.package}")
    rich = python_with(RICH)
    row("rich", "found" if rich else "not found", rich or "lays out the tasks; setup installs it")


def say_gpu(version, gpus):
    row("nvcc", dotted(version) if version else "not found", shutil.which("nvcc") or "")
    for gpu in gpus:
        row("GPU", gpu.name, f"sm_{gpu.architecture}, driver {gpu.driver}")
    if not gpus:
        row("GPU", "not found", "nvidia-smi shows none")
    sanitizer = shutil.which("compute-sanitizer")
    row("compute-sanitizer", "found" if sanitizer else "not found", sanitizer or "")


def memory():
    with contextlib.suppress(OSError, ValueError, AttributeError):
        return f", {os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB of memory"
    return ""


DOCTOR = Verb(
    summary="says what is here, what can run, and what to do next",
    usage=["doctor [--choice]"],
    description="Says what is here, what can run, and what to do about the rest. Changes nothing.",
    examples=[
        ("./lab doctor", "the whole table"),
        ("./lab doctor --choice", "what auto takes, for a script"),
    ],
    exit_codes=[
        (0, "the backend that auto takes can run"),
        (1, "something that it needs is missing or too old"),
        WRONG_USE_MEANING,
    ],
    add_options=add_doctor_options,
    act=doctor,
)


def add_setup_options(parser):
    add_backend(parser)
    parser.add_argument(
        "--no-build",
        action="store_true",
        help="configure only: the first check of an exercise then builds what it needs",
    )
    add_verbose(parser)


def setup(arguments):
    place = configured(arguments)
    # Does what there is to do if a meson.build has changed since the folder was configured.
    build(place, ["build.ninja"], "the configuration")
    for name, tool in place.tools.items():
        say(f"{name:14} {dotted(tool.version):10} {tool.path}")
    if not arguments.no_build:
        exercise_build(place, all_exercises())
        try:
            python_with_installed(RICH)
        except CommandError as problem:
            remark(f"./lab learn lays out tasks as plain text: {problem}")
    done = "configured" if arguments.no_build else "ready to check exercises"
    say(f"All is here, and {shown(place.folder)} is {done}.")
    say(f"{shown(write_database(place))} tells clangd how to read the .cu files.")
    say_next("./lab run")
    return 0


SETUP = Verb(
    summary="installs what is missing; run and test do this too",
    usage=["setup [--backend auto|cpu|cuda] [--no-build] [--verbose]"],
    description="""\
Installs what is missing, configures the build folder, tells clangd, which editors
ask about C++, how to read the .cu files, and builds what exercises are checked with.
Each command that changes the machine is printed before it runs.""",
    examples=[
        ("./lab setup", "for the backend that auto takes"),
        ("./lab setup --backend cpu", "for the CPU backend"),
    ],
    exit_codes=[
        (0, "all is here"),
        (1, "something could not be installed, configured or built"),
        WRONG_USE_MEANING,
    ],
    add_options=add_setup_options,
    act=setup,
)

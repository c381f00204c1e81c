# SPDX-License-Identifier: MIT
"""CCCL, the library of CUB and Thrust: which one the benchmarks compare the chapters with."""

import datetime
import os
import pathlib
import re
import sys

from engine.command.errors import WRONG_USE, CommandError
from engine.command.output import remark, say
from engine.command.paths import shown
from engine.command.processes import output_of, run_installation
from lab_tool.paths import VENV
from lab_tool.setup.packages import VENV_PYTHON, commands_for
from lab_tool.setup.requirements import dotted, numbers

# A comparison is with today's peers, and a toolkit has last year's: CUDA 13.0 has CCCL 3.0.1. From 3.5 on
# CUB scans and Thrust transforms by dependent launches, and CUB has a reduction in one kernel.
PACKAGE, PINNED = "nvidia-cuda-cccl", "13.3.5.0.6"  # CCCL 3.5.0 for CUDA 13
PINNED_ON = datetime.date(2026, 11, 27)
MOST_DAYS = 60  # before a newer one has to be looked at

VERSION = numbers(PINNED)[1:4]
HEADERS = "lib/python*/site-packages/nvidia/cu13/include/cccl"
VERSION_FILE = "cuda/std/__cccl/version.h"
WITHOUT = "`--toolkit-libraries` takes the CUDA toolkit's CCCL"


def require_headers(arguments):
    """Refuses a --cccl that is none, and two answers to one question."""
    if not arguments.cccl:
        return
    if arguments.toolkit_libraries:
        raise CommandError("--cccl and --toolkit-libraries name two CCCLs; give one.", WRONG_USE)
    if not version_in(pathlib.Path(arguments.cccl)):
        raise CommandError(
            f"--cccl {arguments.cccl}: there is no {VERSION_FILE}, so these are no headers of CCCL.",
            WRONG_USE,
        )


def headers_to_take(arguments):
    """The folder of headers that come before the CUDA toolkit's; "" if the toolkit's own are taken."""
    if arguments.cccl:
        return os.path.abspath(arguments.cccl)
    if arguments.toolkit_libraries or toolkit_version() >= VERSION:
        return ""
    return str(_installed() or _newly_installed())


def version_in(folder):
    """(3, 5, 0) of a folder of headers; () if there are none."""
    try:
        text = (folder / VERSION_FILE).read_text(encoding="utf-8")
    except OSError:
        return ()
    return _of_number(re.search(r"#\s*define\s+CCCL_VERSION\s+(\d+)", text))


def toolkit_version():
    source = f"#include <{VERSION_FILE}>\nCCCL_VERSION\n"
    return _of_number(
        re.search(r"(\d+)\s*\Z", output_of(["nvcc", "-E", "-x", "cu", "-"], source) or "")
    )


def _of_number(match):
    number = int(match[1]) if match else 0  # 3005000
    return (number // 1_000_000, number // 1000 % 1000, number % 1000) if number else ()


def _installed():
    return next((each for each in VENV.glob(HEADERS) if version_in(each) == VERSION), None)


def _newly_installed():
    remark(f"The benchmarks compare with CCCL {dotted(VERSION)}, which this command installs:")
    for command in commands_for([f"{PACKAGE}=={PINNED}"]):
        if run_installation(command) != 0:
            raise CommandError(
                f"CCCL {dotted(VERSION)} could not be installed, and the message is above; without a "
                f"network {WITHOUT}, and `--cccl FOLDER` headers that you have."
            )
    folder = _installed()
    if not folder:
        raise CommandError(
            f"{PACKAGE} {PINNED} is installed, but not in {shown(VENV)}/{HEADERS}; {WITHOUT}."
        )
    return folder


def check_peers(today=None):
    """Says how old the pin is; the code is 1 if it is too old and there is a newer CCCL."""
    answers = (
        output_of([python, "-m", "pip", "index", "versions", PACKAGE])
        for python in (VENV_PYTHON, sys.executable)
    )
    listed = re.search(r"\(([\d.]+)\)", next(filter(None, answers), ""))
    if not listed:
        raise CommandError(f"pip lists no versions of {PACKAGE}; is there a network?")
    days = ((today or datetime.date.today()) - PINNED_ON).days
    say(f"{PACKAGE}: pinned {PINNED} on {PINNED_ON}, {days} days ago; the newest is {listed[1]}")
    is_old = days > MOST_DAYS and numbers(listed[1]) > numbers(PINNED)
    if is_old:
        say("measure with the newest, and pin it in lab_tool/setup/cccl.py")
    return 1 if is_old else 0

# SPDX-License-Identifier: MIT
"""Checks a student's file on the CPU backend, and on a GPU as well if that is what is asked for."""

import argparse
from typing import NamedTuple, Optional

from engine.driver.build_folder import settings_of
from engine.driver.errors import WRONG_USE, LabError
from engine.driver.paths import shown
from grader.judging.check import FAILED, check
from grader.judging.programs import Workshop, workshop
from lab_tool.builds.build_folders import configured

MOST_CHECKS = 5  # of a file that is saved again and again


class Workshops(NamedTuple):
    judge: Workshop  # the CPU backend: alone it sees races
    gpu: Optional[Workshop]


def workshops(arguments, exercises):
    """What --backend and --build ask for, with all that these exercises need up to date."""
    place = configured(arguments)
    if settings_of(place.folder)["backend"] == "cpu":
        return Workshops(workshop(place, exercises), None)
    gpu = workshop(place, exercises)
    of_cpu = argparse.Namespace(**{**vars(arguments), "backend": "cpu", "build": None})
    return Workshops(workshop(configured(of_cpu), exercises), gpu)


def checked(shops, exercise, source, work, has_begun=lambda what: None):
    """The Verdict on a file, which is remembered if the file is the one in the work folder.

    A file that is saved while it is checked is checked again.
    """
    for _ in range(MOST_CHECKS):
        content = _content_of(source)
        verdict = check(shops.judge, exercise, source, source.with_suffix(".svg"), has_begun)
        if shops.gpu and verdict.is_solved:
            has_begun("on the GPU")
            # Who measures in the default stream does not see what other streams do.
            time_it = not exercise.has_streams
            verdict = _with_gpu(verdict, check(shops.gpu, exercise, source, time_it=time_it))
        if _content_of(source) == content:
            verdict = verdict._replace(lines=_commands_of(work, exercise, verdict.lines))
            if source.resolve() == work.file_of(exercise).resolve():
                work.remember_check(exercise, content, verdict.is_solved)
            return verdict
    raise LabError(f"{shown(source)} changes all the time, so it can't be checked.")


def _commands_of(work, exercise, lines):
    """The lines with the command that they may name as it has to be typed for this folder."""
    words = ("reset", exercise.number)
    return [line.replace(" ".join(["./lab", *words]), work.command(*words)) for line in lines]


def _content_of(source):
    try:
        return source.read_bytes()
    except OSError as error:
        raise LabError(f"{shown(source)} can't be read: {error.strerror}.", WRONG_USE) from error


def _with_gpu(verdict, of_gpu):
    """The verdict of the CPU backend together with what the GPU has found."""
    if of_gpu.parts["results"] == FAILED:
        lines = ["On the CPU backend all is right, and on the GPU:", *of_gpu.lines]
        return verdict._replace(parts={**verdict.parts, "results": FAILED}, lines=lines)
    return verdict._replace(lines=[*verdict.lines, *(f"GPU: {line}" for line in of_gpu.lines[1:])])

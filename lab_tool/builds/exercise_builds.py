# SPDX-License-Identifier: MIT
"""The build folders that exercises are judged with: what is old in them is built."""

import argparse
import pathlib

from engine.command.build_folder import alone_in, introspection, settings_of
from engine.command.errors import CommandError
from engine.command.processes import output_of
from engine.command.recipe import settings_with_libraries
from grader.judging.programs import OBSERVED, ORDINARY, ExerciseBuild, ExerciseBuilds
from lab_tool.builds.backends import usable_nvcc
from lab_tool.builds.build_folders import configured


def exercise_builds(arguments, exercises):
    """What --backend and --build ask for, with all that these exercises need up to date."""
    place = configured(arguments)
    if settings_of(place.folder)["backend"] == "cpu":
        return ExerciseBuilds(exercise_build(place, exercises), None, usable_nvcc())
    gpu = exercise_build(place, exercises)
    of_cpu = argparse.Namespace(**{**vars(arguments), "backend": "cpu", "build": None})
    return ExerciseBuilds(exercise_build(configured(of_cpu), exercises), gpu)


def exercise_build(place, exercises):
    """The build folder with the libraries and the drivers of these exercises; builds what is old."""
    _know_drivers(place, exercises)
    forms = [ORDINARY]
    if settings_of(place.folder).get("racecheck_libraries"):
        forms.append(OBSERVED)
    targets = [place.folder / exercise.driver for exercise in exercises]
    return ExerciseBuild(place, settings_with_libraries(place, *forms, targets=targets))


def _know_drivers(place, exercises):
    """Lets Meson look again if there are exercises that it has not seen: a folder is all they take."""
    with alone_in(place.folder):
        known = {target["name"] for target in introspection(place.folder, "targets")}
        if any(pathlib.Path(each.driver).stem[3:] not in known for each in exercises):
            command = [place.tools["Meson"].path, "setup", "--reconfigure", str(place.folder)]
            if output_of(command) is None:
                raise CommandError("Meson could not configure the build anew.")

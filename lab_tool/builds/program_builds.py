# SPDX-License-Identifier: MIT
"""What is built for checks: the programs of exercises, and programs in the race checker's form."""

import argparse
import pathlib

from engine.command import recipe
from engine.command.arguments import check_file
from engine.command.build_folder import alone_in, build, configure, introspection, settings_of
from engine.command.checking import (
    built_merge_reports,
    can_observe,
    merge_reports_of,
    merge_reports_target,
)
from engine.command.errors import WRONG_USE, CommandError
from engine.command.paths import shown
from engine.command.recipe import built_recipe, settings_with_libraries
from grader.judging.compile import CONCURRENT, SCHEDULED, ExerciseBuild, ExerciseBuilds
from lab_tool.builds.backends import usable_nvcc
from lab_tool.builds.build_folders import configured
from lab_tool.chapters import chosen_chapters, racecheck_options
from lab_tool.options import is_file, refuse_with_chapter


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
    forms = [CONCURRENT]
    if settings_of(place.folder).get("scheduled_libraries"):
        forms.append(SCHEDULED)
    targets = [place.folder / exercise.driver for exercise in exercises]
    return ExerciseBuild(place, settings_with_libraries(place, *forms, targets=targets))


def _know_drivers(place, exercises):
    """Lets Meson look again if there are exercises that it has not seen: a folder is all they take."""
    with alone_in(place.folder):
        known = {target["name"] for target in introspection(place.folder, "targets")}
        if any(pathlib.Path(each.driver).stem[3:] not in known for each in exercises):
            command = [place.tools["Meson"].path, "setup", "--reconfigure", str(place.folder)]
            configure(command, place.folder)


def observed_programs(arguments):
    """[(program, its options)], up to date: of the user's files, or of each chapter that is meant."""
    options = arguments.program_options
    own_file = is_file(arguments)
    chapters = [] if own_file else chosen_chapters(arguments.target)
    if own_file:
        return [(observed_recipe(arguments).program, options)]
    refuse_with_chapter(arguments)
    place = observing_folder(arguments)
    targets = [f"{chapter.target}_racecheck" for chapter in chapters]
    what = targets[0].rsplit("/", 1)[1] if len(targets) == 1 else "the programs for racecheck"
    build(place, [*targets, merge_reports_target(place.folder)], what)
    return [
        (place.folder / target, options or racecheck_options(place.folder, chapter))
        for target, chapter in zip(targets, chapters)
    ]


def observed_recipe(arguments):
    """The Recipe of the user's files, whose program is up to date."""
    check_file(arguments)
    return built_recipe(observing_folder(arguments), arguments, recipe.SCHEDULED)


def merging_program(program, arguments):
    """The program that merges the reports of this one, which may be in no build folder."""
    return merge_reports_of(program) or built_merge_reports(program, observing_folder(arguments))


def observing_folder(arguments):
    """The BuildFolder that the options mean, which has the race checker. Raises CommandError."""
    arguments.backend = "cpu"
    place = configured(arguments)
    if not can_observe(place.folder):
        raise CommandError(
            f"{shown(place.folder)} can't tell what kernels do: that takes the cpu backend, and a "
            "build without b_sanitize.",
            WRONG_USE,
        )
    return place

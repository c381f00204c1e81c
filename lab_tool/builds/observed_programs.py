# SPDX-License-Identifier: MIT
"""Programs in the form that tells what their kernels do: for the race checker, and for --weak."""

from engine.command.arguments import check_file
from engine.command.build_folder import build
from engine.command.checking import can_observe, target_of_merging
from engine.command.errors import WRONG_USE, CommandError
from engine.command.paths import shown
from engine.command.recipe import RACECHECK, build_file
from lab_tool.builds.build_folders import configured
from lab_tool.chapters import chosen_chapters, racecheck_options
from lab_tool.own_files import is_file, refuse_with_chapter


def observed_programs(arguments):
    """[(program, its options)], up to date: of the user's files, or of each chapter that is meant."""
    options = arguments.program_options
    own_file = is_file(arguments)
    chapters = [] if own_file else chosen_chapters(arguments.target)
    if own_file:
        check_file(arguments)
    else:
        refuse_with_chapter(arguments)
    place = observing_folder(arguments)
    if own_file:
        return [(build_file(place, arguments, RACECHECK), options)]
    targets = [f"{chapter.target}_racecheck" for chapter in chapters]
    what = targets[0].rsplit("/", 1)[1] if len(targets) == 1 else "the programs for racecheck"
    build(place, [*targets, target_of_merging(place.folder)], what)
    return [
        (place.folder / target, options or racecheck_options(place.folder, chapter))
        for target, chapter in zip(targets, chapters)
    ]


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

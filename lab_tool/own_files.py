# SPDX-License-Identifier: MIT
"""Files of the user's on the command line: what was typed, and whether it can be meant."""

from engine.command.arguments import is_source
from engine.command.errors import WRONG_USE, CommandError


def is_file(arguments):
    """Whether files of the user's are meant, and no chapter."""
    return is_source(arguments.target)


def refuse_with_chapter(arguments):
    """Options of one's own files, given with a chapter."""
    for option, given in (
        ("--include", arguments.include),
        ("-D", arguments.define),
        ("--compiler-option", arguments.compiler_option),
    ):
        if given:
            raise CommandError(
                f"{option} goes with a .cu file of your own, not with a chapter.", WRONG_USE
            )
    if arguments.more_files:
        raise CommandError(
            f"{arguments.more_files[0]}: a file of your own does not go with a chapter.", WRONG_USE
        )

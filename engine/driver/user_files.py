# SPDX-License-Identifier: MIT
"""CUDA files of the user's: which are meant, with what options, and whether they are there."""

import os
import re

from engine.driver.errors import WRONG_USE, CommandError


def check_file(arguments):
    """Refuses what is not there, before anything is set up for it."""
    for source in sources_of(arguments):
        if not os.path.isfile(source):
            raise CommandError(f"there is no file {source}.", WRONG_USE)
    for folder in arguments.include:
        if not os.path.isdir(folder):
            raise CommandError(f"--include {folder}: there is no such folder.", WRONG_USE)
    for definition in arguments.define:
        if not re.match(r"[A-Za-z_]\w*(=|\(|\Z)", definition):
            raise CommandError(
                f"-D {definition}: a macro's name is expected, as in -DN=4.", WRONG_USE
            )


def sources_of(arguments):
    return [arguments.target, *arguments.more_files]


def words_of(arguments):
    """The files and their options, as they are typed."""
    includes = [word for folder in arguments.include for word in ("--include", folder)]
    return [*sources_of(arguments), *includes, *(f"-D{name}" for name in arguments.define)]


def options_of_program(arguments):
    """The options that go to the program itself, as they are typed."""
    return ["--", *arguments.program_options] if arguments.program_options else []

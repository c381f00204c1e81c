# SPDX-License-Identifier: MIT
"""CUDA files of the user's: which are meant, with what options, and whether they are there."""

import os
import re

from engine.command.errors import WRONG_USE, CommandError

# Options of a compiler that say what it makes, and where.
OF_LAB = r"-(?:[cESo]|M\w*|x.*|o.*|std=.*|-std=.*)\Z"


def check_file(arguments):
    """Refuses what is not there, before anything is set up for it."""
    for source in sources_of(arguments):
        require_file(source)
    for number, source in enumerate(sources_of(arguments)):
        for other in sources_of(arguments)[:number]:
            if os.path.samefile(source, other):
                what = (
                    "twice on the command line" if source == other else f"the same file as {other}"
                )
                raise CommandError(f"{source} is {what}: name it once.", WRONG_USE)
    for folder in arguments.include:
        if not os.path.isdir(folder):
            what = "that is no folder" if os.path.exists(folder) else "there is no such folder"
            raise CommandError(f"--include {folder}: {what}.", WRONG_USE)
    for definition in arguments.define:
        if not re.match(r"[A-Za-z_]\w*(=|\(|\Z)", definition):
            raise CommandError(
                f"-D {definition}: a macro's name is expected, as in -DN=4.", WRONG_USE
            )
    for option in arguments.compiler_option:
        if not option.startswith("-") or re.match(OF_LAB, option):
            why = "lab chooses that itself" if option.startswith("-") else "an option begins with -"
            raise CommandError(f"--compiler-option {option}: {why}.", WRONG_USE)


def require_file(path):
    """Refuses what is no file that can be read, in words that say what it is."""
    if os.path.isdir(path):
        raise CommandError(f"{path} is a folder, and a file is needed.", WRONG_USE)
    if os.path.exists(path) and not os.path.isfile(path):
        raise CommandError(f"{path} is no regular file.", WRONG_USE)
    if os.path.islink(path) and not os.path.exists(path):
        raise CommandError(
            f"{path} is a link to {os.readlink(path)}, which is not there.", WRONG_USE
        )
    if not os.path.isfile(path):
        raise CommandError(f"there is no file {path}.", WRONG_USE)
    if not os.access(path, os.R_OK):
        raise CommandError(f"{path} can't be read: you have no right to.", WRONG_USE)


def sources_of(arguments):
    return [arguments.target, *arguments.more_files]


def words_of(arguments):
    """The files and their options, as they are typed."""
    includes = [word for folder in arguments.include for word in ("--include", folder)]
    options = [word for each in arguments.compiler_option for word in ("--compiler-option", each)]
    macros = [f"-D{name}" for name in arguments.define]
    return [*sources_of(arguments), *includes, *macros, *options]


def options_of_program(arguments):
    """The options that go to the program itself, as they are typed."""
    return ["--", *arguments.program_options] if arguments.program_options else []

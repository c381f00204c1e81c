# SPDX-License-Identifier: MIT
"""The options that several of the course's verbs share."""

import argparse
import os
import pathlib
import shlex

from engine.command.arguments import is_source
from engine.command.errors import WRONG_USE, CommandError, listed
from engine.command.output import invocation
from engine.command.paths import shown
from grader.exercises.work_folder import WorkFolder
from lab_tool.paths import ROOT


class _Backend(argparse.Action):
    """--backend: one of those that the verb has, and never beside --build."""

    def __init__(self, *words, backends, **options):
        super().__init__(*words, metavar="|".join(backends), **options)
        self.backends = backends

    def __call__(self, parser, namespace, value, option_string=None):
        if value not in self.backends:
            raise CommandError(
                f"{invocation().name} {parser.verb_name} has no backend {value}; there are "
                f"{listed(self.backends)}.",
                WRONG_USE,
            )
        namespace.backend = value
        namespace.backend_is_given = True
        _refuse_both(namespace)


class _Build(argparse.Action):
    def __call__(self, parser, namespace, value, option_string=None):
        namespace.build = value
        _refuse_both(namespace)


def _refuse_both(namespace):
    if namespace.build and getattr(namespace, "backend_is_given", False):
        raise CommandError(
            "--build names a folder that already has its backend; leave --backend out.", WRONG_USE
        )


def add_backend(
    parser,
    backends=("auto", "cpu", "cuda"),
    text="what runs the kernels (default: auto, which is cuda if nvcc and a usable GPU are here)",
):
    """`backends`: the values that there are, the default first; `text`: its line of the help."""
    parser.add_argument(
        "--backend", action=_Backend, backends=backends, default=backends[0], help=text
    )


def add_build(parser):
    parser.add_argument(
        "--build",
        action=_Build,
        metavar="FOLDER",
        help="a build folder that you made with `meson setup` (default: build-cpu or build-cuda)",
    )


def add_chapter_or_file(parser):
    parser.add_argument(
        "target",
        nargs="?",
        default="all",
        metavar="CHAPTER|FILE.cu",
        help="a chapter by its number or name, CUDA files of yours, or all (the default)",
    )


def work_folder(arguments):
    """The folder that --work names, or the usual one."""
    folder = pathlib.Path(arguments.work) if arguments.work else ROOT / "work"
    if folder.exists() and not folder.is_dir():
        raise CommandError(f"--work {arguments.work}: that is no folder.", WRONG_USE)
    if folder.exists() and not os.access(folder, os.R_OK | os.X_OK):
        raise CommandError(
            f"you have no right to read the folder {shown(folder)}, where your files are to be; "
            "--work FOLDER takes another one.",
            WRONG_USE,
        )
    return WorkFolder(folder, f"--work {shlex.quote(arguments.work)}" if arguments.work else "")


def add_work(parser):
    parser.add_argument(
        "--work",
        metavar="FOLDER",
        help="where your files are (default: the folder work of this checkout)",
    )


def is_file(arguments):
    """Whether files of the user's are meant, and no chapter."""
    return is_source(arguments.target)


def refuse_with_chapter(arguments):
    """Options of one's own files, given with a chapter."""
    for option, given in (
        ("--include", arguments.include),
        ("-D", arguments.define),
        ("--compiler-option", arguments.compiler_option),
        ("-rdc", arguments.rdc == "true"),
        ("--keep-translated", getattr(arguments, "keep_translated", False)),
    ):
        if given:
            raise CommandError(
                f"{option} goes with a .cu file of your own, not with a chapter.", WRONG_USE
            )
    if arguments.more_files:
        raise CommandError(
            f"{arguments.more_files[0]}: a file of your own does not go with a chapter.", WRONG_USE
        )

# SPDX-License-Identifier: MIT
"""./lab site: the course as a web site."""

import pathlib

from engine.command.arguments import WRONG_USE_MEANING, Verb, add_verbose, whole_number
from engine.command.errors import WRONG_USE, CommandError
from engine.command.output import remark, say_next
from engine.command.paths import shown
from lab_tool.paths import ROOT
from lab_tool.site import build_site, serve, shown_index, size_of

DEFAULT_PORT = 8000


def add_site_options(parser):
    parser.add_argument(
        "--output",
        metavar="FOLDER",
        help="where the site goes (default: build-site in the checkout)",
    )
    parser.add_argument(
        "--serve",
        action="store_true",
        help="then show it to a browser of this machine, until Ctrl-C",
    )
    parser.add_argument(
        "--port",
        type=whole_number(0, 65535),
        metavar="N",
        help=f"with --serve: the port; 0 takes a free one (default: {DEFAULT_PORT})",
    )
    add_verbose(parser)


def site(arguments):
    if arguments.port is not None and not arguments.serve:
        raise CommandError("--port says where to serve the site; add --serve.", WRONG_USE)
    folder = pathlib.Path(arguments.output) if arguments.output else ROOT / "build-site"
    build_site(folder)
    remark(f"The site is in {shown(folder)}: {size_of(folder) / 2**20:.1f} MB.")
    if arguments.serve:
        return serve(folder, DEFAULT_PORT if arguments.port is None else arguments.port)
    say_next(f"open {shown_index(folder)} in a browser, or ./lab site --serve")
    return 0


SITE = Verb(
    summary="builds the course as a web site",
    usage=["site [--output FOLDER] [--serve [--port N]] [--verbose]"],
    description="""\
Builds the lessons and documents as a web site, with search, figures that can be played and quizzes. It
takes nothing from other servers, so it also works as files, and under any path of a server. What builds
it (Sphinx) is installed into .venv on first use.""",
    examples=[
        ("./lab site", "builds it into build-site"),
        ("./lab site --serve", "and shows it at http://127.0.0.1:8000/"),
        ("./lab site --output FOLDER", "builds it somewhere else"),
    ],
    exit_codes=[
        (0, "the site is built"),
        (1, "it could not be built, or what builds it could not be installed"),
        WRONG_USE_MEANING,
    ],
    add_options=add_site_options,
    act=site,
)

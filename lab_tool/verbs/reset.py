# SPDX-License-Identifier: MIT
"""./lab reset: an exercise's file as it was at first; the old one is kept."""

from engine.command.arguments import WRONG_USE_MEANING, Verb
from engine.command.output import say, say_next
from engine.command.paths import shown
from grader.exercises.catalogue import chosen_exercise
from lab_tool.options import add_work, work_folder


def add_options(parser):
    parser.add_argument("target", metavar="EXERCISE", help="an exercise by its number or name")
    add_work(parser)


def act(arguments):
    exercise = chosen_exercise(arguments.target)
    work = work_folder(arguments)
    backup = work.reset(exercise)
    say(f"{shown(work.file_of(exercise))} is the starter{' again' if backup else ''}.")
    if backup:
        say(f"Your text is kept in {shown(backup)}.")
    say_next(work.command("learn", exercise.number))
    return 0


VERB = Verb(
    summary="brings an exercise's starter back, and keeps what you wrote",
    usage=["reset EXERCISE [--work FOLDER]"],
    description="""\
Replaces your file for an exercise with the starter. Your own text is kept under another name next to
it, and the command says where.""",
    examples=[
        ("./lab reset 04.2", "begins exercise 04.2 anew"),
        ("./lab exercises", "shows what you have begun"),
    ],
    exit_codes=[
        (0, "the starter is back"),
        (1, "a file could not be written; yours is as it was"),
        WRONG_USE_MEANING,
    ],
    add_options=add_options,
    act=act,
)

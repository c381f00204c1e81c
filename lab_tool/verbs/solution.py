# SPDX-License-Identifier: MIT
"""./lab solution: the course's own solution next to the student's, once theirs is right."""

import shutil

from engine.command.arguments import WRONG_USE_MEANING, Verb
from engine.command.errors import WRONG_USE, CommandError
from engine.command.output import say, say_next
from grader.exercises.catalogue import chosen_exercise
from grader.exercises.comparison import comparison
from grader.exercises.work_folder import has_solution
from lab_tool.options import add_work, work_folder


def add_options(parser):
    parser.add_argument("target", metavar="EXERCISE", help="an exercise by its number or name")
    parser.add_argument(
        "--give-up", action="store_true", help="show the solution before yours is right"
    )
    add_work(parser)


def act(arguments):
    exercise = chosen_exercise(arguments.target)
    if not has_solution(exercise):
        raise CommandError("this copy of the course has no solutions.", WRONG_USE)
    work = work_folder(arguments)
    if not work.was_solved(exercise) and not arguments.give_up:
        raise CommandError(
            f"{exercise.title} is not solved yet: {work.command('hint', exercise.number)} helps, and "
            f"{work.command('solution', exercise.number, '--give-up')} shows it all the same."
        )
    for line in comparison(exercise, work, shutil.get_terminal_size().columns):
        say(line)
    say_next(work.command("exercises"))
    return 0


VERB = Verb(
    summary="shows our solution next to yours, once yours is right",
    usage=["solution EXERCISE [--give-up] [--work FOLDER]"],
    description="""\
Shows the course's solution of an exercise next to your own: side by side in a wide terminal, else one
after the other with + and -. Yours has to be right first, unless you give up.""",
    examples=[
        ("./lab solution 04.2", "after ./lab check 04.2 was right"),
        ("./lab solution 04.2 --give-up", "without having solved it"),
    ],
    exit_codes=[
        (0, "the solution was shown"),
        (1, "the exercise is not solved yet"),
        WRONG_USE_MEANING,
    ],
    add_options=add_options,
    act=act,
)

# SPDX-License-Identifier: MIT
"""./lab hint: one hint more for an exercise each time."""

from engine.command.arguments import WRONG_USE_MEANING, Verb
from engine.command.output import say, say_next
from grader.exercises.catalogue import chosen_exercise
from grader.exercises.hints import NO_HINTS, hint_lines, hints_of
from lab_tool.options import add_work, work_folder


def add_options(parser):
    parser.add_argument("target", metavar="EXERCISE", help="an exercise by its number or name")
    add_work(parser)


def act(arguments):
    exercise = chosen_exercise(arguments.target)
    hints = hints_of(exercise)
    if not hints:
        say(NO_HINTS)
        return 0
    work = work_folder(arguments)
    number = work.next_hint(exercise, len(hints))
    say(f"{exercise.title}, hint {number + 1} of {len(hints)}\n")
    for line in hint_lines(hints[number]):
        say(line)
    verb = "check" if work.file_of(exercise).is_file() else "learn"
    is_last = number + 1 == len(hints)
    say_next(
        work.command(verb, exercise.number),
        "that was the last hint"
        if is_last
        else f"{work.command('hint', exercise.number)} says more",
    )
    return 0


VERB = Verb(
    summary="a hint for an exercise, one level more each time",
    usage=["hint EXERCISE [--work FOLDER]"],
    description="""\
Shows the next hint for an exercise. There are three: a question, a direction, and nearly the line.
After the last one it shows that one again.""",
    examples=[
        ("./lab hint 04.2", "the next hint for exercise 04.2"),
        ("./lab hint fullest_bin", "the same, by its name"),
    ],
    exit_codes=[
        (0, "a hint was shown, or this copy of the course has none"),
        (1, "which hint was last could not be written down"),
        WRONG_USE_MEANING,
    ],
    add_options=add_options,
    act=act,
)

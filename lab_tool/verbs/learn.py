# SPDX-License-Identifier: MIT
"""./lab learn: exercise by exercise, checked on each save."""

from engine.command.arguments import WRONG_USE_MEANING, Verb, add_verbose
from engine.command.errors import WRONG_USE, CommandError
from engine.command.output import say, say_next
from engine.command.paths import shown
from grader.exercises.catalogue import all_exercises, chosen_exercise
from grader.exercises.work_folder import DONE
from lab_tool.builds.backends import require_gpu
from lab_tool.builds.exercise_builds import exercise_builds
from lab_tool.learning.learning import Lesson
from lab_tool.learning.terminal import is_terminal
from lab_tool.options import add_backend, add_build, add_work, work_folder


def add_options(parser):
    parser.add_argument(
        "target",
        nargs="?",
        metavar="EXERCISE",
        help="an exercise by its number or name (default: the first that is not done)",
    )
    parser.add_argument(
        "--manual",
        action="store_true",
        help="check when r is pressed, and not on each save: for files whose changes can't be seen",
    )
    add_work(parser)
    add_backend(parser)
    add_build(parser)
    add_verbose(parser)


def act(arguments):
    # Not above: the help of all verbs would import the judge.
    from grader.judging.check import checked

    work = work_folder(arguments)
    exercises = all_exercises()
    if arguments.target:
        exercise = chosen_exercise(arguments.target)
    else:
        exercise = next((each for each in exercises if work.state(each) != DONE), None)
    if exercise is None:
        say(f"All {len(exercises)} exercises are done.")
        say_next(work.command("exercises"))
        return 0
    if not is_terminal():
        file = shown(work.file_of(exercise))
        is_there = work.file_of(exercise).is_file()
        first = (
            ""
            if is_there
            else f", after {work.command('reset', exercise.number)} has written {file}"
        )
        raise CommandError(
            f"learn needs a terminal: {work.command('check', exercise.number)} checks once{first}.",
            WRONG_USE,
        )
    require_gpu(arguments)
    work.require_place_of(exercise)
    builds = exercise_builds(arguments, exercises)
    lesson = Lesson(
        work,
        exercise,
        lambda each, **told: checked(builds, each, work.file_of(each), work, **told),
        arguments.manual,
    )
    last = lesson.run()
    say_next(work.command("learn", last.number), "goes on here")
    return 0


VERB = Verb(
    summary="the exercises one by one, checked whenever you save",
    usage=["learn [EXERCISE] [--manual] [--work FOLDER] [options]"],
    description="""\
Writes the starter of the first exercise that is not done, says where it is, and checks it each time you
save it. Keys: t task, h hint, l list, c check all, x reset, o open in your editor, q quit; once it is
solved s our solution and n the next one. What you have written stays in the folder work.""",
    examples=[
        ("./lab learn", "the first one that is not done"),
        ("./lab learn 04.2", "exercise 04.2"),
    ],
    exit_codes=[
        (0, "you have quit, or all is done"),
        (1, "a file could not be written, or something could not be built"),
        WRONG_USE_MEANING,
    ],
    add_options=add_options,
    act=act,
)

# SPDX-License-Identifier: MIT
"""./lab exercises: what there is to do, and how far you are."""

from engine.command.arguments import WRONG_USE_MEANING, Verb
from engine.command.output import say, say_in_colours, say_next
from engine.command.output_files import NamedOutputs
from grader.exercises.case_files import BEGINNING as CASES
from grader.exercises.case_files import written_cases
from grader.exercises.catalogue import all_exercises, chosen_exercise, exercise_folders
from grader.exercises.work_folder import DONE
from grader.judging.results import cases_of
from lab_tool.learning.screen import exercise_rows, progress_line
from lab_tool.options import add_work, work_folder


def add_options(parser):
    add_work(parser)
    parser.add_argument("--folders", action="store_true", help="only where the exercises are")
    parser.add_argument(
        "--write-cases",
        nargs=2,
        metavar=("EXERCISE", "FILE"),
        help="write an exercise's cases to FILE, as its program reads them",
    )


def act(arguments):
    if arguments.folders:  # Meson asks
        for folder in exercise_folders():
            say(folder.as_posix())
        return 0
    if arguments.write_cases:  # Meson again, for the solutions on a GPU
        exercise = chosen_exercise(arguments.write_cases[0])
        file = NamedOutputs().add("--write-cases", arguments.write_cases[1], CASES)
        cases = cases_of(exercise)
        if exercise.is_program:  # which has one case
            cases = [case for case in cases if case.counted]
        file.write(written_cases(cases, exercise.name))
        return 0
    work = work_folder(arguments)
    exercises = all_exercises()
    for row in exercise_rows(exercises, work):
        say_in_colours(row)
    say(f"\n{progress_line(exercises, work)}")
    following = next((each for each in exercises if work.state(each) != DONE), None)
    if following:
        say_next(work.command("learn", following.number))
    return 0


VERB = Verb(
    summary="lists the exercises, and how far you are",
    usage=["exercises [--work FOLDER]", "exercises --folders | --write-cases EXERCISE FILE"],
    description="""\
Lists the exercises of all chapters with their points, the minutes that they take, and the state of your
file: not begun, begun, checked and not right yet, or done.""",
    examples=[
        ("./lab exercises", "all of them"),
        ("./lab learn", "goes on with the first that is not done"),
    ],
    exit_codes=[(0, "all are listed"), (1, "a file could not be written"), WRONG_USE_MEANING],
    add_options=add_options,
    act=act,
)

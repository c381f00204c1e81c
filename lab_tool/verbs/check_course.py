# SPDX-License-Identifier: MIT
"""./lab check-course: what the chapters lack, and whether an exercise judges as it must."""

from engine.command.arguments import WRONG_USE_MEANING, Verb, add_verbose
from engine.command.errors import WRONG_USE, CommandError
from engine.command.output import say, say_next
from grader.exercises.catalogue import chosen_exercise
from lab_tool.authoring.course_check import missing_from_course
from lab_tool.authoring.generated_files import write_generated_files
from lab_tool.authoring.trials import deviation, missing_mutants, trials_of
from lab_tool.builds.build_folders import configured
from lab_tool.builds.exercise_builds import exercise_build
from lab_tool.chapters import all_chapters
from lab_tool.options import add_build


def add_options(parser):
    parser.add_argument(
        "target",
        nargs="?",
        metavar="EXERCISE",
        help="an exercise: check its starter, its solution and its wrong solutions",
    )
    parser.add_argument(
        "--write",
        action="store_true",
        help="first write the tables and files that are generated from the chapters' own",
    )
    add_build(parser)
    add_verbose(parser)


def act(arguments):
    if arguments.target and arguments.write:
        raise CommandError(
            "lab check-course --write is for all chapters; name no exercise.", WRONG_USE
        )
    if arguments.target:
        return check_exercise(arguments)
    if arguments.write:
        for path in write_generated_files():
            say(f"{path}: written")
    found = missing_from_course()
    for sentence in found:
        say(sentence)
    chapters = len(all_chapters())
    things = "1 thing is" if len(found) == 1 else f"{len(found)} things are"
    say(f"{things} missing" if found else f"{chapters} chapters, nothing is missing")
    say_next("./lab check-course" if found else "./lab test all")
    return 1 if found else 0


def check_exercise(arguments):
    """Shows what a student sees for each of the exercise's own files, and whether that is as it must be."""
    # Not above: what the chapters lack is found without the judge.
    from grader.judging.check import verdict_on

    exercise = chosen_exercise(arguments.target)
    arguments.backend = "cpu"
    build = exercise_build(configured(arguments), [exercise])
    missing = missing_mutants(exercise)
    for sentence in missing:
        say(sentence)
    wrong = len(missing)
    for trial in trials_of(exercise):
        verdict = verdict_on(build, exercise, trial.text)
        problem = deviation(trial, verdict)
        wrong += problem is not None
        say(f"== {problem or f'{trial.name}: as it must be'}")
        for line in (*verdict.lines, *verdict.remedy):
            say(f"   {line}".rstrip())
        say()
    say(f"{wrong} of its files are not as they must be" if wrong else "all is as it must be")
    say_next(f"./lab check-course {exercise.number}" if wrong else "./lab check-course")
    return 1 if wrong else 0


VERB = Verb(
    summary="names everything that a chapter of the course lacks",
    usage=["check-course [--write]", "check-course EXERCISE [--build FOLDER] [--verbose]"],
    description="""\
Goes through the table of chapters, and names everything that a chapter lacks, with the file to add or
to fix: the lesson and its headings, the sources, the goals, the predictions, the license lines, the
wrong solutions one_thread and one_block of each exercise, and tables and files that differ from what is
generated from the chapters' own files. With an exercise it checks the starter, the solution and each
wrong solution, and shows what a student sees.""",
    examples=[
        ("./lab check-course", "all chapters"),
        ("./lab check-course --write", "the same, after the tables are generated"),
        ("./lab check-course 04.2", "what a check says of its files"),
        ("./lab new chapter 07_prefix_sum", "a chapter to write"),
    ],
    exit_codes=[
        (0, "nothing is missing"),
        (1, "something is"),
        WRONG_USE_MEANING,
    ],
    add_options=add_options,
    act=act,
)

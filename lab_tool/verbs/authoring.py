# SPDX-License-Identifier: MIT
"""./lab new and ./lab check-course: new exercises and wrong solutions, and what the chapters lack."""

from engine.command.arguments import WRONG_USE_MEANING, Verb, add_verbose
from engine.command.errors import WRONG_USE, CommandError, hint
from engine.command.output import say, say_next
from engine.command.paths import shown
from grader.exercises.catalogue import chosen_exercise
from lab_tool.authoring.course_check import missing_from_course
from lab_tool.authoring.new_exercise import make_exercise
from lab_tool.authoring.trials import deviation, missing_mutants, trials_of
from lab_tool.builds.build_folders import configured
from lab_tool.builds.program_builds import exercise_build
from lab_tool.chapters import all_chapters
from lab_tool.options import add_build

KINDS = ["exercise", "mutant"]


def add_new_options(parser):
    parser.add_argument("kind", metavar="exercise|mutant", help="what to make")
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help="of an exercise the chapter and the name; of a mutant the exercise, the name and the edited "
        "copy of the solution",
    )
    parser.add_argument(
        "--mistake",
        metavar="TEXT",
        help="of a mutant: what is wrong in it, in one line (default: its name)",
    )
    parser.add_argument(
        "--kind",
        metavar="KIND",
        dest="exercise_kind",
        help="of an exercise: write (the default) or repair, of a function; or program, a whole program",
    )
    add_build(parser)
    add_verbose(parser)


def new(arguments):
    kind, names = arguments.kind, arguments.names
    if kind not in KINDS:
        more = hint(
            kind,
            KINDS,
            "it makes an exercise or a mutant, as in ./lab new exercise 04 longest_run.",
        )
        raise CommandError(f"lab new makes no {kind}; {more}", WRONG_USE)
    if arguments.exercise_kind is not None and kind != "exercise":
        raise CommandError("--kind goes with ./lab new exercise.", WRONG_USE)
    if kind == "mutant":
        return _new_mutant(arguments)
    for option in ("mistake", "build"):
        if getattr(arguments, option) is not None:
            raise CommandError(f"--{option} goes with ./lab new mutant.", WRONG_USE)
    if len(names) != 2:
        raise CommandError(
            "lab new exercise needs a chapter and a name, as in ./lab new exercise 04 longest_run.",
            WRONG_USE,
        )
    number, made = make_exercise(*names, kind=arguments.exercise_kind or "write")
    for file in made:
        say(shown(file))
    say(f"This is exercise {number}; docs/internals/exercises.md says what each file is.")
    say_next(f"./lab check-course {number}")
    return 0


def _new_mutant(arguments):
    # Not above: an exercise is made without the judge.
    from lab_tool.authoring.mutants import FILE
    from lab_tool.authoring.new_mutant import make_mutant, new_mutant

    if len(arguments.names) != 3:
        raise CommandError(
            "lab new mutant needs an exercise, a name and an edited copy of its solution, as in "
            "./lab new mutant 04.2 missing_acquire copy.cu.",
            WRONG_USE,
        )
    wanted, name, copy = arguments.names
    exercise = chosen_exercise(wanted)
    new = new_mutant(exercise, name, copy, arguments.mistake)
    arguments.backend = "cpu"
    build = exercise_build(configured(arguments), [exercise])
    made, verdict = make_mutant(build, new)
    say(f"A check rejects {copy}:")
    for line in (*verdict.lines, *verdict.remedy):
        say(f"   {line}".rstrip())
    say()
    say(shown(exercise.folder / FILE))
    for line in made.text().splitlines():
        say(f"   {line}".rstrip())
    say_next(f"./lab check-course {exercise.number}")
    return 0


NEW = Verb(
    summary="makes a new exercise, or a wrong solution of one",
    usage=["new exercise NN name [--kind KIND]", "new mutant EXERCISE name COPY.cu [options]"],
    description="""\
Makes the folder of an exercise with its text, solution, cases, hints and wrong solutions. What it makes
builds and passes its tests; it is yours to fill, and to add to the tables that name all exercises.
A mutant is a wrong solution of an exercise. Edit a copy of the solution: the command checks it, and
writes the mistake into the exercise's mutants.txt, with the part that rejects it and its words. A copy
that nothing rejects makes no mutant.""",
    examples=[
        ("./lab new exercise 04 longest_run", "an exercise of chapter 04"),
        ("./lab new exercise 04 my_sum --kind program", "a whole program"),
        ("./lab new mutant 04.2 missing_acquire copy.cu", "a wrong solution of 04.2"),
    ],
    exit_codes=[
        (0, "it is made"),
        (1, "a file could not be written, or nothing rejects the edited copy"),
        WRONG_USE_MEANING,
    ],
    add_options=add_new_options,
    act=new,
)


def add_check_course_options(parser):
    parser.add_argument(
        "target",
        nargs="?",
        metavar="EXERCISE",
        help="an exercise: check its starter, its solution and its wrong solutions",
    )
    add_build(parser)
    add_verbose(parser)


def check_course(arguments):
    if arguments.target:
        return check_exercise(arguments)
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


CHECK_COURSE = Verb(
    summary="names everything that a chapter of the course lacks",
    usage=["check-course", "check-course EXERCISE [--build FOLDER] [--verbose]"],
    description="""\
Goes through the table of chapters, and names everything that a chapter lacks, with the file to add or
to fix: the lesson and its headings, the sources, the predictions, the license lines, and the
wrong solutions one_thread and one_block of each exercise. With an exercise it checks the starter, the
solution and each wrong solution, and shows what a student sees.""",
    examples=[
        ("./lab check-course", "all chapters"),
        ("./lab check-course 04.2", "what a check says of its files"),
    ],
    exit_codes=[
        (0, "nothing is missing"),
        (1, "something is"),
        WRONG_USE_MEANING,
    ],
    add_options=add_check_course_options,
    act=check_course,
)

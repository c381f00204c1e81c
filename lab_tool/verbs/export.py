# SPDX-License-Identifier: MIT
"""./lab export: a repository for students, and graders for the usual systems."""

import importlib.util
import shlex

from engine.command.arguments import WRONG_USE_MEANING, Verb, add_verbose
from engine.command.errors import WRONG_USE, CommandError, hint
from engine.command.output import say, say_next
from engine.command.paths import shown
from grader.exercises.catalogue import chosen_exercises
from grader.exercises.solutions import has_solution
from lab_tool.export.systems import GRADERS, recorded_files, repository_files
from lab_tool.export.writing import new_folder, write_folder
from lab_tool.options import add_build

SYSTEMS = ("plain", *GRADERS)
TITLE = "Exercises in CUDA C++"
OF_EXERCISES = ("for", "due", "hints", "build")  # options that an exam has no use for


def add_export_options(parser):
    parser.add_argument("folder", metavar="FOLDER", help="where to write it: a new folder")
    parser.add_argument(
        "--exercises", metavar="LIST", help="as in 04.2,04.3,05.1; all takes all of them"
    )
    parser.add_argument(
        "--exam",
        metavar="LIST",
        help="instead: an exam sheet and its answers, of chapters and predictions, as in 04,05.1",
    )
    parser.add_argument(
        "--for",
        dest="system",
        metavar="|".join(SYSTEMS),
        help="also write a grader for this system (default: plain, which has none)",
    )
    parser.add_argument(
        "--title", help="the heading of the students' README (default: Exercises in CUDA C++)"
    )
    parser.add_argument("--due", metavar="TEXT", help="when to hand in, for the students' README")
    parser.add_argument("--hints", action="store_true", help="give the students the hints as well")
    parser.set_defaults(backend="cpu")
    add_build(parser)
    add_verbose(parser)


def export(arguments):
    system = arguments.system or "plain"
    if system not in SYSTEMS:
        more = hint(system, SYSTEMS, "there are plain, gradescope, classroom50 and autolab.")
        raise CommandError(f"--for {system}: there is no such system; {more}", WRONG_USE)
    for option in ("title", "due"):
        if "\n" in (getattr(arguments, option) or ""):
            raise CommandError(f"--{option} must be one line.", WRONG_USE)
    if arguments.exam is not None:
        return write_exam(arguments)
    if arguments.exercises is None:
        raise CommandError("lab export needs --exercises, as in --exercises 04.2,04.3.", WRONG_USE)
    if system == "plain" and arguments.build:
        raise CommandError(
            "--build is for a grader's export, since without --for nothing is built; leave it out.",
            WRONG_USE,
        )
    exercises = chosen_exercises(arguments.exercises)
    if not all(map(has_solution, exercises)):
        raise CommandError("this copy of the course has no solutions to export from.", WRONG_USE)
    folder = new_folder(arguments.folder)
    recorded = {}
    if system in GRADERS:
        recorded = recorded_files(arguments, exercises)
    files = repository_files(exercises, arguments.title or TITLE, arguments.due, arguments.hints)
    students = folder if system == "plain" else folder / "students"
    grader = GRADERS[system](exercises, recorded) if system in GRADERS else {}
    below = "" if system == "plain" else "students/"
    write_folder(folder, {**{f"{below}{path}": files[path] for path in files}, **grader})
    size = sum(map(len, files.values())) / 1e6
    say(f"{shown(students)}: {len(files)} files, {size:.1f} MB, for the students, with")
    for exercise in exercises:
        say(f"  {exercise.title}, {exercise.facts['minutes']} minutes")
    for path in grader:
        say(f"{shown(folder / path)}: for {system}; docs/use-with-{system}.md says where it goes")
    say_next(
        f"cd {shlex.quote(str(shown(students)))} && git init && git add . && git commit -m Exercises",
        "then try it in a clone: in the folder itself your attempt would be published",
    )
    return 0


def write_exam(arguments):
    """The sheet for students, and the one for who marks it."""
    if arguments.exercises is not None:
        raise CommandError("--exam and --exercises are two exports: give one of them.", WRONG_USE)
    for option in OF_EXERCISES:
        if getattr(arguments, "system" if option == "for" else option):
            raise CommandError(
                f"--{option} is for an export of exercises, and not for an exam; leave it out.",
                WRONG_USE,
            )
    if not importlib.util.find_spec("lab_tool.predictions"):
        raise CommandError("--exam: this copy of the course has no predictions.", WRONG_USE)
    from lab_tool.export.exam import ANSWERS, SHEET, chosen_predictions, exam_files

    predictions = chosen_predictions(arguments.exam)
    folder = new_folder(arguments.folder)
    write_folder(folder, exam_files(predictions, arguments.title or "Exam"))
    say(f"{shown(folder / SHEET)}: {len(predictions)} questions, for the students")
    say(f"{shown(folder / ANSWERS)}: what is right, and why")
    return 0


EXPORT = Verb(
    summary="writes a repository for students, without solutions",
    usage=[
        "export FOLDER --exercises LIST [--for SYSTEM] [options]",
        "export FOLDER --exam LIST [--title TEXT]",
    ],
    description="""\
Writes a repository that students can use at once: the parts of the course that they need, the starters
and the texts of the exercises, and a README. It has no solution, no wrong solution and no history. For
Gradescope, Classroom 50 and Autolab it also writes the grader; docs/teaching.md says how to go on.""",
    examples=[
        ("./lab export ../week4 --exercises 04.2,04.3", "for students"),
        ("./lab export ../week4 --exercises 04.2 --for gradescope", "with its zip"),
    ],
    exit_codes=[
        (0, "it is written"),
        (1, "a file could not be written"),
        WRONG_USE_MEANING,
    ],
    add_options=add_export_options,
    act=export,
)

# SPDX-License-Identifier: MIT
"""./lab new: a new chapter or exercise, which builds and passes its tests, or a wrong solution of one."""

import os
import shutil

from engine.command.arguments import WRONG_USE_MEANING, Verb, add_verbose
from engine.command.errors import WRONG_USE, CommandError, hint
from engine.command.output import say, say_next
from engine.command.output_files import put_back_on_failure
from engine.command.paths import shown
from grader.exercises.catalogue import chosen_exercise
from lab_tool.authoring.generated_files import generated_files, write_generated_files
from lab_tool.authoring.new_chapter import make_chapter
from lab_tool.authoring.new_exercise import make_exercise
from lab_tool.builds.build_folders import configured
from lab_tool.builds.exercise_builds import exercise_build
from lab_tool.options import add_build
from lab_tool.paths import ROOT

KINDS = ["chapter", "exercise", "mutant"]


def add_options(parser):
    parser.add_argument("kind", metavar="chapter|exercise|mutant", help="what to make")
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help="of a chapter its folder, as in 07_prefix_sum; of an exercise the chapter and the name; of a "
        "mutant the exercise, the name and the edited copy of the solution",
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


def act(arguments):
    kind, names = arguments.kind, arguments.names
    if kind not in KINDS:
        more = hint(
            kind,
            KINDS,
            "it makes a chapter, an exercise or a mutant, as in ./lab new chapter 07_prefix_sum.",
        )
        raise CommandError(f"lab new makes no {kind}; {more}", WRONG_USE)
    if arguments.exercise_kind is not None and kind != "exercise":
        raise CommandError("--kind goes with ./lab new exercise.", WRONG_USE)
    if kind == "mutant":
        return _new_mutant(arguments)
    for option in ("mistake", "build"):
        if getattr(arguments, option) is not None:
            raise CommandError(f"--{option} goes with ./lab new mutant.", WRONG_USE)
    if kind == "chapter":
        if len(names) != 1:
            raise CommandError(
                "lab new chapter needs one name, as in ./lab new chapter 07_prefix_sum.", WRONG_USE
            )
        chapter, made = _with_generated_files(lambda: make_chapter(names[0]))
        added = "A row in chapters/meson.build was added; docs/internals/chapters.md says what each file is."
        following = f"./lab test {chapter.number}"
    else:
        if len(names) != 2:
            raise CommandError(
                "lab new exercise needs a chapter and a name, as in "
                "./lab new exercise 04 longest_run.",
                WRONG_USE,
            )
        of_kind = arguments.exercise_kind or "write"
        number, made = _with_generated_files(lambda: make_exercise(*names, kind=of_kind))
        added = f"This is exercise {number}; docs/internals/exercises.md says what each file is."
        following = f"./lab check-course {number}"
    for file in made:
        say(shown(file))
    say(added)
    say_next(following)
    return 0


def _new_mutant(arguments):
    # Not above: a chapter is made without the judge.
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


def _with_generated_files(make):
    """What `make` returns: what was made, and a list of files, to which the generated ones are added.
    All of it is made, or nothing."""
    files = generated_files()  # What keeps them from being made is said before anything is.
    made = []
    with put_back_on_failure([ROOT / "chapters/meson.build", *(ROOT / path for path in files)]):
        try:
            what, made = make()
            written = write_generated_files()
        except BaseException:
            if made:
                shutil.rmtree(os.path.commonpath([str(file.parent) for file in made]))
            raise
    return what, [*made, *(ROOT / path for path in written)]


VERB = Verb(
    summary="makes a new chapter, exercise or wrong solution of an exercise",
    usage=[
        "new chapter NN_name",
        "new exercise NN name [--kind KIND]",
        "new mutant EXERCISE name COPY.cu [options]",
    ],
    description="""\
Makes the folder of a chapter with a lesson, a kernel, a program, a test, a benchmark and its goals, and
adds its row to chapters/meson.build; or the folder of an exercise with its text, solution, cases, hints
and wrong solutions. The tables that name all of them are written anew. What it makes builds and passes
its tests; it is yours to fill. ./lab check-course names what a new chapter still lacks.
A mutant is a wrong solution of an exercise. Edit a copy of the solution: the command checks it, and
writes the mistake into the exercise's mutants.txt, with the part that rejects it and its words. A copy
that nothing rejects makes no mutant.""",
    examples=[
        ("./lab new chapter 07_prefix_sum", "the chapter 07_prefix_sum"),
        ("./lab new exercise 04 longest_run", "an exercise of chapter 04"),
        (
            "./lab new exercise 04 my_sum --kind program",
            "a whole program",
        ),
        ("./lab new mutant 04.2 missing_acquire copy.cu", "a wrong solution of 04.2"),
    ],
    exit_codes=[
        (0, "it is made"),
        (1, "a file could not be written, or nothing rejects the edited copy"),
        WRONG_USE_MEANING,
    ],
    add_options=add_options,
    act=act,
)

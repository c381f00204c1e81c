# SPDX-License-Identifier: MIT
"""./lab new: a new chapter or exercise, which builds and passes its tests."""

import os
import shutil

from engine.driver.arguments import WRONG_USE_MEANING, Verb
from engine.driver.errors import WRONG_USE, CommandError
from engine.driver.names import hint
from engine.driver.output import say, say_next
from engine.driver.output_files import put_back_on_failure
from engine.driver.paths import shown
from lab_tool.authoring.generated_files import generated_files, write_generated_files
from lab_tool.authoring.new_chapter import make_chapter
from lab_tool.authoring.new_exercise import make_exercise
from lab_tool.paths import ROOT

KINDS = ["chapter", "exercise"]


def add_options(parser):
    parser.add_argument("kind", metavar="chapter|exercise", help="what to make")
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help="of a chapter its folder, as in 07_prefix_sum; of an exercise the chapter and the name",
    )


def act(arguments):
    kind, names = arguments.kind, arguments.names
    if kind not in KINDS:
        more = hint(
            kind,
            KINDS,
            "it makes a chapter or an exercise, as in ./lab new chapter 07_prefix_sum.",
        )
        raise CommandError(f"lab new makes no {kind}; {more}", WRONG_USE)
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
        number, made = _with_generated_files(lambda: make_exercise(*names))
        added = f"This is exercise {number}; docs/internals/exercises.md says what each file is."
        following = f"./lab check-course {number}"
    for file in made:
        say(shown(file))
    say(added)
    say_next(following)
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
    summary="makes a new chapter or exercise, which passes its tests",
    usage=["new chapter NN_name", "new exercise NN name"],
    description="""\
Makes the folder of a chapter with a lesson, a kernel, a program, a test, a benchmark and its goals, and
adds its row to chapters/meson.build; or the folder of an exercise with its text, solution, cases, hints
and wrong solutions. The tables that name all of them are written anew. What it makes builds and passes
its tests; it is yours to fill. ./lab check-course names what a new chapter still lacks.""",
    examples=[
        ("./lab new chapter 07_prefix_sum", "the chapter 07_prefix_sum"),
        ("./lab new exercise 04 longest_run", "an exercise of chapter 04"),
    ],
    exit_codes=[
        (0, "it is made"),
        (1, "a file could not be written"),
        WRONG_USE_MEANING,
    ],
    add_options=add_options,
    act=act,
)

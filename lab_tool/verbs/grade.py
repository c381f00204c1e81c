# SPDX-License-Identifier: MIT
"""./lab grade: judges what a class has handed in, and writes marks and feedback."""

import os

from engine.command.arguments import WRONG_USE_MEANING, Verb, add_verbose, whole_number
from lab_tool.options import add_backend, add_build


def add_grade_options(parser):
    parser.add_argument(
        "submissions",
        metavar="SUBMISSIONS",
        help="a folder with a folder per student, a folder of files, or a zip of either",
    )
    parser.add_argument(
        "--exercises", required=True, metavar="NUMBERS", help="such as 04.2,04.3,05.1"
    )
    parser.add_argument("--output", required=True, metavar="FOLDER", help="for all that is written")
    parser.add_argument(
        "--jobs",
        type=whole_number(1, 1024),
        default=os.cpu_count() or 1,
        metavar="N",
        help="submissions that are judged at once (default: one per processor)",
    )
    parser.add_argument(
        "--student",
        metavar="NAME",
        help="grade this student again and leave the rows and pages of all others as they are",
    )
    parser.add_argument("--roster", metavar="FILE.csv", help="the class: its column `student`")
    parser.add_argument(
        "--due",
        metavar="TIME",
        help="such as 2026-12-01T23:59, or a day; what came later is marked as late",
    )
    parser.add_argument(
        "--seed", metavar="FILE|WORD", help="the secret that the cases' numbers are drawn from"
    )
    parser.add_argument(
        "--require-sandbox",
        action="store_true",
        help="refuse to run without bubblewrap or Landlock",
    )
    parser.add_argument(
        "--executor",
        default="local",
        metavar="local|slurm",
        help="where it runs: on this machine (the default), or as a job array of Slurm",
    )
    parser.add_argument(
        "--nvcc",
        action="store_true",
        help="a file that nvcc refuses does not compile; without it the CPU backend alone decides",
    )
    # What grades is not chosen by chance.
    add_backend(parser, ("cpu", "cuda"), "cuda: on the GPU as well")
    add_build(parser)
    add_verbose(parser)


def grade(arguments):
    # Not above: the help of all verbs would import the whole grader.
    from lab_tool.grading.class_grading import grade

    return grade(arguments)


GRADE = Verb(
    summary="judges what a class has handed in",
    usage=["grade SUBMISSIONS --exercises NUMBERS --output FOLDER [options]"],
    description="""\
Judges each submission as `check` does, but with numbers that are drawn from a secret, and in a sandbox.
Writes grades.csv, results.json, junit.xml, summary.html and a page per student into the output folder.
If it is interrupted, the same command goes on where it stopped. With --student NAME it judges one student
again and makes the tables anew.""",
    examples=[
        ("./lab grade class.zip --exercises 04.2 --output grades", "all in the zip"),
        ("./lab grade class --exercises 05.1 --output grades", "a folder"),
    ],
    exit_codes=[
        (0, "everything was graded, whatever the marks"),
        (1, "the grader itself failed on a submission, or could not work"),
        WRONG_USE_MEANING,
    ],
    add_options=add_grade_options,
    act=grade,
)

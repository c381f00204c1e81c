# SPDX-License-Identifier: MIT
"""./lab predict: which of four variants are free of races? The student says it, and then racecheck."""

import shlex
import sys

from engine.command.arguments import WRONG_USE_MEANING, Verb, add_verbose
from engine.command.drawing import BEGINNING as PICTURE
from engine.command.errors import WRONG_USE, CommandError
from engine.command.output import is_terminal, say, say_in_colours, say_next
from engine.command.output_files import OutputFile
from engine.command.paths import shown
from engine.command.race_picture import write_picture
from lab_tool.options import add_build, add_work, work_folder
from lab_tool.predictions import (
    CONTRADICTED,
    HOW_TO_ANSWER,
    LETTERS,
    all_predictions,
    answered_right,
    chosen_prediction,
    findings_of,
    judgement_of,
    letters_of,
    next_prediction,
    question_of,
    remember_right_answer,
    summary_of,
)

PROMPT = "Free of races are (letters, none, ? or q): "


def add_predict_options(parser):
    parser.add_argument(
        "target",
        nargs="?",
        default="",
        metavar="NN|NN.K|NAME",
        help="a chapter, for its first prediction that you have not answered right; or one prediction "
        "(default: the first one of all)",
    )
    parser.add_argument(
        "--answer",
        metavar="LETTERS",
        help="the letters of those that are free of races, as in ac, or none; nothing is asked then",
    )
    parser.add_argument("--list", action="store_true", help="list all predictions, and ask nothing")
    add_work(parser)
    add_build(parser)
    add_verbose(parser)


def predict(arguments):
    if arguments.list:
        if arguments.target or arguments.answer:
            raise CommandError("--list goes alone: it lists all predictions.", WRONG_USE)
        return listing()
    work = work_folder(arguments)
    prediction = chosen_prediction(arguments.target, answered_right(work.folder))
    if arguments.answer is None and not is_terminal(sys.stdin):
        raise CommandError(
            "lab predict asks on a terminal, and this is none: give your answer by --answer, as in "
            f"./lab predict {prediction.label} --answer ac.",
            WRONG_USE,
        )
    answer = None if arguments.answer is None else letters_of(arguments.answer)
    say_in_colours(question_of(prediction))
    if answer is None:
        answer = asked()
        if answer is None:
            say_next(work.command("predict", prediction.label), "nothing was answered")
            return 1
    return judge(prediction, answer, arguments.build, work)


def listing():
    for prediction in all_predictions():
        say(f"{prediction.label}  {prediction.name:<12}  {prediction.title}")
    say_next("./lab predict")
    return 0


def asked():
    """The letters that the student types; None if they type no answer."""
    say("")
    while True:
        sys.stdout.write(PROMPT)
        sys.stdout.flush()
        line = sys.stdin.readline()
        word = line.strip().lower()
        if not line:
            say("")  # the end of the input left the prompt's line open
        if not line or word == "q":
            return None
        if word == "?":
            say(HOW_TO_ANSWER)
            continue
        try:
            return letters_of(word)
        except CommandError as problem:
            say(str(problem))


def judge(prediction, answer, build, work):
    """Runs the four variants, and says for each whether it was judged rightly; the exit code."""
    path = work.folder / f"{prediction.label}_{prediction.name}.svg"
    picture = OutputFile(path, PICTURE, shown(path))
    work.make_folder(path)
    picture.require_writable()
    findings = findings_of(prediction, build)
    for letter in LETTERS:
        say_in_colours(f"\n{judgement_of(prediction, letter, answer, findings[letter])}")
    say(f"\n{summary_of(prediction, answer)}")
    write_picture(
        [(letter, findings[letter][0]) for letter in LETTERS if findings[letter]], picture
    )
    if answer == prediction.answer:
        remember_right_answer(work.folder, prediction)
        following = next_prediction(prediction, answered_right(work.folder))
        say_next(work.command("predict", following.label))
        return 0
    letter = next(each for each in LETTERS if (each in answer) != (each in prediction.answer))
    command = ["./lab", "racecheck", shown(prediction.source), "--", letter]
    say_next(shlex.join(command), f"all that racecheck finds in {letter}")
    return 1


PREDICT = Verb(
    summary="asks which variants of a kernel race, and then checks",
    usage=["predict [NN|NN.K|NAME] [options]", "predict --list"],
    description="""\
Shows four variants of a short kernel and asks which of them are free of races. Then it runs all four
under the race checker, says for each whether you were right, and why, and draws the races. Always on
the CPU backend. What you have answered right is remembered in the folder work, and not asked again
unless you name it.""",
    examples=[
        ("./lab predict 04", "chapter 04, from where you left off"),
        ("./lab predict 04.2", "its second one"),
        ("./lab predict 04.2 --answer none", "the same without a question"),
    ],
    exit_codes=[
        (0, "all four were judged rightly"),
        (1, "at least one was not, nothing was answered, or a build failed"),
        WRONG_USE_MEANING,
        (CONTRADICTED, "racecheck contradicts the course: a mistake of ours, please report it"),
    ],
    add_options=add_predict_options,
    act=predict,
)

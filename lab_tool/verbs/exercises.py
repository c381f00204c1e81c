# SPDX-License-Identifier: MIT
"""The verbs for exercises: exercises, learn, check, hint, reset and solution."""

import contextlib
import json
import pathlib
import shutil

from engine.command.arguments import WRONG_USE_MEANING, Verb, add_verbose
from engine.command.errors import WRONG_USE, CommandError
from engine.command.output import Progress, say, say_in_colours, say_next
from engine.command.output_files import NamedOutputs, add_force
from engine.command.paths import shown
from grader.exercises.cases import BEGINNING as CASES
from grader.exercises.cases import written_cases
from grader.exercises.catalogue import all_exercises, chosen_exercise
from grader.exercises.solutions import comparison, has_solution
from grader.exercises.work_folder import DONE, NOT_BEGUN
from grader.judging.results import cases_of
from lab_tool.builds.backends import require_gpu
from lab_tool.builds.program_builds import exercise_builds
from lab_tool.learning import Lesson, Terminal, is_terminal
from lab_tool.options import add_backend, add_build, add_work, work_folder
from lab_tool.screen import (
    NO_HINTS,
    closing_lines,
    exercise_rows,
    head_line,
    hint_lines,
    judged_lines,
    nvcc_lines,
    progress_line,
    refusal_lines,
)


def add_exercises_options(parser):
    add_work(parser)
    parser.add_argument("--folders", action="store_true", help="only their folders and kinds")
    parser.add_argument(
        "--write-cases",
        nargs=2,
        metavar=("EXERCISE", "FILE"),
        help="write an exercise's cases to FILE, as its program reads them",
    )


def exercises(arguments):
    if arguments.folders:  # Meson asks
        for exercise in all_exercises():
            say(f"{exercise.path}:{exercise.facts['kind']}")
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
    say_lines(exercise_rows(exercises, work))
    say(f"\n{progress_line(exercises, work)}")
    following = next((each for each in exercises if work.state(each) != DONE), None)
    if following:
        say_next(work.command("learn", following.number))
    return 0


EXERCISES = Verb(
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
    add_options=add_exercises_options,
    act=exercises,
)


def add_learn_options(parser):
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


def learn(arguments):
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
        sentence = f"learn needs a terminal: {work.command('check', exercise.number)} checks once"
        file = work.file_of(exercise)
        if not file.is_file():
            reset = work.command("reset", exercise.number)
            sentence += f", after {reset} has written {shown(file)}"
        raise CommandError(f"{sentence}.", WRONG_USE)
    require_gpu(arguments)
    work.require_place_of(exercise)
    with Terminal() as terminal:
        try:
            with terminal.keys_kept():
                builds = exercise_builds(arguments, exercises)
        except KeyboardInterrupt:
            if not terminal.has_quit:
                raise
            last = exercise
        else:
            lesson = Lesson(
                work,
                exercise,
                lambda each, **told: checked(builds, each, work.file_of(each), work, **told),
                arguments.manual,
                terminal,
            )
            last = lesson.run()
    say_next(work.command("learn", last.number), "goes on here")
    return 0


LEARN = Verb(
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
    add_options=add_learn_options,
    act=learn,
)


VERDICTS = rb'\[\n  \{\n    "exercise": '  # what the file of --json begins with


def add_check_options(parser):
    parser.add_argument(
        "target",
        nargs="?",
        default="begun",
        metavar="EXERCISE|FILE",
        help="an exercise by its number or name, or its file (default: all that you have begun)",
    )
    parser.add_argument(
        "--explain", action="store_true", help="say of a race what is missing, and where it belongs"
    )
    parser.add_argument("--json", metavar="FILE", help="write the verdicts to FILE as well")
    add_force(parser)
    add_work(parser)
    add_backend(parser)
    add_build(parser)
    add_verbose(parser)


def check(arguments):
    work = work_folder(arguments)
    chosen = chosen_files(arguments.target, work)
    outputs = NamedOutputs(arguments.force, [source for _, source in chosen])
    file = outputs.add("--json", arguments.json, VERDICTS)
    require_gpu(arguments)
    builds = exercise_builds(arguments, [exercise for exercise, _ in chosen])
    is_one = len(chosen) == 1
    verdicts, problems = [], set()
    for exercise, source in chosen:

        def says(verdict, exercise=exercise):
            if is_one:
                say_lines(judged_lines(exercise, verdict, arguments.explain))
            else:
                say_lines([head_line(exercise, verdict), *refusal_lines(verdict)])

        verdict = told(builds, exercise, source, work, says)
        verdicts.append((exercise, verdict))
        problem = verdict.nvcc_problem
        if not problem or problem not in problems:  # of many files it is most often the same
            say_lines(nvcc_lines(verdict))
        problems.add(problem)
        if is_one:
            say_lines(closing_lines(exercise, verdict, work, explain=arguments.explain))
    if file:
        file.write(json.dumps([as_data(*item) for item in verdicts], indent=2) + "\n")
    failed = [exercise for exercise, verdict in verdicts if not verdict.is_solved]
    if not is_one:
        say_next(work.command("check", failed[0].number) if failed else work.command("exercises"))
    return 1 if failed else 0


def chosen_files(target, work):
    """[(exercise, the file to check)]."""
    if target == "begun":
        begun = [each for each in all_exercises() if work.state(each) != NOT_BEGUN]
        if not begun:
            raise CommandError(
                f"no exercise is begun in {shown(work.folder)}; {work.command('learn')} begins the "
                "first one.",
                WRONG_USE,
            )
        return [(each, work.file_of(each)) for each in begun]
    exercise = chosen_exercise(target)
    path = pathlib.Path(target) if target.endswith(".cu") else work.file_of(exercise)
    if not path.is_file():
        what = f"{target} is no file" if path.exists() else f"there is no file {shown(path)}"
        raise CommandError(
            f"{what}; {work.command('learn', exercise.number)} begins it.", WRONG_USE
        )
    return [(exercise, path)]


def told(builds, exercise, source, work, says):
    """The Verdict, with a line of progress while something is found out. `says` gets the Verdict as soon as
    all but nvcc's answer is there."""
    # Not above: the help of all verbs would import the judge.
    from grader.judging.check import checked

    with contextlib.ExitStack() as stack:

        def progress():
            return stack.enter_context(Progress(f"Checking {exercise.title}", stays=False))

        lines, said = [progress()], []

        def has_begun(_, what):
            lines[-1].note = f"{what}, "

        def has_verdict(verdict):
            stack.close()
            says(verdict)
            said.append(verdict)
            lines.append(progress())

        verdict = checked(builds, exercise, source, work, has_begun, has_verdict)
    if not said:
        says(verdict)
    return verdict


def say_lines(lines):
    for line in lines:
        say_in_colours(line)


def as_data(exercise, verdict):
    return {
        "exercise": exercise.number,
        "name": exercise.name,
        "parts": verdict.parts,
        "lines": verdict.lines,
        "remedy": list(verdict.remedy),
        "refusals": list(verdict.refusals),
        "nvcc": list(verdict.nvcc_errors),
    }


CHECK = Verb(
    summary="judges what you have written for an exercise",
    usage=["check [EXERCISE|FILE] [--work FOLDER] [options]"],
    description="""\
Judges your file for an exercise by three things: its results in several cases, its races in 20
schedules, and the limits that the exercise sets. It says what is wrong with the first of them that
fails, and where, and changes nothing in your file. What would repair a race is yours to find; with
--explain the check says it. If a grade would refuse the file for what it uses, a sentence
says so, and the verdict stays the same. If nvcc is installed, and no GPU runs the file, nvcc compiles
a file that is right, after the verdict; a file that it refuses is not solved.""",
    examples=[
        ("./lab check 04.2", "your work/04_fullest_bin.cu"),
        ("./lab check 04.2 --explain", "and what a race in it lacks"),
        ("./lab check", "all exercises that you have begun"),
    ],
    exit_codes=[
        (0, "all that was checked is solved"),
        (1, "something is not right yet"),
        WRONG_USE_MEANING,
    ],
    add_options=add_check_options,
    act=check,
)


def add_exercise(parser):
    parser.add_argument("target", metavar="EXERCISE", help="an exercise by its number or name")
    add_work(parser)


def hint(arguments):
    exercise = chosen_exercise(arguments.target)
    hints = exercise.hints
    if not hints:
        say(NO_HINTS)
        return 0
    work = work_folder(arguments)
    number = work.next_hint(exercise, len(hints))
    say(f"{exercise.title}, hint {number + 1} of {len(hints)}\n")
    say_lines(hint_lines(hints[number]))
    verb = "check" if work.file_of(exercise).is_file() else "learn"
    more = f"{work.command('hint', exercise.number)} says more"
    is_last = number + 1 == len(hints)
    say_next(work.command(verb, exercise.number), "that was the last hint" if is_last else more)
    return 0


HINT = Verb(
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
    add_options=add_exercise,
    act=hint,
)


def reset(arguments):
    exercise = chosen_exercise(arguments.target)
    work = work_folder(arguments)
    backup = work.reset(exercise)
    say(f"{shown(work.file_of(exercise))} is the starter{' again' if backup else ''}.")
    if backup:
        say(f"Your text is kept in {shown(backup)}.")
    say_next(work.command("learn", exercise.number))
    return 0


RESET = Verb(
    summary="brings an exercise's starter back, and keeps your text",
    usage=["reset EXERCISE [--work FOLDER]"],
    description="""\
Replaces your file for an exercise with the starter. Your own text is kept under another name next to
it, and the command says where.""",
    examples=[
        ("./lab reset 04.2", "begins exercise 04.2 anew"),
        ("./lab exercises", "shows what you have begun"),
    ],
    exit_codes=[
        (0, "the starter is back"),
        (1, "a file could not be written; yours is as it was"),
        WRONG_USE_MEANING,
    ],
    add_options=add_exercise,
    act=reset,
)


def add_solution_options(parser):
    parser.add_argument(
        "--give-up", action="store_true", help="show the solution before yours is right"
    )
    add_exercise(parser)


def solution(arguments):
    exercise = chosen_exercise(arguments.target)
    if not has_solution(exercise):
        raise CommandError("this copy of the course has no solutions.", WRONG_USE)
    work = work_folder(arguments)
    if not work.was_solved(exercise) and not arguments.give_up:
        raise CommandError(
            f"{exercise.title} is not solved yet: {work.command('hint', exercise.number)} helps, and "
            f"{work.command('solution', exercise.number, '--give-up')} shows it all the same."
        )
    for line in comparison(exercise, work, shutil.get_terminal_size().columns):
        say(line)
    say_next(work.command("exercises"))
    return 0


SOLUTION = Verb(
    summary="shows our solution next to yours, once yours is right",
    usage=["solution EXERCISE [--give-up] [--work FOLDER]"],
    description="""\
Shows the course's solution of an exercise next to your own: side by side in a wide terminal, else one
after the other with + and -. Yours has to be right first, unless you give up.""",
    examples=[
        ("./lab solution 04.2", "after ./lab check 04.2 was right"),
        ("./lab solution 04.2 --give-up", "without having solved it"),
    ],
    exit_codes=[
        (0, "the solution was shown"),
        (1, "the exercise is not solved yet"),
        WRONG_USE_MEANING,
    ],
    add_options=add_solution_options,
    act=solution,
)

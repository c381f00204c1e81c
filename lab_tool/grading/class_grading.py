# SPDX-License-Identifier: MIT
"""What `./lab grade` does: judges what a class has handed in, and writes marks and feedback."""

import json
import os
import pathlib
from typing import NamedTuple

from engine.command.build_folder import settings_of
from engine.command.errors import WRONG_USE, CommandError, hint, listed
from engine.command.output import counted, remark, say, say_fitted, say_next
from engine.command.output_files import write_whole
from engine.command.paths import shown
from grader.exercises.catalogue import SPEED, all_exercises, chosen_exercises, with_speed
from grader.exercises.solutions import has_solution
from grader.judging.submission import INTERNAL
from grader.reports.marks import (
    FEEDBACK,
    conditions_of,
    marks_of,
    read_marks,
    write_csv,
    write_junit,
    write_marks,
)
from grader.reports.pages import (
    PAGES,
    remove_page,
    write_feedback,
    write_leaderboard,
    write_summary,
)
from grader.sandbox.sandbox import NONE, place_open_to_all, strongest_sandbox
from grader.submissions.grading_run import Tools, judge_here
from grader.submissions.roster import read_roster, time_of
from grader.submissions.run_folder import opened_run
from grader.submissions.submissions import submissions_of
from lab_tool.builds.backends import require_gpu
from lab_tool.builds.program_builds import exercise_builds
from lab_tool.paths import ROOT

EXECUTORS = ("local", "slurm")
TIMINGS = "timings.json"
# What the rows of one table have in common, in the words of a sentence.
SAME_IN_A_TABLE = {"sandbox": "another sandbox", "exercises": "other exercises or other points"}


def grade(arguments):
    """Returns lab's exit code."""
    exercises = with_points_for_speed(arguments, chosen_exercises(arguments.exercises))
    if arguments.executor not in EXECUTORS:
        raise CommandError(
            f"--executor {arguments.executor}: there are local and slurm.", WRONG_USE
        )
    due = due_time(arguments.due)
    roster = read_roster(arguments.roster) if arguments.roster else None
    place = pathlib.Path(arguments.submissions)
    if not place.exists():
        raise CommandError(f"there is no folder and no zip {place}.", WRONG_USE)
    output = pathlib.Path(arguments.output)
    if place.resolve() in (output.resolve(), *output.resolve().parents):
        raise CommandError(
            f"--output {output} is in {place}, where it would be taken for a student's folder; "
            "choose one outside.",
            WRONG_USE,
        )
    if arguments.roster and output.resolve() in pathlib.Path(arguments.roster).resolve().parents:
        raise CommandError(
            f"--roster {arguments.roster} is in --output {output}, where the reports are written; keep it "
            "outside.",
            WRONG_USE,
        )
    require_closed_places(arguments)
    earlier = earlier_run(output, arguments.student) if arguments.student else None
    sandbox = strongest_sandbox(arguments.require_sandbox)
    if sandbox.kind == NONE:
        remark(
            "There is no sandbox here: what students wrote can read your files. "
            "docs/grading-security.md says what to do; --require-sandbox refuses this."
        )
    if arguments.executor == "local":  # else the nodes have the GPUs
        require_gpu(arguments)
    submissions = submissions_of(place, exercises, roster, due, sandbox)
    if not submissions.students:
        why = f" {submissions.problems[0]}" if submissions.problems else ""
        raise CommandError(f"{place}: no student's file is in it.{why}", WRONG_USE)
    if earlier:
        submissions = only_student(arguments, submissions, earlier.marks)
        now = marks_of(submissions._replace(students=[]), {}, {}, exercises, sandbox.kind)
        require_same_table(earlier.marks, now, output)
    run = opened_run(output, arguments.seed)
    builds = exercise_builds(arguments, exercises)
    if arguments.nvcc and not builds.nvcc and not builds.gpu:
        raise CommandError("--nvcc: no nvcc of CUDA 12.0 or newer is on PATH.", WRONG_USE)
    if not arguments.nvcc:
        builds = builds._replace(nvcc=None)
    if not builds.cpu.can_observe:
        raise CommandError(
            "grading takes the race checker, and this build folder has none.", WRONG_USE
        )
    run.conditions = (sandbox.kind, *builds.compilers)
    if sandbox.kind != NONE:
        remark(f"Sandbox: {sandbox.kind}.")
    units = {
        (student.name, number): run.take(handed.exercise, handed.content)
        for student in submissions.students
        for number, handed in student.files.items()
    }
    distinct = list({unit.name: unit for unit in units.values()}.values())
    for unit in distinct if earlier else ():
        run.forget(unit)
    failed = execute(arguments, Tools(sandbox, builds), run, distinct)
    judged = {unit.name: run.judgement_of(unit) for unit in distinct}
    judgements = {name: kept[0] if kept else failed[name] for name, kept in judged.items()}
    seconds = {name: kept[1] for name, kept in judged.items() if kept}
    before = earlier and earlier.marks
    marks = marks_of(submissions, units, judgements, exercises, sandbox.kind, before)
    for row in marks["students"]:
        if roster and row["student"] in roster.aliases:
            row["alias"] = roster.aliases[row["student"]]
    write_reports(marks, submissions, units, judgements, seconds, run.folder, earlier)
    leaderboard = run.folder / "leaderboard.html"
    if any(SPEED in exercise.points for exercise in exercises):
        write_leaderboard(marks, leaderboard)
        remark("leaderboard.html lists the fastest; it is a page that you can publish.")
    else:
        remove_page(leaderboard)
    if earlier:
        return tell_of_one(marks, earlier, run.folder)
    return tell(marks, distinct, run.folder)


def with_points_for_speed(arguments, exercises):
    """The exercises with their points for speed, if a GPU is there to time on; else a remark says that
    none are given."""
    settings = settings_of(pathlib.Path(arguments.build)) if arguments.build else None
    backend = settings["backend"] if settings else arguments.backend
    if backend == "cuda":
        return [with_speed(exercise) for exercise in exercises]
    timed = [exercise.number for exercise in exercises if exercise.speed]
    if timed:
        remark(
            f"No points for speed are given without --backend cuda ({listed(timed)}); all others are judged "
            "as ever."
        )
    return exercises


class EarlierRun(NamedTuple):
    """What an output folder says of a run that is finished, of which one student is graded again."""

    student: str
    marks: dict
    timings: list  # rows of timings.json


def earlier_run(folder, student):
    """Raises CommandError if there is none."""
    marks = read_marks(folder)
    try:
        timings = json.loads((folder / TIMINGS).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        timings = None
    if marks is None or not isinstance(timings, list):
        raise CommandError(
            f"--student {student}: no finished run of lab grade is in --output {folder}; "
            "grade the whole class first.",
            WRONG_USE,
        )
    return EarlierRun(student, marks, timings)


def only_student(arguments, submissions, marks):
    """The Submissions of the one student who is graded again. Raises CommandError if there is none."""
    name = arguments.student
    chosen = [each for each in submissions.students if each.name == name]
    if chosen:
        return submissions._replace(students=chosen)
    listed = {row["student"] for row in marks["students"]}
    if name in listed:
        why = "" if arguments.roster else " Was the class graded with a --roster? Repeat it."
        raise CommandError(
            f"--student {name}: nothing in {arguments.submissions} is theirs.{why}", WRONG_USE
        )
    names = sorted(listed | {each.name for each in submissions.students})
    more = hint(name, names, "grades.csv lists the class.")
    raise CommandError(f"--student {name}: there is no such student; {more}", WRONG_USE)


def require_same_table(before, now, output):
    """Refuses a row that was made in another way than those next to it."""
    was, is_now = conditions_of(before), conditions_of(now)
    for key, what in SAME_IN_A_TABLE.items():
        if was.get(key) != is_now.get(key):
            raise CommandError(
                f"--student: the table in {output} was made with {what}; "
                "grade the whole class, or give the same options as then.",
                WRONG_USE,
            )


def require_closed_places(arguments):
    """Refuses secrets where every sandbox lets a submission read: a compiler is there as well."""
    places = [("SUBMISSIONS", arguments.submissions), ("--output", arguments.output)]
    if arguments.seed and os.path.exists(arguments.seed):
        places.append(("--seed", arguments.seed))
    if any(map(has_solution, all_exercises())):
        places.append(("the course", ROOT))
    for what, path in places:
        place = place_open_to_all(path)
        if place:
            raise CommandError(
                f"{what} {path} is below {place}, which every submission may read; "
                "choose another place.",
                WRONG_USE,
            )


def execute(arguments, tools, run, units):
    """Judges the Units; returns {a unit's name: Judgement} of those that the grader failed on."""
    try:
        if arguments.executor == "slurm":
            from grader.submissions.slurm import judge_on_cluster

            return judge_on_cluster(arguments, run, units, "lab_tool.grading.slurm_batch")
        return judge_here(tools, run, units, arguments.jobs)
    except KeyboardInterrupt:
        judged = sum(run.judgement_of(unit) is not None for unit in units)
        remark(
            f"{judged} of {counted(len(units), 'different submission')} "
            f"{'is' if judged == 1 else 'are'} judged; the same command goes on from there."
        )
        raise


def due_time(text):
    """In seconds since 1970; a time without a zone is this machine's, and a day lasts until its end."""
    if text is None:
        return None
    due = time_of(text)
    if due is None:
        raise CommandError(
            f"--due {text}: a time is expected, such as 2026-12-01T23:59.", WRONG_USE
        )
    return due


def write_reports(marks, submissions, units, judgements, seconds, folder, earlier=None):
    write_marks(marks, folder)
    write_csv(marks, folder / "grades.csv")
    write_junit(marks, folder / "junit.xml")
    pictures, timings, lengths = {}, {}, {}
    students = {student.name: student for student in submissions.students}
    for row in marks["students"]:
        student = students.get(row["student"])
        for result in row["exercises"] if student else ():
            unit = units.get((student.name, result["exercise"]))
            if not unit:
                continue
            if result["picture"]:
                pictures[result["picture"]] = judgements[unit.name].picture
            key = (student.name, result["exercise"])
            timings[key] = seconds.get(unit.name, 0)
            lengths[key] = student.files[result["exercise"]].content.count(b"\n")
    write_feedback(marks, pictures, folder, earlier and earlier.student)
    for row in earlier.timings if earlier else ():
        if row["student"] != earlier.student:
            key = (row["student"], row["exercise"])
            timings[key], lengths[key] = row["seconds"], row.get("lines", 0)
    write_summary(marks, timings, lengths, folder / "summary.html")
    rows = [
        {"student": key[0], "exercise": key[1], "seconds": time, "lines": lengths[key]}
        for key, time in sorted(timings.items())
    ]
    write_whole(folder / TIMINGS, json.dumps(rows, indent=1, ensure_ascii=False) + "\n")


def tell(marks, units, folder):
    """Says what has come of it; returns the exit code."""
    rows = [row for student in marks["students"] for row in student["exercises"]]
    handed = sum(row["file"] is not None for row in rows)
    say_fitted(
        f"{counted(len(marks['students']), 'student')}, {counted(handed, 'submission')}, "
        f"{len(units)} of them different; "
        f"sandbox: {marks['sandbox']}."
    )
    troubled = sum(bool(student["problems"]) for student in marks["students"])
    if troubled or marks["problems"]:
        say_fitted(
            f"Missing, late, doubled, misnamed or not graded: {counted(troubled, 'student')} and "
            f"{counted(len(marks['problems']), 'other file')}; summary.html lists them."
        )
    broken = sum(row["status"] == INTERNAL for row in rows)
    if broken:
        say(f"The grader itself failed on {counted(broken, 'submission')}: status {INTERNAL}.")
    say_next(f"open {shown(folder / 'summary.html')}")
    return 1 if broken else 0


def tell_of_one(marks, earlier, folder):
    """The same if one student was graded again."""
    (row,) = (each for each in marks["students"] if each["student"] == earlier.student)
    before = [each for each in earlier.marks["students"] if each["student"] == earlier.student]
    was = f"{before[0]['points']} before" if before else "not in the table before"
    of = sum(each["of"] for each in row["exercises"])
    others = counted(len(marks["students"]) - 1, "other student")
    say(f"{earlier.student}: {row['points']} of {of} points, {was}; {others} as before.")
    broken = sum(each["status"] == INTERNAL for each in row["exercises"])
    if broken:
        say(f"The grader itself failed on {counted(broken, 'submission')}: status {INTERNAL}.")
    say_next(f"open {shown(folder / FEEDBACK / row['folder'] / PAGES[1])}")
    return 1 if broken else 0

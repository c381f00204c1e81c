# SPDX-License-Identifier: MIT
"""The marks of a class: the one neutral form, results.json, that everything else is made from.

docs/grading.md describes it, and grades_schema.json beside this file is its schema.
"""

import json
import re

from engine.command.output_files import write_whole

SCHEMA = "inter_block_communication/grades/1"
MISSING = "missing"
FEEDBACK = "feedback"  # the folder
RESULTS = "results.json"


def marks_of(submissions, units, judgements, exercises, sandbox, before=None):
    """The marks; `units` is {(student, number): Unit}, `judgements` {a unit's name: Judgement}.

    `before` are earlier marks of the same class: the rows of all others in them stay as they are.
    """
    graded = {student.name for student in submissions.students}
    earlier = before["students"] if before else []
    folders = folders_of(
        [student.name for student in submissions.students],
        {row["student"]: row["folder"] for row in earlier},
    )
    rows = [row for row in earlier if row["student"] not in graded]
    rows += [
        _of_student(student, units, judgements, exercises, folders[student.name])
        for student in submissions.students
    ]
    return {
        "schema": SCHEMA,
        "sandbox": sandbox,
        "problems": before["problems"] if before else submissions.problems,
        "exercises": [
            {"number": each.number, "name": each.name, "points": each.points} for each in exercises
        ],
        "students": sorted(rows, key=lambda row: row["student"]),
    }


def conditions_of(marks):
    """All but the rows: what two marks must have in common if their rows are to stand in one table."""
    return {key: value for key, value in marks.items() if key not in ("problems", "students")}


def _of_student(student, units, judgements, exercises, folder):
    rows = []
    for exercise in exercises:
        unit = units.get((student.name, exercise.number))
        handed = student.files.get(exercise.number)
        judgement = judgements[unit.name] if unit else None
        rows.append(_of_exercise(exercise, handed, judgement, folder))
    return {
        "student": student.name,
        "folder": folder,
        "late": student.is_late,
        "problems": student.problems,
        "points": sum(row["points"] for row in rows),
        "exercises": rows,
    }


def _of_exercise(exercise, handed, judgement, folder):
    row = {
        "exercise": exercise.number,
        "file": handed.name if handed else None,
        "status": judgement.status if judgement else MISSING,
        "points": judgement.points if judgement else 0,
        "of": sum(exercise.points.values()),
        "parts": judgement.parts if judgement else [],
        "diagnoses": judgement.diagnoses if judgement else [],
        "picture": None,
    }
    if judgement and judgement.is_refused:
        row["refused"] = True
    if judgement and judgement.picture:
        row["picture"] = f"{FEEDBACK}/{folder}/{exercise.file_name[:-3]}.svg"
    return row


def folders_of(names, known=None):
    """{a student: the name of their folder}, for any file system, and none twice; those of `known` stay."""
    found = dict(known or {})
    taken = {folder.lower() for folder in found.values()}
    for name in names:
        if name in found:
            continue
        plain = re.sub(r"[^\w.-]+", "_", name).strip("._") or "student"
        folder, number = plain[:80], 1
        while folder.lower() in taken:
            number += 1
            folder = f"{plain[:80]}_{number}"
        taken.add(folder.lower())
        found[name] = folder
    return found


def write_marks(marks, folder):
    write_whole(folder / RESULTS, json.dumps(marks, indent=1, ensure_ascii=False) + "\n")


def read_marks(folder):
    """The marks that write_marks() has written there; None if they can't be read."""
    try:
        marks = json.loads((folder / RESULTS).read_text(encoding="utf-8"))
        return marks if marks["schema"] == SCHEMA else None
    except (OSError, ValueError, KeyError, TypeError):
        return None

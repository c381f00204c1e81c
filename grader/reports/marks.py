# SPDX-License-Identifier: MIT
"""The marks of a class: the one neutral form, results.json, that everything else is made from; and those
marks as a spreadsheet reads them, and as a continuous-integration server does.

docs/grading.md describes the form, and grades_schema.json beside this file is its schema.
"""

import csv
import io
import json
import re
import xml.etree.ElementTree as ElementTree

from engine.command.output_files import write_whole
from grader.judging.submission import INTERNAL

SCHEMA = "inter_block_communication/grades/1"
MISSING = "missing"
FEEDBACK = "feedback"  # the folder
RESULTS = "results.json"
# What a spreadsheet would take for a formula.
FORMULA = re.compile(r"[=+\-@\t\r]")
NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


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


def write_csv(marks, file):
    """One row per student; one column per exercise, and one for each part of it."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\r\n")
    parts = [(each["number"], part) for each in marks["exercises"] for part in each["points"]]
    heads = []
    for each in marks["exercises"]:
        heads += [f"{each['number']} status", each["number"]]
        heads += [f"{each['number']} {part}" for part in each["points"]]
    rows.writerow(["student", "points", "late", *heads, "problems"])
    for student in marks["students"]:
        late = "late" if student["late"] else ""
        cells = [_cell(student["student"]), student["points"], late]
        for exercise, row in zip(marks["exercises"], student["exercises"]):
            points = {part["part"]: part["points"] for part in row["parts"]}
            cells += [row["status"], row["points"]]
            cells += [points.get(part, 0) for number, part in parts if number == exercise["number"]]
        rows.writerow([*cells, _cell(" ".join(student["problems"]))])
    write_whole(file, "\ufeff" + text.getvalue())


def _cell(text):
    return f"'{text}" if FORMULA.match(text) else text


def write_junit(marks, file):
    """One test per case and per other part; its class is the student and the exercise."""
    top = ElementTree.Element("testsuites", name="grades")
    for student in marks["students"]:
        suite = ElementTree.SubElement(top, "testsuite", name=_xml(student["student"]))
        for exercise, row in zip(marks["exercises"], student["exercises"]):
            of = f"{student['folder']}.{exercise['number']} {exercise['name']}"
            if not row["parts"]:
                _test(suite, of, "handed in", ["Nothing was handed in."])
            elif row["status"] == INTERNAL:
                _test(suite, of, "graded", row["parts"][0]["lines"], "error")
            for part in row["parts"]:
                for case in part["cases"]:
                    lines = case["lines"] or part["lines"]
                    _test(
                        suite,
                        of,
                        f"{part['part']}: {case['name']}",
                        [] if case["passed"] else lines,
                    )
                if not part["cases"] and row["status"] != INTERNAL:
                    failed = part["points"] < part["of"]
                    _test(
                        suite,
                        of,
                        part["part"],
                        (part["lines"] or ["Not judged."]) if failed else [],
                    )
        tests = suite.findall("testcase")
        suite.set("tests", str(len(tests)))
        suite.set("failures", str(len(suite.findall("testcase/failure"))))
        suite.set("errors", str(len(suite.findall("testcase/error"))))
    ElementTree.indent(top)
    write_whole(
        file,
        '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(top, "unicode") + "\n",
    )


def _test(suite, of, name, lines, kind="failure"):
    test = ElementTree.SubElement(suite, "testcase", classname=_xml(of), name=_xml(name))
    if lines:
        # GitLab shows the text and not the attribute, others the attribute: so both.
        found = ElementTree.SubElement(test, kind, message=_xml(lines[0]))
        found.text = _xml("\n".join(lines))


def _xml(text):
    return NOT_XML.sub("?", text)

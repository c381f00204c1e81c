# SPDX-License-Identifier: MIT
"""The marks as a spreadsheet reads them, and as a continuous-integration server does."""

import csv
import io
import re
import xml.etree.ElementTree as ElementTree

from engine.command.output_files import write_whole
from grader.judging.submission import INTERNAL

# What a spreadsheet would take for a formula.
FORMULA = re.compile(r"[=+\-@\t\r]")
NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


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

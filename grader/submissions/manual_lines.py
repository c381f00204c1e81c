# SPDX-License-Identifier: MIT
"""Lines of the rubric that are given by hand: OUTPUT/manual.csv, which a run reads and never writes.

student;04.2 explanation of 3;04.2 explanation comment
Jane Doe;2;You name the barrier, but not the release.
"""

import os
import re
from typing import NamedTuple

from engine.command.errors import WRONG_USE, CommandError
from engine.command.names import hint
from engine.command.paths import shown
from grader.exercises.catalogue import PARTS
from grader.submissions.roster import csv_rows, same_word

FILE = "manual.csv"
TITLE = re.compile(
    r"(?P<number>\d\d\.\d+) (?P<line>.*\S) (?:of (?P<of>[1-9]\d{0,3})|(?P<comment>comment))"
)
POINTS = re.compile(r"\d{1,4}")
# Of other columns in grades.csv.
TAKEN = {*PARTS, "status", "before penalty"}
NOT_MARKED = "Not marked yet."
EXAMPLE = "'04.2 explanation of 3' and '04.2 explanation comment'"


class ManualLines(NamedTuple):
    """What the instructor has given."""

    name: str  # of the file, in a sentence
    most_points: dict  # {an exercise's number: {a line's name: the most points of it}}
    given: (
        dict  # {a student, as _key() writes the name: {(number, line): (points or None, comment)}}
    )
    names: list  # of these students, as they stand in the file

    def lines_of(self, number, student):
        """The lines of one exercise for one student, in the form of a judgement's parts."""
        given = self.given.get(_key(student), {})
        rows = []
        for line, most in self.most_points.get(number, {}).items():
            points, comment = given.get((number, line), (None, ""))
            lines = [*([NOT_MARKED] if points is None else []), *comment.splitlines()]
            rows.append(
                {"part": line, "points": points or 0, "of": most, "lines": lines, "cases": []}
            )
        return rows

    def require_students(self, students):
        """Raises CommandError if somebody in the file is none of these."""
        known = set(map(_key, students))
        for name in self.names:
            if _key(name) not in known:
                more = hint(name, students, "grades.csv lists the class.")
                raise CommandError(f"{self.name}: there is no student {name}; {more}", WRONG_USE)


def read_manual_lines(folder, exercises):
    """The ManualLines in the run's folder, which may have none. Raises CommandError, one sentence."""
    path = folder / FILE
    name = shown(path)
    if not os.path.lexists(path):
        return ManualLines(name, {}, {}, [])
    titles, *rows = csv_rows(path, name)
    titles = [" ".join(title.split()) for title in titles]
    if titles[0].lower() != "student":
        raise CommandError(f"{name}: the first column must be `student`.", WRONG_USE)
    columns, most_points = [], {}
    for title in titles[1:]:
        column = TITLE.fullmatch(title)
        _require_column(name, title, column, columns, exercises)
        columns.append((column["number"], column["line"], bool(column["comment"])))
        if column["of"]:
            most_points.setdefault(column["number"], {})[column["line"]] = int(column["of"])
    for number, line, _ in columns:
        if line not in most_points.get(number, {}):
            raise CommandError(
                f"{name}: there is a comment on {number} {line}, and no column with its points.",
                WRONG_USE,
            )
    given, names = {}, []
    for student, *cells in rows:
        student = " ".join(student.split())
        if not student or _key(student) in given:
            what = f"{student} is there twice" if student else "a line has no name"
            raise CommandError(f"{name}: {what}.", WRONG_USE)
        if any(cell.strip() for cell in cells[len(columns) :]):
            raise CommandError(
                f"{name}: {student} has more cells than there are titles.", WRONG_USE
            )
        names.append(student)
        given[_key(student)] = _given(name, student, dict(zip(columns, cells)), most_points)
    return ManualLines(name, most_points, given, names)


def _require_column(name, title, column, columns, exercises):
    if not column:
        raise CommandError(
            f"{name}: the column {title or 'without a title'} is none that there is; "
            f"a line has columns such as {EXAMPLE}.",
            WRONG_USE,
        )
    number, line = column["number"], column["line"]
    if number not in [each.number for each in exercises]:
        raise CommandError(f"{name}: {title} is of an exercise that is not graded.", WRONG_USE)
    if line.lower() in TAKEN:
        raise CommandError(f"{name}: {title}: {line} is given by the grader.", WRONG_USE)
    if (number, line, bool(column["comment"])) in columns:
        raise CommandError(f"{name}: the column {title} is there twice.", WRONG_USE)


def _given(name, student, cells, most_points):
    """{(number, line): (points or None, comment)} of one student."""
    found = {}
    for number, line, is_comment in cells:
        if is_comment:
            continue
        text = cells[number, line, is_comment].strip()
        comment = cells.get((number, line, True), "").strip()
        most = most_points[number][line]
        if text and not (POINTS.fullmatch(text) and int(text) <= most):
            raise CommandError(
                f"{name}: {student} has {text} for {number} {line}, and a whole number from 0 to {most} "
                "is expected.",
                WRONG_USE,
            )
        found[number, line] = (int(text) if text else None, comment)
    return found


def _key(name):
    """One spelling of a name, also as grades.csv writes it: with a ' in front if it could be a formula."""
    return same_word(name).removeprefix("'")

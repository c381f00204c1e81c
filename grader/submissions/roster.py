# SPDX-License-Identifier: MIT
"""A class's list, out of a CSV file, and which of its students each owner of a submission is."""

import collections
import csv
import datetime
import io
import pathlib
import re
import unicodedata
from typing import NamedTuple

from engine.command.errors import WRONG_USE, CommandError

SEPARATORS = (
    ";\t,"  # of two that are as frequent the first, since a title may well have a comma in it
)


HANDED_IN = "submitted at"  # the title of a column
OF_CANVAS = "points possible"  # instead of a name in the last line before the first student
ALIAS = "alias"  # the same: under this name a student stands on the leaderboard


class Roster(NamedTuple):
    """A class's list: who is in it, and by which numbers and folders they are known."""

    students: list
    known: dict  # {any cell of a student's row, as `same_word` writes it: {the students whose row has it}}
    times: dict  # {a student: when the platform received what they have handed in, since 1970}
    aliases: dict  # {a student: their name on the leaderboard}

    def students_with(self, word):
        """The students whose row has this word."""
        return self.known.get(same_word(word), set())


class Identity(NamedTuple):
    """Under which name an owner's files are listed."""

    name: str
    problem: str  # why it is none of the roster's; "" if there is nothing to say


def same_word(text):
    """One spelling for what people take for the same word."""
    return unicodedata.normalize("NFC", " ".join(text.split()).casefold())


def read_roster(path):
    """The Roster in a CSV file: its column `student`, or else its first one, has the names."""
    rows = _rows_of(path)
    titles = [cell.strip().lower() for cell in rows[0]]
    column = titles.index("student") if "student" in titles else 0
    when = titles.index(HANDED_IN) if HANDED_IN in titles else None
    alias = titles.index(ALIAS) if ALIAS in titles else None
    students, known, times, aliases = {}, collections.defaultdict(set), {}, {}
    names = [same_word(row[column]) if column < len(row) else "" for row in rows]
    first = names.index(OF_CANVAS) + 1 if OF_CANVAS in names else 1
    for row in rows[first:]:
        name = unicodedata.normalize("NFC", row[column].strip()) if column < len(row) else ""
        if not name or same_word(name) in students:
            what = f"{name} is there twice" if name else "a line has no name"
            raise CommandError(f"--roster {path}: {what}.", WRONG_USE)
        students[same_word(name)] = name
        for place, cell in enumerate(row):
            if not cell.strip():
                continue
            if place == alias:
                aliases[name] = cell.strip()
                continue
            if place != when:
                known[same_word(cell)].add(name)
                continue
            times[name] = time_of(cell.strip())
            if times[name] is None:
                raise CommandError(
                    f"--roster {path}: {name} has {cell.strip()} as the time in the column "
                    f"`{HANDED_IN}`, and a time such as 2026-12-01 23:59 is expected.",
                    WRONG_USE,
                )
    return Roster(list(students.values()), dict(known), times, aliases)


def time_of(text):
    """In seconds since 1970; None if it is no time. A time without a zone is one of this machine's; a day
    lasts until its end."""
    try:
        try:
            day = datetime.date.fromisoformat(text)
            time = datetime.datetime.combine(day, datetime.time.max)
        except ValueError:  # it is a day and a time
            time = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
        return time.timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def _rows_of(path):
    """The lines of a CSV file with a line of titles: lists of cells. Raises CommandError."""
    text = _text_of(path)
    try:
        table = csv.reader(io.StringIO(text, newline=""), delimiter=_separator(text))
        rows = [row for row in table if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise CommandError(f"--roster {path} can't be read as CSV: {error}.", WRONG_USE) from error
    if len(rows) < 2:
        raise CommandError(
            f"--roster {path}: a line of titles and one line per student.", WRONG_USE
        )
    return rows


def _text_of(path):
    try:
        content = pathlib.Path(path).read_bytes()
    except OSError as error:
        raise CommandError(
            f"--roster {path} can't be read: {error.strerror}.", WRONG_USE
        ) from error
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:  # as in UTF-16
        raise CommandError(f"--roster {path} is not in UTF-8: save it as UTF-8.", WRONG_USE)
    return text


def _separator(text):
    """What parts the titles; in many countries spreadsheets write semicolons."""
    titles = re.sub(r'"[^"]*"', "", next(filter(str.strip, text.splitlines()), ""))
    most = max(SEPARATORS, key=titles.count)
    return most if most in titles else ","


def identities(owners, roster):
    """{Owner: Identity}; `owners` is {Owner: Words}, the other ways to read its name.

    Owners who may be two people never get one name, and an owner who may be several students of the
    roster gets none of theirs.
    """
    students, problems = {}, {}
    if roster:
        for owner, words in owners.items():
            students[owner], problems[owner] = _student_of(owner, words, roster)
        _part_namesakes(students, problems, roster)
    taken = set(roster.students) if roster else set()
    found = {}
    names = collections.Counter(owner.name for owner in owners if not students.get(owner))
    for owner in sorted(owners):
        if students.get(owner):
            found[owner] = Identity(students[owner], "")
            continue
        is_shared = names[owner.name] > 1 or owner.name in taken
        name = f"{owner.name} ({owner.number or 'no number'})" if is_shared else owner.name
        while name in taken:
            name += "'"
        taken.add(name)
        found[owner] = Identity(name, problems.get(owner, ""))
    return found


def _student_of(owner, words, roster):
    """(the one student of the roster that the owner can be, ""); or (None, why there is none)."""
    by_name = set().union(*map(roster.students_with, [owner.name, *words.names]))
    by_number = roster.students_with(owner.number) if owner.number else set()
    if owner.is_counted and len(by_name) < 2:
        by_number = (
            set()
        )  # the platform has counted, and has met another student's number by chance
    by_others = set().union(*map(roster.students_with, words.numbers))
    fitting = by_name & by_number if by_name and by_number else by_name | by_number
    if len(fitting) == 1 and by_others <= fitting:
        return next(iter(fitting)), ""
    if not by_name | by_number:
        return None, "Not in the roster."
    rows = " and of ".join(sorted(by_name | by_number | by_others))
    return (
        None,
        f"The roster has this name or number in the rows of {rows}: whose it is can't be told.",
    )


def _part_namesakes(students, problems, roster):
    """Takes the student from owners of the same name and different numbers, unless it is by the number."""
    groups = collections.defaultdict(list)
    for owner, student in students.items():
        if student:
            groups[student, same_word(owner.name)].append(owner)
    for (student, _), group in groups.items():
        if len({owner.number for owner in group if owner.number}) < 2:
            continue
        for owner in group:
            if student not in roster.students_with(owner.number):
                students[owner] = None
                problems[owner] = (
                    f"The roster has one {student}, and there are several of that name with "
                    "different numbers: whose it is can't be told."
                )

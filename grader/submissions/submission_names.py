# SPDX-License-Identifier: MIT
"""What names say: which folders are students', whose a file is, and which exercise it is meant for.

grader/tests/grading/submission_names_test.py has a table of examples. What can be read in two ways is read in
the one that gives no student another's file.
"""

import collections
import functools
import re
from typing import NamedTuple

from grader.exercises.catalogue import all_exercises

EXACT, MISNAMED, RESEMBLING = "exact", "misnamed", "resembling"

# Moodle: of a folder with the student's files, or in front of a file's name.
MOODLE = re.compile(r"(?P<name>.+?)_(?P<number>\d+)_assignsubmission_[a-z]+_?(?P<file>.*)$")
# Blackboard, in front of a file's name: the task's name and the student's, which may both have a _ in them.
BLACKBOARD = re.compile(r"(?P<name>.+?)_attempt_\d{4}(?:-\d\d){5}_(?P<file>.+)$")
# Canvas, in front of a file's name: a student's name and number, and that of the submission. Whatever comes
# after the first of these is the name that the student has given the file, whatever that looks like.
IN_FRONT = re.compile(
    r"(?P<name>.+?)(?P<late>_LATE)?_(?=\d+_\d+(?:_|$)|\d{3,}(?:_|$)|\d+$)"  # `_7_` is part of a name
    r"(?P<number>\d+)(?:_(?P<submission>\d+))?(?:_(?P<file>.+))?$"
)
OF_A_CHAPTER = re.compile(r"(?P<front>.+?)_(?P<file>\d\d?_.+)$")
SHORTEST_NUMBER = 3  # digits in front of an unknown file; a chapter's number has two
LATE = "_LATE"
MOST_PARTS = 10  # between the _ of a student's name on Blackboard
# How platforms and programs name what is handed in or saved once more, and what some append.
AGAIN = r"(?: ?\(\d+\)|-\d+|_\d+)?"
APPENDED = r"(?:\.txt|\.cpp)?"
STUDENTS_FILE = re.compile(rf"(?P<stem>.+?){AGAIN}\.cu{APPENDED}$")

HIDDEN = re.compile(r"\.")
BUILT = re.compile(r"build([-_.].*)?$|cmake-build-.*$|CMakeFiles$", re.IGNORECASE)
# Folders and files of a copy of the course, as `lab export` makes it; `work` is the student's.
OF_THE_COURSE = set(
    """chapters common docs engine grader lab_tool tests Dockerfile LICENSE README.md lab meson.build
    meson.options pyproject.toml""".split()
)
NO_STUDENT = set("chapters common docs engine grader lab_tool source src tests work".split())


class Owner(NamedTuple):
    """Who has handed something in, as its name says."""

    name: str
    number: str = ""
    is_counted: bool = False  # the number is the platform's own, and no student's


class Words(NamedTuple):
    """Other ways to read an owner's name."""

    names: frozenset = frozenset()
    numbers: frozenset = frozenset()  # one of them may be the owner's; or that of a submission

    def joined(self, other):
        return Words(self.names | other.names, self.numbers | other.numbers)


class Label(NamedTuple):
    """What the name of a file or a folder says."""

    owner: Owner
    file: str  # the name that the student has given it; "" for a folder
    is_late: bool = False  # the platform says so
    words: Words = Words()


def label_of_folder(name):
    """The Label of a student's folder."""
    match = MOODLE.match(name)
    if match and not match["file"]:
        return Label(Owner(match["name"], match["number"], True), "")
    return Label(Owner(name), "")


def label_of_file(name):
    """The Label of a file that lies in no student's folder; None if it does not say whose it is."""
    if name.startswith("."):
        return None
    match = MOODLE.match(name)
    if match and match["file"]:
        return Label(Owner(match["name"], match["number"], True), match["file"])
    match = BLACKBOARD.match(name)
    if match:
        return Label(Owner(match["name"]), match["file"], words=Words(_endings(match["name"])))
    match = _at_the_end().match(name)
    if match:
        return _label(match["front"], match["file"])
    if _begins_with_an_exercise(name):
        return None
    match = IN_FRONT.match(name)
    if match and match["file"]:
        front, file = name[: match.start("file") - 1], match["file"]
        head, _, number = front.rpartition("_")
        if len(number) < SHORTEST_NUMBER and not file[0].isdigit():
            front, file = head, f"{number}_{file}"  # it is likely the chapter's
        return _label(front, file)
    match = OF_A_CHAPTER.match(name)
    return _label(match["front"], match["file"]) if match else None


def _label(front, file):
    """Of what comes before the exercise's file, or before one that is none."""
    match = IN_FRONT.match(front)
    if not match:
        return Label(Owner(front.removesuffix(LATE)), file, front.endswith(LATE))
    name, number, submission = match["name"], match["number"], match["submission"]
    # `ann_2_777` may be the number 2 of `ann`, the number 777 of `ann_2`, or all of it a name.
    names = [f"{name}_{number}", f"{name}_{number}_{submission}"][: 2 if submission else 1]
    words = Words(frozenset(names), frozenset([submission] if submission else []))
    uploaded = f"{match['file']}_{file}" if match["file"] else file
    return Label(Owner(name, number), uploaded, bool(match["late"]), words)


def _endings(name):
    """What comes after each _ in the name."""
    parts = name.split("_")[-MOST_PARTS:]
    return frozenset("_".join(parts[place:]) for place in range(1, len(parts)))


def exercise_of(name, exercises):
    """(the exercise of these that the file is meant for, how it is meant); (None, None) for none.

    EXACT: it has the name, or the one that a platform makes of it. MISNAMED: it has another one.
    RESEMBLING: it has the exercise's name in its own, and is no CUDA file: it is not graded.
    """
    plain = name.lower()
    is_hidden = plain.startswith(".")
    if plain.startswith("._"):  # macOS keeps something of its own in these
        return None, None
    match = STUDENTS_FILE.match(plain)
    if match and not is_hidden:
        for exercise in exercises:
            if f"{match['stem']}.cu" == exercise.file_name:
                return exercise, EXACT
    # The longest name counts: in "fetched twice" there is "fetch" as well.
    loose = _loose(plain)
    meant = max((each for each in _names() if each in loose), key=len, default=None)
    exercise = next((each for each in exercises if each.name == _names().get(meant)), None)
    if exercise is None:
        return None, None
    return exercise, MISNAMED if match and not is_hidden else RESEMBLING


@functools.lru_cache(None)
def _names():
    """{an exercise's name without anything between its words: the name}."""
    return {_loose(exercise.name): exercise.name for exercise in all_exercises()}


@functools.lru_cache(None)
def _at_the_end():
    """Matches a name that ends in an exercise's file."""
    names = "|".join(sorted(map(re.escape, _names().values()), key=len, reverse=True))
    file = rf"\d\d_(?:{names}){AGAIN}\.cu{APPENDED}"
    return re.compile(rf"(?P<front>.+?)_(?P<file>{file})$", re.IGNORECASE)


def _begins_with_an_exercise(name):
    return any(
        re.match(rf"\d\d_{re.escape(each)}(_|\b)", name.lower()) for each in _names().values()
    )


def _loose(name):
    return re.sub(r"[^a-z0-9]", "", name.lower())


def without_common_folder(found, exercises, roster):
    """(what was found without a folder around all students; a sentence if that was a guess, or "")."""
    firsts = {each.path.split("/")[0] for each in found if "/" in each.path}
    firsts = {name for name in firsts if not HIDDEN.match(name)}
    outside = [each.path for each in found if "/" not in each.path]
    if len(firsts) != 1 or any(label_of_file(name) for name in outside):
        return found, ""
    around = f"{firsts.pop()}/"
    inner = [each.path[len(around) :] for each in found if each.path.startswith(around)]
    folders = {path.split("/")[0] for path in inner if "/" in path}
    files = {path for path in inner if path and "/" not in path}
    is_around, is_a_guess = _is_around(around[:-1], folders, files, exercises, roster)
    if not is_around:
        return found, ""
    rest = [
        each._replace(path=each.path[len(around) :]) if each.path.startswith(around) else each
        for each in found
        if each.path != around
    ]
    sentence = f"{around} is taken as a folder around all students, and not as one student's."
    return rest, sentence if is_a_guess else ""


def _is_around(folder, folders, files, exercises, roster):
    """(whether the folder is around all students', which these are in; whether that is a guess)."""
    owners = [label_of_folder(name).owner for name in folders]
    labels = {name: label_of_file(name) for name in files}
    if roster and roster.students_with(folder):
        return False, False
    if roster and any(roster.students_with(each.name) for each in owners):
        return True, False
    meant = [name for name in files if exercise_of(name, exercises)[0]]
    if not all(labels[name] for name in meant):
        return False, False
    if meant or any(each.number for each in owners):
        return True, False
    if any(_is_no_student(name) or exercise_of(name, exercises)[0] for name in folders):
        return False, False
    return len(folders) > 1, True


def _is_no_student(name):
    return bool(HIDDEN.match(name) or BUILT.match(name)) or name.lower() in NO_STUDENT


def without_ignored(found):
    """(what is to be looked at, the paths of the folders that are not looked into)."""
    kept, ignored = [], set()
    for each in found:
        parts = each.path.split("/")
        for depth, part in enumerate(parts[:-1]):
            # A student's own folder may begin with `build`.
            if HIDDEN.match(part) or (depth and BUILT.match(part)):
                ignored.add("/".join(parts[: depth + 1]) + "/")
                break
        else:
            kept.append(each)
    return kept, sorted(ignored)


class CourseCopies:
    """The copies of the course in what was handed in: in those only the folder `work` is a student's."""

    def __init__(self, found):
        self.of_student = collections.defaultdict(set)
        for each in found:
            parts = each.path.split("/")
            if "lab_tool" in parts[1:-1]:
                place = parts.index("lab_tool", 1)
                self.of_student[parts[0]].add("/".join(parts[:place]) + "/")

    def has(self, path):
        """Whether the file or folder came with the course."""
        return any(
            path.startswith(copy) and path[len(copy) :].split("/")[0] in OF_THE_COURSE
            for copy in self.of_student.get(path.split("/")[0], ())
        )

# SPDX-License-Identifier: MIT
"""Which folders are students', and what in them nobody has to look at."""

import collections
import re

from grader.submissions.submission_names import exercise_of, label_of_file, label_of_folder

HIDDEN = re.compile(r"\.")
BUILT = re.compile(r"build([-_.].*)?$|cmake-build-.*$|CMakeFiles$", re.IGNORECASE)
# Folders and files of a copy of the course, as `lab export` makes it; `work` is the student's.
OF_THE_COURSE = {
    *("chapters", "common", "docs", "engine", "grader", "lab_tool", "tests"),
    *(
        "Dockerfile",
        "LICENSE",
        "README.md",
        "lab",
        "meson.build",
        "meson.options",
        "pyproject.toml",
    ),
}
NO_STUDENT = {
    *(
        "chapters",
        "common",
        "docs",
        "engine",
        "grader",
        "lab_tool",
        "source",
        "src",
        "tests",
        "work",
    )
}


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

# SPDX-License-Identifier: MIT
"""Who has handed in what: out of folders, of files with names in them, or of a zip of either.

Nothing is dropped without a word: what is missing, late, doubled, misnamed, unreadable or not graded
becomes a sentence in the student's `problems`, or in `problems` of the whole.
"""

import collections
import dataclasses
import re
from time import localtime, strftime
from typing import NamedTuple

from grader.judging.runner import Limits
from grader.sandbox.sandbox import NONE
from grader.sandbox.sandboxed_run import Access
from grader.submissions.handed_files import files_of_folder, files_of_zip
from grader.submissions.roster import identities
from grader.submissions.submission_names import (
    EXACT,
    MISNAMED,
    RESEMBLING,
    CourseCopies,
    Words,
    exercise_of,
    label_of_file,
    label_of_folder,
    without_common_folder,
    without_ignored,
)

GIT_LIMITS = Limits(seconds=20)
GIT_VARIABLES = {
    "GIT_CONFIG_NOSYSTEM": "1",  # Landlock closes /etc, and Git gives up if its file there can't be read
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "safe.directory",
    "GIT_CONFIG_VALUE_0": "*",
}
# Git runs in the sandbox: a repository's own settings can name programs for it to start.
# Some students have signatures shown, which stand before the time.
GIT_SETTINGS = ("-c", "log.showSignature=false")
ARCHIVE = re.compile(r".*\.(zip|tar|tgz|gz|bz2|xz|7z|rar)$", re.IGNORECASE)
MOST_NAMES = 10  # in one sentence
REASONS = ("the one with the right name", "the one in work", "the newest", "the last by its name")


class Handed(NamedTuple):
    """One file that a student has handed in. Of several, the largest by these fields is graded."""

    is_exact: bool  # it has the name that it should have
    is_in_work: bool  # it is in the folder in which `lab` has put it
    time: float  # of the commit, of the file otherwise; seconds since 1970
    name: str  # as it was handed in
    content: bytes
    exercise: object
    is_committed: bool
    is_late: bool  # the platform says so


class Student(NamedTuple):
    name: str
    files: dict  # {the exercise's number: Handed}
    problems: list
    is_late: bool


class Submissions(NamedTuple):
    students: list  # by name
    problems: list  # that belong to no student


@dataclasses.dataclass
class _Heap:
    """What one owner has handed in."""

    words: Words = dataclasses.field(default_factory=Words)
    files: dict = dataclasses.field(default_factory=lambda: collections.defaultdict(list))
    problems: list = dataclasses.field(default_factory=list)
    others: list = dataclasses.field(default_factory=list)  # paths of what is not graded
    not_entered: list = dataclasses.field(default_factory=list)  # folders
    named: list = dataclasses.field(
        default_factory=list
    )  # (a path, the Owner in its uploaded name)


def submissions_of(place, exercises, roster=None, due=None, sandbox=None):
    """The Submissions in a folder or a zip; `due` is in seconds since 1970. Raises CommandError."""
    found = files_of_zip(place) if place.is_file() else list(files_of_folder(place))
    found, guess = without_common_folder(found, exercises, roster)
    found, ignored = without_ignored(found)
    collected = _Collected(exercises, sandbox if due else None, CourseCopies(found))
    collected.problems += [guess] if guess else []
    for path in ignored:
        collected.ignore(path)
    for each in sorted(found, key=lambda item: item.path):
        collected.add(each)
    return collected.submissions(roster, due)


class _Collected:
    def __init__(self, exercises, sandbox, copies):
        self.exercises, self.sandbox, self.copies = exercises, sandbox, copies
        self.heaps = collections.defaultdict(_Heap)  # by Owner
        self.problems = []

    def ignore(self, path):
        """A folder that is not looked into."""
        folder, _, rest = path.partition("/")
        if rest:
            self.heaps[label_of_folder(folder).owner].not_entered.append(path)
        else:
            self.problems.append(f"{path} is a hidden folder, and not looked into.")

    def add(self, found):
        folder, _, rest = found.path.partition("/")
        label = label_of_folder(folder) if "/" in found.path else label_of_file(folder)
        if not label:
            if not folder.startswith(".") or exercise_of(folder, self.exercises)[0]:
                self.problems.append(f"{folder}: whose it is can't be told from its name.")
            return
        heap = self.heaps[label.owner]
        heap.words = heap.words.joined(label.words)
        if found.path.endswith("/"):
            sentence = found.read()
            if sentence:
                heap.problems.append(f"{found.path}: {sentence}.")
            return
        name = rest.rpartition("/")[2] if rest else label.file
        exercise, how = exercise_of(name, self.exercises)
        if self.copies.has(found.path) and how != EXACT:
            return
        if how in (EXACT, MISNAMED):
            inner = label_of_file(name)
            if inner and inner.owner.name != label.owner.name:
                heap.named.append((found.path, inner.owner))
            self._take(heap, found, exercise, how, label.is_late)
        elif how == RESEMBLING and not name.endswith(".svg"):  # lab draws a race next to the file
            heap.problems.append(
                f"{found.path} may be meant for {exercise.file_name}, and is not named like it; "
                "not graded."
            )
        elif ARCHIVE.match(name):
            heap.problems.append(f"{found.path} is an archive, and not unpacked.")
        elif how is None and not name.startswith("."):
            heap.others.append(found.path)

    def _take(self, heap, found, exercise, how, is_late):
        content = found.read()
        if isinstance(content, str):
            heap.problems.append(f"{found.path}: {content}.")
            return
        folders = found.path.split("/")[:-1]
        committed = None
        if self.sandbox and found.file:
            committed = _commit_time(self.sandbox, found.file, len(folders))
        heap.files[exercise.number].append(
            Handed(
                is_exact=how == EXACT,
                is_in_work="work" in folders[1:],
                time=committed or found.time,
                name=found.path,
                content=content,
                exercise=exercise,
                is_committed=committed is not None,
                is_late=is_late,
            )
        )

    def submissions(self, roster, due):
        names = identities({owner: heap.words for owner, heap in self.heaps.items()}, roster)
        heaps = collections.defaultdict(list)  # by the student's name
        for name in roster.students if roster else ():
            heaps[name] = []
        for owner, identity in names.items():
            heap = self.heaps[owner]
            heap.problems += [identity.problem] if identity.problem else []
            heap.problems += _of_others(heap.named, identity.name, roster)
            heaps[identity.name].append(heap)
        times = roster.times if roster else {}
        students = [
            self._student(name, heaps[name], due, times.get(name)) for name in sorted(heaps)
        ]
        return Submissions(students, self.problems)

    def _student(self, name, heaps, due, given):
        """`given` is when the platform received it, as the roster says; else None."""
        problems, chosen, is_late = [], {}, False
        for heap in heaps:
            problems += heap.problems
        others = sorted(path for heap in heaps for path in heap.others)
        if others:
            problems.append(f"No file of these exercises, and not graded: {_listed(others)}.")
        not_entered = sorted(path for heap in heaps for path in heap.not_entered)
        if not_entered:
            problems.append(
                f"Hidden or made by a build, and not looked into: {_listed(not_entered)}."
            )
        for exercise in self.exercises:
            handed = sorted(each for heap in heaps for each in heap.files.get(exercise.number, ()))
            if not handed:
                problems.append(f"{exercise.title}: missing.")
                continue
            graded = chosen[exercise.number] = handed[-1]
            if not graded.is_exact:
                problems.append(f"{graded.name} is taken as {exercise.file_name}: misnamed.")
            late = _late(graded, due, given)
            for sentence in (_doubled(handed), late):
                problems += [f"{exercise.title}: {sentence}."] if sentence else []
            is_late |= bool(late)
        return Student(name, chosen, problems, is_late)


def _of_others(named, student, roster):
    """Sentences about the files whose uploaded names have another student's in them."""
    for path, owner in named:
        words = (owner.name, owner.number)
        known = set().union(*map(roster.students_with, words)) if roster else set()
        if known - {student} or (owner.number and not known):
            whose = " or ".join(sorted(known)) or owner.name
            yield f"{path} was handed in by {student}, and has {whose} in its name: look whose it is."


def _listed(paths):
    more = len(paths) - MOST_NAMES
    return ", ".join(paths[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def _doubled(handed):
    """What to say if there are other texts than the last, which is graded; "" if there are none."""
    *others, chosen = handed
    if all(other.content == chosen.content for other in others):
        return ""
    fields = zip(REASONS, chosen, others[-1])
    reason = next((word for word, one, two in fields if one != two), "the last")
    names = ", ".join(other.name for other in others)
    return f"doubled; {reason}, {chosen.name}, is graded, and not {names}"


def _late(handed, due, given):
    """What to say if it came late, or ""; `given` is the time that the roster has, or None."""
    time = handed.time if given is None else given
    if due and time > due:
        by = "commit's time" if handed.is_committed else "file's time"
        by = by if given is None else "roster"
        return f"late, {shown_time(time)} by the {by}"
    if given is None and handed.is_late:
        return f"late, as the name of {handed.name} says"
    return ""


def shown_time(time):
    """'2026-12-01 23:59', on this machine."""
    return strftime("%Y-%m-%d %H:%M", localtime(time))


def _commit_time(sandbox, file, levels):
    """When a file was last committed, in seconds since 1970; None if it is in no repository, was not
    committed, or if there is no real sandbox.

    The repository is looked for in the file's folder and in those around it, `levels` in all: above
    them is the instructor's.
    """
    repository = _repository_of(file, levels)
    if not repository or not sandbox or sandbox.kind == NONE:
        return None
    inner = file.parent.resolve().relative_to(repository) / file.name
    command = ["git", *GIT_SETTINGS, "--literal-pathspecs", "--no-pager", "-C", str(repository)]
    command += ["log", "-1", "--format=%ct", "--", str(inner)]
    with sandbox.folder() as work:
        run = sandbox.run(command, Access(work, (repository,)), GIT_VARIABLES, GIT_LIMITS)
    text = run.output.strip()
    return float(text) if run.code == 0 and text.isdigit() and len(text) < 15 else None


def _repository_of(file, levels):
    """The folder with .git."""
    folder = file.parent.resolve()
    for each in [folder, *folder.parents][:levels]:
        if (each / ".git").exists():
            return each
    return None

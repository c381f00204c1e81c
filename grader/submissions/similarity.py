# SPDX-License-Identifier: MIT
"""Which submissions resemble one another: winnowing, by Schleimer, Wilkerson and Aiken (SIGMOD 2003).

A text becomes a row of tokens in which names and numbers are alike, so that renaming changes nothing. Of
the hashes of every K tokens in a row, the least one in each window is kept as a fingerprint. So whatever
two texts share over K + WINDOW - 1 tokens gives them a common fingerprint, and nothing shorter than K does.
What stands in the starter or in the course's solution is nobody's fingerprint.
"""

import bisect
import collections
import hashlib
import itertools
import re
from typing import NamedTuple

from grader.exercises.markers import solution_of
from grader.exercises.work_folder import has_solution, starter
from grader.inspection.source_tokens import TOKEN

K = 12  # tokens
WINDOW = 9  # hashes
LEAST_SHARED = 3  # fingerprints
MOST_PAIRS = 100  # in the list

# The one lexer knows preprocessed text, which has no comments.
COMMENT_OR_TOKEN = re.compile(
    rf"(?P<comment>//(?:\\\n|[^\n])*|/\*[\s\S]*?(?:\*/|\Z))|{TOKEN.pattern}", TOKEN.flags
)
# Names that say what a program does, whoever has written it; all others are alike.
SAME_FOR_ALL = re.compile(
    r"""__\w+ | atomic\w+ | cuda\w* | (?:thread|block)Idx | (?:block|grid)Dim | warpSize
    | alignas | auto | bool | break | case | char | class | const | constexpr | continue | default | do
    | double | else | enum | false | float | for | if | int | long | namespace | operator | return | short
    | signed | sizeof | static | struct | switch | template | true | typedef | typename | union | unsigned
    | using | void | volatile | while""",
    re.VERBOSE,
)


class Pair(NamedTuple):
    """Two students' files of one exercise that have fingerprints in common."""

    overlap: int  # percent, of the fingerprints of the one that has fewer
    exercise: object
    students: tuple  # two names
    files: tuple  # as they were handed in
    lines: tuple  # of each file [(first, last)]


class _Text(NamedTuple):
    student: str
    file: str
    lines: list  # of each token
    places: dict  # {a fingerprint: the places of the tokens that it begins at}


def similar_pairs(students, exercises):
    """(the Pairs that have most in common, the most first; how many more there are)."""
    found = []
    for exercise in exercises:
        common = {each for text in _texts_of_course(exercise) for each in _hashes(_tokens(text)[0])}
        texts = [
            _text(student.name, student.files[exercise.number], common)
            for student in students
            if exercise.number in student.files
        ]
        found += _pairs(exercise, texts)
    # Of equal overlaps the longer one first; then by name, so that the list is always the same.
    found.sort(
        key=lambda each: (-each[0], -each[1], each[2].number, each[3].student, each[4].student)
    )
    listed = [
        Pair(
            overlap,
            exercise,
            (one.student, other.student),
            (one.file, other.file),
            (_lines(one, other), _lines(other, one)),
        )
        for overlap, _, exercise, one, other in found[:MOST_PAIRS]
    ]
    return listed, len(found) - len(listed)


def _pairs(exercise, texts):
    """[(overlap, common fingerprints, exercise, one text, the other)]"""
    owners = collections.defaultdict(list)
    for number, text in enumerate(texts):
        for each in text.places:
            owners[each].append(number)
    shared = collections.Counter()
    for numbers in owners.values():
        shared.update(itertools.combinations(numbers, 2))
    for (one, other), count in shared.items():
        if count >= LEAST_SHARED:
            fewer = min(len(texts[one].places), len(texts[other].places))
            yield 100 * count // fewer, count, exercise, texts[one], texts[other]


def _texts_of_course(exercise):
    """The starter and, if it is here, the solution."""
    yield starter(exercise)
    if has_solution(exercise):
        yield solution_of(exercise.source.read_text(encoding="utf-8"), exercise.source.name)


def _text(student, handed, common):
    tokens, lines = _tokens(handed.content.decode("utf-8", "replace"))
    places = collections.defaultdict(list)
    for place, each in _fingerprints(_hashes(tokens), common):
        places[each].append(place)
    return _Text(student, handed.name, lines, dict(places))


def _tokens(text):
    """(the tokens, in which all names are alike and all numbers and texts too; the line of each)."""
    tokens, lines = [], []
    starts = [match.end() for match in re.finditer("\n", text)]
    for match in COMMENT_OR_TOKEN.finditer(text):
        if match["comment"]:
            continue
        token = match[0]
        if match["name"]:
            token = token if SAME_FOR_ALL.fullmatch(token) else "name"
        elif match["string"] or token[0].isdigit() or (token[0] in ".'" and len(token) > 1):
            token = "value"
        tokens.append(token)
        lines.append(bisect.bisect_right(starts, match.start()) + 1)
    return tokens, lines


def _hashes(tokens):
    """Of every K tokens in a row; the same on every machine and in every run."""
    return [
        hashlib.blake2b(" ".join(tokens[place : place + K]).encode(), digest_size=8).digest()
        for place in range(len(tokens) - K + 1)
    ]


def _fingerprints(hashes, common):
    """[(place, hash)]: of each window the least hash that is not common, of equal ones the last."""
    kept = {}
    for start in range(max(1, len(hashes) - WINDOW + 1)):
        window = [
            (each, -place)
            for place, each in enumerate(hashes[start : start + WINDOW], start)
            if each not in common
        ]
        if window:
            least, place = min(window)
            kept[-place] = least
    return sorted(kept.items())


def _lines(text, other):
    """[(first, last)]: the lines of the text that the fingerprints it shares with the other one cover."""
    places = sorted(
        place for each in text.places.keys() & other.places.keys() for place in text.places[each]
    )
    ranges = []
    for place in places:
        first, last = text.lines[place], text.lines[place + K - 1]
        if ranges and first <= ranges[-1][1] + 1:
            ranges[-1] = (ranges[-1][0], max(last, ranges[-1][1]))
        else:
            ranges.append((first, last))
    return ranges

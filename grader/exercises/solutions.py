# SPDX-License-Identifier: MIT
"""Solutions: the starter that is made of one, and the student's file next to it.

// BEGIN SOLUTION          these lines are left out of the starter,
// STUB: // TODO: ...      but for what follows STUB:, which the solution doesn't have
// END SOLUTION
// BEGIN HIDDEN            left out without a trace
// END HIDDEN
"""

import difflib
import re

from engine.command.errors import CommandError
from engine.command.paths import shown

MARKER = re.compile(r"^(?P<indent>\s*)// (?P<verb>BEGIN|END) (?P<what>SOLUTION|HIDDEN)\s*$")
STUB = re.compile(r"^(?P<indent>\s*)// STUB:(?: (?P<code>.*))?$")
STARTER = "starter.cu"  # in the exercise's folder of a copy without solutions
LEAST_WIDTH = 120  # of a terminal for two columns
LOOKS_LIKE_ONE = re.compile(r"//\s*(BEGIN|END)\s+(SOLUTION|HIDDEN)|//\s*STUB\b", re.IGNORECASE)


class MarkerError(CommandError):
    """An exercise whose markers are not in order: its author's mistake."""


def starter_of(text, name="the solution"):
    """What the student begins with. Raises MarkerError."""
    return "".join(f"{line}\n" for line in _split(text, name).starter)


def solution_of(text, name="the solution"):
    """The solution without its markers. Raises MarkerError."""
    return "".join(f"{line}\n" for line in _split(text, name).solution)


def solution_lines(text, name="the solution"):
    """The lines that no student's file may have before it is solved. Raises MarkerError."""
    split = _split(text, name)
    kept = {line.strip() for line in split.starter}
    return [line for line in split.secret if line.strip() not in kept]


class _Split:
    def __init__(self):
        self.starter, self.solution, self.secret = [], [], []
        self.regions = 0


def _split(text, name):
    result = _Split()
    inside = began = None
    for number, line in enumerate(text.splitlines(), 1):
        marker, stub = MARKER.match(line), STUB.match(line)
        where = f"{name}:{number}"
        if marker and marker["verb"] == "BEGIN":
            if inside:
                raise MarkerError(f"{where}: BEGIN {marker['what']} within BEGIN {inside}.")
            inside, began = marker["what"], where
            result.regions += inside == "SOLUTION"
        elif marker:
            if inside != marker["what"]:
                raise MarkerError(f"{where}: END {marker['what']} without its BEGIN.")
            inside = None
        elif stub:
            if inside != "SOLUTION":
                raise MarkerError(f"{where}: STUB stands outside of BEGIN SOLUTION.")
            code = stub["code"] or ""
            result.starter.append(f"{stub['indent']}{code}".rstrip())
        elif LOOKS_LIKE_ONE.search(line):
            raise MarkerError(
                f"{where}: a marker must be alone on its line, as in '// BEGIN SOLUTION'."
            )
        elif inside:
            result.secret.append(line)
            if inside == "SOLUTION":
                result.solution.append(line)
        else:
            result.starter.append(line)
            result.solution.append(line)
    if inside:
        raise MarkerError(f"{began}: BEGIN {inside} without its END.")
    if not result.regions:
        raise MarkerError(f"{name}: no BEGIN SOLUTION.")
    return result


def starter(exercise):
    """What a student begins with: made of the solution, or as a copy without solutions has it."""
    if not has_solution(exercise):
        return (exercise.folder / STARTER).read_text(encoding="utf-8")
    text = exercise.source.read_text(encoding="utf-8")
    return starter_of(text, shown(exercise.source))


def has_solution(exercise):
    """Whether this copy of the course has it: one that was handed out to students does not."""
    return exercise.source.is_file()


def comparison(exercise, work, width):
    """The lines of both, in a terminal of this width: in two columns, or with - and +."""
    ours = solution_of(exercise.source.read_text(encoding="utf-8"), shown(exercise.source))
    path = work.file_of(exercise)
    yours = (
        path.read_text(encoding="utf-8", errors="replace") if path.is_file() else starter(exercise)
    )
    yours, ours = yours.splitlines(), ours.splitlines()
    if width >= LEAST_WIDTH:
        return list(side_by_side(yours, ours, width))
    differences = (line.rstrip() for line in difflib.ndiff(yours, ours) if not line.startswith("?"))
    return ["Lines with - are in your file alone, lines with + in ours.", "", *differences]


def side_by_side(yours, ours, width):
    """Lines of two columns; | between them marks where they differ."""
    column = (width - 3) // 2
    yield f"{'yours':<{column}}   ours"
    matcher = difflib.SequenceMatcher(None, yours, ours, autojunk=False)
    for what, begin, end, our_begin, our_end in matcher.get_opcodes():
        left, right = yours[begin:end], ours[our_begin:our_end]
        for number in range(max(len(left), len(right))):
            one = left[number] if number < len(left) else ""
            other = right[number] if number < len(right) else ""
            sign = " " if what == "equal" else "|"
            yield f"{one[:column]:<{column}} {sign} {other[:column]}".rstrip()

# SPDX-License-Identifier: MIT
"""From a marked solution to the file that a student begins with.

// BEGIN SOLUTION          these lines are left out of the starter,
// STUB: // TODO: ...      but for what follows STUB:, which the solution doesn't have
// END SOLUTION
// BEGIN HIDDEN            left out without a trace
// END HIDDEN
"""

import re

from engine.command.errors import CommandError

MARKER = re.compile(r"^(?P<indent>\s*)// (?P<verb>BEGIN|END) (?P<what>SOLUTION|HIDDEN)\s*$")
STUB = re.compile(r"^(?P<indent>\s*)// STUB:(?: (?P<code>.*))?$")
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

# SPDX-License-Identifier: MIT
"""The student's file and our solution, next to each other."""

import difflib

from engine.command.paths import shown
from grader.exercises.markers import solution_of
from grader.exercises.work_folder import starter

LEAST_WIDTH = 120  # of a terminal for two columns


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

# SPDX-License-Identifier: MIT
"""What a student's kernels may use, counted by the race checker while they run."""

import math
import re
import textwrap

from engine.driver.errors import CommandError
from grader.judging.results import SCREEN

PER = ("element", "thread", "block", "call")
LAUNCHES, SHARED_MEMORY = "launches", "bytes of shared memory"
# What can be limited, and its name in the race checker's report.
COUNTED = {
    "global loads": "global_loads",
    "global stores": "global_stores",
    "global atomics": "global_atomics",
    "shared loads": "shared_loads",
    "shared stores": "shared_stores",
    "shared atomics": "shared_atomics",
    "barriers": "block_barriers",
    "fences": "fences",
    "bytes loaded": "global_bytes_loaded",
    "bytes stored": "global_bytes_stored",
}


def lines_about(exercise, launches, case):
    """Lines about each limit of the exercise that is exceeded by what each kernel launch of one call of
    this case has used: `launches` is "launch_counts" of the race checker's report."""
    lines = []
    for limit in exercise.limits:
        used = measured(limit, launches, case)
        if used > limit["at_most"]:
            if lines:
                lines.append("")
            lines += textwrap.wrap(f"Your code: {_exceeded(limit, used, case)}.", SCREEN)
            lines += textwrap.wrap(limit["advice"], SCREEN)
    if lines:
        lines += ["", f"Counted in: {case.name}."]
    return lines


def _exceeded(limit, used, case):
    """'2 launches per call; allowed: 1': what was used, and what may be."""
    allowed = limit["at_most"]
    if _number(used) != _number(allowed):
        return f"{_number(used)} {_counted(limit['count'], used)}{_per(limit)}; allowed: {_number(allowed)}"
    # Too little above the limit to be seen in what each element took: then all of them together.
    total, elements = round(used * case.elements), case.elements
    return (
        f"{total:,} {_counted(limit['count'], total)} for {elements:,} "
        f"{'element' if elements == 1 else 'elements'}; "
        f"allowed: {math.floor(round(allowed * elements, 6)):,}"
    )


def counted_case(exercise, cases):
    found = [case for case in cases if case.counted]
    if len(found) != 1:
        raise CommandError(f"{exercise.title}: exactly one of its cases must be the counted one.")
    return found[0]


def measured(limit, launches, case):
    """How much of what the limit is about was used."""
    if limit["count"] == LAUNCHES:
        return len(launches)
    if limit["count"] == SHARED_MEMORY:
        return max(
            (item["static_shared_bytes"] + item["dynamic_shared_bytes"] for item in launches),
            default=0,
        )
    counts = [launch[COUNTED[limit["count"]]] for launch in launches]
    if limit["per"] in ("block", "thread"):
        return max((each[f"most_per_{limit['per']}"] for each in counts), default=0)
    total = sum(each["total"] for each in counts)
    return total / case.elements if limit["per"] == "element" else total


def _counted(name, number):
    """'global loads', or 'global load' of one."""
    return re.sub(r"(?<=ch)es\b|s\b", "", name, count=1) if number == 1 else name


def _per(limit):
    if limit["count"] == LAUNCHES:
        return " per call"
    return " per block" if limit["count"] == SHARED_MEMORY else f" per {limit['per']}"


def _number(value):
    return f"{value:,.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else f"{value:,}"

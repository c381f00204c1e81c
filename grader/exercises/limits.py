# SPDX-License-Identifier: MIT
"""What a student's kernels may use, counted by the race checker while they run."""

import math
import re
import textwrap

from engine.command.errors import CommandError
from grader.judging.results import SCREEN

# A share is a percentage: of what its block does, or of what all blocks do.
THREAD_SHARE, BLOCK_SHARE = "thread's share", "block's share"
# What the block with the most does in the schedule in which one block runs after the other: there the first
# one takes all that is in a queue.
FIRST_BLOCK_SHARE = "first block's share"
SHARES = (THREAD_SHARE, BLOCK_SHARE, FIRST_BLOCK_SHARE)
PER = ("element", "thread", "block", "call", *SHARES)
LAUNCHES, SHARED_MEMORY = "launches", "bytes of shared memory"
BLOCKS_BEGUN = "blocks begun"  # those that another block has taken over never begin
TAKEN_OVER = "blocks taken over"
# What can be limited, and its name in the race checker's report.
COUNTED = {
    "global loads": "global_loads",
    "global stores": "global_stores",
    "global atomics": "global_atomics",
    "shared loads": "shared_loads",
    "shared stores": "shared_stores",
    "shared atomics": "shared_atomics",
    "barriers": "block_barriers",
    "grid barriers": "grid_barriers",
    "fences": "fences",
    "bytes loaded": "global_bytes_loaded",
    "bytes stored": "global_bytes_stored",
}
# A store has a share if its bytes are a result's, and no other store came after it.
KEPT = {"global stores": "kept_bytes_stored"}
# What each thread moves, and which bytes of inputs it loads: others may load the same for show.
WORK, LOADS = "bytes_of_work", "input_bytes_loaded"
MOST_OF_ONE_THREAD = 90  # per cent of its block's work
# Whatever an exercise says of atomics: all that its kernels do with global memory, one by one.
ACCESSES = "accesses to global memory"
ADDED_UP = {ACCESSES: ("global_loads", "global_stores", "global_atomics")}
COUNTS = (*COUNTED, *ADDED_UP, LAUNCHES, SHARED_MEMORY, BLOCKS_BEGUN, TAKEN_OVER)
# "calls of cudaMemcpy": how often the host of a whole program calls a function of the runtime.
CALLS_OF = re.compile(r"calls of (cuda\w+)")


def depends_on_schedule(exercise):
    """Whether one schedule is too few: a legal one may give one block all the work."""
    return any(limit["per"] == BLOCK_SHARE for limit in exercise.limits)


def objections_to_uncounted(reports):
    """Sentences if more kernels were launched than are in the counts of these reports."""
    if all(report["launches"] <= len(report["launch_counts"]) for report in reports):
        return []
    return ["One call launches more kernels than are counted: a solution needs few."]


def lines_about(exercise, reports, case):
    """Lines about each limit of the exercise that what one call of this case has used does not keep.
    `reports` are the race checker's, one for each schedule; all limits but those on a block's share are
    held to the first one."""
    lines = []
    for limit, used in limits_not_kept(exercise, reports, case):
        if lines:
            lines.append("")
        lines += textwrap.wrap(f"Your code: {_not_kept(limit, used, case)}.", SCREEN)
        lines += textwrap.wrap(limit["advice"], SCREEN)
    if lines:
        lines += ["", f"Counted in: {case.name}."]
    return lines


def is_about_show(limit):
    """Whether a file that does not keep it lets others do what it is to do."""
    return limit["count"] == "grid barriers" or limit["per"] in (FIRST_BLOCK_SHARE, THREAD_SHARE)


def limits_not_kept(exercise, reports, case, is_held=lambda limit: True):
    """Each limit that is not kept, of those that are held, with what was used."""
    for limit in filter(is_held, exercise.limits):
        used = _measured_in_all(limit, reports, case)
        if not limit.get("at_least", 0) <= used <= limit.get("at_most", math.inf):
            yield limit, used


def _measured_in_all(limit, reports, case):
    if limit["per"] == BLOCK_SHARE:
        return min(measured(limit, report, case) for report in reports)
    return measured(limit, reports[0], case)


def _not_kept(limit, used, case):
    """'2 launches per call; allowed: 1': what was used, and what may be or must be."""
    if limit["per"] == FIRST_BLOCK_SHARE:
        return (
            f"if one block runs after the other, no block does more than {used:.0f} % of all "
            f"{limit['count']}; needed: {limit['at_least']} %"
        )
    if limit["per"] in SHARES:
        doer, of = ("thread", "its block's") if limit["per"] == THREAD_SHARE else ("block", "all")
        bound = (
            f"needed: {limit['at_least']}"
            if "at_least" in limit
            else f"allowed: {limit['at_most']}"
        )
        return f"one {doer} does {used:.0f} % of {of} {limit['count']}; {bound} %"
    if "at_least" in limit:
        return (
            f"{_number(used)} {_counted(limit['count'], used)}{_per(limit)}; "
            f"needed: {_number(limit['at_least'])} or more"
        )
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


def measured(limit, report, case):
    """How much of what the limit is about was used."""
    call = CALLS_OF.fullmatch(limit["count"])
    if call:
        return report["runtime_calls"].count(call[1])
    launches = report["launch_counts"]
    if limit["count"] == LAUNCHES:
        return len(launches)
    if limit["count"] == SHARED_MEMORY:
        return max(
            (item["static_shared_bytes"] + item["dynamic_shared_bytes"] for item in launches),
            default=0,
        )
    if limit["count"] == BLOCKS_BEGUN:
        return max((launch["blocks_begun"] for launch in launches), default=0)
    if limit["count"] == TAKEN_OVER:
        return sum(math.prod(each["blocks"]) - each["blocks_begun"] for each in launches)
    if limit["count"] in ADDED_UP:
        return sum(launch[key]["total"] for launch in launches for key in ADDED_UP[limit["count"]])
    counts = [launch[COUNTED[limit["count"]]] for launch in launches]
    kept = KEPT.get(limit["count"])
    if limit["per"] in SHARES and all(kept in launch for launch in launches):
        counts = [launch[kept] for launch in launches]
    if limit["per"] in ("block", "thread"):
        return _most(counts, limit["per"])
    if limit["per"] == THREAD_SHARE:
        return 100 * _most(counts, "thread") / max(1, _most(counts, "block"))
    total = sum(each["total"] for each in counts)
    if limit["per"] in SHARES:
        return 100 * _most(counts, "block") / max(1, total)
    return total / case.elements if limit["per"] == "element" else total


def is_by_one_thread(report, by=(WORK, LOADS)):
    """Whether one thread of each block does what all its threads could do."""
    for work in by:
        counts = [launch[work] for launch in report["launch_counts"] if work in launch]
        if 100 * _most(counts, "thread") > MOST_OF_ONE_THREAD * max(1, _most(counts, "block")):
            return True
    return False


def _most(counts, whose):
    """Of all launches together, one after the other: else many launches of one block would do as well."""
    return sum(each[f"most_per_{whose}"] for each in counts)


def _counted(name, number):
    """'global loads', or 'global load' of one; 'calls of cudaMemcpy', or 'call of cudaMemcpy'."""
    if CALLS_OF.fullmatch(name):
        return name.replace("calls", "call", 1) if number == 1 else name
    return re.sub(r"(?<=ch)es\b|s\b", "", name, count=1) if number == 1 else name


def _per(limit):
    if CALLS_OF.fullmatch(limit["count"]):
        return ""
    if limit["count"] in (LAUNCHES, BLOCKS_BEGUN, TAKEN_OVER):
        return " per call"
    return " per block" if limit["count"] == SHARED_MEMORY else f" per {limit['per']}"


def _number(value):
    return f"{value:,.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else f"{value:,}"

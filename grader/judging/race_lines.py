# SPDX-License-Identifier: MIT
"""A race in a student's file, as the check tells it."""

import re
import textwrap

from engine.command.untrusted_files import content_of
from grader.judging.results import SCREEN, WIDTH, fault_lines, last_words
from grader.judging.stuck_launches import places_of_threads

MAY_BE_THE_REASON = "Two threads race, which may be the reason"
NEVER_ENDS = "In one schedule your kernel never ends:"
MOST_BYTES = 1 << 20  # of a source; in a grade the name of the file is the submission's word
EXTERN_SHARED = re.compile(r"\bextern\s+__shared__\s|;|\b(?P<name>\w+)\s*\[\s*\]|\[")


def race_lines(found, wrong, right, cases, explained=True):
    """Of the worst finding; `wrong` is (case, Failure) of a run with old values, or None. So many of
    the cases are `right`. What is missing is there if it is to be `explained`; else remedy_lines() has
    it."""
    finding = found.findings[0] if found.findings else None
    right = f"{'All' if right == cases else f'{right} of'} {cases} results are right"
    if finding is None:
        return [f"{right} here, and still the code can fail.", "", *_problem(found)]
    # Where one does not come to its end, the others were not run.
    schedules = "" if found.problem else f", in {finding['seeds']} of {found.schedules} schedules"
    if found.explored:
        schedules = f", in one order of the atomic operations ({found.explored.name})"
    is_race = finding["kind"] == "race"
    what = "two threads race" if is_race else "there is a mistake"
    if wrong:
        case, failure = wrong
        allowed = f"{right} here, but CUDA's rules allow this one, too ({case.name}):"
        lines = [*textwrap.wrap(allowed, SCREEN), f"  {failure.lines[0]}", ""]
        lines += textwrap.wrap(f"{what.capitalize()}{schedules}:", SCREEN)
    else:
        lines = textwrap.wrap(f"{right}, and still {what}{schedules}:", SCREEN)
    if is_race:
        for party in (finding["first"], finding["second"]):
            lines += ["", *_party(party, finding)]
    lines += ["", *(_advice(finding) if explained else _what_happened(finding))]
    more = len(found.findings) - 1
    if more:
        lines += ["", f"{more} more {'is' if more == 1 else 'are'} found in this file."]
    places = _places(found)
    return [*lines, "", *places] if places else lines


def remedy_lines(found):
    """What the worst race lacks, and where to put it; nothing of other findings."""
    finding = found.findings[0] if found.findings else None
    return _advice(finding) if finding and finding["kind"] == "race" else []


def race_as_well(found):
    """Of a launch that never ends or else of the worst race, below a wrong result; nothing if there is
    neither."""
    places = _places(found)
    if places:
        return ["", *places]
    race = next((each for each in found.findings if each["kind"] == "race"), None)
    if race is None:
        return []
    parties = [_party(race[name], race) for name in ("first", "second")]
    return ["", f"{MAY_BE_THE_REASON}:", *parties[0], *parties[1]]


def overrun_lines(found):
    """Of the first access past the end of some memory, below a fault; nothing if there is none."""
    outside = next((each for each in found.findings if each["kind"] == "outside"), None)
    if outside is None:
        return []
    access = outside["second"]
    where = textwrap.wrap(access["sentence"], SCREEN, initial_indent="  ", subsequent_indent="    ")
    code = [f"      {access['text']}"] if access["text"] else []
    what = textwrap.wrap(outside["heading"], SCREEN)
    return ["", "The race checker says more:", *what, *where, *code]


def _problem(found):
    if not found.problem:
        if found.wrong:
            return _wrong_result(found)
        return ["No kernel of yours was seen to touch any memory."]
    fault = fault_lines(found.diagnostics)
    if fault:
        return ["In one schedule:", *fault]
    return _places(found) or [
        f"In one schedule {found.problem}.",
        *(last_words(found.diagnostics, SCREEN) or found.output.splitlines()[-3:]),
    ]


def _places(found):
    """Where the threads are of a launch that does not end; nothing if there is none."""
    if any("blocks_not_started" in record.fields for record in found.diagnostics):
        for record in found.diagnostics:
            if record.fields.get("awaits") == "a_value_in_memory" and record.place():
                return _block_that_waits(record)
    places = places_of_threads(found.diagnostics, WIDTH)  # there are none without a problem
    return [NEVER_ENDS, *(f"  {line}" for line in places)] if places else []


def _block_that_waits(record):
    who = f"block {record.fields['block']} thread {record.fields['thread']}"
    return [
        NEVER_ENDS,
        f"  {who} waits for another block    line {record.place().line}",
        "",
        *textwrap.wrap(
            "The other one has not started. CUDA promises a place to one block at a time, and no more: "
            "a block must not wait for a block that may come after it.",
            SCREEN,
        ),
    ]


def _wrong_result(found):
    where = f"In {found.wrong.schedules} of {found.schedules} schedules a result is wrong"
    if found.explored:
        where = f"In one of {found.schedules} orders of the atomic operations a result is wrong"
    return [
        *textwrap.wrap(f"{where} ({found.wrong.case.name}):", SCREEN),
        f"  {found.wrong.failure.lines[0]}",
        "",
        *textwrap.wrap(
            "No two threads race here, so it is the order of the atomic operations: between two of "
            "one thread, another thread may do its own, and a relaxed load may get an older value, unless a "
            "release and an acquire, with the barriers of both blocks, bring it the newest one.",
            SCREEN,
        ),
    ]


def _party(party, finding):
    block, thread = (_index(party[name]) for name in ("block", "thread"))
    words = f"{party['does']} {_named(finding, party['file'])} {party['manner']}".rstrip()
    return [
        f"  block {block} thread {thread} {words}    line {party['line']}",
        f"      {party['text'].strip()}",
    ]


def _named(finding, file):
    """What was accessed, with the student's name for the launch's dynamic shared memory."""
    dynamic = finding.get("element_of_dynamic_memory")
    if dynamic is None:
        return finding["element"]
    text = content_of(file, MOST_BYTES).decode(errors="replace")
    names = extern_arrays(text)
    if len(names) == 1:
        return f"{names.pop()}[{dynamic}]"
    return f"element {dynamic} of dynamic shared memory"


def extern_arrays(text):
    """The names of the arrays `extern __shared__ TYPE NAME[]`."""
    names, is_extern = set(), False
    for part in EXTERN_SHARED.finditer(text):
        if is_extern and part["name"]:
            names.add(part["name"])
        is_extern = part[0].startswith("extern")
    return names


def _index(index):
    last = max((place for place, value in enumerate(index) if value), default=0)
    return str(index[0]) if last == 0 else f"({', '.join(map(str, index[: last + 1]))})"


def _what_happened(finding):
    """What the two threads of a race may see of each other; of another finding, what it is."""
    access = finding["second"]
    if finding["kind"] != "race":
        said = [finding["heading"], access["sentence"], access["text"]]
        said += [advice["text"] for advice in finding["advice"]]
        return [part for sentence in said for part in textwrap.wrap(sentence, SCREEN)]
    does = [finding[name]["does"] for name in ("first", "second")]
    if does == ["updates", "updates"]:
        means = "both may read the same old value, and then one update is lost"
    elif "reads" in does:
        means = "the one that reads may find the old value or the new one"
    else:
        means = "either value may be the one that stays"
    return textwrap.wrap(f"Nothing says which of the two comes first, so {means}.", SCREEN)


def _advice(finding):
    """What is missing, and where; of what needs no advice, what it is."""
    access = finding["second"]
    said = [advice["text"] for advice in finding["advice"]]
    said = said or [finding["heading"], access["sentence"], access["text"]]
    return [part for sentence in said for part in textwrap.wrap(sentence, SCREEN)]

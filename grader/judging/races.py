# SPDX-License-Identifier: MIT
"""Whether a student's program has races, what they can do to its results, and how a check tells of them."""

import math
import os
import re
import textwrap
from typing import NamedTuple, Optional

from engine.command.errors import CommandError
from engine.command.race_picture import race_figure, races_of
from engine.command.racecheck_runs import merged_findings, problem_of
from engine.command.untrusted_files import content_of
from engine.prove.executions import Execution
from engine.prove.proving import Exploration, shape_in_words
from grader.exercises.cases import Case
from grader.judging.results import (
    SCREEN,
    SECOND_LAUNCH,
    WIDTH,
    Failure,
    fault_lines,
    first_failure,
    last_words,
    places_of_threads,
    wrong_result,
)
from grader.judging.verdict import shortened

SCHEDULES = 20
SECONDS = 30  # for one schedule
# The oldest and the newest value in turn, and two that are drawn.
WEAK_SETTINGS = ({"LAB_WEAK": "1"}, {"LAB_WEAK_SEED": "1"}, {"LAB_WEAK_SEED": "2"})


def settings_of(seed):
    """What a schedule of an exercise has in its environment besides its seed.

    In the first two schedules the blocks run in their order and in reverse. Here they have one place
    among them, since CUDA promises no more: a block that waits for a later one waits for ever.
    """
    return {"LAB_SMS": "1"} if seed in (0, 1) else {}


def counting(seed=0):
    """The settings with which the race checker writes its report."""
    return {
        "LAB_RACECHECK_COUNTS": "1",
        "LAB_RACECHECK_LENIENT": "0",
        "LAB_RACECHECK_SEED": str(seed),
    }


class WrongResult(NamedTuple):
    """A wrong result of a schedule that came to its end, which the order of atomics alone can cause."""

    case: Case
    failure: Failure
    schedules: int  # or executions: in how many of them some result was wrong


class Races(NamedTuple):
    """What all schedules have found."""

    findings: list  # as ./lab racecheck --json has them, the worst first
    problem: Optional[str]  # why a schedule did not come to its end, if that is no finding
    output: str  # of that schedule
    diagnostics: tuple  # of it
    accesses: int
    schedules: int  # or executions
    wrong: Optional[WrongResult] = None
    explored: Optional[Case] = None  # whose executions these are

    @property
    def is_free(self):
        return not (self.findings or self.problem or self.wrong) and self.accesses > 0


def races_in(runs, cases, results, merging):
    """The Races of one CheckedRun and one list of CaseResults for each schedule, by rising seeds.

    Raises MalformedReport.
    """
    problems = ((problem_of(run, SECONDS), run.output, run.diagnostics) for run in runs)
    problem, output, records = next((item for item in problems if item[0]), (None, "", ()))
    return Races(
        merged_findings(runs, merging),
        problem,
        output,
        records,
        # Without a launch it is copies that have accessed memory.
        sum(run.report["accesses"] for run in runs if run.report and run.report["launches"]),
        len(runs),
        _wrong_in(cases, results),
    )


def _wrong_in(cases, schedules):
    """The WrongResult of the first schedule that has one, or None."""
    found = [failure for failure in (wrong_result(cases, each) for each in schedules) if failure]
    return WrongResult(cases[found[0].number], found[0], len(found)) if found else None


def objections_to_unseen_stores(reports):
    """Sentences if memory has changed in these runs by stores that the race checker has not seen: then it
    can say nothing of races, and has not counted them."""
    unseen = [
        launch.get("unseen_bytes_stored")
        for report in reports
        for launch in report["launch_counts"]
        if launch["completed"]
    ]
    if all(number == 0 for number in unseen):
        return []
    if None in unseen:
        return ["It takes more memory than the race checker can compare, which no solution does."]
    return [
        "Your kernels change global memory in a way that the race checker does not see. Store by an "
        "assignment or an atomic, and not by functions of the C library."
    ]


def wrong_by_the_rules(cases, runs):
    """(case, its Failure) that old values, which the memory model allows, lead to; None if none do. `runs`
    are CasesRuns with WEAK_SETTINGS."""
    for run in runs:
        failure = first_failure(cases, run, run.results, SECONDS)
        if failure and failure.is_wrong_result:
            return cases[failure.number], failure
    return None


# All executions of an exercise's small case, where a sample of schedules has found nothing wrong.

# Bounds in runs and accesses and not in seconds: on every machine the same file gets the same verdict.
MOST_RUNS = 200
MOST_EVENTS = 700  # of one run: its fences, and its atomic accesses to words that change
MOST_CHOICES = 20_000  # of all runs together: the writes that these accesses could take
NOT_EXPLORED = "not all executions explored"  # among the diagnoses of races
NOT_PROVED = "not proved: "  # begins what an exploration is ended by
FEWER = (
    "Leave out atomics that change nothing, let fewer threads use one word, and let each pause between two "
    "polls be as long as the last."
)
AS_IN_THE_LESSON = "Use atomics and fences as the lesson does."
PLAIN_STORE = "One word is assigned to and then used by atomics: store to it by an atomic."


class Executions(NamedTuple):
    """What was found by running all of them, or those up to the first one that is wrong."""

    count: int
    failed: list  # the CheckedRun that has a race or does not come to its end; empty if none has
    results: list  # of each of those that came to its end its CaseResults, each once
    proved_for: str  # 'proved for 3 blocks of 2 threads'; "" if they are not known to be all
    why_unknown: str  # a sentence, if they are not known to be all


class Incomplete(Exception):
    """Not all executions are run; its text is why."""


def all_executions(run_once):
    """The Executions of a program's small case.

    run_once(decisions, orders_fences) runs it by this list of decisions, and returns a CheckedRun, a Trace,
    its CaseResults and the Failure that is in these, or None.
    """
    exploration, results, runs, choices = Exploration(compares_files=True), {}, 0, 0

    def failures():
        # Not every run is an execution that the memory model allows: which are, the exploration knows, and
        # it keeps what these print.
        return [results[printed][1] for printed in exploration.results if results[printed][1]]

    def run(decisions, orders_fences):
        nonlocal runs, choices
        if failures():
            raise Incomplete(failures()[0].lines[0])
        if runs == MOST_RUNS:
            raise Incomplete(f"There are more than {MOST_RUNS}. {FEWER}")
        runs += 1
        checked, trace, made, failure = run_once(decisions, orders_fences)
        events, more = Execution(trace).choices()
        choices += more
        if events > MOST_EVENTS or choices > MOST_CHOICES:
            raise Incomplete(f"There are too many atomic accesses. {FEWER}")
        printed = str([vars(result) for result in made])
        results[printed] = made, failure
        return checked._replace(output=printed), trace

    why = AS_IN_THE_LESSON
    try:
        exploration.run_all(run, math.inf)
        if failures():
            why = failures()[0].lines[0]
        elif exploration.has_weak_writes:
            why = PLAIN_STORE
        elif exploration.results and not exploration.unfinished:
            why = ""
    except Incomplete as problem:
        why = str(problem)
    except CommandError as problem:
        why = f"{str(problem).removeprefix(NOT_PROVED)} {AS_IN_THE_LESSON}"
    failed = [exploration.failed[0]] if exploration.failed else []
    words = "" if failed or why else f"proved for {shape_in_words(exploration.kinds)}"
    made = [results[printed][0] for printed in exploration.results]
    return Executions(len(exploration.executions), failed, made, words, why)


def lines_of_unexplored(case, why):
    """What is said of a file that has no mistake in the executions that were run, which are not all."""
    known = f"No mistake was found, but not all executions of one case could be explored ({case})"
    return textwrap.wrap(f"{known}, so the code may still fail. {why}", SCREEN)


# A race in a student's file, as the check tells it.

MAY_BE_THE_REASON = "Two threads race, which may be the reason"
NO_KERNEL = "No kernel of yours was seen to touch any memory."
NEVER_ENDS = "In one schedule your kernel never ends:"
MOST_BYTES = 1 << 20  # of a source; in a grade the name of the file is the submission's word
EXTERN_SHARED = re.compile(r"\bextern\s+__shared__\s|;|\b(?P<name>\w+)\s*\[\s*\]|\[")


def race_lines(found, wrong, right, cases, explained=True):
    """Lines about the worst finding; `wrong` is (case, Failure) of a run with old values, or None. So many of
    the cases are `right`. What is missing is there if it is to be `explained`; else remedy_lines() has
    it."""
    finding = found.findings[0] if found.findings else None
    right = f"{'All' if right == cases else f'{right} of'} {cases} results are right"
    if not (finding or found.problem or found.wrong):
        return [f"{right}, but not by a kernel.", "", NO_KERNEL]
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
        name = case.of_launch(failure.launch).name
        allowed = f"{right} here, but CUDA's rules allow this one, too ({name}):"
        lines = [*textwrap.wrap(allowed, SCREEN), f"  {failure.lines[0]}", ""]
        lines += textwrap.wrap(f"{what.capitalize()}{schedules}:", SCREEN)
    else:
        lines = textwrap.wrap(f"{right}, and still {what}{schedules}:", SCREEN)
    if is_race:
        for access in (finding["first"], finding["second"]):
            lines += ["", *_access_lines(access, finding)]
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
    """Lines about a launch that never ends or else the worst race, below a wrong result; nothing if there is
    neither."""
    places = _places(found)
    if places:
        return ["", *places]
    race = next((each for each in found.findings if each["kind"] == "race"), None)
    if race is None:
        return []
    first, second = (_access_lines(race[name], race) for name in ("first", "second"))
    return ["", f"{MAY_BE_THE_REASON}:", *first, *second]


def overrun_lines(found):
    """Lines about the first access past the end of some memory, below a fault; nothing if there is none."""
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
        return _wrong_result(found)
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
    which = ", second launch" if found.wrong.failure.launch else ""
    where = f"In {found.wrong.schedules} of {found.schedules} schedules a result is wrong"
    if found.explored:
        where = f"In one of {found.schedules} orders of the atomic operations a result is wrong"
    return [
        *textwrap.wrap(f"{where} ({found.wrong.case.name}{which}):", SCREEN),
        f"  {found.wrong.failure.lines[0]}",
        *([f"  {SECOND_LAUNCH}"] if which else []),
        "",
        *textwrap.wrap(
            "No two threads race here, so it is the order of the atomic operations: between two of "
            "one thread, another thread may do its own, and a relaxed load may get an older value, unless a "
            "release and an acquire, with the barriers of both blocks, bring it the newest one.",
            SCREEN,
        ),
    ]


def _access_lines(access, finding):
    block, thread = (_index(access[name]) for name in ("block", "thread"))
    work = access.get("work")
    who = work["words"] if work else f"block {block} thread {thread}"
    words = f"{access['does']} {_named(finding, access['file'])} {access['manner']}".rstrip()
    launched = work and work["line"] not in (0, access["line"])
    return [
        f"  {who} {words}    line {access['line']}",
        f"      {access['text'].strip()}",
        *([f"      launched at line {work['line']}"] if launched else []),
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


# What a picture says of a race if the student is to find what would order the two accesses.
NO_ORDER = {"name": "order", "remedy": "either of the two threads may be the first one"}


def race_picture(findings, is_explained):
    """The worst races as SVG, with what is missing if that is to be explained; "" if there are none."""
    races = [
        (program, _with_short_texts({**race, "chain": _told_chain(race["chain"], is_explained)}))
        for program, race in races_of([{"program": "", "findings": findings}])
    ]
    return race_figure(races).svg() if races else ""


def _told_chain(chain, is_explained):
    """The chain with files' names alone, since the folder is another one each time; unless it is explained,
    no arrow says what would make a missing order."""
    events = [{**event, "file": os.path.basename(event["file"])} for event in chain["events"]]
    arrows = chain["arrows"]
    if not is_explained:
        arrows = [{**each, "lacks": [NO_ORDER] if each["lacks"] else []} for each in arrows]
    return {**chain, "events": events, "arrows": arrows}


def _with_short_texts(value):
    """The same, with no text in it that would fill pages."""
    if isinstance(value, str):
        return shortened(value)
    if isinstance(value, dict):
        return {name: _with_short_texts(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(map(_with_short_texts, value))
    return value

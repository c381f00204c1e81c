# SPDX-License-Identifier: MIT
"""Judges what came out of a student's program: in this process, not in theirs."""

import random
import re
import runpy
import textwrap
from typing import NamedTuple

from engine.command.diagnostics import rows
from engine.command.errors import NOTHING_COULD_RUN, CommandError
from engine.command.processes import signal_name
from grader.exercises.cases import POISON, PRINTED, Array, PerLaunch, several
from grader.exercises.catalogue import FILE

PUBLIC_SEED = 1  # of `check`: all students see the same numbers
SECONDS = 10  # that all cases together may take
STUCK_SECONDS = 5  # without a step of any thread before a launch counts as stuck
MOST_WRONG = 3  # elements that are named
LONGEST_WORD = 30  # letters of what a program prints
SCREEN = 78  # columns that a sentence may fill
WIDTH = SCREEN - 4  # of one below its case

SECOND_LAUNCH = "The first launch was right. What is different the second time?"
NO_DEVICE = "There is no GPU to run it on."
REFUSED_LAUNCH = (
    "A launch is refused if it has 0 blocks, more than 1,024 threads per block, or too much shared "
    "memory."
)
# CUDA gives them the same error as such a launch.
REFUSED_CALL = (
    "cudaMemcpy and cudaMemset are refused if a pointer is of the other side than the direction "
    "says, or if the bytes go past the end of its memory; cudaFree, if the pointer is not from "
    "cudaMalloc or was freed before."
)
MAY_BE_REFUSED = re.compile(r"\bcuda(Memcpy|Memset|Free)\w*\s*\(")
_MISSING = "missing"  # instead of a failure: the program did not come so far


class Failure(NamedTuple):
    """What is wrong with a case."""

    number: int  # of the case, from 0
    launch: int
    lines: list[str]
    is_wrong_result: bool = True  # and no crash, error or endless loop
    cuda_error: str = ""  # its name


def cases_of(exercise, seed=PUBLIC_SEED):
    """The exercise's cases, with the numbers that this seed draws. Each second launch has other values and,
    if that is possible, the size of a smaller case: what the first one has left is wrong for it."""
    found = runpy.run_path(str(exercise.file))
    cases, others = (
        list(found["cases"](random.Random(f"{exercise.name} {seed}{more}")))
        for more in ("", " second")
    )
    return [
        case._replace(second=case.second or _second_of(case, other, others))
        for case, other in zip(cases, others)
    ]


def _second_of(case, drawn_again, others):
    """The Case of every second launch of this one, or None: the largest one that is smaller, or the same one
    with other values if this one's size is what it is about."""
    has_own_size = (
        case.counted
        or case.every_execution
        or any(isinstance(each, PerLaunch) and len(each.numbers) > 1 for each in case.arguments)
    )
    smaller = [each for each in others if each.size < case.size and not has_own_size]
    tried = [*sorted(smaller, key=lambda each: -each.size), drawn_again]
    if case.launches == 1:
        return None
    return next((each for each in tried if case.can_be_followed_by(each)), None)


class SecretCase(NamedTuple):
    """The counted case once more, of a size that only a grade knows."""

    case: object
    drawn_from: int  # what memory is changed to that no kernel was seen to load


def secret_case(exercise, seed):
    """The SecretCase that this seed draws; None if nothing is counted. Raises CommandError."""
    if not exercise.limits:
        return None
    found = runpy.run_path(str(exercise.file))
    if "case_of_another_size" not in found:
        raise CommandError(
            f"{exercise.title}: its {FILE} has limits to judge and no case_of_another_size()."
        )
    drawing = random.Random(f"{exercise.name} {seed} of another size")
    return SecretCase(found["case_of_another_size"](drawing), drawing.getrandbits(63))


def first_failure(cases, run, results, seconds=SECONDS):
    """What is wrong with the first case that is not right, or None."""
    for number, case in enumerate(cases):
        failure = failure_of(number, case, results[number] if number < len(results) else None)
        if failure == _MISSING:
            return _end(number, results, run, seconds)
        if failure:
            return failure
    return None


def failure_of(number, case, result):
    """What is wrong with the case, None, or _MISSING."""
    if result is None or result.returned:
        return _MISSING
    for launch_number, launch in enumerate(result.launches):
        lines = _wrong_lines(case.of_launch(launch_number), launch)
        if lines:
            if launch_number > 0:
                lines.append(SECOND_LAUNCH)
            return Failure(number, launch_number, lines)
    if result.error:
        launch, lines = len(result.launches), _of_cuda(result.error)
        return Failure(number, launch, lines, is_wrong_result=False, cuda_error=result.error.name)
    complete = result.is_done and len(result.launches) == case.launches
    return None if complete else _MISSING


def _of_cuda(error):
    """CUDA's words, and what they often mean."""
    lines = [f"CUDA says: {error.words} ({error.name})"]
    if error.name == "cudaErrorLaunchTimeout":
        lines += ["Is there a loop that nothing ends, or do threads wait for one another?"]
    if error.name in ("cudaErrorInvalidValue", "cudaErrorInvalidConfiguration"):
        lines += textwrap.wrap(REFUSED_LAUNCH, WIDTH)
    return lines


def wrong_result(cases, results):
    """What is wrong with the first result that is there and wrong, or None."""
    for number, (case, result) in enumerate(zip(cases, results)):
        failure = failure_of(number, case, result)
        if failure and failure != _MISSING and failure.is_wrong_result:
            return failure
    return None


def _wrong_lines(case, launch):
    lines = []
    for place, argument in enumerate(case.arguments):
        if not isinstance(argument, Array):
            continue
        if place in launch.changed:
            lines.append(f"{argument.name} was written to, and is only to be read")
        if argument.kind in ("given", "scratch"):
            continue
        if argument.kind == "printed":
            lines += _wrong_text(argument, launch.contents.get(PRINTED, b""))
            continue
        size = argument.count * argument.type.size
        content = launch.contents.get(place, b"")
        if len(content) < size:
            lines.append(f"{argument.name} did not come back")
            continue
        lines += _wrong_elements(argument, argument.type.unpacked(content[:size]))
        if argument.kind != "kept" and content[size:].strip(bytes([POISON])):
            elements = several(argument.count, "element")
            lines.append(f"{argument.name} has {elements}, and what follows was changed")
    return lines


def _wrong_text(argument, text):
    """What is wrong with the numbers that a program has printed."""
    words = text.decode(errors="replace").split()
    got = []
    for word in words[: argument.count + 1]:
        try:
            got.append(argument.type.number(word))
        except ValueError:
            shown = word if len(word) <= LONGEST_WORD else f"{word[:LONGEST_WORD]}..."
            return [f"It prints {shown!r}, and only numbers are to go to stdout: use stderr."]
    if len(words) != argument.count:
        number = "1 number" if len(words) == 1 else f"{len(words):,} numbers"
        return [f"It prints {number} to stdout, expected {argument.count:,}."]
    return _wrong_elements(argument, got)


def _wrong_elements(argument, got):
    if argument.judge:
        sentence = argument.judge(got)
        return [sentence] if sentence else []
    if argument.expected is None:
        return []
    if got == argument.expected:  # nearly always, and in no time
        return []
    within = argument.within
    if not isinstance(within, list):
        within = [within or 0] * argument.count
    wrong = [
        place
        for place, (is_there, wanted, bound) in enumerate(zip(got, argument.expected, within))
        if not _is_right(is_there, wanted, bound)
    ]
    poison = argument.type.unpacked(bytes([POISON]) * argument.type.size)[0]
    lines = []
    for place in wrong[:MOST_WRONG]:
        name = argument.name if argument.count == 1 else f"{argument.name}[{place}]"
        wanted = shown_value(argument.expected[place])
        if argument.kind == "returned" and got[place] == poison:
            lines.append(f"{name}: nothing was written, expected {wanted}")
        else:
            lines.append(f"{name}: got {shown_value(got[place])}, expected {wanted}")
    if len(wrong) > MOST_WRONG:
        lines.append(f"and {len(wrong) - MOST_WRONG:,} more of {argument.count:,} elements")
    return lines


def _is_right(is_there, wanted, bound):
    if bound:
        return abs(is_there - wanted) <= bound  # no NaN is
    return is_there == wanted


def shown_value(value):
    if isinstance(value, tuple):
        return f"({', '.join(map(shown_value, value))})"
    return f"{value:.9g}" if isinstance(value, float) else f"{value:,}"


def _end(number, results, run, seconds):
    """How the program ended in the midst of a case, or with another code than 0."""
    began = number < len(results) and results[number].returned is None
    launch = len(results[number].launches) if began else 0
    return Failure(number, launch, how_it_ended(run, seconds), is_wrong_result=False)


def how_it_ended(run, seconds=SECONDS):
    """Lines about a program that did not come to its end."""
    fault = fault_lines(run.diagnostics)
    if fault:
        return fault
    if run.code is None:
        return [f"It did not end within {seconds} s. Is there a loop that nothing ends?"]
    if run.code < 0:
        return [f"The program was ended by {signal_name(-run.code)}."]
    if run.code == NOTHING_COULD_RUN:
        return [NO_DEVICE]
    last = last_words(run.diagnostics, WIDTH) or run.output.strip().splitlines()[-1:]
    if run.code == 0:
        return ["The program ended before it had answered. Does your code call exit()?"]
    return [f"The program ended with {run.code}.", *last]


def fault_lines(records):
    """The record of a fault in a kernel, or of the host: who, what and where, and the line itself."""
    faults = (each for each in records if each.is_failure_of_block or each.is_host_access)
    fault = next(faults, None)
    if not fault:
        return []
    at = fault.place()
    code = [at.code] if at and at.code else []
    return [*textwrap.wrap(fault.sentence, WIDTH), *code]


def last_words(records, width):
    """What the last record says, in lines; nothing if there is none."""
    return textwrap.wrap(records[-1].sentence, width) if records else []


def error_words(run, failure, text):
    """The lines of a failure, with the backend's own report where there is one; `text` is the student's
    file."""
    if failure.is_wrong_result:
        return failure.lines
    first, *rest = failure.lines
    if failure.cuda_error == "cudaErrorInvalidValue" and MAY_BE_REFUSED.search(text):
        rest += textwrap.wrap(REFUSED_CALL, WIDTH)
    return fault_lines(run.diagnostics) or [
        first,
        *places_of_threads(run.diagnostics, WIDTH),
        *rest,
    ]


MOST_PLACES = 3


def places_of_threads(records, width):
    """Lines that say where threads wait or run, and why a loop need never end; [] if none is known."""
    places, remarks = [], []
    for record in records:
        at, block, thread = map(record.fields.get, ("at", "block", "thread"))
        if record.kind == "late_block" and block:
            remarks += textwrap.wrap(f"Block {block} {record.sentence}.", width)
        if not (at and block and thread):
            continue
        if record.kind == "waiting":
            more = record.fields.get("more")
            who = f"thread {thread} and {more} more wait" if more else f"thread {thread} waits"
            awaits = record.fields["awaits"]
            place = f"block {block} {who} {rows()[awaits]}    line {at.line}"
            places.append((awaits != "a_value_in_memory", place))
        elif record.is_stop:
            places.append((False, f"block {block} thread {thread} is in a loop    line {at.line}"))
        elif record.kind == "plain_poll":
            if record.fields["poll"] == "loops_without_reading":
                remarks.append("The compiler reads what it waits for once, before the loop.")
            remarks += textwrap.wrap(f"Such a loop {rows()['without_an_atomic']}.", width)
    lines = [place for _, place in places]
    if len(places) > MOST_PLACES:
        # Those in loops first: threads at a barrier wait for them.
        lines = [place for _, place in sorted(places, key=lambda each: each[0])[:MOST_PLACES]]
        more = len(places) - MOST_PLACES
        lines.append(f"and {more} more place{'s' * (more != 1)}")
    return lines + remarks

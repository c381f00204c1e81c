# SPDX-License-Identifier: MIT
"""What a check puts on the screen: the verdict first, then one cause, then what to do next."""

import re
import sys
import textwrap

from engine.command.compiler_messages import SOURCE
from engine.command.output import BOLD, RED, coloured
from engine.command.paths import shown
from grader.exercises.catalogue import all_exercises
from grader.exercises.solutions import has_solution
from grader.exercises.work_folder import BEGUN, CHECKED, DONE, NOT_BEGUN
from grader.judging.verdict import FAILED, NOT_RUN, PASSED

WIDTH = 80
HINT_WIDTH = 76
GREEN, DIM = "32", "2"
SIGNS = {PASSED: "\u2714", FAILED: "\u2718", NOT_RUN: "\u2013"}
PLAIN_SIGNS = {PASSED: "ok", FAILED: "no", NOT_RUN: "-"}
BAR = 30  # characters
NO_HINTS = "This copy of the course has no hints: ask your instructor."
STATE_COLOURS = {DONE: GREEN, CHECKED: "33", BEGUN: "33", NOT_BEGUN: DIM}
WORDS = {CHECKED: "not right yet"}  # for a state whose name would say less
COLOURS = {PASSED: GREEN, FAILED: RED, NOT_RUN: DIM}


def head_line(exercise, verdict, stream=None):
    """'04.2 fullest_bin        results ok   races no   limits -'."""
    stream = stream or sys.stdout
    signs = SIGNS if _can_write(SIGNS, stream) else PLAIN_SIGNS
    if verdict.compiles:
        states = "   ".join(
            f"{part} {coloured(signs[state], COLOURS[state], stream)}"
            for part, state in verdict.parts.items()
        )
    else:
        states = f"does not compile {coloured(signs[FAILED], RED, stream)}"
    width = len(re.sub(r"\x1b\[\d+m", "", states))
    title = exercise.title
    gap = " " * max(3, WIDTH - len(title) - width)
    return f"{coloured(title, BOLD, stream)}{gap}{states}"


def verdict_lines(exercise, verdict, work, has_keys=False, explain=False):
    """All of it, with what to do next: a command, or a key where there are keys. What a race lacks is
    there if `explain` asks for it."""
    return [
        *judged_lines(exercise, verdict, explain),
        *nvcc_lines(verdict),
        *closing_lines(exercise, verdict, work, has_keys, explain),
    ]


def judged_lines(exercise, verdict, explain=False):
    """What was found out without nvcc."""
    lines = [head_line(exercise, verdict), ""]
    lines += [f"  {line}".rstrip() for line in verdict.lines]
    if verdict.remedy and explain:
        lines += ["", *(f"  {line}".rstrip() for line in verdict.remedy)]
    if verdict.warnings:
        lines += ["", "  The compiler warns:", *(f"  {line}" for line in verdict.warnings)]
    if verdict.picture:
        lines += ["", f"  picture: {shown(verdict.picture)}"]
    if verdict.refusals:
        lines += ["", *refusal_lines(verdict)]
    return lines


def nvcc_lines(verdict):
    """nvcc's answer, if it was asked and has something to say."""
    if verdict.nvcc_errors:
        first = "But nvcc, which compiles for a GPU, refuses the file, so it is not done:"
        lines = [line for each in (first, *verdict.nvcc_errors) for line in _wrapped(each)]
    elif verdict.nvcc_problem:
        lines = _wrapped(
            f"nvcc gave no answer, and the verdict is without it: {verdict.nvcc_problem}"
        )
    else:
        return []
    return ["", *lines]


def closing_lines(exercise, verdict, work, has_keys=False, explain=False):
    """What to do next."""
    lines = []
    if verdict.is_solved:
        lines.append("")
        exercises = all_exercises()
        done = sum(work.state(each) == DONE for each in exercises)
        verb = "is" if done == 1 else "are"
        lines.append(f"  {done} of {len(exercises)} exercises {verb} done.")
        if has_solution(exercise):
            command = "s" if has_keys else work.command("solution", exercise.number)
            lines.append(f"  {command:<22} yours next to ours")
        following = next_exercise(exercise, exercises, work)
        if following:
            command = "n" if has_keys else work.command("learn", following.number)
            minutes = following.facts["minutes"]
            lines.append(f"  {command:<22} next: {following.title} ({minutes} minutes)")
    elif not has_keys and not verdict.nvcc_errors:
        lines.append("")
        if exercise.hints:
            lines.append(f"  {work.command('hint', exercise.number)}")
        if verdict.remedy and not explain:
            command = work.command("check", exercise.number, "--explain")
            lines.append(f"  {command}   says what is missing")
    return lines


def hint_lines(hint):
    """The hint as lines of a screen."""
    paragraphs = [textwrap.wrap(" ".join(text.split()), HINT_WIDTH) for text in hint.split("\n\n")]
    return [line for lines in paragraphs for line in [*lines, ""]][:-1]


def refusal_lines(verdict):
    """A sentence about what a grade would refuse the file for, whatever the verdict is; [] for nothing."""
    if not verdict.refusals:
        return []
    first, *others = verdict.refusals
    more = f" (and {len(others)} more)" if others else ""
    sentence = f"A grade would refuse this file: {first[0].lower()}{first[1:-1]}{more}."
    return _wrapped(sentence)


def _wrapped(text):
    """The text with an indent; a line of code stays one."""
    if SOURCE.match(text):
        return [f"  {text}"]
    return textwrap.wrap(text, WIDTH, initial_indent="  ", subsequent_indent="  ")


def exercise_rows(exercises, work, has_chapters=True):
    """A line for each exercise, with its state, below its chapter's name if there is room for these."""
    rows, chapter = [], None
    for each in exercises:
        if has_chapters and each.chapter != chapter:
            chapter = each.chapter
            rows.append(f"{chapter[:2]}  {chapter[3:].replace('_', ' ')}")
        state = work.state(each)
        points, minutes = sum(each.points.values()), each.facts["minutes"]
        kind = each.facts["kind"]
        name = each.name if kind == "write" else f"{each.name} ({kind})"
        rows.append(
            f"  {each.number}  {name:<36}{points:>3} points {minutes:>3} min  "
            f"{coloured(WORDS.get(state, state), STATE_COLOURS[state], sys.stdout)}"
        )
    return rows


def progress_line(exercises, work):
    """'[######----] 2 of 16 done, 22 of 180 points'."""
    done = [each for each in exercises if work.state(each) == DONE]
    filled = BAR * len(done) // max(1, len(exercises))
    points, of_points = (
        sum(sum(each.points.values()) for each in some) for some in (done, exercises)
    )
    bar = f"{'#' * filled}{'-' * (BAR - filled)}"
    return f"[{bar}] {len(done)} of {len(exercises)} done, {points} of {of_points} points"


def next_exercise(exercise, exercises, work):
    """The next one that is not done: after this one, else from the beginning; None if all are."""
    place = [each.number for each in exercises].index(exercise.number)
    around = exercises[place + 1 :] + exercises[:place]
    return next((each for each in around if work.state(each) != DONE), None)


def _can_write(signs, stream):
    try:
        "".join(signs.values()).encode(getattr(stream, "encoding", None) or "ascii")
    except UnicodeEncodeError:
        return False
    return True

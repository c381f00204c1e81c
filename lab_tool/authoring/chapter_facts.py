# SPDX-License-Identifier: MIT
"""chapters/NN_name/chapter.json: what the course's tables, plans and the editor say of a chapter.

docs/internals/chapters.md describes its keys. The chapter's folder and program are not among them:
the row in chapters/meson.build has those.
"""

from typing import NamedTuple, Optional

from engine.command.errors import CommandError, listed
from engine.command.json_files import json_object

PLANS = ("short", "medium", "long")
FILE = "chapter.json"
MODULE = ("session", "predictions", "show", "together", "homework")  # the keys of "module"
# The keys whose values stand in tables as they are.
TEXTS = (
    "who_finishes",
    "channel",
    "right_when",
    "who_waits",
    "outcome",
    "variants",
    "compared_with",
)


class ChapterFacts(NamedTuple):
    who_finishes: str  # the job that several blocks share
    channel: str  # between the blocks
    right_when: str  # the channel is the right one when ...
    who_waits: str  # and for whom
    costs: list[dict]  # {"of": what was timed, "measured": the cell of a recorded run that says it}
    outcome: str  # after the lesson, a student can ...
    variants: str  # that its benchmark measures
    compared_with: str  # what its benchmark measures next to them
    exercise_to_set: Optional[str]  # if a class does one of its exercises
    debug_options: list[str]  # of its program in a debugger: a small job
    sessions: dict[str, list[str]]  # of each of the PLANS: what is done in a session
    module: Optional[dict]  # the keys of MODULE: its part of the module of two weeks, if it has one


def facts_of(root, chapter):
    """The ChapterFacts of a Chapter. Raises CommandError, which names the file and what is wrong with it."""
    shown = f"chapters/{chapter.folder}/{FILE}"
    facts = json_object(root, shown, ChapterFacts._fields, others=False)
    for key, value in facts.items():
        problem = _problem(key, value)
        if problem:
            raise CommandError(f'{shown}: "{key}" {problem}.')
    return ChapterFacts(**facts)


def problem_of_cell(value):
    """What is wrong with a text that is to stand in a table; None if nothing is."""
    if not isinstance(value, str):
        return "must be a text"
    if not value.strip():
        return "is empty"
    return (
        "has a | or a line break, which ends a cell of a table" if {"|", "\n"} & {*value} else None
    )


def _problem(key, value):
    if key == "exercise_to_set":
        return None if value is None or isinstance(value, str) else "must be a text or null"
    if key == "debug_options":
        return None if _are_texts(value) else "must be a list of texts"
    if key == "costs":
        return _problem_of_costs(value)
    if key == "sessions":
        if not isinstance(value, dict) or set(value) != set(PLANS):
            return f"must have the keys {listed(PLANS)}"
        if not all(_are_texts(sessions) for sessions in value.values()):
            return "must have a list of texts for each plan"
        problems = (problem_of_cell(cell) for sessions in value.values() for cell in sessions)
        wrong = next(filter(None, problems), None)
        return wrong and f"has a session that {wrong}"
    if key == "module":
        return None if value is None else _problem_of_module(value)
    return problem_of_cell(value)


def _problem_of_costs(value):
    if not isinstance(value, list):
        return "must be a list"
    for cost in value:
        if not isinstance(cost, dict) or set(cost) != {"of", "measured"}:
            return 'must have costs with the keys "of" and "measured"'
        for key, text in cost.items():
            wrong = problem_of_cell(text)
            if wrong:
                return f'has a cost with an "{key}" that {wrong}'
    return None


def _problem_of_module(value):
    if not isinstance(value, dict) or set(value) != set(MODULE):
        return f"must be null, or have the keys {listed(MODULE)}"
    if type(value["session"]) is not int or value["session"] < 1:
        return "must have the number of a session, from 1 on"
    wrong = problem_of_cell(value["show"])
    if wrong:
        return f'has a "show" that {wrong}'
    for key in ("predictions", "together", "homework"):
        if not _are_texts(value[key]):
            return f'must have a list of names in "{key}"'
    return None


def _are_texts(value):
    return isinstance(value, list) and all(isinstance(each, str) for each in value)

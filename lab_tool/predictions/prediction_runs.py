# SPDX-License-Identifier: MIT
"""Runs the four variants of a prediction under the race checker, and holds what is said of them to
what it finds."""

import argparse
import os

from engine.command.checking import merge_reports_of
from engine.command.errors import CommandError, listed
from engine.command.racecheck_runs import Merging, merged_findings, problem_of
from engine.command.schedules import scheduled_runs
from lab_tool.builds.observed_programs import observed_programs, observing_folder
from lab_tool.predictions.predictions import LETTERS

SCHEDULES = 20
SECONDS = 60  # for one run, which takes a fraction of one


class Contradiction(CommandError):
    """What stands in the course is not what racecheck finds: a mistake of the course."""

    def __init__(self, message):
        super().__init__(f"internal error: {message}", CONTRADICTED)


CONTRADICTED = 3  # the exit code


def findings_of(prediction, build=None):
    """{letter: what racecheck finds in the variant}. Builds the program first, if it has changed.

    Errors: Contradiction if a variant is not what the prediction says of it; CommandError if nothing
    could be built or run.
    """
    # The answers hold for the checker's own number of multiprocessors.
    os.environ.pop("LAB_SMS", None)
    file = argparse.Namespace(
        target=str(prediction.source), more_files=[], include=[], define=[], compiler_option=[],
        program_options=[], build=build,
    )  # fmt: skip
    ((program, _),) = observed_programs(file)
    merge_reports = merge_reports_of(program, lambda: observing_folder(file))
    checks = [(program, [letter]) for letter in LETTERS]
    found = {}
    with scheduled_runs(checks, range(SCHEDULES), SECONDS) as finished:
        for letter, runs_of_variant in zip(LETTERS, finished):
            runs = runs_of_variant()
            problems = [problem for run in runs if (problem := problem_of(run, SECONDS))]
            merging = Merging(
                merge_reports, str(prediction.source), prediction.variants[letter].first_line
            )
            findings = merged_findings(runs, merging)
            reason = contradiction(prediction.variants[letter], findings, problems)
            if reason:
                raise Contradiction(f"{prediction.label} ({prediction.name}), {letter}: {reason}.")
            found[letter] = findings
    return found


def contradiction(variant, findings, problems):
    """Why these findings are not what is said of the variant; None if they are.

    A variant that has a race may also read what nothing has written yet; one that has none may not.
    """
    if problems:
        return problems[0]
    races = {name for item in findings if item["kind"] == "race" for name in item["diagnosis"]}
    others = {name for item in findings if item["kind"] != "race" for name in item["diagnosis"]}
    if races != set(variant.diagnosis) or (others and not races):
        found = listed(sorted(races | others)) or "nothing"
        return f"racecheck finds {found}, and not {listed(variant.diagnosis) or 'nothing'}"
    return None

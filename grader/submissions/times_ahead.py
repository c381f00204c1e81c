# SPDX-License-Identifier: MIT
"""How long a larger class will take, from grading runs that are finished.

python3 -m grader.submissions.times_ahead OUTPUT... --submissions 1000,10000 --at-once 2,32

The model: every different text of an exercise takes its seconds on one processor, and so many are judged
at once. Both numbers come from the runs: the seconds of each judgement, and how many texts were different.
"""

import argparse
import json
import pathlib
import statistics
import sys
from typing import NamedTuple

from engine.command.errors import WRONG_USE, CommandError
from engine.command.output import say, say_problem


class Sample(NamedTuple):
    """What finished runs say."""

    seconds: list  # of each judgement
    handed_in: int  # submissions, of which several may have the same text

    @property
    def different(self):
        return len(self.seconds) / self.handed_in

    @property
    def mean(self):
        return statistics.fmean(self.seconds)

    @property
    def error_of_mean(self):
        return statistics.stdev(self.seconds) / len(self.seconds) ** 0.5

    def ahead(self, submissions, at_once):
        """(seconds, their standard error); no run is shorter than its longest judgement."""
        judged = submissions * self.different
        most = max(self.seconds)
        return max(judged * self.mean / at_once, most), judged * self.error_of_mean / at_once


def sample_of(folders):
    """The Sample of these output folders of `lab grade`. Raises CommandError."""
    seconds, handed_in = [], 0
    for folder in map(pathlib.Path, folders):
        try:
            marks = json.loads((folder / "results.json").read_text(encoding="utf-8"))
            for file in sorted(folder.glob("judged/*.json")):
                seconds.append(float(json.loads(file.read_text(encoding="utf-8"))["seconds"]))
            rows = [row for student in marks["students"] for row in student["exercises"]]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise CommandError(
                f"{folder} is no output folder of a finished lab grade.", WRONG_USE
            ) from error
        handed_in += sum(row["file"] is not None for row in rows)
    if len(seconds) < 2 or not handed_in:
        raise CommandError("two judgements or more are needed to say anything.", WRONG_USE)
    return Sample(seconds, handed_in)


def numbers(text):
    """An argparse type: '1000,10000'."""
    try:
        found = [int(word) for word in text.split(",")]
    except ValueError:
        found = []
    if not found or min(found) < 1:
        raise argparse.ArgumentTypeError(f"numbers are expected, as in 1000,10000, not {text!r}")
    return found


def hours(seconds):
    """'2 h 05 min'."""
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60:02} min"


def main(words):
    parser = argparse.ArgumentParser(prog="times_ahead", description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", metavar="OUTPUT")
    parser.add_argument("--submissions", type=numbers, default=[1000, 10000])
    parser.add_argument("--at-once", type=numbers, default=[2, 32])
    arguments = parser.parse_args(words)
    try:
        sample = sample_of(arguments.folders)
    except CommandError as problem:
        say_problem(problem.sentence, *problem.further)
        return problem.code
    say(
        f"{len(sample.seconds)} judgements of {sample.handed_in} submissions: "
        f"{sample.mean:.1f} s each (from {min(sample.seconds):.1f} to {max(sample.seconds):.1f} s)"
    )
    for submissions in arguments.submissions:
        for at_once in arguments.at_once:
            seconds, error = sample.ahead(submissions, at_once)
            say(f"{submissions:>9,} on {at_once:>4}: {hours(seconds)}, give or take {hours(error)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

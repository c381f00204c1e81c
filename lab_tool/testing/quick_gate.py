# SPDX-License-Identifier: MIT
"""`./lab test quick`: what a change can reach, as far as it can be built and run in a minute."""

import os
import time
from collections import Counter
from typing import NamedTuple

from engine.command.build_folder import build, introspection
from engine.command.output import say, say_next
from lab_tool.testing.format_check import check_format
from lab_tool.testing.test_history import RunHistory
from lab_tool.testing.test_runs import run_and_report, say_by_suite, say_counts, tests_text
from lab_tool.testing.test_selection import targets_of
from lab_tool.testing.test_suites import all_suites, suite_of

SECONDS = 60  # the whole gate, a build folder up to date given
SECONDS_AROUND = 3  # for what starts and ends Ninja, Meson and the tests
SECONDS_OF_A_STEP = 5  # to build something that has not been built here yet
SECONDS_OF_A_TEST = 10  # that has not run here yet


class Plan(NamedTuple):
    tests: list[dict]  # the ones to run, the first one first
    left_out: list[dict]  # what does not fit


class BuildTimes:
    """What is out of date in a build folder, and how long it took to build the last time."""

    def __init__(self, graph, folder):
        self.graph = graph
        self.folder = folder
        self.seconds, self.times = _build_log(folder)
        self.newest = {}

    def stale_steps(self, targets):
        """{output: seconds} of what Ninja would build for the targets."""
        nodes = self.graph.nodes_of(targets)
        outputs = [
            node for node in nodes if node in self.graph.inputs and not node.startswith("step of ")
        ]
        return {
            output: self.seconds.get(output, SECONDS_OF_A_STEP)
            for output in outputs
            if self.graph.rule_of(output) != "phony" and self._is_stale(output)
        }

    def _is_stale(self, output):
        own = self._time_of(output)
        return own is None or own < self._newest_source(output)

    def _newest_source(self, output):
        """The time of the newest file of the tree that the output is made from."""
        if output not in self.newest:
            paths = self.graph.sources_of([output]).paths
            times = (self._modified(os.path.join(self.graph.root, path)) for path in paths)
            self.newest[output] = max((when for when in times if when), default=0)
        return self.newest[output]

    def _time_of(self, output):
        written = self._modified(os.path.join(self.folder, output))
        return None if written is None else max(written, self.times.get(output, 0))

    @staticmethod
    def _modified(path):
        try:
            return os.stat(path).st_mtime_ns
        except OSError:
            return None


def plan(reached, history, suites, build_times, folder, targets, seconds):
    """Which of these tests to run, if building and running may take so many seconds together.

    In this order: what the change is known to reach, what failed when it last ran, what fails most
    often, what is cheap.
    """
    number = processors()

    def expected(test):
        past = history.past_of(test["name"])
        return past.seconds if past else SECONDS_OF_A_TEST

    def order(test):
        past = history.past_of(test["name"])
        place = suite_of(test, suites)
        is_doubtful = test["name"] in reached.without_record
        if past is None:
            return is_doubtful, True, 0, place, SECONDS_OF_A_TEST
        return is_doubtful, not past.has_failed_last, -past.failures, place, past.seconds

    chosen, left_out, steps, running, longest = [], [], {}, 0.0, 0.0
    for test in sorted(reached.tests, key=order):
        of_test = expected(test)
        all_steps = {**steps, **build_times.stale_steps(targets_of([test], folder, targets))}
        building = sum(all_steps.values()) / number
        needed = building + max((running + of_test) / number, longest, of_test)
        if needed > seconds:
            left_out.append(test)
            continue
        chosen.append(test)
        steps = all_steps
        running, longest = running + of_test, max(longest, of_test)
    return Plan(chosen, left_out)


def run_quick(place, tests, reach, reached, changes, start):
    """The gate for a pull request, which began at `start`; returns lab's exit code."""
    counts = Counter(check_format(changes.files))
    has_failed = bool(counts["failed"])
    history = RunHistory(place.folder, brief=True)
    targets = introspection(place.folder, "targets")

    def is_built(test):
        return not build_times.stale_steps(targets_of([test], place.folder, targets))

    build_times = BuildTimes(reach.graph, place.folder)
    seconds = seconds_left(start) - SECONDS_AROUND
    planned = plan(reached, history, all_suites(), build_times, place.folder, targets, seconds)
    left_out = planned.left_out
    # What is known to be reached comes first; of that what is built, since on a busy machine building
    # may take all the time that there is.
    parts = {}
    for test in planned.tests:
        kind = (test["name"] in reached.without_record, not is_built(test))
        parts.setdefault(kind, []).append(test)
    for (_, must_be_built), part in sorted(parts.items(), key=lambda item: item[0]):
        seconds = seconds_left(start) - SECONDS_AROUND
        if must_be_built and seconds > 0:
            wanted = targets_of(part, place.folder, targets)
            if not build(place, wanted, tests_text(len(part)), seconds):
                build_times = BuildTimes(reach.graph, place.folder)
                left_out += [test for test in part if not is_built(test)]
                part = [test for test in part if is_built(test)]
        seconds = seconds_left(start) - SECONDS_AROUND
        if not part or seconds <= 0:
            left_out += part
            continue
        found, is_failure, unfinished = run_and_report(place, tests, part, history, True, seconds)
        counts += found
        has_failed = has_failed or is_failure
        left_out += unfinished
    again = f"./lab test all --since {changes.commit}"
    if left_out:
        say(
            f"Left out, because {SECONDS} s are not enough for them: {tests_text(len(left_out))}. "
            f"{again} runs them."
        )
        say_by_suite(left_out)
    say_next(again, "all that the change can reach, in full")
    return say_counts(counts, has_failed)


def processors():
    return len(os.sched_getaffinity(0))


def seconds_left(start):
    return SECONDS - (time.monotonic() - start)


def _build_log(folder):
    """How many seconds each output took to build, and what Ninja has noted as its time."""
    seconds, times = {}, {}
    try:
        lines = (folder / ".ninja_log").read_text(encoding="utf-8").splitlines()
    except OSError:
        return {}, {}
    for line in lines[1:]:
        begin, end, when, output, *_ = line.split("\t")
        seconds[output] = (int(end) - int(begin)) / 1000
        times[output] = int(when)
    return seconds, times

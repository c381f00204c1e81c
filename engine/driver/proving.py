# SPDX-License-Identifier: MIT
"""Explores all executions of a racecheck program, each a run by a list of decisions."""

import pathlib
import tempfile
import time

from engine.driver.errors import INTERRUPTED, WRONG_USE, CommandError
from engine.driver.executions import graphs, misses_older_values, read_trace, reversals
from engine.driver.output import counted, say
from engine.driver.racecheck_runs import answer, check_once, problem_of

REFUSALS = {
    "many_events": "a run has more than 2,000 strong accesses: try a grid of 2 x 2 and small inputs",
    "many_blocks": "a launch has more blocks than are resident at once: try fewer, or set LAB_SMS",
    "grid_barrier": "a barrier of the grid is not explored yet",
    "stealing": "blocks that cancel others are not explored yet",
}
DIFFERENT = (
    "two runs of the same decisions differ: the program depends on time, on random numbers of the host, or "
    "on something else that no decision settles"
)
SEED = 0


def run_decided(program, options, decisions, timeout, folder):
    """One run by the decisions: what the race checker says of it, and its trace."""
    listed, traced = pathlib.Path(folder, "decisions"), pathlib.Path(folder, "trace")
    listed.write_text("".join(f"{each}\n" for each in decisions))
    traced.unlink(missing_ok=True)
    settings = {"LAB_PROVE_DECISIONS": str(listed), "LAB_PROVE_TRACE": str(traced)}
    run = check_once(program, options, SEED, timeout, False, settings=settings)
    text = traced.read_text() if traced.exists() else ""
    return run, read_trace(text[: text.rfind("\n") + 1])


class Exploration:
    """What is known after some runs, and what is still to be run."""

    def __init__(self):
        self.executions = set()  # the graphs of complete ones
        self.shapes = ()
        self.results = []  # what the program printed, each text once
        self.prints_the_same = True  # in two runs of the same decisions
        self.misses_older_values = False
        self.failed = None  # the run that failed, and its decisions
        self.unfinished = ""  # why it has not come to the end, if so
        self._waiting = [[], []]  # the first twice: two runs must not differ
        self._started = set()  # graphs, each with the thread that went on from there
        self._first = None

    def run_all(self, run, limit, deadline):
        """Runs until all executions are known, one fails, or there are `limit` of them, or time is over."""
        while self._waiting and not self.failed:
            if len(self.executions) >= limit:
                self.unfinished = f"stopped at {limit:,} executions (--limit)"
                return
            if time.monotonic() >= deadline:
                self.unfinished = "its time was over (--seconds)"
                return
            prefix = self._waiting.pop()
            known = list(graphs(prefix[:-1]))[-1]
            if prefix and (known, prefix[-1].name) in self._started:
                continue
            if prefix:
                self._started.add((known, prefix[-1].name))
            self._take(*run([each.decision for each in prefix]), prefix, known, deadline)

    def _take(self, run, trace, prefix, known, deadline):
        if trace.refused == "waits":
            return  # the last thread looks again only once somebody has written
        if trace.refused in REFUSALS:
            raise CommandError(f"not proved: {REFUSALS[trace.refused]}.")
        happened = list(graphs(trace.events))
        is_same = len(happened) >= len(prefix) and happened[max(len(prefix) - 1, 0)] == known
        if trace.refused or not is_same:
            raise CommandError(f"not proved: {DIFFERENT}.")
        if not trace.shapes:
            raise CommandError("not proved: the program has launched no kernel.")
        is_stopped = run.code is None or (run.report or {}).get("ended_by_time")
        if is_stopped and time.monotonic() >= deadline:
            return
        if run.report and run.report["forgotten_reads"]:
            raise CommandError("not proved: there was no room to remember all reads.")
        self.executions.add(happened[-1])
        self.shapes = trace.shapes
        if problem_of(run, 0) or run.report["findings"]:
            self.failed = run, [each.decision for each in trace.events]
            return
        if not prefix and self._first is None:
            self._first = happened[-1], run.output
        elif not prefix:
            if self._first[0] != happened[-1]:
                raise CommandError(f"not proved: {DIFFERENT}.")
            self.prints_the_same = self._first[1] == run.output
        if run.output not in self.results:
            self.results.append(run.output)
        self.misses_older_values = self.misses_older_values or misses_older_values(trace)
        self._started.update((graph, each.name) for graph, each in zip(happened, trace.events))
        self._waiting += reversals(trace)


def explore(program, options, limit, seconds):
    """An Exploration of the program, as far as it comes."""
    name = pathlib.Path(program).name.removesuffix("_racecheck")
    say(f"exploring {name}: Ctrl-C says how far it came")
    exploration = Exploration()
    deadline = time.monotonic() + seconds
    try:
        with tempfile.TemporaryDirectory(prefix="lab-prove-") as folder:

            def run(decisions):
                left = max(1, round(deadline - time.monotonic()))
                return run_decided(program, options, decisions, left, folder)

            exploration.run_all(run, limit, deadline)
    except KeyboardInterrupt:
        exploration.unfinished = "interrupted"
    return exploration


def shape_in_words(shapes):
    """How large the launches are."""
    words = [
        f"{counted(blocks, 'block')} of {counted(threads, 'thread')}"
        for blocks, threads in dict.fromkeys(shapes)
    ]
    return ", then ".join(words)


def say_explored(explored):
    """Says what an exploration without a failure has shown; returns the exit code."""
    executions = counted(len(explored.executions), "execution")
    if explored.unfinished:
        say(
            f"not proved: {executions} explored, none with a race or a fault; {explored.unfinished}"
        )
        return INTERRUPTED if explored.unfinished == "interrupted" else 1
    if not explored.prints_the_same:
        result = "what it prints differs by itself, so nothing is said of its results"
    elif len(explored.results) == 1:
        text = explored.results[0].strip()
        shown = f'"{text}"' if text and "\n" not in text else "the same output"
        result = f"one result: {shown}"
    else:
        result = f"{len(explored.results)} different outputs"
    what = f"{executions} of {shape_in_words(explored.shapes)}; no race, no fault; {result}"
    bounds = "this grid, these inputs; all blocks are resident from the start"
    waits = "a loop that waits looks again only once another thread has written"
    cycles = "executions in which program order and reads-from form a cycle (load buffering) are not explored"
    if explored.misses_older_values:
        say(f"explored: {what}")
        say("not proved: all interleavings were explored, older values were not")
    else:
        say(f"proved: {what}")
    say(f"bounds: {bounds}; {waits}; {cycles}")
    return 1 if explored.misses_older_values else 0


def say_findings_of(program, run, merging, timeout):
    """Prints racecheck's report of a run; returns the exit code."""
    return answer(program, [SEED], [run], timeout, False, merging)["code"]


def read_decisions(path):
    """The decisions of a file that ./lab prove has written."""
    try:
        text = pathlib.Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(
            f"{path} can't be read as a list of decisions: {error}.", WRONG_USE
        ) from error
    words = [line for line in text.splitlines() if not line.startswith("#")]
    for word in words:
        block, _, rank = word.partition(".")
        if not (block.isascii() and block.isdigit() and rank.isascii() and rank.isdigit()):
            raise CommandError(
                f"{path} is no list of decisions: {word!r} is not a block and a thread, as in 2.0.",
                WRONG_USE,
            )
    return words


def replay(program, options, path, decisions, timeout):
    """Runs the decisions, those of the file `path`, again: what the race checker says."""
    with tempfile.TemporaryDirectory(prefix="lab-prove-") as folder:
        run, trace = run_decided(program, options, decisions, timeout, folder)
    if trace.refused in REFUSALS:
        raise CommandError(f"{REFUSALS[trace.refused]}.")
    made = [each.decision for each in trace.events]
    if trace.refused or made[: len(decisions)] != decisions:
        raise CommandError(
            f"{path} does not fit this program and these options: decision {len(made) + 1} names a "
            "thread that has no strong access there."
        )
    return run

# SPDX-License-Identifier: MIT
"""Explores all executions of a racecheck program, each a run by a list of decisions."""

import contextlib
import pathlib
import re
import signal

from engine.command.errors import INTERRUPTED, WRONG_USE, CommandError
from engine.command.output import counted, say, say_fitted
from engine.command.racecheck_runs import problem_of, say_result
from engine.prove.consistency import bits_of
from engine.prove.decided_runs import (
    FAILURES,
    FIRST_OF_THREADS,
    ONLY_OTHER_BYTES,
    SEED,
    WITHOUT_CHANCE,
    decided_runs,
)
from engine.prove.executions import Execution
from engine.prove.load_buffering import Histories
from engine.prove.starting import end_in_words, explore_starts, first_hang
from engine.prove.trace import NotExplored, does_in_words, not_explored

REFUSALS = {
    "many_events": "a run has more than 2,000 strong accesses: try a grid of 2 x 2 and small inputs",
    "many_blocks": "a launch has more blocks than are resident at once: try fewer, or set LAB_SMS",
    "stealing": "blocks that cancel others are not explored yet",
    "mixed_sizes": "strong accesses of two sizes to the same bytes are not explored yet",
    "waits_for_others": "may hang: a kernel waits for the host or for other work, and what ends its wait is "
    "not explored",
    "waits": "a thread has waited where other threads of its block wrote: try fewer threads",
}
DIFFERENT = (
    "two runs of the same decisions differ: the program depends on time, on random numbers of the host, or "
    "on something else that no decision settles"
)
NOT_ENDED = "it has not come to its end"  # until all that was begun has
BEFORE_STARTS = " before it was known whether it ends if not all blocks start"
OTHERWISE = (
    "look for a variable before its first value or after its scope, for __restrict__ pointers to the same "
    "memory, for a product and a sum that may be fused, for misaligned accesses and for null pointers"
)
MOST_THREADS_THAT_FAIL = 128  # a run for each of them
TIME_IS_OVER = "its time was over (--seconds)"
SECONDS_TO_REPLAY = 1.5  # after its time, for what a run has found by then
MOST_EXECUTIONS = 1_000_000
MOST_RESULTS, MOST_OF_RESULT = 4, 300  # how many are shown, and the characters of each
CHANCES = ("chance", "undefined")  # kinds of what a run with failures tries
FILES = ("output", "file")  # a kind and a name of what a program did
START = re.compile(r"[1-9][0-9]*:[0-9]+(,[0-9]+)*")  # before all decisions
DECISION = re.compile(r"[0-9]+\.[0-9]+(/[0-9]+)?")


class Exploration:
    """What is known after some runs, and what is still to be run.

    All executions are found. Take the run that has most in common with one that was not. Let the first
    access that differs take what it takes there: what they have in common stays, so this is in one of the
    largest prefixes that are run (`alternatives`), and that run has more in common.

    What comes after a launch's end depends on what the launches up to there have left, and on nothing else:
    all that the host can know is in memory at the end of one of them. So of runs that have left the same,
    and print the same if they go on in the same way, only the first one's later launches are varied.
    """

    def __init__(self, compares_files=False):
        """compares_files: the caller reads what the program writes to files, as it does what it prints."""
        self._compared = {FILES} if compares_files else set()
        self.executions = set()  # the graphs of complete ones, as bits
        self.histories = Histories()  # of its threads
        self.launches = ()  # of the last run, each with its shape and whether all blocks start together
        self.kinds = {}  # of launches of any run: the keys
        self.waits = {}  # {a launch in which blocks wait and need not all start: the number of its blocks}
        self.stuck = ()  # the blocks that wait for ever in the run that failed
        self.hang = ""  # who waits for whom, if that is why it failed
        self.results = {}  # {what the program printed: in how many executions, and the decisions of one}
        self.prints_the_same = True  # in two runs of the same decisions
        self.has_weak_writes = self.has_volatile = False
        self.strong_accesses = 0  # of the run that has most
        self.has_chance = False  # whether a call may fail by chance
        self.has_merged = False  # whether several executions have gone on as one
        self.failed = None  # the run that failed, and its decisions
        self.unfinished = NOT_ENDED  # why not all executions are known; "" if they are
        self._waiting = [None, None]  # the first twice: two runs must not differ
        self._begun = set()  # graphs of prefixes
        # At launches' ends: what was left until then, with the run's output, ...
        self._left = set()
        self._going_on = set()  # ... and the graphs after which later launches are varied
        self._numbers_of_parts = {}
        self._runs_with = {}  # the bits of the runs that have each part of a graph
        self._run_count = 0
        self._first = None

    def run_first(self, run):
        """Makes the first run once more; run_all() goes on from it."""
        self._waiting.remove(None)
        self._take(*run([], False), None, run)

    def run_all(self, run, limit, expect=lambda _: None, forget=lambda _: None):
        """Runs until all executions are known, one fails, or there are `limit` of them.

        run(decisions, orders_fences) makes a run, which has ended by itself, expect(decisions) says that it
        will be asked for, and forget(decisions) that it won't.
        """
        while self._waiting and not self.failed:
            if len(self.executions) >= limit:
                self.unfinished = f"stopped at {limit:,} executions (--limit)"
                return
            prefix = self._waiting.pop()
            if prefix is not None and self._is_run(prefix.graph):
                forget(prefix.decisions)
                continue
            self._expect_next(expect)
            done, trace = run(prefix.decisions if prefix else [], False)
            self._take(done, trace, prefix, run)
        self.unfinished = NOT_ENDED if self.failed else ""

    def graphs(self):
        """The parts of each execution's graph."""
        parts = [*self._numbers_of_parts]
        return {frozenset(parts[i] for i in bits_of(each)) for each in self.executions}

    def _expect_next(self, expect):
        following = self._waiting[-1] if self._waiting else None
        if following is not None and not self._is_run(following.graph):
            expect(following.decisions)

    def _is_run(self, graph):
        """Whether a run has all of it."""
        bits = -1
        for part in bits_of(graph):
            bits &= self._runs_with.get(part, 0)
            if not bits:
                return False
        return True

    def _is_known(self, graph):
        return graph in self._begun or self._is_run(graph)

    def _take(self, done, trace, prefix, run):
        if trace.refused in REFUSALS:
            raise CommandError(f"not proved: {REFUSALS[trace.refused]}.")
        is_complete = trace.refused is None
        findings = done.report["findings"] if done.report else []
        denied = [each for each in not_explored(trace.uses) if each[:2] not in self._compared]
        is_wrong = not done.report or findings or done.report["failed_launches"]
        if denied and not is_wrong:
            raise NotExplored(denied, prefix.decisions if prefix else [])
        execution = Execution(trace, self._numbers_of_parts)
        self.has_weak_writes |= trace.has_weak_writes
        self.has_volatile |= trace.has_volatile
        self.has_chance |= any(each.kind in CHANCES for each in trace.uses)
        for launch in trace.with_waits:
            blocks, _ = trace.shapes[launch - 1]
            if not trace.cooperative[launch - 1]:
                self.waits[launch] = max(blocks, self.waits.get(launch, 0))
        follows = prefix is None or execution.follows(prefix)
        if self.has_weak_writes and not follows:
            return
        if trace.refused not in (None, "early", "unstarted") or not follows:
            raise CommandError(f"not proved: {DIFFERENT}.")
        if not trace.shapes and not done.diagnostics:
            printed = (
                f", and has printed {in_one_line(done.output)}" if done.output.strip() else "."
            )
            raise CommandError(f"not proved: the program has launched no kernel{printed}")
        if done.report and done.report["forgotten_reads"]:
            raise CommandError("not proved: there was no room to remember all reads.")
        if prefix is not None:
            kind = execution.values()[prefix.name][0]
            if kind != prefix.kind:
                self._wait_for(prefix.others(kind))
                if not execution.is_consistent():
                    return
        self.launches = tuple(zip(trace.shapes, trace.cooperative))
        self.strong_accesses = max(self.strong_accesses, len(trace.events))
        self.kinds.update(dict.fromkeys(self.launches))
        graph = execution.graph()
        if (is_complete and problem_of(done, 0)) or findings:
            done, decisions = _confirmed(done, execution, findings, run)
            races = done.report is None or done.report["findings"]
            if races or (is_complete and problem_of(done, 0)):
                self.executions.add(graph)
                self.failed, self.stuck = (done, decisions), trace.stuck
                return
        if denied:
            raise NotExplored(denied, prefix.decisions if prefix else [])
        if prefix is None:
            values = graph, execution.values()
            if self._first is None:
                self._first = values, done.output
            elif self._first[0] != values:
                raise CommandError(f"not proved: {DIFFERENT}.")
            else:
                self.prints_the_same = self._first[1] == done.output
        if trace.refused in (None, "early"):
            self.histories.add(trace)
        is_new = graph not in self.executions  # the first one runs twice
        if trace.refused != "early":
            self.executions.add(graph)
        if is_complete and is_new:
            count, decisions = self.results.get(done.output, (0, None))
            decisions = decisions or execution.decisions(range(len(execution.events)))
            self.results[done.output] = count + 1, decisions
        for part in bits_of(graph):
            self._runs_with[part] = self._runs_with.get(part, 0) | 1 << self._run_count
        self._run_count += 1
        last_launch = self._last_to_vary(execution, done.output)
        self._wait_for(execution.alternatives(self._is_known, last_launch))

    def _last_to_vary(self, execution, output):
        """The last launch of a run in which other decisions lead to what no other run stands for."""
        last = len(execution.trace.shapes)
        for launch in range(1, min(last, len(execution.trace.left) + 1)):
            begun = launch, execution.begun(launch)
            if begun in self._going_on:
                continue
            left = tuple(execution.trace.left[:launch]), output
            if left in self._left:
                self.has_merged = True
                return launch
            self._left.add(left)
            self._going_on.add(begun)
        return last

    def _wait_for(self, prefixes):
        for each in prefixes:
            if each.graph not in self._begun:
                self._begun.add(each.graph)
                self._waiting.append(each)


def _confirmed(done, execution, findings, run):
    """The run in which a race is one, and its decisions; a run without one if there is none.

    The race checker knows which fence came first only where a read of the newer value shows it. If something
    else does, such as a read of an older one, the axioms have to say which orders there may be, and in each
    of these it judges anew.
    """
    decisions = execution.decisions(range(len(execution.events)))
    are_races = findings and all(each["kind"] == "race" for each in findings)
    if not are_races or execution.has_shown_its_fence_orders():
        return done, decisions
    again = None
    for decisions_so in execution.lists_by_fence_order():
        again, _ = run(decisions_so, True)
        if again.report is None or again.report["findings"]:
            return again, decisions_so
    return again or done, decisions


def explore(program, options, limit, seconds, other_program):
    """An Exploration of the program, as far as it comes. other_program() is the path of another one of the
    same text, whose results must be the same."""
    name = pathlib.Path(program).name.removesuffix("_racecheck")
    exploration = Exploration()
    try:
        say(f"exploring {name}: Ctrl-C says how far it came")
        with decided_runs(program, options, seconds) as runs, time_limit(seconds):
            try:
                _explore_all(exploration, runs, limit)
            except NotExplored as denial:
                raise denial.at(runs.uses(denial.decisions)) from None
        if not (exploration.failed or exploration.unfinished or _lacks(exploration)):
            _check_other(exploration, other_program(), options, seconds)
    except TimeIsOver:
        in_starts = exploration.unfinished.endswith(BEFORE_STARTS)
        exploration.unfinished = TIME_IS_OVER + (BEFORE_STARTS if in_starts else "")
    except KeyboardInterrupt:
        exploration.unfinished = "interrupted"
    return exploration


MOST_THREADS_OF_SMALL, MOST_ACCESSES_OF_SMALL, SECONDS_OF_SMALL = 16, 64, 1


def explore_small(program, options):
    """An Exploration, for a second, of a program whose launches are small; None: they are not, or it does
    what is not explored. Who must start is not asked."""
    exploration = Exploration()
    try:
        patience = time_limit(SECONDS_OF_SMALL)
        with decided_runs(program, options, SECONDS_OF_SMALL) as runs, patience:
            _explore_all(exploration, runs, MOST_EXECUTIONS, is_small)
    except TimeIsOver:
        exploration.unfinished = TIME_IS_OVER
    except CommandError:
        return None
    return exploration if is_small(exploration) else None


def is_small(exploration):
    threads = [blocks * threads for (blocks, threads), _ in exploration.launches]
    return (
        0 < max(threads, default=0) <= MOST_THREADS_OF_SMALL
        and 0 < exploration.strong_accesses <= MOST_ACCESSES_OF_SMALL
    )


class TimeIsOver(Exception):
    """Raised wherever the main thread is, as KeyboardInterrupt is."""


@contextlib.contextmanager
def time_limit(seconds):
    """Raises TimeIsOver, once, if the context lasts longer: a run may take long, and so may its graph."""

    def end(_signal, _frame):
        raise TimeIsOver

    before = signal.signal(signal.SIGALRM, end)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _explore_all(exploration, runs, limit, is_wanted=None):
    """Explores the program, and with each set of blocks that may have started before the others; with
    `is_wanted`, which says after the first two runs whether to go on, the program alone."""

    def explore_as(part, beginning=(), only_first=False):
        def run(decisions, orders_fences):
            done, trace = runs.run([*beginning, *decisions], orders_fences)
            if _was_stopped(done):
                raise CommandError("not proved: a run was stopped, and not by lab.")
            return done, trace

        def expect(decisions):
            runs.expect([*beginning, *decisions])

        def forget(decisions):
            runs.forget([*beginning, *decisions])

        if only_first:
            part.run_first(run)
        else:
            part.run_all(run, limit, expect, forget)

    def explore_with(start, only_first=False):
        part = Exploration()
        explore_as(part, [start], only_first)
        if part.failed:
            done, decisions = part.failed
            part.failed = done, [start, *decisions]
        return part

    for _ in range(2):  # before any other one: if two runs differ, it shows now
        explore_as(exploration, only_first=True)
        if exploration.failed:
            return
    if is_wanted:
        if is_wanted(exploration):
            explore_as(exploration)
        return
    part = first_hang(exploration, explore_with)
    if part is None:
        explore_as(exploration)
        if exploration.failed or exploration.unfinished:
            return
        exploration.unfinished = NOT_ENDED + BEFORE_STARTS
        part = explore_starts(exploration, explore_with)
    if part is None:
        runs.wait_for_all()
        for failures in _failures_to_try(exploration):
            _check_chance(exploration, runs, failures)
        exploration.unfinished = ""
        return
    exploration.failed, exploration.hang = part.failed, part.hang
    exploration.unfinished = part.unfinished + BEFORE_STARTS


def _failures_to_try(exploration):
    if not exploration.has_chance:
        return WITHOUT_CHANCE
    threads = max(blocks * threads for (blocks, threads), _ in exploration.kinds)
    if threads > MOST_THREADS_THAT_FAIL:
        raise CommandError(
            "not proved: calls may fail by chance, or give an undefined value, in more than "
            f"{MOST_THREADS_THAT_FAIL} threads: try fewer."
        )
    return [*FAILURES, *range(FIRST_OF_THREADS, FIRST_OF_THREADS + threads)]


def _check_chance(exploration, runs, failures):
    """Calls that may fail by chance do, and bytes that nothing has written are others: that must change
    nothing but who comes when."""
    done = runs.run_with_failures(failures)
    if _was_stopped(done):
        raise CommandError("not proved: a run was stopped, and not by lab.")
    # Without such calls all its races are known, and which of them an order of the fences repairs.
    if exploration.has_chance and (done.report["findings"] or problem_of(done, 0)):
        then = "there is a race or a fault"
    elif exploration.prints_the_same and done.output not in exploration.results:
        then = f"it prints {in_one_line(done.output)}"
    else:
        return
    uses = [each for each in runs.uses([]) if each.kind in CHANCES]
    if uses:
        what = does_in_words(uses[0])
    elif runs.run_with_failures(ONLY_OTHER_BYTES).output not in exploration.results:
        what = "the program gets other bytes where nothing has written any"
    else:
        what = "the program gets memory in another order, or the device or a host thread is late"
    raise CommandError(f"not proved: {what}, and then {then}.")


def _check_other(exploration, program, options, seconds):
    """The program of the same text that is compiled otherwise must print what one execution has."""
    with decided_runs(program, options, seconds) as runs, time_limit(seconds):
        done = runs.run_with_failures(WITHOUT_CHANCE[0])
    if done.report is None or problem_of(done, 0):
        then = "it fails"
    elif done.output not in exploration.results:
        then = f"it prints {in_one_line(done.output)}"
    else:
        return
    raise CommandError(
        f"not proved: the program is compiled otherwise, and then {then}: {OTHERWISE}."
    )


def _was_stopped(done):
    """Whether it has not come to its own end."""
    return done.code is None or (done.report or {}).get("ended_by_time")


def shape_in_words(kinds):
    """How large the launches are."""
    words = [
        f"{counted(blocks, 'block')} of {counted(threads, 'thread')}"
        for blocks, threads in dict.fromkeys(shape for shape, _ in kinds)
    ]
    return ", then ".join(words)


def _lacks(explored):
    """Why what an exploration without a failure has shown is no proof."""
    missing = []
    if explored.has_weak_writes or explored.has_volatile:
        missing.append(
            "of words that are accessed both atomically and otherwise, older values were not explored"
        )
    if explored.histories.may_form_a_cycle:
        missing.append(
            "threads read a word, and write another one that may be seen before (load buffering): put a "
            "fence or an acquire between, and a release before what is read"
        )
    if not explored.prints_the_same:
        missing.append(
            "what it prints differs by itself: let it print only what is always the same"
        )
    elif len(explored.results) > 1:
        missing.append(
            "what it prints depends on the order of its accesses: if all of these outputs are right, "
            "let it print only what is the same in all"
        )
    return missing


def say_explored(explored):
    """Says what an exploration without a failure has shown; returns the exit code."""
    executions = counted(len(explored.executions), "execution")
    if explored.unfinished:
        say_fitted(
            f"not proved: {executions} explored, none with a race or a fault; {explored.unfinished}"
        )
        return INTERRUPTED if explored.unfinished == "interrupted" else 1
    if not explored.prints_the_same:
        result = "what it prints differs by itself, so nothing is said of its results"
    elif len(explored.results) == 1:
        text = next(iter(explored.results)).strip()
        shown = f'"{text}"' if text and "\n" not in text else "the same output"
        result = f"one result: {shown}"
    else:
        number = len(explored.results)
        shown = f", of which {MOST_RESULTS} are shown" * (number > MOST_RESULTS)
        result = f"{number} different outputs{shown}"
    ends = end_in_words(explored.kinds)
    what = f"{executions} of {shape_in_words(explored.kinds)}; no race, no fault; {ends}; {result}"
    bounds = "this grid size and these inputs only, with numbers and times as this machine has them"
    waits = "idle rounds of a waiting loop, which change nothing"
    missing = _lacks(explored)
    say_fitted(f"{'explored' if missing else 'proved'}: {what}")
    for why in missing:
        say_fitted(f"not proved: {why}")
    for number, (output, (count, _)) in enumerate(shown_results(explored), 1):
        say_fitted(f"output {number}, of {counted(count, 'execution')}: {in_one_line(output)}")
    if explored.has_merged:
        say_fitted(
            "merged: executions that had left the same memory at a launch's end went on as one"
        )
    say_fitted(f"bounds: {bounds}. Left out: {waits}.")
    return 1 if missing else 0


def shown_results(explored):
    """The first of several outputs, each with its count and the decisions that lead to it."""
    has_several = len(explored.results) > 1 and explored.prints_the_same and not explored.unfinished
    return [*explored.results.items()][:MOST_RESULTS] if has_several else []


def in_one_line(output):
    """What a program printed, in quotation marks."""
    text = " | ".join(line.strip() for line in output.split("\n") if line.strip())
    return f'"{text if len(text) <= MOST_OF_RESULT else text[:MOST_OF_RESULT] + "..."}"'


def say_findings_of(program, run, merging, timeout):
    """Prints racecheck's report of a run; returns the exit code."""
    if run.report and run.report["accesses"] and (run.code or 0) > 0:
        run = run._replace(code=1)  # A program may end with any code when a kernel has failed.
    return say_result(program, [SEED], [run], timeout, False, merging, "--seconds")["code"]


def read_decisions(path):
    """The decisions of a file that ./lab prove has written."""
    try:
        text = pathlib.Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text"
        raise CommandError(
            f"{path} can't be read as a list of decisions: {why}.", WRONG_USE
        ) from error
    words = [line for line in text.splitlines() if not line.startswith("#")]
    for word in _without_start(words):
        if not DECISION.fullmatch(word):
            raise CommandError(
                f"{path} is no list of decisions: {word!r} is not a block and a thread, as in 2.0 or 2.0/1.",
                WRONG_USE,
            )
    return words


def _without_start(words):
    return words[1:] if words and START.fullmatch(words[0]) else words


def replay(program, options, path, decisions, timeout):
    """Runs the decisions, those of the file `path`, again: what the race checker says."""
    try:
        patience = time_limit(timeout + SECONDS_TO_REPLAY)
        with decided_runs(program, options, timeout) as runs, patience:
            run, trace = runs.run(decisions)
            made = Execution(trace).decisions(range(len(trace.events)))
            denied = () if _was_stopped(run) else not_explored(trace.uses)
            if denied and not (run.report and run.report["findings"]):
                raise NotExplored(denied, decisions).at(runs.uses(decisions))
    except TimeIsOver:
        run = None
    if run is None or (_was_stopped(run) and not (run.report and run.report["findings"])):
        raise CommandError(f"the program was stopped after {timeout:,} s (--seconds).")
    if _was_stopped(run):
        return run
    if trace.refused in REFUSALS:
        raise CommandError(f"{REFUSALS[trace.refused]}.")
    wanted = _without_start(decisions)
    is_same = all(
        one.partition("/")[0] == other.partition("/")[0] for one, other in zip(wanted, made)
    )
    has_ended = trace.refused in (None, "early", "unstarted")
    if not has_ended or len(made) < len(wanted) or not is_same:
        raise CommandError(
            f"{path} does not fit this program and these options: decision {len(made) + 1} names a "
            "thread or a value that is not there."
        )
    return run

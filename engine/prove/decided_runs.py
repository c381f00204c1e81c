# SPDX-License-Identifier: MIT
"""Runs of a racecheck program by lists of decisions, each with what it did: for ./lab prove."""

import contextlib
import os
import pathlib
import queue
import tempfile
import threading

from engine.command.errors import CommandError
from engine.command.processes import RunningPrograms, put_answer
from engine.command.racecheck_runs import (
    DIAGNOSTICS,
    KEPT_OUTPUT,
    check_once,
    checked_run,
    inherited,
    paths_of_reports,
    sentence_of_unseen,
    unseen_stores,
    variables_of_run,
)
from engine.command.run_server import RunServer
from engine.command.untrusted_files import content_of
from engine.prove.trace import read_trace

SEED = 0
MOST_TRACE = 16 << 20  # bytes
IN_MEMORY = "/dev/shm"  # what is in this folder never comes to a disk
# Which calls fail that may fail by chance: up to 15 those of a set of four threads, over and over; up to 31
# any of them; from 32 on those of one thread. form::fails_by_chance()
FAILURES, FIRST_OF_THREADS, WITHOUT_CHANCE = range(1, 32), 32, (5, 6)
ONLY_OTHER_BYTES = 0  # as in these, and nothing else is otherwise
# Memory of malloc() lies in the opposite order then.
OPPOSITE = {"MALLOC_MMAP_THRESHOLD_": "0"}
# What malloc() leaves where nothing has been written: 0 in each run but those with failures.
BYTES_OF_ALL = {"MALLOC_PERTURB_": "255"}
AT_A_TIME = 2  # a run that is waited for, and one that will be asked for later


def decided(folder, decisions, orders_fences):
    """The settings of a program that is to run by the decisions, which are written into the folder.

    With `orders_fences` what the race checker says of it is of the order in which the fences are executed,
    and not of any.
    """
    listed, traced = pathlib.Path(folder, "decisions"), pathlib.Path(folder, "trace")
    listed.write_text("".join(f"{each}\n" for each in decisions))
    traced.unlink(missing_ok=True)
    return {
        **BYTES_OF_ALL,
        "LAB_PROVE_DECISIONS": str(listed),
        "LAB_PROVE_TRACE": str(traced),
        "LAB_PROVE_ORDERED_FENCES": "1" if orders_fences else "0",
    }


def trace_in(folder):
    """The Trace that a program with such settings has left. Raises CommandError if it is none."""
    return read_trace(_written(folder))


def _written(folder):
    """The lines of the trace."""
    text = content_of(pathlib.Path(folder, "trace"), MOST_TRACE).decode(errors="replace")
    return text[: text.rfind("\n") + 1]


@contextlib.contextmanager
def decided_runs(program, options, seconds):
    """DecidedRuns, which end with the context.

    A run that is a process of its own ends itself after so many seconds.
    """
    # A run writes some small files: on a disk that takes a fifth of its time.
    in_memory = IN_MEMORY if os.access(IN_MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="lab-prove-", dir=in_memory) as folder:
        runs = DecidedRuns(program, options, seconds, folder)
        try:
            yield runs
        finally:
            runs.end()


class DecidedRuns:
    """Runs of one program. decided_runs() makes them.

    The first two are processes of their own: what differs by itself, differs in them. The others are forked,
    if they can be.

    The threads that make them take requests and give results by queues, as put_answer() says.
    """

    def __init__(self, program, options, seconds, folder):
        self._program, self._options, self._seconds = program, options, seconds
        self._count = 0
        self._programs = RunningPrograms()
        self._asked = queue.SimpleQueue()  # where each result goes, and what _run() takes
        self._ahead = {}  # results of runs begun before they were asked for, by the decisions
        self._forgotten = []  # the results that will not be asked for
        self._threads = [
            threading.Thread(target=self._work, args=(tempfile.mkdtemp(dir=folder),), daemon=True)
            for _ in range(AT_A_TIME)
        ]
        for each in self._threads:
            each.start()

    def run(self, decisions, orders_fences=False):
        """One run by the decisions: what the race checker says of it, and its Trace.

        It waits until the run has ended by itself: to wait no longer is to end them all.
        """
        self._count += 1
        begun = None if orders_fences else self._ahead.pop(tuple(decisions), None)
        run, lines = _result_of(begun or self._begin(self._count > 2, decisions, orders_fences))
        return run, read_trace(lines)  # by the thread that can be interrupted: it may take seconds

    def uses(self, decisions):
        """What a run by these decisions does, with the places; nothing if there is no such run."""
        _, result, problem = self._begin(False, decisions, False, True).get()
        return () if problem else read_trace(result[1]).uses

    def run_with_failures(self, failures):
        """What the race checker says of a run in which calls that may fail by chance do, as FAILURES has it.
        Bytes that nothing has written are others there, addresses have the opposite order, work of streams
        is done late, and host threads begin early or late."""
        _, (run, _), _ = self._begin(False, failures, False).get()
        return run

    def expect(self, decisions):
        """A run by these decisions will be asked for: it begins now, if another one that was expected is
        over."""
        if self._count < 2 or tuple(decisions) in self._ahead:
            return
        if not any(each.empty() for each in self._ahead.values()):
            self._ahead[tuple(decisions)] = self._begin(True, decisions, False)

    def forget(self, decisions):
        """A run by these decisions will not be asked for."""
        if begun := self._ahead.pop(tuple(decisions), None):
            self._forgotten.append(begun)

    def wait_for_all(self):
        """Returns when each run that was begun has ended by itself."""
        for each in (*self._ahead.values(), *self._forgotten):
            _result_of(each)
        self._ahead.clear()
        self._forgotten.clear()

    def _begin(self, *words):
        answer = queue.SimpleQueue()
        self._asked.put((answer, words))
        return answer

    def _work(self, folder):
        place = _Place(folder)
        while asked := self._asked.get():
            answer, words = asked
            put_answer(answer, None, self._run, place, *words)
        for each in place.servers.values():
            if each:
                each.close()

    def _run(self, place, forks, decisions, orders_fences, names_places=False):
        if decisions == ONLY_OTHER_BYTES:
            settings = decided(place.folder, [], orders_fences)
            settings["MALLOC_PERTURB_"] = str(WITHOUT_CHANCE[0])
        elif isinstance(decisions, int):
            names = "LAB_PROVE_FAILS_BY_CHANCE", "MALLOC_PERTURB_"
            settings = {**OPPOSITE, **dict.fromkeys(names, str(decisions))}
        else:
            settings = decided(place.folder, decisions, orders_fences)
        if names_places:
            settings["LAB_PROVE_PLACES"] = "1"
        run = self._forked_run(place, settings, orders_fences) if forks else None
        if run is None:
            run = check_once(
                self._program,
                self._options,
                SEED,
                self._seconds,
                False,
                programs=self._programs,
                counts="unseen",
                settings={**settings, "LAB_RACECHECK_SECONDS_OPTION": "--seconds"},
            )
            for launch in unseen_stores([run]):
                raise CommandError(f"not proved: {sentence_of_unseen(launch)}")
        return run, _written(place.folder)

    def _forked_run(self, place, settings, orders_fences):
        if orders_fences not in place.servers:
            variables = {**variables_of_run(place.folder, SEED, False), **settings}
            command = [self._program, *self._options]
            place.servers[orders_fences] = RunServer(
                command, {**inherited(), **variables}, self._programs, at_launch=True
            )
        server = place.servers[orders_fences]
        if not server:
            return None
        for path in (pathlib.Path(place.folder, DIAGNOSTICS), *paths_of_reports(place.folder)):
            path.unlink(missing_ok=True)
        run = server.run({}, None, KEPT_OUTPUT)  # which ends by itself
        if run is None:
            server.close()
            place.servers[orders_fences] = None
            return None
        return checked_run(place.folder, SEED, run)

    def end(self):
        self._programs.end()
        for _ in self._threads:
            self._asked.put(None)
        for each in self._threads:
            each.join()


def _result_of(answer):
    _, result, problem = answer.get()
    if problem:
        raise problem
    return result


class _Place:
    """Where one run is at a time, and the processes that fork these."""

    def __init__(self, folder):
        self.folder = folder
        self.servers = {}  # by `orders_fences`; None if it can't be

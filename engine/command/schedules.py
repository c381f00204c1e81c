# SPDX-License-Identifier: MIT
"""Runs racecheck programs, each with the schedules of many seeds, on all processors."""

import concurrent.futures
import contextlib
import functools
import os
import queue

from engine.command.output import Progress
from engine.command.processes import RunningPrograms, RunningSeeds, put_answer
from engine.command.racecheck_runs import check_once, inherited
from engine.command.run_server import RunServer

SECONDS_BETWEEN_LOOKS = 0.5


@contextlib.contextmanager
def scheduled_runs(checks, seeds, timeout, lenient=False, given=b"", counts=False, forks=True):
    """Starts each of the checks, a program with its options, with the schedules of all seeds.

    The value of the `with` is a list: for each check a function that waits for its runs, and returns
    them in the order of their seeds. The first seed's run also finds stores that were not seen,
    and with `counts` it counts what each launch does. Each check is one process that makes a child for each
    schedule, if it `forks`. What still runs at the end of the `with` is ended.
    """
    pool = concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1)
    programs = RunningPrograms()

    def submitted(program, options):
        running, ended = RunningSeeds(timeout), queue.SimpleQueue()
        server = None
        if len(seeds) > 1 and forks:
            server = stack.enter_context(
                contextlib.closing(RunServer([program, *options], inherited(), programs))
            )

        def check(seed):
            counted = "0" if seed != seeds[0] else "1" if counts else "unseen"
            return check_once(
                program, options, seed, timeout, lenient, given, programs, counted, server=server
            )

        for seed in seeds:
            pool.submit(put_answer, ended, seed, running.run, check, seed)
        return running, ended

    stack = contextlib.ExitStack()
    try:
        # All of them at once: where one program's last runs leave a processor, the next begins.
        started = [submitted(program, options) for program, options in checks]
        yield [
            functools.partial(_finished, seeds, running, ended, f"Checking {program.name}")
            for (program, _), (running, ended) in zip(checks, started)
        ]
    finally:
        # Else an interruption would wait for programs that were started just after it.
        programs.end()
        pool.shutdown(cancel_futures=True)
        stack.close()


def _finished(seeds, running, ended, what):
    """The runs, in the order of their seeds, when all of them are done."""
    runs = {}
    with Progress(what, stays=False) as progress:
        while len(runs) < len(seeds):
            with contextlib.suppress(queue.Empty):
                seed, run, problem = ended.get(timeout=SECONDS_BETWEEN_LOOKS)
                if problem:
                    raise problem
                runs[seed] = run
            progress.step(len(runs), len(seeds), running.note())
    return [runs[seed] for seed in seeds]

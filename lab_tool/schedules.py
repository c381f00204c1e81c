# SPDX-License-Identifier: MIT
"""Runs racecheck programs, each with the schedules of many seeds, on all processors."""

import concurrent.futures
import contextlib
import functools
import os

from lab_tool.bounded_runs import RunningPrograms, RunningSeeds
from lab_tool.output import Progress
from lab_tool.racecheck_runs import check_once

SECONDS_BETWEEN_LOOKS = 0.5


@contextlib.contextmanager
def scheduled_runs(checks, seeds, timeout, lenient=False, given=b"", counts=False):
    """Starts each of the checks, a program with its options, with the schedules of all seeds.

    The value of the `with` is a list: for each check a function that waits for its runs, and returns
    them in the order of their seeds. With `counts` the first seed's run also counts what each launch
    does. What still runs at the end of the `with` is ended.
    """
    pool = concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1)
    programs = RunningPrograms()

    def submitted(program, options):
        running = RunningSeeds(timeout)

        def check(seed):
            is_counted = counts and seed == seeds[0]
            return check_once(
                program, options, seed, timeout, lenient, given, programs, counts=is_counted
            )

        return [pool.submit(running.run, check, seed) for seed in seeds], running

    try:
        # All of them at once: where one program's last runs leave a processor, the next begins.
        started = [submitted(program, options) for program, options in checks]
        yield [
            functools.partial(_finished, futures, running, f"Checking {program.name}")
            for (program, _), (futures, running) in zip(checks, started)
        ]
    finally:
        # Else an interruption would wait for programs that were started just after it.
        programs.end()
        pool.shutdown(cancel_futures=True)


def _finished(futures, running, what):
    """The runs, in the order of their seeds, when all of them are done."""
    pending = set(futures)
    with Progress(what, stays=False) as progress:
        while pending:
            _, pending = concurrent.futures.wait(
                pending, SECONDS_BETWEEN_LOOKS, concurrent.futures.FIRST_COMPLETED
            )
            progress.step(len(futures) - len(pending), len(futures), running.note())
    return [future.result() for future in futures]

# SPDX-License-Identifier: MIT
"""Ctrl-C while a program runs many times: whatever lock is being taken, lab comes to its end."""

import sys
import unittest

from test_setup import captured

# Raises KeyboardInterrupt where the thread that waits has just taken a lock, for the n-th time since it
# began to wait.
INTERRUPTS = """
import pathlib, sys, time
from unittest import mock
from engine.driver import decided_runs, schedules

left = int(sys.argv[1])

def interrupt(frame, event, argument):
    global left
    if event == "return" and frame.f_code.co_name == "__enter__" and "threading" in frame.f_code.co_filename:
        left -= 1
        if left == 0:
            sys.settrace(None)
            raise KeyboardInterrupt
    return interrupt

def takes_time(*words, **options):
    time.sleep(0.1)

try:
    RUNS
except KeyboardInterrupt:
    pass
print("ended")
"""
BY_SEEDS = """
    with mock.patch.object(schedules, "check_once", takes_time):
        with schedules.scheduled_runs([(pathlib.Path("program"), [])], [0, 1, 2, 3], 60) as (finished,):
            sys.settrace(interrupt)
            finished()
"""
BY_DECISIONS = """
    with mock.patch.object(decided_runs.DecidedRuns, "_run", takes_time):
        with decided_runs.decided_runs(pathlib.Path("program"), []) as runs:
            sys.settrace(interrupt)
            for decision in ("0.0", "0.1", "0.2"):
                runs.run([decision], 60)
                runs.expect(["1.0"], 60)
            runs.run(["1.0"], 60)
"""


class InterruptedSchedulesTest(unittest.TestCase):
    def test_it_ends_wherever_the_interruption_comes(self):
        for runs in (BY_SEEDS, BY_DECISIONS):
            program = INTERRUPTS.replace("    RUNS", runs)
            for count in range(1, 13):
                with self.subTest(count, runs=runs):
                    result = captured([sys.executable, "-c", program, str(count)], timeout=30)
                    self.assertEqual((result.stdout, result.stderr), ("ended\n", ""))

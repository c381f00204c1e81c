# SPDX-License-Identifier: MIT
"""Ctrl-C while a program runs many times: whatever lock is being taken, lab comes to its end."""

import sys
import unittest

from test_setup import captured

# Raises KeyboardInterrupt where the thread that waits has just taken a lock, for the n-th time since it
# began to wait.
INTERRUPTS = """
import concurrent.futures, pathlib, sys, time
from unittest import mock
from engine.command import schedules
from engine.prove import decided_runs
from grader.judging import runner as running
from grader.submissions import grading_run

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

def interrupt_after(submissions):
    submit = concurrent.futures.ThreadPoolExecutor.submit
    count = iter(range(1, submissions + 1))

    def submit_and_count(*words):
        begun = submit(*words)
        if next(count) == submissions:
            sys.settrace(interrupt)
        return begun

    return mock.patch.object(concurrent.futures.ThreadPoolExecutor, "submit", submit_and_count)

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
    made = lambda *words: takes_time() or (None, "")
    with mock.patch.object(decided_runs.DecidedRuns, "_run", made):
        with decided_runs.decided_runs(pathlib.Path("program"), [], 60) as runs:
            sys.settrace(interrupt)
            for decision in ("0.0", "0.1", "0.2"):
                runs.run([decision])
                runs.expect(["1.0"])
            runs.run(["1.0"])
"""
BY_A_CHECK = """
    build = mock.Mock(settings={"backend": "cuda"})
    with running.HomeRunner(build, None, None) as runner, interrupt_after(4):
        runner.run_until(lambda result: False, takes_time, range(4))
"""
COMPILING = """
    build = mock.Mock(settings={"backend": "cuda"}, can_observe=False)
    with mock.patch.object(running, "compiled", takes_time):
        with running.HomeRunner(build, None, None) as runner, interrupt_after(1):
            runner.compiled(running.ORDINARY)
"""
BY_A_GRADE = """
    unit = mock.Mock()
    unit.exercise.number = unit.name = "a"
    run = mock.Mock(judgement_of=lambda unit: None)
    with (
        mock.patch.object(grading_run, "judge_unit", takes_time),
        mock.patch.object(grading_run, "measured_cases", lambda *words: {"a": None}),
        interrupt_after(4),
    ):
        grading_run.judge_here(mock.Mock(), run, [unit] * 4, 2)
"""


class InterruptedSchedulesTest(unittest.TestCase):
    def test_it_ends_wherever_the_interruption_comes(self):
        for runs in (BY_SEEDS, BY_DECISIONS, BY_A_CHECK, COMPILING, BY_A_GRADE):
            program = INTERRUPTS.replace("    RUNS", runs)
            for count in range(1, 13):
                with self.subTest(count, runs=runs):
                    result = captured([sys.executable, "-c", program, str(count)], timeout=30)
                    self.assertEqual((result.stdout, result.stderr), ("ended\n", ""))

# SPDX-License-Identifier: MIT
"""Ctrl-C while the schedules of a program run: whatever lock is being taken, lab comes to its end."""

import sys
import unittest

from test_setup import captured

# Raises KeyboardInterrupt where the thread that waits has just taken a lock, for the n-th time since it
# began to wait.
PROGRAM = """
import pathlib, sys, time
from unittest import mock
from engine.driver import schedules

left = int(sys.argv[1])

def interrupt(frame, event, argument):
    global left
    if event == "return" and frame.f_code.co_name == "__enter__" and "threading" in frame.f_code.co_filename:
        left -= 1
        if left == 0:
            sys.settrace(None)
            raise KeyboardInterrupt
    return interrupt

def check_once(*words, **options):
    time.sleep(0.3)

with mock.patch.object(schedules, "check_once", check_once):
    try:
        with schedules.scheduled_runs([(pathlib.Path("program"), [])], [0, 1, 2, 3], 60) as (finished,):
            sys.settrace(interrupt)
            finished()
    except KeyboardInterrupt:
        pass
print("ended")
"""


class InterruptedSchedulesTest(unittest.TestCase):
    def test_it_ends_wherever_the_interruption_comes(self):
        for count in range(1, 13):
            with self.subTest(count):
                result = captured([sys.executable, "-c", PROGRAM, str(count)], timeout=30)
                self.assertEqual((result.stdout, result.stderr), ("ended\n", ""))

# SPDX-License-Identifier: MIT
"""A program that is right behaves as ever in the weak form, at each of 20 seeds: its smallest form."""

import concurrent.futures
import os
import pathlib
import re
import unittest

from smallest_form import LONG_CASES, smallest

from test_setup import printed

PROGRAM, OPTIONS = os.environ["CHECKED_PROGRAM"], os.environ["CHECKED_OPTIONS"].split()
NAME = pathlib.Path(PROGRAM).name
IS_CATCH2 = "_test_" in NAME
SEEDS = range(20)


def run(words, **variables):
    environment = {**os.environ, **variables}
    environment.pop("LAB_TEST_LOG", None)  # one test is one case, however many seeds it runs
    return printed([PROGRAM, *words], env=environment)


class TwentySeeds(unittest.TestCase):
    def test_no_read_gets_an_old_value(self):
        words = smallest(NAME, OPTIONS)

        def run_with(seed):
            return run(words, LAB_BRIEF_TESTS="1", LAB_WEAK="1", LAB_RACECHECK_SEED=str(seed))

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for seed, result in zip(SEEDS, pool.map(run_with, SEEDS)):
                with self.subTest(seed=seed):
                    self.assertEqual(result.returncode, 0, result.stdout)
                    self.assertRegex(result.stdout, r"(\A|\n)weak: no read got an old value\n\Z")

    def test_what_is_left_out_is_there_and_is_not_all(self):
        if not IS_CATCH2:
            self.assertNotEqual(smallest(NAME, OPTIONS), OPTIONS)
            return
        listed = run(["--list-tests", "--verbosity", "quiet"]).stdout.splitlines()
        cases = [line.strip() for line in listed]
        patterns = [re.escape(each).replace(r"\*", ".*") for each in LONG_CASES.get(NAME, ())]
        for pattern in patterns:
            self.assertTrue([case for case in cases if re.fullmatch(pattern, case)], pattern)
        kept = [case for case in cases if not any(re.fullmatch(each, case) for each in patterns)]
        self.assertTrue(kept)

# SPDX-License-Identifier: MIT
"""The clocks against the axioms: on variants of the last-block guard, and on random programs."""

import random
import unittest

from engine.prove.memory_model import axioms, clocks
from engine.prove.memory_model.interleavings import interleavings
from engine.prove.memory_model.last_block_guard import ALL_VARIANTS, build
from engine.prove.tests.random_programs import random_program

SEED = 20
VARIANT_COUNT = 1000
PROGRAM_COUNT = 200
EXACT_PROGRAM_COUNT = 60


def listing(made):
    return "\n".join(map(repr, made.operations))


class AgreementTest(unittest.TestCase):
    def test_the_number_of_variants(self):
        self.assertEqual(len(ALL_VARIANTS), 8960)
        self.assertEqual(len(set(ALL_VARIANTS)), 8960)

    def test_the_same_races_in_variants_of_the_guard(self):
        clean = racy = 0
        for variant in random.Random(SEED).sample(ALL_VARIANTS, VARIANT_COUNT):
            made, given = build(variant, merging_threads=(1,))
            expected = axioms.verdict_of(made, given)
            self.assertGreater(expected.executions, 0, variant)
            self.assertEqual(clocks.verdict_of(made, given).races, expected.races, variant)
            racy += bool(expected.races)
            clean += not expected.races
        self.assertGreater(clean, 10)
        self.assertGreater(racy, 10)

    def test_random_programs(self):
        """No false alarm, no racy program called clean, no read of what can't be read.

        The sets of races may differ: some races need an execution that no interleaving shows.
        """
        generator = random.Random(SEED)
        clean = racy = 0
        for _ in range(PROGRAM_COUNT):
            made = random_program(generator)
            expected, found = axioms.verdict_of(made), clocks.verdict_of(made)
            self.assertLessEqual(found.races, expected.races, listing(made))
            self.assertEqual(bool(found.races), bool(expected.races), listing(made))
            for read, writes in found.sources.items():
                self.assertLessEqual(writes, expected.sources[read], listing(made))
            racy += bool(expected.races)
            clean += not expected.races
        self.assertGreater(clean, 10)
        self.assertGreater(racy, 10)

    def test_each_interleaving_of_random_programs(self):
        """What one interleaving shows as a race is one in an execution with the same reads."""
        generator = random.Random(SEED + 1)
        for _ in range(EXACT_PROGRAM_COUNT):
            made = random_program(generator)
            by_sources = {}
            for steps in interleavings(made):
                races, sources = clocks.run(made, steps)
                by_sources.setdefault(frozenset(sources.items()), set()).update(races)
            for sources, races in by_sources.items():
                expected = axioms.verdict_of(made, dict(sources))
                self.assertGreater(expected.executions, 0, listing(made))
                self.assertLessEqual(races, expected.races, listing(made))

    def test_reduced_interleavings_lose_nothing(self):
        generator = random.Random(SEED + 2)
        fewer = 0
        for _ in range(EXACT_PROGRAM_COUNT):
            made = random_program(generator)
            if len(made.operations) > 10:
                continue
            reduced, full = clocks.verdict_of(made), clocks.verdict_of(made, reduced=False)
            self.assertEqual(reduced.races, full.races, listing(made))
            self.assertEqual(reduced.sources, full.sources, listing(made))
            self.assertLessEqual(reduced.executions, full.executions)
            fewer += reduced.executions < full.executions
        self.assertGreater(fewer, 0)

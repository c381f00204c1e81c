# SPDX-License-Identifier: MIT
"""The steppers' data, path by path: each schedule of each setting of the switches, by the memory model."""

import sys
import unittest

from engine.prove.memory_model import clocks
from engine.prove.memory_model.interleavings import interleavings
from this_build import ROOT

sys.path.insert(0, str(ROOT / "docs/site"))

from course_site import stepper_states
from course_site.stepper_programs import FIGURES

DATA = {figure.lesson[:2]: stepper_states.data_of(figure) for figure in FIGURES}
FEWEST_PATHS = 5_000  # of all figures together, so that no loop below is empty


def pair_names(setting, numbers):
    return {frozenset(setting["pairs"][number]) for number in numbers}


def place(one):
    return f"{one.thread.name}.{one.position}"


def racing_places(races):
    return {frozenset(map(place, pair)) for pair in races}


class EveryPath(unittest.TestCase):
    """Walks the data as stepper.js does, along each schedule that the model has."""

    def walk(self, figure, program, setting, path):
        """One schedule: its last state's races."""
        positions = [0] * len(program.threads)
        machine = clocks.ClockMachine(program)
        for step in path:
            moves, races = setting["states"]["".join(map(str, positions))]
            self.assertEqual(pair_names(setting, races), racing_places(machine.races))
            threads = [program.threads.index(one.thread) for one in step]
            self.assertIn(threads, moves)
            machine.take(step)
            for number in threads:
                positions[number] += 1
        moves, races = setting["states"]["".join(map(str, positions))]
        self.assertEqual(moves, [], "the schedule has ended, and the figure goes on")
        self.assertEqual(pair_names(setting, races), racing_places(machine.races))
        for read, write in machine.sources.items():
            if place(read) in setting["reads"]:
                words = stepper_states.words_of(figure, write)
                self.assertIn(words, setting["reads"][place(read)])
        return pair_names(setting, races)

    def test_every_path_of_every_figure(self):
        paths = 0
        for figure in FIGURES:
            for on in stepper_states.settings(figure):
                setting = DATA[figure.lesson[:2]]["settings"][stepper_states.key_of(figure, on)]
                program, given = figure.program(on)
                with self.subTest(lesson=figure.lesson, on=sorted(on)):
                    raced = set()
                    for path in interleavings(program, given, reduced=False):
                        raced |= self.walk(figure, program, setting, path)
                        paths += 1
                    # What the axioms call a race shows in some schedule, and nothing else does.
                    self.assertEqual(raced, {frozenset(pair) for pair in setting["pairs"]})
        self.assertGreater(paths, FEWEST_PATHS)

    def test_every_state_can_be_reached(self):
        for figure in FIGURES:
            for key, setting in DATA[figure.lesson[:2]]["settings"].items():
                start = "0" * len(setting["threads"])
                reached, open_states = {start}, [start]
                while open_states:
                    state = open_states.pop()
                    for move in setting["states"][state][0]:
                        after = [int(digit) for digit in state]
                        for thread in move:
                            after[thread] += 1
                        after = "".join(map(str, after))
                        if after not in reached:
                            reached.add(after)
                            open_states.append(after)
                self.assertEqual(reached, set(setting["states"]), f"{figure.lesson}, {key}")


class Lessons(unittest.TestCase):
    """What each switch is there for: the verdicts that the lessons' text gives."""

    def races(self, lesson, key):
        return {frozenset(pair) for pair in DATA[lesson]["settings"][key]["pairs"]}

    def old_reads(self, lesson, key):
        reads = DATA[lesson]["settings"][key]["reads"]
        return {read for read, values in reads.items() if len(values) > 1}

    def test_each_lessons_own_program_is_right(self):
        for figure in FIGURES:
            names = {switch.name for switch in figure.switches if switch.starts_on}
            key = stepper_states.key_of(figure, names)
            self.assertEqual(self.races(figure.lesson[:2], key), set(), figure.lesson)
            self.assertEqual(self.old_reads(figure.lesson[:2], key), set(), figure.lesson)

    def test_each_switch_of_the_guard_is_needed(self):
        for key in ("0111", "1011", "1101", "1110"):
            self.assertNotEqual(self.races("04", key), set(), key)
            self.assertNotEqual(self.old_reads("04", key), set(), key)

    def test_without_the_first_barrier_only_the_other_threads_word_races(self):
        self.assertEqual(
            self.races("04", "0111"), {frozenset({"A1.0", "B0.2"}), frozenset({"A1.0", "B1.2"})}
        )

    def test_the_queues_counter_may_be_relaxed(self):
        for barriers in ("00", "01", "10", "11"):
            self.assertEqual(
                self.races("05", barriers + "0"), self.races("05", barriers + "1"), barriers
            )

    def test_both_barriers_of_the_queue_are_needed(self):
        for key in ("010", "100"):
            self.assertNotEqual(self.races("05", key), set(), key)

    def test_both_barriers_of_the_reduction_are_needed(self):
        for key in ("01", "10"):
            self.assertNotEqual(self.races("02", key), set(), key)

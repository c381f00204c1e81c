# SPDX-License-Identifier: MIT
"""From lists of times to points, and from marks to the leaderboard: no program is run here."""

import argparse
import contextlib
import io
import math
import pathlib
import tempfile
import unittest

from engine.command.errors import CommandError
from grader.exercises.cases import read_results
from grader.exercises.catalogue import SPEED, chosen_exercise, with_speed
from grader.judging.speed import (
    LONGEST,
    ROUNDS,
    Speed,
    is_slowed,
    lines_about,
    points_for,
    speed_of,
    times_in,
)
from grader.reports.pages import ranked, write_leaderboard
from lab_tool.grading.class_grading import with_points_for_speed

RULE = {"points": 4, "all_up_to": 1.1, "none_from": 2}
# Nanoseconds of the solution of 01.1 next to itself, in turn: 5,000 elements on the CPU backend, on two cores
# that had 19 other things to do.
NOISY = [
    (31848330, 39813875), (10582663, 5191501), (111107, 7805875), (628415, 19924218),
    (12398805, 97126), (88636405, 165263785), (19884734, 31887689), (8626500, 25693209),
    (116149221, 9155295), (43532085, 16125893),
]  # fmt: skip
ALONE = [(100, 100)] * ROUNDS


def written(rounds):
    """What the runner writes of these rounds, each with the words after `nanoseconds`."""
    text = "".join(
        f"case {number}\nlaunch 0\nnanoseconds {words}\ndone\n"
        for number, words in enumerate(rounds)
    )
    return read_results(text.encode())


class Times(unittest.TestCase):
    def test_those_of_the_rounds_count_and_not_of_warming_up(self):
        rounds = ["9000 9000", *(f"{100 + number} 100" for number in range(ROUNDS))]
        self.assertEqual(times_in(written(rounds))[0], (100, 100))
        self.assertEqual(len(times_in(written(rounds))), ROUNDS)

    def test_what_the_runner_does_not_write_is_none(self):
        good = ["100 100"] * (ROUNDS + 1)
        self.assertIsNotNone(times_in(written(good)))
        bad = ("0 100", "-5 100", "100 0", "100", "100 100 100", f"100 {LONGEST + 1}", "nan 100")
        for words in (*bad, "1e3 100", "inf inf", "", f"{'9' * 5000} 1"):
            with self.subTest(words[:20]):
                self.assertIsNone(times_in(written([*good[:-1], words])))
        self.assertIsNone(times_in(written(good[:-1])))
        self.assertIsNone(times_in(written([*good, good[0]])))


class Points(unittest.TestCase):
    def test_a_time_is_a_part_of_the_solutions(self):
        alone = [(200, 200)] * ROUNDS
        self.assertEqual(speed_of([(300, 200)] * ROUNDS, alone), Speed(1.5, 1.5, 1.5))

    def test_a_drift_of_the_machine_makes_no_difference(self):
        """Both become slower, as on a GPU that gets hot."""
        factors = [1 + number / 100 for number in range(ROUNDS)]
        drifting = [(150 * factor, 100 * factor) for factor in factors]
        self.assertEqual(speed_of(drifting, ALONE), Speed(1.5, 1.5, 1.5))

    def test_few_rounds_that_are_disturbed_make_no_difference(self):
        disturbed = [(9000, 100), (9000, 100), *[(100, 100)] * (ROUNDS - 2)]
        self.assertEqual(speed_of(disturbed, ALONE), Speed(1.0, 1.0, 1.0))

    def test_noise_costs_nothing(self):
        speed = speed_of(NOISY, NOISY)
        self.assertGreater(speed.high, 1.1)  # noise it is
        self.assertEqual(points_for(speed, RULE), RULE["points"])

    def test_the_ratio_is_between_its_quartiles(self):
        uneven = [(100, 10), (10, 100)] * (ROUNDS // 2)
        speed = speed_of(uneven, uneven)
        self.assertTrue(speed.low <= speed.ratio <= speed.high)

    def test_points_fall_evenly_between_the_two_bounds(self):
        def points(low):
            return points_for(Speed(9, low, 9), RULE)

        self.assertEqual([points(low) for low in (0.2, 1.0, 1.1)], [4, 4, 4])
        self.assertEqual([points(low) for low in (1.11, 1.325, 1.33, 1.55, 1.56)], [4, 3, 3, 2, 2])
        self.assertEqual([points(low) for low in (1.775, 1.999, 2.0, 50.0)], [1, 1, 0, 0])

    def test_a_solution_that_is_slowed_down_shows(self):
        self.assertFalse(is_slowed([(100, 119)] * ROUNDS, ALONE))
        self.assertTrue(is_slowed([(100, 121)] * ROUNDS, ALONE))

    def test_to_slow_it_down_in_few_rounds_gains_a_fifth_at_most(self):
        """Of fewer than half of the rounds the medians say nothing, and the lower quartile does."""
        slowed = [(240, 100)] * 6 + [(240, 9000)] * 4
        self.assertFalse(is_slowed(slowed, ALONE))
        self.assertEqual(speed_of(slowed, ALONE).low, 2.0)

    def test_the_student_reads_what_counts(self):
        first, second = lines_about(Speed(1.284, 1.254, 1.3), RULE)
        self.assertIn("1.28 times as long as the course's solution (1.25 to 1.30", first)
        self.assertIn("All points up to 1.1, none from 2: the smaller", second)


class Rules(unittest.TestCase):
    def exercise(self, speed, number="01.1"):
        exercise = chosen_exercise(number)
        return exercise._replace(facts={**exercise.facts, SPEED: speed})

    def test_points_are_added_to_the_others(self):
        found = with_speed(self.exercise(RULE))
        self.assertEqual(found.points[SPEED], 4)
        self.assertEqual(found.parts, chosen_exercise("01.1").parts)
        plain = chosen_exercise("01.1")
        self.assertIs(with_speed(plain), plain)

    def test_a_bad_rule_is_one_sentence(self):
        for changed in (
            {"points": 0}, {"points": 1.5}, {"points": True}, {"points": "4"}, {"points": 10**6},
            {"all_up_to": 0.9}, {"all_up_to": 2}, {"none_from": math.inf}, {"none_from": math.nan},
            {"most": 3},
        ):  # fmt: skip
            with self.subTest(changed), self.assertRaisesRegex(CommandError, "01.1.* needs points"):
                with_speed(self.exercise({**RULE, **changed}))
        for rule in ([], 4, {}, {"points": 4}):
            with self.subTest(rule), self.assertRaisesRegex(CommandError, "needs points"):
                with_speed(self.exercise(rule))
        with self.assertRaisesRegex(CommandError, "whole program"):
            with_speed(self.exercise(RULE, "01.5"))


class Backends(unittest.TestCase):
    def points(self, backend):
        """(the exercise's points, what is said) of a grade with this backend."""
        exercise = chosen_exercise("01.1")
        exercise = exercise._replace(facts={**exercise.facts, SPEED: RULE})
        arguments = argparse.Namespace(build=None, backend=backend)
        with contextlib.redirect_stderr(io.StringIO()) as said:
            (found,) = with_points_for_speed(arguments, [exercise])
        return found.points, said.getvalue()

    def test_without_a_gpu_none_are_given_and_that_is_said(self):
        points, said = self.points("cpu")
        self.assertNotIn(SPEED, points)
        self.assertIn("No points for speed are given without --backend cuda (01.1)", said)

    def test_with_one_nothing_is_said(self):
        points, said = self.points("cuda")
        self.assertEqual((points[SPEED], said), (4, ""))


def student(name, low=None, races=2, **more):
    speed = {"part": SPEED, "points": 4, "of": 4, "lines": [], "cases": []}
    if low:
        speed["speed"] = {"ratio": low + 0.05, "low": low, "high": low + 0.1}
    parts = [{"part": "races", "points": races, "of": 2, "lines": [], "cases": []}, speed]
    row = {"exercise": "01.1", "parts": parts}
    return {"student": name, "exercises": [row], **more}


class Leaderboard(unittest.TestCase):
    def test_the_fastest_is_first_and_a_race_is_not_there(self):
        students = [student("a", 1.2), student("b", 0.9), student("c", 0.5, races=0), student("d")]
        self.assertEqual([row[-1] for row in ranked(students, "01.1")], ["b", "a"])

    def test_an_alias_is_shown_and_not_the_name(self):
        exercise = {"number": "01.1", "name": "saxpy", "points": {"races": 2, SPEED: 4}}
        marks = {"exercises": [exercise], "students": [student("Jane Doe", 1.2, alias="<Snail>")]}
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "leaderboard.html")
            write_leaderboard(marks, file)
            text = file.read_text(encoding="utf-8")
        self.assertIn("&lt;Snail&gt;", text)
        self.assertNotIn("Jane", text)
        self.assertIn('<td class="number">1.25</td><td class="number">1.20 to 1.30</td>', text)

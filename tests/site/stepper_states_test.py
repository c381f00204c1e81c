# SPDX-License-Identifier: MIT
"""The steppers' data: each setting of the switches, by the memory model."""

import sys

import pytest

from this_build import ROOT

sys.path.insert(0, str(ROOT / "docs/site"))

from course_site import stepper_states
from course_site.stepper_states import FIGURES

DATA = {figure.lesson[:2]: stepper_states.data_of(figure) for figure in FIGURES}


def test_every_state_can_be_reached():
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
            assert reached == set(setting["states"]), f"{figure.lesson}, {key}"


# What each switch is there for: the verdicts that the lessons' text gives.


def races(lesson, key):
    return {frozenset(pair) for pair in DATA[lesson]["settings"][key]["pairs"]}


def old_reads(lesson, key):
    reads = DATA[lesson]["settings"][key]["reads"]
    return {read for read, values in reads.items() if len(values) > 1}


def test_each_lessons_own_program_is_right():
    for figure in FIGURES:
        names = {switch.name for switch in figure.switches if switch.starts_on}
        key = stepper_states.key_of(figure, names)
        assert races(figure.lesson[:2], key) == set(), figure.lesson
        assert old_reads(figure.lesson[:2], key) == set(), figure.lesson


@pytest.mark.parametrize("key", ["0111", "1011", "1101", "1110"])
def test_each_switch_of_the_guard_is_needed(key):
    assert races("04", key) != set(), key
    assert old_reads("04", key) != set(), key


def test_without_the_first_barrier_only_the_other_threads_word_races():
    assert races("04", "0111") == {frozenset({"A1.0", "B0.2"}), frozenset({"A1.0", "B1.2"})}


@pytest.mark.parametrize("barriers", ["00", "01", "10", "11"])
def test_the_queues_counter_may_be_relaxed(barriers):
    assert races("05", barriers + "0") == races("05", barriers + "1"), barriers


@pytest.mark.parametrize("key", ["010", "100"])
def test_both_barriers_of_the_queue_are_needed(key):
    assert races("05", key) != set(), key


@pytest.mark.parametrize("key", ["01", "10"])
def test_both_barriers_of_the_reduction_are_needed(key):
    assert races("02", key) != set(), key

# SPDX-License-Identifier: MIT
"""Points for speed, from a submission to its row: with the CPU backend in the GPU's place, where times mean
nothing, and everything else is as it is there. With a GPU, speed_gpu_test.py looks at the times as well."""

import argparse
import contextlib
import functools
import io
import math
import pathlib
import random
import runpy
import statistics
import tempfile
import threading
import time
from unittest import mock

import pytest
from cheats import timing_cheats
from grading_runs import (
    BUILDS,
    can_grade,
    real_sandboxes,
    solution_text,
    words_of,
    written,
)

from engine.command.errors import CommandError
from grader.exercises.cases import read_results
from grader.exercises.catalogue import SPEED, chosen_exercise, with_speed
from grader.judging import speed, submission
from grader.judging.judge import CaseRuns
from grader.judging.sandboxed import GpuTurns, SandboxRunner
from grader.judging.speed import (
    LONGEST,
    ROUNDS,
    Speed,
    is_slowed,
    lines_about,
    points_for,
    speed_of,
    speed_row,
    times_in,
)
from grader.judging.submission import judge
from grader.judging.verdict import FAILED, PASSED, Verdict
from grader.reports.pages import ranked, write_leaderboard
from grader.sandbox.sandbox import Sandbox
from grader.submissions.grading_run import Tools, measured_cases
from lab_tool.grading.class_grading import with_points_for_speed
from this_build import ROOT

FOUR_POINTS = {"points": 4, "all_up_to": 1.1, "none_from": 2}
# Nanoseconds of the solution of 01.1 next to itself, in turn: 5,000 elements on the CPU backend, on two cores
# that had 19 other things to do.
NOISY = [
    (31848330, 39813875), (10582663, 5191501), (111107, 7805875), (628415, 19924218),
    (12398805, 97126), (88636405, 165263785), (19884734, 31887689), (8626500, 25693209),
    (116149221, 9155295), (43532085, 16125893),
]  # fmt: skip
ALONE = [(100, 100)] * ROUNDS


def written_rounds(rounds):
    """What the runner writes of these rounds, each with the words after `nanoseconds`."""
    text = "".join(
        f"case {number}\nlaunch 0\nnanoseconds {words}\ndone\n"
        for number, words in enumerate(rounds)
    )
    return read_results(text.encode())


def test_those_of_the_rounds_count_and_not_of_warming_up():
    rounds = ["9000 9000", *(f"{100 + number} 100" for number in range(ROUNDS))]
    assert times_in(written_rounds(rounds))[0] == (100, 100)
    assert len(times_in(written_rounds(rounds))) == ROUNDS


def test_what_the_runner_does_not_write_is_none():
    good = ["100 100"] * (ROUNDS + 1)
    assert times_in(written_rounds(good)) is not None
    bad = ("0 100", "-5 100", "100 0", "100", "100 100 100", f"100 {LONGEST + 1}", "nan 100")
    for words in (*bad, "1e3 100", "inf inf", "", f"{'9' * 5000} 1"):
        assert times_in(written_rounds([*good[:-1], words])) is None
    assert times_in(written_rounds(good[:-1])) is None
    assert times_in(written_rounds([*good, good[0]])) is None


def test_a_time_is_a_part_of_the_solutions():
    alone = [(200, 200)] * ROUNDS
    assert speed_of([(300, 200)] * ROUNDS, alone) == Speed(1.5, 1.5, 1.5)


def test_a_drift_of_the_machine_makes_no_difference():
    """Both become slower, as on a GPU that gets hot."""
    factors = [1 + number / 100 for number in range(ROUNDS)]
    drifting = [(150 * factor, 100 * factor) for factor in factors]
    assert speed_of(drifting, ALONE) == Speed(1.5, 1.5, 1.5)


def test_few_rounds_that_are_disturbed_make_no_difference():
    disturbed = [(9000, 100), (9000, 100), *[(100, 100)] * (ROUNDS - 2)]
    assert speed_of(disturbed, ALONE) == Speed(1.0, 1.0, 1.0)


def test_noise_costs_nothing():
    speed = speed_of(NOISY, NOISY)
    assert speed.high > 1.1  # noise it is
    assert points_for(speed, FOUR_POINTS) == FOUR_POINTS["points"]


def test_the_ratio_is_between_its_quartiles():
    uneven = [(100, 10), (10, 100)] * (ROUNDS // 2)
    speed = speed_of(uneven, uneven)
    assert speed.low <= speed.ratio <= speed.high


def test_points_fall_evenly_between_the_two_bounds():
    def points(low):
        return points_for(Speed(9, low, 9), FOUR_POINTS)

    assert [points(low) for low in (0.2, 1.0, 1.1)] == [4, 4, 4]
    assert [points(low) for low in (1.11, 1.325, 1.33, 1.55, 1.56)] == [4, 3, 3, 2, 2]
    assert [points(low) for low in (1.775, 1.999, 2.0, 50.0)] == [1, 1, 0, 0]


def test_a_solution_that_is_slowed_down_shows():
    assert not is_slowed([(100, 119)] * ROUNDS, ALONE)
    assert is_slowed([(100, 121)] * ROUNDS, ALONE)


def test_to_slow_it_down_in_few_rounds_gains_a_fifth_at_most():
    """Of fewer than half of the rounds the medians say nothing, and the lower quartile does."""
    slowed = [(240, 100)] * 6 + [(240, 9000)] * 4
    assert not is_slowed(slowed, ALONE)
    assert speed_of(slowed, ALONE).low == 2.0


def test_the_student_reads_what_counts():
    first, second = lines_about(Speed(1.284, 1.254, 1.3), FOUR_POINTS)
    assert "1.28 times as long as the course's solution (1.25 to 1.30" in first
    assert "All points up to 1.1, none from 2: the smaller" in second


def exercise_with(speed, number="01.1"):
    exercise = chosen_exercise(number)
    return exercise._replace(facts={**exercise.facts, SPEED: speed})


def test_points_are_added_to_the_others():
    found = with_speed(exercise_with(FOUR_POINTS))
    assert found.points[SPEED] == 4
    assert found.parts == chosen_exercise("01.1").parts
    plain = chosen_exercise("01.1")
    assert with_speed(plain) is plain


def test_a_bad_rule_is_one_sentence():
    for changed in (
        {"points": 0}, {"points": 1.5}, {"points": True}, {"points": "4"}, {"points": 10**6},
        {"all_up_to": 0.9}, {"all_up_to": 2}, {"none_from": math.inf}, {"none_from": math.nan},
        {"most": 3},
    ):  # fmt: skip
        with pytest.raises(CommandError, match=r"01.1.* needs points"):
            with_speed(exercise_with({**FOUR_POINTS, **changed}))
    for rule in ([], 4, {}, {"points": 4}):
        with pytest.raises(CommandError, match="needs points"):
            with_speed(exercise_with(rule))
    with pytest.raises(CommandError, match="whole program"):
        with_speed(exercise_with(FOUR_POINTS, "01.5"))


def points_with(backend):
    """(the exercise's points, what is said) of a grade with this backend."""
    exercise = chosen_exercise("01.1")
    exercise = exercise._replace(facts={**exercise.facts, SPEED: FOUR_POINTS})
    arguments = argparse.Namespace(build=None, backend=backend)
    with contextlib.redirect_stderr(io.StringIO()) as said:
        (found,) = with_points_for_speed(arguments, [exercise])
    return found.points, said.getvalue()


def test_without_a_gpu_none_are_given_and_that_is_said():
    points, said = points_with("cpu")
    assert SPEED not in points
    assert "No points for speed are given without --backend cuda (01.1)" in said


def test_with_one_nothing_is_said():
    points, said = points_with("cuda")
    assert (points[SPEED], said) == (4, "")


def student(name, low=None, races=2, **more):
    speed = {"part": SPEED, "points": 4, "of": 4, "lines": [], "cases": []}
    if low:
        speed["speed"] = {"ratio": low + 0.05, "low": low, "high": low + 0.1}
    parts = [{"part": "races", "points": races, "of": 2, "lines": [], "cases": []}, speed]
    row = {"exercise": "01.1", "parts": parts}
    return {"student": name, "exercises": [row], **more}


def test_the_fastest_is_first_and_a_race_is_not_there():
    students = [student("a", 1.2), student("b", 0.9), student("c", 0.5, races=0), student("d")]
    assert [row[-1] for row in ranked(students, "01.1")] == ["b", "a"]


def test_an_alias_is_shown_and_not_the_name():
    exercise = {"number": "01.1", "name": "saxpy", "points": {"races": 2, SPEED: 4}}
    marks = {"exercises": [exercise], "students": [student("Jane Doe", 1.2, alias="<Snail>")]}
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "leaderboard.html")
        write_leaderboard(marks, file)
        text = file.read_text(encoding="utf-8")
    assert "&lt;Snail&gt;" in text
    assert "Jane" not in text
    assert '<td class="number">1.25</td><td class="number">1.20 to 1.30</td>' in text


NUMBER = "01.1"
SIZE = 301_000  # elements
RULE = {"points": 2, "all_up_to": 1.1, "none_from": 2}
COUNTED_WHOLE = "its time is the whole of it"  # instead of a refusal
LEAST_RATIO = 3  # of those, whose kernels do far more than the solution's


def timed_exercise():
    exercise = chosen_exercise(NUMBER)
    return with_speed(exercise._replace(facts={**exercise.facts, SPEED: RULE}))


class Seed:
    seed = "a-seed-of-the-tests"


def smaller_cases(exercise, seed):
    """Large enough for those that are honest at small sizes."""
    case = runpy.run_path(str(exercise.file))["case"]
    drawn = [case(random.Random(f"{seed} {number}"), SIZE, False) for number in range(ROUNDS + 1)]
    return [each._replace(launches=1) for each in drawn]


@functools.lru_cache(None)
def timed_cases():
    with mock.patch.object(submission, "cases_to_time", smaller_cases):
        return measured_cases(Tools(sandbox(), on_gpu()), Seed(), [timed_exercise()])[NUMBER]


def sandbox():
    return Sandbox(real_sandboxes()[0])


def on_gpu():
    return BUILDS._replace(gpu=BUILDS.cpu)


class Watched(CaseRuns):
    """Remembers what came out of each process in which calls were timed."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.timed = []

    def run_cases(self, program, cases, settings, limits, options=(), **more):
        run = super().run_cases(program, cases, settings, limits, options, **more)
        if options == [speed.IN_TURN]:
            self.timed.append(run.results)
        return run


def timed_alone(text, states=(PASSED,)):
    """(the row of speed that this text gets if its other parts are in these states, the judge of it)."""
    cases, box = timed_cases(), sandbox()
    with written(NUMBER, text) as file, box.folder() as folder:
        runner = SandboxRunner(box, on_gpu(), cases.exercise, file, folder)
        judging = Watched(cases, runner)
        verdict = Verdict(dict(enumerate(states)), [])
        return speed_row(judging, verdict, cases.timed, RULE), judging


def ratio_of(judging):
    """The medians in the first process, whatever was made of them."""
    pairs = times_in(judging.timed[0])
    return statistics.median(pair[0] for pair in pairs) / statistics.median(p[1] for p in pairs)


@can_grade
def test_the_solution_is_as_fast_as_itself():
    """From a text to its row, with all parts."""
    any_speed = mock.patch.object(speed, "is_slowed", lambda times, alone: False)
    with written(NUMBER, solution_text(NUMBER)) as file, any_speed:
        found = judge(sandbox(), on_gpu(), timed_cases(), file)
    assert (found.status, [part["part"] for part in found.parts][-1]) == ("OK", SPEED)
    row = found.parts[-1]
    assert "times as long as the course's solution" in row["lines"][0]
    assert set(row["speed"]) == {"ratio", "low", "high"}
    assert row["points"] == points_for(Speed(**row["speed"]), RULE)
    assert sum(part["points"] for part in found.parts[:-1]) == 11, words_of(found)


@can_grade
@pytest.mark.parametrize("name", timing_cheats())
def test_each_cheat_is_found(name):
    cheat = timing_cheats()[name]
    row, judging = timed_alone(cheat.text)
    if cheat.says == COUNTED_WHOLE:
        assert ratio_of(judging) > LEAST_RATIO, row
    else:
        assert row["points"] == 0, row
        assert "speed" not in row
        assert cheat.says in "\n".join(row["lines"])


@can_grade
def test_the_page_has_each_cheat():
    page = (ROOT / "docs/grading-security.md").read_text(encoding="utf-8")
    assert len(timing_cheats()) >= 6
    for name, cheat in timing_cheats().items():
        assert f"| `{name}` | {cheat.what} | {cheat.says} |\n" in page


@can_grade
def test_who_is_not_right_is_not_timed():
    row, judging = timed_alone(solution_text(NUMBER), (PASSED, FAILED))
    assert (row["points"], row["lines"]) == (0, [speed.NOT_TIMED])
    assert judging.timed == []


@can_grade
def test_a_solution_that_is_slowed_down_gives_no_points():
    with mock.patch.object(speed, "is_slowed", lambda times, alone: True):
        row, judging = timed_alone(solution_text(NUMBER))
    assert (row["points"], row["lines"]) == (0, [speed.SLOWED])
    assert len(judging.timed) == 2 * speed.TRIES  # each time alone as well


@can_grade
def test_the_inputs_are_others_in_each_round():
    inputs = [case.arguments[1].content for case in timed_cases().timed.cases]
    assert len(inputs) == ROUNDS + 1
    assert len({tuple(content[:100]) for content in inputs}) == ROUNDS + 1


def test_who_is_timed_has_the_gpu_alone():
    turns, inside, most = GpuTurns(), [], []

    def use(taken, name):
        with taken():
            inside.append(name)
            most.append(sorted(inside))
            time.sleep(0.01)
            inside.remove(name)

    names = ["shared", "shared", "alone"] * 5
    threads = [threading.Thread(target=use, args=(getattr(turns, n), n)) for n in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(most) == len(names)
    for together in most:
        assert "alone" not in together or together == ["alone"], together


def test_others_share_it():
    turns, both = GpuTurns(), threading.Barrier(2, timeout=60)

    def use():
        with turns.shared():
            both.wait()  # fails if the other one is not in at the same time

    other = threading.Thread(target=use)
    other.start()
    use()
    other.join()

# SPDX-License-Identifier: MIT
"""Each cheat gets its verdict, and the sandbox holds those that no inspection has refused."""

import contextlib
import os
import pathlib
import re
import subprocess
from unittest import mock

import pytest
from cheats import cheat_text, cheats
from grading_runs import (
    CAN_GRADE,
    cases_with_work,
    judged,
    real_sandboxes,
    solution_text,
    words_of,
)

from grader.exercises.catalogue import chosen_exercise
from grader.judging.judge import OF_A_CASE, OF_A_SCHEDULE
from grader.judging.sandboxed import SECONDS_OF_ALL, SandboxRunner
from grader.sandbox.sandbox import LANDLOCK, Sandbox
from this_build import ROOT

# What comes of those that are refused for their names, if names are not looked at: the sandbox and the
# comparison are still there. {name: (status, most points, what is said)}
NOT_INSPECTED = {
    "writes_the_results_itself": ("OK", 0, "expected"),
    "leaves_a_thread_running": ("OK", 11, ""),
    "leaves_a_process_running": ("OK", 11, ""),
    "fork_bomb": ("SG", 0, "256 threads and processes"),
    "uses_the_network": ("OK", 0, "expected"),
    "forges_the_diagnostics": ("OK", 0, "expected"),
    "includes_a_file_of_the_system": ("CE", 0, "No such file"),
    "includes_the_solution": ("CE", 0, "No such file"),
    "assembles_a_file_into_itself": ("CE", 0, "file not found"),
    "reads_proc": ("OK", 0, "expected"),
}
# Where Landlock ends them otherwise than bubblewrap: files are there and closed, and the kernel refuses
# to start more processes before they have been counted.
IN_LANDLOCK = {
    "fork_bomb": ("OK", 0, "expected"),
    "includes_a_file_of_the_system": ("CE", 0, "Permission denied"),
    "includes_the_solution": ("CE", 0, "Permission denied"),
}
# Each takes its limit several times over.
LOWER_LIMITS = {
    "never_ends": OF_A_CASE._replace(seconds=2),
    "never_ends_in_a_kernel": OF_A_CASE._replace(seconds=2),
    "takes_all_memory": OF_A_CASE._replace(memory=256 << 20),
}
# What all runs of one together may take, of which each takes more.
LOWER_SECONDS_OF_ALL = {"is_slow_in_each_run": 1}
STARTS_PROCESSES = ("fork_bomb", "leaves_a_process_running")

PAGE = ROOT / "docs/grading-security.md"
ROW = re.compile(r"^\| `(?P<name>\w+)` \| (?P<what>.+) \| (?P<layer>[\w ]+) \| (?P<verdict>.+) \|$")
NOTHING = "nothing"  # finds a cheat that gets all points

can_grade = pytest.mark.skipif(
    not (CAN_GRADE and real_sandboxes()), reason="grading takes the race checker and a sandbox"
)
can_use_landlock = pytest.mark.skipif(
    not (CAN_GRADE and LANDLOCK in real_sandboxes()), reason="there is no Landlock here"
)


@can_grade
@pytest.mark.parametrize("name", cheats())
def test_each_cheat_gets_its_verdict(name):
    cheat = cheats()[name]
    cases_with_work(cheat.exercise)  # the solution has the usual limits
    with lower_limits(name):
        found = judged(cheat.exercise, cheat.text)
    words = words_of(found)
    assert f"{found.status} {found.points}" == cheat.verdict, words
    assert cheat.says in words


@can_grade
@pytest.mark.parametrize("name", ["asks_for_the_secret_size", "has_a_kernel_for_the_counted_size"])
def test_the_secret_size_is_not_learned(name):
    number = cheats()[name].exercise
    case = cases_with_work(number).secret.case
    size = next(each for each in case.arguments if type(each) is int)
    words = words_of(judged(number, cheat_text(name)))
    assert "At a size that only a grade uses" in words
    assert f"{size:,}" not in words
    assert str(size) not in words


@can_grade
@pytest.mark.parametrize("name", NOT_INSPECTED)
def test_without_the_inspection_the_sandbox_still_holds(name):
    status, points, says = NOT_INSPECTED[name]
    with not_inspected():
        found = judged("01.1", cheat_text(name))
    words = words_of(found)
    assert (found.status, found.points) == (status, points), words
    assert says in words


@can_use_landlock
@pytest.mark.parametrize("name", NOT_INSPECTED)
def test_without_the_inspection_landlock_still_holds(name):
    """Where bubblewrap is refused, as in most containers."""
    if name in STARTS_PROCESSES and os.geteuid() != 0:
        pytest.skip("only root's submissions have a user of their own")
    status, points, says = {**NOT_INSPECTED, **IN_LANDLOCK}[name]
    with not_inspected():
        found = judged("01.1", cheat_text(name), LANDLOCK)
    words = words_of(found)
    assert (found.status, found.points) == (status, points), words
    assert says in words
    assert str(ROOT) not in words


@can_use_landlock
def test_the_solution_passes_with_every_part_in_landlock():
    found = judged("04.1", solution_text("04.1"), LANDLOCK)
    assert found.points == sum(part["of"] for part in found.parts), words_of(found)


@can_grade
@pytest.mark.parametrize("number", ["01.1", "04.1"])
def test_the_solution_passes_with_every_part(number):
    found = judged(number, solution_text(number))
    assert found.points == sum(part["of"] for part in found.parts), words_of(found)


@can_grade
def test_without_the_inspection_a_report_can_be_forged():
    """This is what the inspection is for, and what a way around it would lead to."""
    with not_inspected():
        found = judged("01.1", cheat_text("forges_the_report"))
    assert points_of(found)["races"] == 2, words_of(found)


@can_grade
@pytest.mark.parametrize("name", ["hides_stores_from_the_compiler", "copies_by_a_checked_function"])
def test_without_the_inspection_hidden_stores_show_in_memory(name):
    """The race checker hears of none of them, and still they give no points."""
    with not_inspected():
        found = judged("01.1", cheat_text(name))
    points = points_of(found)
    assert (points["races"], points["limits"]) == (0, 0), words_of(found)
    assert "in a way that the race checker does not see" in words_of(found)


@can_grade
@pytest.mark.parametrize(
    "forged",
    ['\\"findings\\": [\\"\\\\ud800\\"]', '\\"findings\\": [1e999]'],
    ids=["a_surrogate", "no_number"],
)
def test_a_report_that_no_checker_writes_stops_no_run(forged):
    """The class is judged on: what such a text would break is broken for its author alone."""
    text = cheat_text("forges_the_report")
    changed = text.replace('\\"findings\\": []', forged)
    assert changed != text
    with not_inspected():
        found = judged("01.1", changed)
    assert found.points == 0, words_of(found)
    assert "no kernel of yours was seen to run" in words_of(found)


@can_grade
def test_two_reports_are_none():
    """The checker's own comes after the forged one if the program goes on to its end."""
    text = cheat_text("forges_the_report")
    assert "  syscall(SYS_exit_group, 0);\n" in text
    with not_inspected():
        found = judged("01.1", text.replace("  syscall(SYS_exit_group, 0);\n", ""))
    assert found.points == 0, words_of(found)
    assert "no kernel of yours was seen to run" in words_of(found)


@can_grade
def test_a_run_that_a_signal_ends_is_not_counted():
    """The checker reports before the signal does its work, and here only counted runs make one call."""
    dies = (
        "#include <cstdlib>\n"
        "struct calls { int number = 0; ~calls() { if (number == 1) std::abort(); } } all;\n"
    )
    text = solution_text("01.1").replace(
        "  if (n == 0) return;", "  ++all.number;\n  if (n == 0) return;"
    )
    assert "++all" in text
    found = judged("01.1", dies + text)
    states = {part: points > 0 for part, points in points_of(found).items()}
    assert states == {"results": True, "races": True, "limits": False}, words_of(found)


@can_grade
@pytest.mark.parametrize(
    ("count", "says"),
    [(400, "It uses write"), (20_000, "more names than can be looked at")],
    ids=["several", "many"],
)
def test_no_number_of_names_hides_one(count, says):
    names = "".join(f"int z{'z' * 50}_{number};\n" for number in range(count))
    found = judged("01.1", cheat_text("forges_the_report") + names)
    assert found.status == "CE", words_of(found)
    assert says in words_of(found)


@can_grade
def test_an_address_that_is_computed_is_not_found():
    """The way around the inspection that is left: one function's distance from another in libc."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        libc = next(line.split()[-1] for line in maps if re.search(r"/libc\.so\.6$", line.strip()))
    names = subprocess.run(["nm", "-D", libc], capture_output=True, text=True, check=True).stdout
    places = dict(re.findall(r"^(\w+) [TW] (getenv|fflush)@", names, re.MULTILINE))
    places = {name: int(place, 16) for place, name in places.items()}
    text = solution_text("01.1").replace(
        "void saxpy(float alpha, const float* x, float* y, std::size_t n) {",
        "void saxpy(float alpha, const float* x, float* y, std::size_t n) {\n"
        "  const auto known_address = reinterpret_cast<unsigned long>(&std::fflush);\n"
        "  const auto get = reinterpret_cast<char* (*)(const char*)>(known_address - "
        f"{places['fflush']}ul + {places['getenv']}ul);\n"
        '  if (!get("PATH")) return;',
    )
    found = judged("01.1", "#include <cstdio>\n" + text)
    assert (found.status, found.points) == ("OK", 11), words_of(found)


@can_grade
def test_a_kernel_that_never_ends_has_one_status_however_busy_the_machine_is():
    """There the backend's own look at the clock came first, and then each case took all its time."""
    cases_with_work("01.1")
    at_once = mock.patch("grader.judging.judge.STUCK_SECONDS", 0.1)
    with lower_limits("never_ends_in_a_kernel"), at_once:
        found = judged("01.1", cheat_text("never_ends_in_a_kernel"))
    assert (found.status, found.points) == ("TO", 0), words_of(found)
    assert "the cases before it took all the time" in words_of(found)


@can_grade
def test_races_are_not_looked_for_when_the_time_of_all_runs_is_over():
    """As of a file whose results take just what it may."""
    whole = SandboxRunner.run

    def late(runner, program, folder, arguments, settings, limits):
        runner.seconds = 1000 if limits is OF_A_SCHEDULE else 0
        return whole(runner, program, folder, arguments, settings, limits)

    cases_with_work("01.1")
    with mock.patch.object(SandboxRunner, "run", late):
        found = judged("01.1", solution_text("01.1"))
    assert points_of(found) == {"results": 6, "races": 0, "limits": 0}
    assert found.status == "TO"
    assert "all runs of the file together took more time than they may" in words_of(found)


@can_grade
def test_long_lines_and_names_fill_no_feedback():
    """The lines and names of a race are told and drawn."""
    name = "sums_" + "x" * 20_000
    racing = cheat_text("races_at_the_counted_size_alone")
    text = racing.replace("n == 10'000", "n != 0").replace(
        "  if (i < n) y[i] = sum;",
        f"  __shared__ float {name}[1];\n  {name}[0] = sum; /* {'y' * 50_000} */\n"
        f"  if (i < n) y[i] = sum + 0 * {name}[0];",
    )
    assert text != racing
    found = judged("01.1", text)
    assert "race" in words_of(found)
    assert max(map(len, words_of(found).splitlines())) < 1100
    assert 1000 < len(found.picture) < 1 << 20


@can_grade
def test_nothing_is_left_running(tmp_path):
    # In a folder of its own: other tests grade at the same time.
    with not_inspected(), mock.patch("tempfile.tempdir", str(tmp_path)):
        judged("01.1", cheat_text("leaves_a_process_running"))
    for process in pathlib.Path("/proc").iterdir():
        if process.name.isdigit():
            with contextlib.suppress(OSError):
                assert str(tmp_path) not in os.readlink(process / "exe")


@can_grade
@pytest.mark.parametrize("kind", real_sandboxes())
def test_nothing_in_a_process_tells_one_run_from_another(kind):
    """Results, schedules, old values and counts: all have the same arguments and environment."""
    cases_with_work("01.1")  # else the solution's runs are among them
    started = []

    def note(sandbox, words, variables, passed, stdin, then=Sandbox._started):
        if stdin:
            started.append(words_without_descriptors(words, passed) + sorted(variables.items()))
        return then(sandbox, words, variables, passed, stdin)

    with mock.patch.object(Sandbox, "_started", note):
        judged("01.1", cheat_text("finds_out_that_it_is_checked"), kind)
    assert len(started) > 30
    assert [each for each in started if each != started[0]] == []


def test_each_file_has_a_row_and_each_row_a_file():
    assert len(cheats()) >= 30
    assert sorted(rows_of_page()) == sorted(cheats())


@pytest.mark.parametrize("name", cheats())
def test_a_row_says_what_the_head_of_its_file_says(name):
    cheat, row = cheats()[name], rows_of_page()[name]
    of = sum(chosen_exercise(cheat.exercise).points.values())
    status, points = cheat.verdict.split()
    assert row["what"] == cheat.what
    assert row["verdict"] == f"{status}, {points} of {of}"
    has_all = int(points) == of
    assert (row["layer"] == NOTHING) == has_all
    assert (cheat.says == "") == (has_all or "disguise" in name)


def test_layers_are_those_of_the_page():
    layers = re.findall(
        r"^\| ([a-z ]+) \| .+ \| .+ \|$", section("Which layer holds what"), re.MULTILINE
    )
    assert len(layers) > 8
    for name, row in rows_of_page().items():
        assert row["layer"] in {*layers[1:], NOTHING}, name


def rows_of_page():
    rows = [ROW.match(line) for line in section("All cheats").splitlines()]
    return {row["name"]: row for row in rows if row}


def section(heading):
    text = PAGE.read_text(encoding="utf-8")
    return re.search(rf"^### {heading}\n(.*?)^#", text, re.MULTILINE | re.DOTALL)[1]


def points_of(judgement):
    return {part["part"]: part["points"] for part in judgement.parts}


@contextlib.contextmanager
def lower_limits(name):
    """As long as it lasts, this cheat has less of what it takes all of."""
    of_case = LOWER_LIMITS.get(name, OF_A_CASE)
    of_schedule = LOWER_LIMITS.get(name, OF_A_SCHEDULE)
    of_all = LOWER_SECONDS_OF_ALL.get(name, SECONDS_OF_ALL)
    with (
        mock.patch("grader.judging.judge.OF_A_CASE", of_case),
        mock.patch("grader.judging.judge.OF_A_SCHEDULE", of_schedule),
        mock.patch("grader.judging.sandboxed.SECONDS_OF_ALL", of_all),
    ):
        yield


def words_without_descriptors(words, passed):
    """What the sandbox is told, less the numbers of pipes, which differ by chance."""
    numbers = "|".join(map(str, passed))
    return [re.sub(rf'^({numbers})$|(?<="told": )({numbers})', "N", word) for word in words]


@contextlib.contextmanager
def not_inspected():
    """As long as it lasts, no names in a submission are looked at."""
    with contextlib.ExitStack() as stack:
        for name in ("objections_to_symbols", "source_objections"):
            stack.enter_context(mock.patch(f"grader.judging.sandboxed.{name}", lambda *_, **__: []))
        yield

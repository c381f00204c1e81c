# SPDX-License-Identifier: MIT
"""`./lab racecheck`: exit codes, what it prints, the JSON file, and wrong use."""

import json
import os
import re
import tempfile

import pytest

from lab_runs import lab

PROGRAM = os.environ["MISTAKES_PROGRAM"]


def racecheck(*words, case=None, environment=None):
    """Exit code, stdout, stderr of `lab racecheck` on a case of mistakes.cu."""
    program = ["--program", PROGRAM] if case else []
    options = ["--", case] if case else []
    result = lab("racecheck", *program, *words, *options, **(environment or {}))
    return result.returncode, result.stdout, result.stderr


def test_clean():
    code, output, _ = racecheck("--seeds", "3", case="guard")
    assert code == 0, output
    assert re.search(r"\n[1-9][0-9,]* accesses checked in 3 schedules, 0 found\n$", output), output


def test_found():
    code, output, _ = racecheck("--seeds", "3", case="guard_classic")
    assert code == 1
    assert "race (global memory) on allocation 1, element " in output
    assert "missing barrier before the atomic" in output
    assert "missing acquire" in output
    assert "  seed 0, and in 3 of 3 schedules; " in output
    assert output.count("race (global memory)") == 1


def test_a_write_that_comes_later_than_its_signal_is_the_same_mistake():
    # In some of these schedules the last block reads before another block's thread writes.
    code, output, _ = racecheck("--seeds", "20", case="guard_classic")
    assert code == 1
    assert output.count("race (global memory)") == 1, output
    assert "no synchronisation" not in output
    assert " of these lack less: missing acquire\n" in output


def test_twenty_schedules_by_default_and_one_for_a_seed():
    assert "checked in 20 schedules" in racecheck(case="guard")[1]
    code, output, _ = racecheck("--seed", "12", case="guard_classic")
    assert code == 1
    assert "  seed 12, and in 1 of 1 schedule" in output


def test_lenient_passes_a_missing_acquire_and_nothing_else():
    words = ("--seeds", "2")
    assert racecheck(*words, case="guard_without_observers_fence")[0] == 1
    code, output, _ = racecheck(*words, "--lenient", case="guard_without_observers_fence")
    assert code == 0, output
    assert "missing acquire" in output
    assert racecheck(*words, "--lenient", case="guard_classic")[0] == 1


def test_what_checked_nothing_is_no_success():
    code, output, _ = racecheck("--seeds", "2", case="nothing_to_see")
    assert code == 1
    assert (
        "seed 0: no kernel accesses memory that threads share, so nothing was checked; " in output
    )


def test_a_kernel_that_fails():
    code, output, _ = racecheck("--seeds", "2", case="throws")
    assert code == 1
    assert "seed 0: a kernel did not come to its end; 2 of 2 schedules so" in output
    assert "an exception left the kernel: thrown by a kernel" in output
    code, output, _ = racecheck("--seeds", "1", case="exits")
    assert code == 1
    assert "a kernel did not come to its end" in output
    assert "the kernel called exit()" in output


def test_a_program_that_does_not_end():
    code, output, _ = racecheck(
        "--seeds", "1", "--timeout", "2", case="endless", environment={"LAB_TIMEOUT": "100"}
    )
    assert code == 1
    assert "stopped after 2 s (--timeout)" in output


def test_json():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "found.json")
        racecheck("--seeds", "3", "--json", path, case="guard_classic")
        with open(path, encoding="utf-8") as file:
            (result,) = json.load(file)
        assert os.listdir(folder) == ["found.json"]
    assert (result["seeds"], result["code"]) == ([0, 3], 1)
    (found,) = result["findings"]
    assert found["kind"] == "race"
    assert found["diagnosis"] == ["missing barrier before the atomic", "missing acquire"]
    assert found["seeds"] == 3


def test_picture():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "race.svg")
        words = ("--seeds", "2", "--picture", path)
        code, output, _ = racecheck(*words, case="guard_classic")
        assert code == 1
        assert f"The race is drawn in {path}.\n" in output
        with open(path, encoding="utf-8") as file:
            assert ">missing barrier before the atomic</text>" in file.read()
        code, output, _ = racecheck(*words, case="modern_guard_block_scope")
        assert f"The 3 races are drawn in {path}, one below the other.\n" in output
        code, output, _ = racecheck(*words, case="guard")
        assert code == 0
        assert (
            f"No race was found, so {path} is not written; the one that is there is from before."
            in output
        )
        os.remove(path)
        code, output, _ = racecheck(*words, case="unwritten_device")
        assert code == 1
        assert f"No race was found, so {path} is not written.\n" in output
        assert os.listdir(folder) == []


def test_a_picture_that_can_not_be_written_is_refused_before_anything_runs():
    with tempfile.TemporaryDirectory() as folder:
        for path, sentence in (
            (os.path.join(folder, "race.png"), "so its name must end in .svg"),
            (os.path.join(folder, "nowhere", "race.svg"), "there is no folder"),
            ("", "the value of --picture is empty"),
        ):
            code, output, error = racecheck("--picture", path, case="guard_classic")
            assert (code, output) == (2, ""), error
            assert sentence in error
            assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--seeds", "0"), "expected a whole number from 1 to 100000"),
        (("--seeds", "1099511627776"), "expected a whole number from 1 to 100000"),
        (("--seed", "-1"), "expected"),
        (("--seeds", "many"), "expected a whole number from 1 to 100000, not 'many'"),
        (("99",), "there is no chapter 99"),
        (("nowhere.cu",), "there is no file nowhere.cu"),
        (("01", "02"), "takes no second argument 02"),
    ],
)
def test_wrong_use(words, sentence):
    code, _, error = racecheck(*words)
    assert code == 2, error
    assert sentence in error
    assert error.count("\n") == 1


def test_the_programs_wrong_use_is_wrong_use():
    code, output, _ = racecheck("--seeds", "2", case="no_such_case")
    assert code == 2
    assert "there is no case no_such_case" in output

# SPDX-License-Identifier: MIT
"""`./lab test`: which tests are meant, what is built for them, and how their test cases are counted."""

import json

import pytest

from engine.command.build_folder import introspection
from engine.command.errors import CommandError
from lab_tool.setup.packages import JSONSCHEMA, PYTEST
from lab_tool.testing import (
    binary_name,
    count_cases,
    least_minutes,
    select,
    suites_of,
    table_of,
    targets_of,
)
from lab_tool.verbs.test import packages_of
from this_build import BUILD


def a_test(name, *suites, cmd=("program",), depends=()):
    """A test as Meson describes it."""
    of_project = [f"project:{suite}" for suite in suites]
    return {"name": name, "suite": of_project, "cmd": list(cmd), "depends": list(depends)}


TESTS = [
    a_test("01_vector_add_test", "chapters", "course"),
    a_test("vector_add_racecheck", "racecheck", "course"),
    a_test("warp_test", "backend"),
    a_test("checker_of_documents", "docs"),
    a_test("shadow_test", "racecheck", "checker"),
]


def names(*wanted, of=(), without=(), tests=TESTS):
    return [test["name"] for test in select(tests, wanted, of, without).chosen]


def test_by_default_those_of_the_course():
    selection = select(TESTS, [])
    assert selection.is_default
    assert selection.left_out == 3
    assert names() == ["01_vector_add_test", "vector_add_racecheck"]


def test_without_such_a_suite_by_default_all():
    others = TESTS[2:]
    assert len(names(tests=others)) == len(others)
    assert not select(others, []).is_default


def test_minutes_are_said_before_they_pass():
    assert least_minutes(select(TESTS, ["racecheck"])) == 5
    assert least_minutes(select(TESTS, ["shadow"])) == 0


def test_all():
    assert len(names("all")) == len(TESTS)


def test_part_of_a_name_out_of_all():
    assert names("WARP") == ["warp_test"]
    assert names("vector") == ["01_vector_add_test", "vector_add_racecheck"]


def test_a_suites_name_beside_the_tests_of_that_name():
    assert names("checker") == ["checker_of_documents", "shadow_test"]
    assert names("backend") == ["warp_test"]


def test_several_names():
    assert names("warp", "shadow") == ["warp_test", "shadow_test"]
    assert names("racecheck", "vector") == names("vector", "racecheck")


def test_suite():
    assert names(of=["racecheck"]) == ["vector_add_racecheck", "shadow_test"]
    assert names("shadow", of=["racecheck"]) == ["shadow_test"]


def test_several_suites():
    assert names(of=["backend", "chapters"]) == ["01_vector_add_test", "warp_test"]


def test_without_suites():
    assert names("all", without=["racecheck", "docs"]) == ["01_vector_add_test", "warp_test"]
    assert names(of=["racecheck"], without=["course"]) == ["shadow_test"]
    # Then it is of all, and not of the course's, that some are left out.
    assert len(names(without=["docs"])) == len(TESTS) - 1


@pytest.mark.parametrize(
    ("wanted", "of", "without", "sentence"),
    [
        pytest.param("wrap", [], [], "contains 'wrap'; did you mean warp_test", id="name"),
        pytest.param(
            "chapter", ["docs"], [], "no test in the suite docs has a name", id="name_in_a_suite"
        ),
        pytest.param(
            "warp",
            [],
            ["docs", "backend"],
            "no test outside the suite docs or backend has a name",
            id="name_outside_of_suites",
        ),
        pytest.param(
            "", ["docs", "chapter"], [], "no suite chapter; did you mean chapters", id="suite"
        ),
        pytest.param(
            "", [], ["chapter"], "no suite chapter; did you mean chapters", id="suite_left_out"
        ),
        pytest.param("", ["docs"], ["docs"], "no test is left", id="nothing_left"),
        pytest.param(
            "xyzzy", [], [], r"'xyzzy'; the nearest are \w+, \w+ and \w+\.\Z", id="nothing_near"
        ),
    ],
)
def test_the_nearest_of_what_is_not_there(wanted, of, without, sentence):
    with pytest.raises(CommandError, match=sentence) as problem:
        select(TESTS, [wanted] if wanted else [], of, without)
    assert problem.value.code == 2


def test_what_the_tests_need_and_nothing_else(tmp_path):
    folder = tmp_path.resolve()
    (folder / "meson-info").mkdir()
    known = [
        {"id": letter, "filename": [str(folder / "tests" / f"program_{letter}")]}
        for letter in "abc"
    ]
    (folder / "meson-info/intro-targets.json").write_text(json.dumps(known), encoding="utf-8")
    tests = [a_test("one", depends=["a", "b"]), a_test("two", depends=["b"])]
    assert targets_of(tests, folder) == ["tests/program_a", "tests/program_b"]
    assert targets_of([a_test("three")], folder) == []


def test_the_name_that_a_test_signs_with():
    script = ["python3", "-m", "run_python_test", "/x/tests/cli/selection_test.py"]
    assert binary_name(a_test("a", cmd=script)) == "selection_test"
    assert binary_name(a_test("b", cmd=["/build/chapters/vector_add_test"])) == "vector_add_test"


def test_what_the_chosen_tests_take():
    plain = {**a_test("plain"), "env": {}}
    schemas = {**a_test("schemas"), "env": {"LAB_TEST_PACKAGES": "jsonschema"}}
    assert packages_of([plain]) == [PYTEST]
    assert packages_of([plain, schemas]) == [PYTEST, JSONSCHEMA]


def test_every_test_has_one_suite_and_known_marks():
    suites, marks = set(table_of("test_suites")), set(table_of("test_marks"))
    for test in introspection(BUILD, "tests"):
        own = suites_of(test)
        assert own & suites, test["name"]
        assert own <= suites | marks, test["name"]


def counted(lines, outcomes):
    counts, remarks = count_cases(lines, outcomes)
    return (counts["passed"], counts["failed"], counts["skipped"]), remarks


def test_counts_cases_and_not_binaries():
    lines = ["passed\tone\ta", "passed\tone\tb", "skipped\tone\tc", "failed\ttwo\td"]
    counts, remarks = counted(lines, [("one", "one", "OK"), ("two", "two", "FAIL")])
    assert (counts, remarks) == ((2, 1, 1), ["failed: two: d"])


@pytest.mark.parametrize("result", ["FAIL", "ERROR", "INTERRUPT"])
def test_crash_counts_as_one_failure(result):
    assert counted(["passed\tone\ta"], [("one", "one", result)])[0] == (1, 1, 0)


def test_time_out_counts_as_one_failure():
    counts, remarks = counted(["passed\tone\ta"], [("one", "one", "TIMEOUT")])
    assert counts == (1, 1, 0)
    assert "deadlock" in remarks[0]


def test_skip_without_a_case():
    assert counted([], [("one", "one", "SKIP")])[0] == (0, 0, 1)


def test_silence_is_no_success():
    assert counted([], [("one", "one", "OK")])[0] == (0, 1, 0)

# SPDX-License-Identifier: MIT
"""`./lab test`: which tests are meant, what is built for them, and what is said of those that fail."""

import json
import pathlib
import re
import sys
import tempfile
import unittest
from unittest import mock

from engine.command.errors import CommandError
from lab_tool.setup import packages
from lab_tool.setup.packages import (
    JSONSCHEMA,
    PYTEST,
    VENV_PYTHON,
    PythonPackage,
    installation,
    python_with,
)
from lab_tool.testing.failed_tests import MOST_LINES, report_of
from lab_tool.testing.test_runs import OF_MESON, packages_of
from lab_tool.testing.test_selection import binary_name, select, targets_of


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


class Selecting(unittest.TestCase):
    def names(self, *wanted, of=(), without=(), tests=TESTS):
        return [test["name"] for test in select(tests, wanted, of, without).chosen]

    def test_by_default_those_of_the_course(self):
        selection = select(TESTS, [])
        self.assertTrue(selection.is_default)
        self.assertEqual(selection.left_out, 3)
        self.assertEqual(self.names(), ["01_vector_add_test", "vector_add_racecheck"])

    def test_without_such_a_suite_by_default_all(self):
        others = TESTS[2:]
        self.assertEqual(len(self.names(tests=others)), len(others))
        self.assertFalse(select(others, []).is_default)

    def test_all(self):
        self.assertEqual(len(self.names("all")), len(TESTS))

    def test_part_of_a_name_out_of_all(self):
        self.assertEqual(self.names("WARP"), ["warp_test"])
        self.assertEqual(self.names("vector"), ["01_vector_add_test", "vector_add_racecheck"])

    def test_a_suites_name_beside_the_tests_of_that_name(self):
        self.assertEqual(self.names("checker"), ["checker_of_documents", "shadow_test"])
        self.assertEqual(self.names("backend"), ["warp_test"])

    def test_several_names(self):
        self.assertEqual(self.names("warp", "shadow"), ["warp_test", "shadow_test"])
        self.assertEqual(self.names("racecheck", "vector"), self.names("vector", "racecheck"))

    def test_suite(self):
        self.assertEqual(self.names(of=["racecheck"]), ["vector_add_racecheck", "shadow_test"])
        self.assertEqual(self.names("shadow", of=["racecheck"]), ["shadow_test"])

    def test_several_suites(self):
        self.assertEqual(
            self.names(of=["backend", "chapters"]), ["01_vector_add_test", "warp_test"]
        )

    def test_without_suites(self):
        self.assertEqual(
            self.names("all", without=["racecheck", "docs"]), ["01_vector_add_test", "warp_test"]
        )
        self.assertEqual(self.names(of=["racecheck"], without=["course"]), ["shadow_test"])
        # Then it is of all, and not of the course's, that some are left out.
        self.assertEqual(len(self.names(without=["docs"])), len(TESTS) - 1)

    def test_the_nearest_of_what_is_not_there(self):
        for wanted, of, without, sentence in (
            ("wrap", [], [], "contains 'wrap'; did you mean warp_test"),
            ("chapter", ["docs"], [], "no test in the suite docs has a name"),
            (
                "warp",
                [],
                ["docs", "backend"],
                "no test outside the suite docs or backend has a name",
            ),
            ("", ["docs", "chapter"], [], "no suite chapter; did you mean chapters"),
            ("", [], ["chapter"], "no suite chapter; did you mean chapters"),
            ("", ["docs"], ["docs"], "no test is left"),
            ("xyzzy", [], [], r"'xyzzy'; the nearest are \w+, \w+ and \w+\.\Z"),
        ):
            with (
                self.subTest(wanted=wanted),
                self.assertRaisesRegex(CommandError, sentence) as problem,
            ):
                select(TESTS, [wanted] if wanted else [], of, without)
            self.assertEqual(problem.exception.code, 2)


class Building(unittest.TestCase):
    def test_what_the_tests_need_and_nothing_else(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name).resolve()
            (folder / "meson-info").mkdir()
            known = [
                {"id": letter, "filename": [str(folder / "tests" / f"program_{letter}")]}
                for letter in "abc"
            ]
            text = json.dumps(known)
            (folder / "meson-info/intro-targets.json").write_text(text, encoding="utf-8")
            tests = [a_test("one", depends=["a", "b"]), a_test("two", depends=["b"])]
            self.assertEqual(targets_of(tests, folder), ["tests/program_a", "tests/program_b"])
            self.assertEqual(targets_of([a_test("three")], folder), [])

    def test_the_name_that_a_test_signs_with(self):
        script = ["python3", "-m", "run_python_test", "/x/tests/cli/selection_test.py"]
        self.assertEqual(binary_name(a_test("a", cmd=script)), "selection_test")
        self.assertEqual(binary_name(a_test("b", cmd=["/build/chapters/vector_add_test"])),
                         "vector_add_test")  # fmt: skip


RULE = 79 * "-"
CATCH2_FAILURE = f"""\
{RULE}
{{name}}
{RULE}
../chapters/warp_test.cu:143
{79 * "."}

../chapters/warp_test.cu:{{line}}: FAILED:
  REQUIRE( {{expression}} )
with expansion:
  {{expansion}}
with messages:
  seed := 1
  n := 31

"""


def catch2_failure(name, line, expansion, expression="lab::first_difference(got) == std::nullopt"):
    return CATCH2_FAILURE.format(name=name, line=line, expansion=expansion, expression=expression)


class Failing(unittest.TestCase):
    FOLDER = pathlib.Path("build-cpu")

    def report(self, stdout, stderr="", result="FAIL"):
        record = {"name": "warp_test", "result": result, "stdout": stdout, "stderr": stderr}
        return report_of(record, self.FOLDER)

    def test_output_of_what_failed_alone(self):
        lines = ["--- warp_test: FAIL", "one", "two", "three", ""]
        self.assertEqual(self.report("one\ntwo\n", "three\n"), lines)
        for good in ("OK", "SKIP"):
            self.assertEqual(self.report("one\n", result=good), [])

    def test_first_failure_of_each_test_case_in_words(self):
        text = (
            "Randomness seeded to: 7\n\n"
            + "".join(
                catch2_failure("sums", 100 + i, '"element 0 is -68, not -16" == { }')
                for i in range(500)
            )
            + catch2_failure("counts", 7, "2 == 3", "count == 3")
            + f"{79 * '='}\ntest cases: 3 | 1 passed | 2 failed\n"
        )
        lines = self.report(text, "seed: 7 (repeat with --rng-seed 7)\n")
        self.assertEqual(
            lines,
            [
                "--- warp_test: FAIL",
                "sums",
                "  chapters/warp_test.cu:100: element 0 is -68, not -16",
                "    seed := 1",
                "    n := 31",
                "  and 499 more failures of it",
                "",
                "counts",
                "  chapters/warp_test.cu:7: REQUIRE( count == 3 )",
                "    2 == 3",
                "    seed := 1",
                "    n := 31",
                "",
                "seed: 7 (repeat with --rng-seed 7)",
                "",
            ],
        )

    def test_the_backends_report_comes_first(self):
        text = catch2_failure("sums", 1, '"element 0 is -1, not 3" == { }')
        lines = self.report(text, "kernel launched at a.cu:3: used a null pointer\nseed: 7\n")
        self.assertEqual(lines[1], "kernel launched at a.cu:3: used a null pointer")

    def test_of_a_python_test_its_failures(self):
        failures = "=================== FAILURES ===================\n____ test_a ____\nE  1 == 2\n"
        lines = self.report(f"== test session starts ==\ncollected 3 items\n{failures}")
        self.assertEqual(lines[1:-1], failures.splitlines())

    def test_a_long_one_ends_with_where_the_rest_is(self):
        text = "".join(
            catch2_failure(f"case {i}", i, '"element 0 is -1, not 3" == { }') for i in range(100)
        )
        lines = self.report(text)
        self.assertEqual(lines[1], "case 0")
        self.assertEqual(len(lines), MOST_LINES + 3)
        rest = r"\.\.\. and \d+ more lines; build-cpu/meson-logs/testlog\.txt has them all"
        self.assertRegex(lines[-2], rest)

    def test_mesons_own_lines_lose_what_is_mesons(self):
        variables = ">>> MALLOC_PERTURB_=96 ASAN_OPTIONS=halt_on_error=1:abort_on_error=1 "
        self.assertEqual(OF_MESON.sub("", f"{variables}/b/warp_test --x"), "/b/warp_test --x")
        self.assertEqual(OF_MESON.sub("", "Listing only the last 100 lines from a long log."), "")
        for other in ("1/1 warp_test FAIL 1.13s   exit status 1", "a >>> b"):
            self.assertEqual(OF_MESON.sub("", other), other)


class PythonPackages(unittest.TestCase):
    def commands(self, wanted, as_root, apt=True):
        with (
            mock.patch.object(packages, "prefix_for_root", lambda: as_root),
            mock.patch.object(packages, "installs_with_apt", lambda system: apt),
            mock.patch.object(packages, "VENV", pathlib.Path("/nowhere/.venv")),
        ):
            return installation(*wanted)

    def test_pytest_comes_from_the_distribution(self):
        update, install = self.commands([PYTEST], "sudo ")
        self.assertEqual(update, "sudo apt-get update")
        self.assertTrue(
            install.endswith("apt-get install -y --no-install-recommends python3-pytest")
        )

    def test_without_rights_or_apt_from_pypi(self):
        for as_root, apt in ((None, True), ("", False)):
            create, install = self.commands([PYTEST], as_root, apt)
            self.assertIn("-m venv", create)
            self.assertTrue(install.endswith("-m pip install --quiet 'pytest>=7.2'"), install)

    def test_what_is_not_for_apt_always_from_pypi(self):
        package = PythonPackage("some_package", (3, 6), "An invented one", from_apt=False)
        self.assertIn("'some_package>=3.6'", self.commands([package], "")[1])
        # One Python must have both, and apt has no Python that has this one.
        both = self.commands([PYTEST, package], "")[1]
        self.assertTrue(both.endswith("--quiet 'pytest>=7.2' 'some_package>=3.6'"), both)

    def test_several_are_installed_at_once(self):
        _, install = self.commands([PYTEST, JSONSCHEMA], "")
        self.assertTrue(install.endswith(" python3-pytest python3-jsonschema"), install)
        _, install = self.commands([PYTEST, JSONSCHEMA], None)
        self.assertTrue(install.endswith("'pytest>=7.2' 'jsonschema>=4.10'"), install)

    def test_one_python_has_all_of_them(self):
        here = {(sys.executable, "pytest"): "8.3.4", (VENV_PYTHON, "pytest"): "8.3.4"}
        here[sys.executable, "jsonschema"] = "3.2.0"  # older than what we need
        here[VENV_PYTHON, "jsonschema"] = "4.10.3"

        def version(command):
            python, _, statement = command
            return here.get((python, re.search(r"import (\w+)", statement)[1]))

        with mock.patch.object(packages, "output_of", version):
            self.assertEqual(python_with(PYTEST), sys.executable)
            self.assertEqual(python_with(PYTEST, JSONSCHEMA), VENV_PYTHON)
            del here[VENV_PYTHON, "pytest"]
            self.assertIsNone(python_with(PYTEST, JSONSCHEMA))

    def test_what_the_chosen_tests_take(self):
        plain = {**a_test("plain"), "env": {}}
        schemas = {**a_test("schemas"), "env": {"LAB_TEST_PACKAGES": "jsonschema"}}
        self.assertEqual(packages_of([plain]), [PYTEST])
        self.assertEqual(packages_of([plain, schemas]), [PYTEST, JSONSCHEMA])

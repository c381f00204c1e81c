# SPDX-License-Identifier: MIT
"""Each file in cheats/ is a submission that tries to get points for nothing, with the verdict that it
must get in its head."""

import contextlib
import os
import pathlib
import re
import subprocess
import tempfile
import unittest
from unittest import mock

from grading_runs import (
    CAN_GRADE,
    cases_with_work,
    judged,
    real_sandboxes,
    solution_text,
    words_of,
)

from grader.judging.judge import OF_A_CASE, OF_A_SCHEDULE
from grader.judging.sandboxed import SECONDS_OF_ALL, SandboxRunner
from grader.sandbox.sandbox import LANDLOCK, Sandbox
from this_build import ROOT

FOLDER = pathlib.Path(__file__).with_name("cheats")
HEAD = re.compile(
    r"// SPDX-License-Identifier: MIT\n// Cheat: (?P<what>.+)\n// Exercise: (?P<exercise>\S+)\n"
    r"// Verdict: (?P<status>\w\w) (?P<points>\d+)\n// Says: ?(?P<says>.*)\n"
)
# What comes of those that are refused for their names, if nobody looks at names: the sandbox and the
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
# to start more processes before anybody has counted them.
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


@unittest.skipUnless(CAN_GRADE and real_sandboxes(), "grading takes the race checker and a sandbox")
class CheatsTest(unittest.TestCase):
    def test_each_cheat_gets_its_verdict(self):
        files = sorted(FOLDER.glob("*.cu"))
        self.assertGreaterEqual(len(files), 30)
        for file in files:
            head = HEAD.match(file.read_text(encoding="utf-8"))
            self.assertIsNotNone(head, file.name)
            with self.subTest(file.name):
                cases_with_work(head["exercise"])  # the solution has the usual limits
                with lower_limits(file.stem):
                    found = judged(head["exercise"], file.read_text(encoding="utf-8"))
                words = words_of(found)
                self.assertEqual(
                    (found.status, found.points), (head["status"], int(head["points"])), words
                )
                self.assertIn(head["says"], words)

    def test_nobody_learns_the_secret_size(self):
        for name, number in (
            ("asks_for_the_secret_size", "01.1"),
            ("has_a_kernel_for_the_counted_size", "04.2"),
        ):
            with self.subTest(name):
                case = cases_with_work(number).secret.case
                size = next(each for each in case.arguments if type(each) is int)
                words = words_of(judged(number, (FOLDER / f"{name}.cu").read_text("utf-8")))
                self.assertIn("At a size that only a grade uses", words)
                self.assertNotIn(f"{size:,}", words)
                self.assertNotIn(str(size), words)

    def test_without_the_inspection_the_sandbox_still_holds(self):
        for name, (status, points, says) in NOT_INSPECTED.items():
            with self.subTest(name), not_inspected():
                found = judged("01.1", (FOLDER / f"{name}.cu").read_text(encoding="utf-8"))
                words = words_of(found)
                self.assertEqual((found.status, found.points), (status, points), words)
                self.assertIn(says, words)

    def test_without_the_inspection_a_report_can_be_forged(self):
        """This is what the inspection is for, and what a way around it would lead to."""
        text = (FOLDER / "forges_the_report.cu").read_text(encoding="utf-8")
        with not_inspected():
            found = judged("01.1", text)
        points = {part["part"]: part["points"] for part in found.parts}
        self.assertEqual(points["races"], 2, words_of(found))

    def test_without_the_inspection_hidden_stores_show_in_memory(self):
        """The race checker hears of none of them, and still they give no points."""
        for name in ("hides_stores_from_the_compiler", "copies_by_a_checked_function"):
            with self.subTest(name), not_inspected():
                found = judged("01.1", (FOLDER / f"{name}.cu").read_text(encoding="utf-8"))
                points = {part["part"]: part["points"] for part in found.parts}
                self.assertEqual((points["races"], points["limits"]), (0, 0), words_of(found))
                self.assertIn("in a way that the race checker does not see", words_of(found))

    def test_a_report_that_no_checker_writes_stops_nobody(self):
        """The class is judged on: what such a text would break is broken for its author alone."""
        text = (FOLDER / "forges_the_report.cu").read_text(encoding="utf-8")
        for forged in ('\\"findings\\": [\\"\\\\ud800\\"]', '\\"findings\\": [1e999]'):
            changed = text.replace('\\"findings\\": []', forged)
            self.assertNotEqual(changed, text)
            with self.subTest(forged), not_inspected():
                found = judged("01.1", changed)
                self.assertEqual(found.points, 0, words_of(found))
                self.assertIn("no kernel of yours was seen to run", words_of(found))

    def test_two_reports_are_none(self):
        """The checker's own comes after the forged one if the program goes on to its end."""
        text = (FOLDER / "forges_the_report.cu").read_text(encoding="utf-8")
        self.assertIn("  syscall(SYS_exit_group, 0);\n", text)
        with not_inspected():
            found = judged("01.1", text.replace("  syscall(SYS_exit_group, 0);\n", ""))
        self.assertEqual(found.points, 0, words_of(found))
        self.assertIn("no kernel of yours was seen to run", words_of(found))

    def test_a_run_that_a_signal_ends_is_not_counted(self):
        """The checker reports before the signal does its work, and here only counted runs make one call."""
        dies = (
            "#include <cstdlib>\n"
            "struct calls { int number = 0; ~calls() { if (number == 1) std::abort(); } } all;\n"
        )
        text = solution_text("01.1").replace(
            "  if (n == 0) return;", "  ++all.number;\n  if (n == 0) return;"
        )
        self.assertIn("++all", text)
        found = judged("01.1", dies + text)
        states = {part["part"]: part["points"] > 0 for part in found.parts}
        self.assertEqual(states, {"results": True, "races": True, "limits": False}, words_of(found))

    def test_no_number_of_names_hides_one(self):
        text = (FOLDER / "forges_the_report.cu").read_text(encoding="utf-8")
        several = "".join(f"int z{'z' * 50}_{number};\n" for number in range(400))
        found = judged("01.1", text + several)
        self.assertEqual(found.status, "CE", words_of(found))
        self.assertIn("It uses write", words_of(found))
        many = "".join(f"int z{'z' * 50}_{number};\n" for number in range(20_000))
        found = judged("01.1", text + many)
        self.assertEqual(found.status, "CE", words_of(found))
        self.assertIn("more names than can be looked at", words_of(found))

    def test_an_address_that_is_computed_is_not_found(self):
        """The way around the inspection that is left: one function's distance from another in libc."""
        with open("/proc/self/maps", encoding="utf-8") as maps:
            libc = next(
                line.split()[-1] for line in maps if re.search(r"/libc\.so\.6$", line.strip())
            )
        names = subprocess.run(
            ["nm", "-D", libc], capture_output=True, text=True, check=True
        ).stdout
        places = dict(re.findall(r"^(\w+) [TW] (getenv|snprintf)@", names, re.MULTILINE))
        places = {name: int(place, 16) for place, name in places.items()}
        text = solution_text("01.1").replace(
            "void saxpy(float alpha, const float* x, float* y, std::size_t n) {",
            "void saxpy(float alpha, const float* x, float* y, std::size_t n) {\n"
            "  const auto known_address = reinterpret_cast<unsigned long>(&std::snprintf);\n"
            "  const auto get = reinterpret_cast<char* (*)(const char*)>(known_address - "
            f"{places['snprintf']}ul + {places['getenv']}ul);\n"
            '  if (!get("PATH")) return;',
        )
        found = judged("01.1", "#include <cstdio>\n" + text)
        self.assertEqual((found.status, found.points), ("OK", 11), words_of(found))

    def test_a_kernel_that_never_ends_has_one_status_however_busy_the_machine_is(self):
        """There the backend's own look at the clock came first, and then each case took all its time."""
        text = (FOLDER / "never_ends_in_a_kernel.cu").read_text(encoding="utf-8")
        cases_with_work("01.1")
        at_once = mock.patch("grader.judging.judge.STUCK_SECONDS", 0.1)
        with lower_limits("never_ends_in_a_kernel"), at_once:
            found = judged("01.1", text)
        self.assertEqual((found.status, found.points), ("TO", 0), words_of(found))
        self.assertIn("the cases before it took all the time", words_of(found))

    def test_races_are_not_looked_for_when_the_time_of_all_runs_is_over(self):
        """As of a file whose results take just what it may."""
        text = solution_text("01.1")
        whole = SandboxRunner.run

        def late(runner, program, folder, arguments, settings, limits):
            runner.seconds = 1000 if limits is OF_A_SCHEDULE else 0
            return whole(runner, program, folder, arguments, settings, limits)

        cases_with_work("01.1")
        with mock.patch.object(SandboxRunner, "run", late):
            found = judged("01.1", text)
        points = {part["part"]: part["points"] for part in found.parts}
        self.assertEqual(points, {"results": 6, "races": 0, "limits": 0})
        self.assertEqual(found.status, "TO")
        self.assertIn("all runs of the file together took more time than they may", words_of(found))

    def test_long_lines_and_names_fill_no_feedback(self):
        """Of a race, whose lines and names are told and drawn."""
        name = "sums_" + "x" * 20_000
        racing = (FOLDER / "races_at_the_counted_size_alone.cu").read_text(encoding="utf-8")
        text = racing.replace("n == 10'000", "n != 0").replace(
            "  if (i < n) y[i] = sum;",
            f"  __shared__ float {name}[1];\n  {name}[0] = sum; /* {'y' * 50_000} */\n"
            f"  if (i < n) y[i] = sum + 0 * {name}[0];",
        )
        self.assertNotEqual(text, racing)
        found = judged("01.1", text)
        self.assertIn("race", words_of(found))
        self.assertLess(max(map(len, words_of(found).splitlines())), 1100)
        self.assertGreater(len(found.picture), 1000)
        self.assertLess(len(found.picture), 1 << 20)

    def test_nothing_is_left_running(self):
        text = (FOLDER / "leaves_a_process_running.cu").read_text(encoding="utf-8")
        # In a folder of its own: other tests grade at the same time.
        with tempfile.TemporaryDirectory() as folder, not_inspected():
            with mock.patch("tempfile.tempdir", folder):
                judged("01.1", text)
            for process in pathlib.Path("/proc").iterdir():
                if process.name.isdigit():
                    with contextlib.suppress(OSError):
                        self.assertNotIn(folder, os.readlink(process / "exe"))

    def test_nothing_in_a_process_tells_one_run_from_another(self):
        """Results, schedules, old values and counts: all have the same arguments and environment."""
        racing = (FOLDER / "finds_out_that_it_is_checked.cu").read_text(encoding="utf-8")
        cases_with_work("01.1")  # else the solution's runs are among them
        for kind in real_sandboxes():
            started = []

            def note(sandbox, words, variables, passed, stdin, then=Sandbox._started, to=started):
                if stdin:
                    to.append(words_without_descriptors(words, passed) + sorted(variables.items()))
                return then(sandbox, words, variables, passed, stdin)

            with self.subTest(kind), mock.patch.object(Sandbox, "_started", note):
                judged("01.1", racing, kind)
                self.assertGreater(len(started), 30)
                self.assertEqual([each for each in started if each != started[0]], [])

    def test_the_solution_passes_with_every_part(self):
        for number in ("01.1", "04.1"):
            found = judged(number, solution_text(number))
            self.assertEqual(found.points, sum(part["of"] for part in found.parts), words_of(found))


@unittest.skipUnless(CAN_GRADE and LANDLOCK in real_sandboxes(), "grading takes the race checker")
class LandlockTest(unittest.TestCase):
    """Where bubblewrap is refused, as in most containers."""

    def test_without_the_inspection_landlock_still_holds(self):
        for name, verdict in {**NOT_INSPECTED, **IN_LANDLOCK}.items():
            if name in STARTS_PROCESSES and os.geteuid() != 0:
                continue  # only root's submissions have a user of their own
            status, points, says = verdict
            with self.subTest(name), not_inspected():
                text = (FOLDER / f"{name}.cu").read_text(encoding="utf-8")
                found = judged("01.1", text, LANDLOCK)
                words = words_of(found)
                self.assertEqual((found.status, found.points), (status, points), words)
                self.assertIn(says, words)
                self.assertNotIn(str(ROOT), words)

    def test_the_solution_passes_with_every_part(self):
        found = judged("04.1", solution_text("04.1"), LANDLOCK)
        self.assertEqual(found.points, sum(part["of"] for part in found.parts), words_of(found))


@contextlib.contextmanager
def lower_limits(name):
    """As long as it lasts, this cheat has less of what it takes all of."""
    of_case = LOWER_LIMITS.get(name, OF_A_CASE)
    of_all = LOWER_SECONDS_OF_ALL.get(name, SECONDS_OF_ALL)
    with (
        mock.patch("grader.judging.judge.OF_A_CASE", of_case),
        mock.patch("grader.judging.sandboxed.SECONDS_OF_ALL", of_all),
    ):
        yield


def words_without_descriptors(words, passed):
    """What the sandbox is told, less the numbers of pipes, which differ by chance."""
    numbers = "|".join(map(str, passed))
    return [re.sub(rf'^({numbers})$|(?<="told": )({numbers})', "N", word) for word in words]


@contextlib.contextmanager
def not_inspected():
    """As long as it lasts, nobody looks at the names in a submission."""
    with contextlib.ExitStack() as stack:
        for name in ("objections_to_symbols", "source_objections"):
            stack.enter_context(mock.patch(f"grader.judging.sandboxed.{name}", lambda *_, **__: []))
        yield

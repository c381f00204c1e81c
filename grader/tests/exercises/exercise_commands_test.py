# SPDX-License-Identifier: MIT
"""The student's commands: check, exercises, hint, reset and solution, with right and wrong input."""

import contextlib
import io
import json
import os
import re
import unittest
from unittest import mock

from engine.command.arguments import run_command
from engine.command.paths import shown
from grader.exercises.catalogue import all_exercises, chosen_exercise
from lab_runs import lab
from lab_tool.authoring.trials import mutants_of, patched, solution
from lab_tool.command_line import LAB
from test_setup import temporary_folder
from this_build import BUILD

EXERCISE = chosen_exercise("01.1")
SETTINGS = json.loads((BUILD / "single_file.json").read_text(encoding="utf-8"))

WRONG_FILES = {
    "empty": ("", "The file is empty: ./lab reset 01.1 "),
    "no such function": ("int unrelated;\n", "The function that is called is missing: saxpy("),
    "another signature": (
        "void saxpy(int) {}\n",
        "saxpy is there, but not with the parameters that are called:",
    ),
    "static": (
        "#include <cstddef>\nstatic void saxpy(float, const float*, float*, std::size_t) {}\n",
        "saxpy is static, so it can't be called from outside the file",
    ),
    "a main of its own": ("int main() {}\n", "It has a main() of its own: remove it"),
    "no C++": ("this is no C++\n", "\n  01_saxpy.cu:1:1: error: "),
    "binary": ("\x00\x01\x02", "error"),
}
ENDLESS = "  volatile int forever = 1;\n  while (forever) {}\n"
CRASH = "  *(volatile int*)nullptr = 1;\n"
EXIT = "  std::exit(0);\n"


class ExerciseCommandsTest(unittest.TestCase):
    def setUp(self):
        self.work = temporary_folder(self)
        self.file = self.work / EXERCISE.file_name

    def lab(self, verb, *words):
        return lab(verb, *words, "--work", str(self.work))

    def check(self, *words):
        if SETTINGS["backend"] != "cpu":
            self.skipTest("the CPU backend judges")
        return self.lab("check", *words, "--build", str(BUILD))

    def test_a_solution_is_done_and_then_shown(self):
        refused = self.lab("solution", "01.1")
        self.assertEqual(refused.returncode, 1)
        self.assertIn("01.1 saxpy is not solved yet", refused.stderr)
        self.file.write_text(solution(EXERCISE), encoding="utf-8")
        result = self.check("01.1")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        first = result.stdout.splitlines()[0]
        self.assertTrue(first.startswith("01.1 saxpy  "), first)
        self.assertIn(f"1 of {len(all_exercises())} exercises is done.", result.stdout)
        self.assertEqual(self.lab("solution", "saxpy").returncode, 0)
        listed = self.lab("exercises").stdout
        self.assertRegex(listed, r"01\.1  saxpy .* done")
        self.assertIn(f"1 of {len(all_exercises())} done", listed)

    def test_files_that_can_be_none_get_a_sentence(self):
        for name, (text, says) in WRONG_FILES.items():
            with self.subTest(name):
                self.file.write_text(text, encoding="utf-8")
                result = self.check(str(self.file))
                self.assertEqual(result.returncode, 1, result.stderr)
                self.assertIn(says, result.stdout)
                self.assertNotIn("Traceback", result.stderr)
                self.assertNotIn(str(BUILD), result.stdout)
                self.assertEqual(self.file.read_text(encoding="utf-8"), text)

    def test_what_a_grade_would_refuse_is_said_and_changes_no_verdict(self):
        whole = solution(EXERCISE)
        for name, before, body, says in [
            (
                "a name",
                "#include <cstdlib>\n",
                "  if (std::rand() < 0) return;\n",
                "it uses rand, ",
            ),
            ("a text", 'const char* s = R"(a)";\n', "", "it has a raw string literal, "),
            ("two", "#include <cstdlib>\n", "  std::srand(1), std::rand();\n", "(and 1 more)."),
        ]:
            with self.subTest(name):
                place = whole.index("{\n", whole.index("void saxpy(")) + 2
                text = before + whole[:place] + body + whole[place:]
                self.file.write_text(text, encoding="utf-8")
                report = self.work / "verdict.json"
                result = self.check("01.1", "--json", str(report))
                said = " ".join(result.stdout.split())
                self.assertEqual(result.returncode, 0, said + result.stderr)
                self.assertIn("A grade would refuse this file: it ", said)
                self.assertIn(says, said)
                (verdict,) = json.loads(report.read_text(encoding="utf-8"))
                self.assertEqual(set(verdict["parts"].values()), {"passed"})
                self.assertTrue(verdict["refusals"])
        self.file.write_text(whole, encoding="utf-8")
        self.assertNotIn("refuse", self.check("01.1").stdout)

    def test_programs_that_go_astray_get_a_sentence(self):
        whole = solution(EXERCISE)
        head = whole.index("void saxpy(")
        body = whole.index("{\n", head) + 2
        for name, lines, says in [
            ("endless", ENDLESS, "It did not end within 10 s."),
            ("crash", CRASH, "The program was ended by SIGSEGV."),
            ("exit", EXIT, "The program ended before it had answered."),
        ]:
            with self.subTest(name):
                text = "#include <cstdlib>\n" + whole[:body] + lines + whole[body:]
                self.file.write_text(text, encoding="utf-8")
                result = self.check("01.1")
                self.assertEqual(result.returncode, 1, result.stderr)
                self.assertIn(says, result.stdout)

    def test_a_call_that_cuda_refuses_is_explained_as_a_launch_or_a_call(self):
        whole = solution(EXERCISE)
        place = whole.index("{\n", whole.index("void saxpy(")) + 2
        end = whole.rindex("}")
        host = "  float host[1];\n  float* mine;\n  cudaMalloc(&mine, 4);\n"
        both = ("A launch is refused if", "cudaMemcpy and cudaMemset are refused", "cudaFree, if")
        for name, lines in [
            ("copy", host + "  cudaMemcpy(host, mine, 4, cudaMemcpyHostToDevice);\n"),
            ("set", host + "  cudaMemset(host, 0, 4);\n"),
            ("free", host + "  cudaFree(mine);\n  cudaFree(mine);\n"),
        ]:
            with self.subTest(name):
                text = whole[:place] + whole[place:end] + lines + whole[end:]
                self.file.write_text(text, encoding="utf-8")
                said = " ".join(self.check("01.1").stdout.split())
                self.assertIn("CUDA says: invalid argument (cudaErrorInvalidValue)", said)
                for words in both:
                    self.assertIn(words, said)
        (lines,) = re.findall(r"<<<.*?>>>", whole)[:1]
        self.file.write_text(whole.replace(lines, "<<<1, 1025>>>"), encoding="utf-8")
        said = " ".join(self.check("01.1").stdout.split())
        self.assertIn("A launch is refused if", said)

    def test_what_is_no_exercise_is_refused(self):
        for words, says in [
            (("check", "saxpi"), "there is no exercise saxpi; did you mean saxpy?"),
            (("check", "01.9"), "there is no exercise 01.9"),
            (("check", "0"), "there is no exercise 0"),
            (
                ("learn", "01"),
                "01 is a chapter, and its exercises are 01.1, 01.2, 01.3, 01.4 and 01.5.",
            ),
            (("hint", "4"), "4 is a chapter, and its exercises are 04.1, 04.2 and 04.3."),
            (("check", "nothing.cu"), "nothing.cu is no exercise's file"),
            (("check", "01.1"), f"./lab learn 01.1 --work {self.work} begins it."),
            (("check",), "no exercise is begun"),
            (("hint", "saxpi"), "there is no exercise saxpi"),
            (("hint",), "lab hint needs EXERCISE"),
            (("reset", "-1"), "-1"),
            (("solution", "1099511627776"), "there is no exercise 1099511627776"),
        ]:
            with self.subTest(words):
                result = self.lab(*words)
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertIn(says, result.stderr)
                self.assertEqual(result.stdout, "")

    def test_a_work_folder_that_can_not_be_read_is_refused(self):
        # Whoever runs the tests as root may read any folder.
        problems = io.StringIO()
        with (
            mock.patch.object(os, "access", lambda *_: False),
            contextlib.redirect_stdout(io.StringIO()) as written,
            contextlib.redirect_stderr(problems),
        ):
            code = run_command(LAB, ["exercises", "--work", str(self.work)])
        said = f"lab: you have no right to read the folder {shown(self.work)}, "
        self.assertEqual((code, written.getvalue()), (2, ""))
        self.assertRegex(problems.getvalue(), rf"\A{re.escape(said)}[^\n]*\n\Z")

    def test_a_work_folder_that_is_none_is_refused(self):
        self.file.write_text("mine\n", encoding="utf-8")
        result = lab("check", "01.1", "--work", str(self.file))
        self.assertEqual(result.returncode, 2)
        self.assertIn("that is no folder", result.stderr)

    def test_hints_come_one_by_one(self):
        for number in (1, 2, 3, 3):
            result = self.lab("hint", "01.1")
            self.assertEqual(result.returncode, 0)
            self.assertIn(f"01.1 saxpy, hint {number} of 3", result.stdout)

    def test_reset_keeps_the_text(self):
        self.file.write_text("mine\n", encoding="utf-8")
        result = self.lab("reset", "01.1")
        self.assertEqual(result.returncode, 0, result.stderr)
        (kept,) = (path for path in self.work.glob("*.cu") if path != self.file)
        self.assertEqual(kept.read_text(encoding="utf-8"), "mine\n")
        self.assertIn(kept.name, result.stdout)

    def test_learn_without_a_terminal_says_what_to_do(self):
        result = self.lab("learn")
        self.assertEqual(result.returncode, 2)
        self.assertIn("learn needs a terminal: ./lab check 01.1", result.stderr)

    def test_every_command_that_is_suggested_is_about_the_same_folder(self):
        spaced = self.work / "my work"
        spaced.mkdir()
        said = []
        for words in (
            ("check",),
            ("check", "01.1"),
            ("learn", "01.1"),
            ("solution", "01.1"),
            ("hint", "01.1"),
            ("exercises",),
            ("reset", "01.1"),
            ("hint", "01.1"),
            ("solution", "01.1", "--give-up"),
        ):
            result = lab(*words, "--work", str(spaced))
            said.append(result.stdout + result.stderr)
        for text in ("", solution(EXERCISE)):
            (spaced / EXERCISE.file_name).write_text(text, encoding="utf-8")
            for target in (["01.1"], []):
                words = ("check", *target, "--work", str(spaced), "--build", str(BUILD))
                result = lab(*words)
                said.append(result.stdout + result.stderr)
        for text in said:
            commands = re.findall(r"\./lab .*?(?=\./lab|$)", text, re.MULTILINE)
            self.assertTrue(commands, text)
            for command in commands:
                self.assertIn(f" --work '{spaced}'", command, text)

    def test_a_launch_that_cuda_refuses_is_not_explained_by_calls_that_nobody_made(self):
        (mutant,) = (m for m in mutants_of(EXERCISE) if m.name == "empty_grid_launched")
        self.file.write_text(patched(EXERCISE, mutant), encoding="utf-8")
        said = " ".join(self.check("01.1").stdout.split())
        self.assertIn("A launch is refused if it has 0 blocks", said)
        self.assertNotIn("cudaMemcpy", said)
        self.assertNotIn("cudaFree", said)

    def test_verdicts_as_json(self):
        self.file.write_text("", encoding="utf-8")
        out = self.work / "verdicts.json"
        self.check("01.1", "--json", str(out))
        (verdict,) = json.loads(out.read_text(encoding="utf-8"))
        self.assertEqual((verdict["exercise"], verdict["parts"]["results"]), ("01.1", "failed"))

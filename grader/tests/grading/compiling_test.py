# SPDX-License-Identifier: MIT
"""What a student is told of a file that does not compile, wherever it was compiled."""

import pathlib
import tempfile
import unittest
from unittest import mock

from grading_runs import (
    BUILDS,
    CAN_GRADE,
    cases_with_work,
    judged,
    real_sandboxes,
    solution_text,
    words_of,
    written,
)

from grader.exercises.catalogue import chosen_exercise
from grader.judging.check import check
from grader.judging.compile import NO_MAIN, SCHEDULED, UTF16, objections_before_compiling
from grader.judging.runner import NotCompiled
from grader.judging.sandboxed import (
    LIMITS,
    TOO_MUCH_TEXT,
    compiled_alone,
    readable_for_compilers,
)
from grader.judging.submission import judge
from grader.paths import ROOT
from grader.sandbox.sandbox import Sandbox


@unittest.skipUnless(CAN_GRADE and real_sandboxes(), "compiling takes a sandbox")
class MessagesTest(unittest.TestCase):
    def test_the_first_errors_are_told_whatever_the_folders_are_called(self):
        first = solution_text("01.1").count("\n") + 1
        wrong = "".join(
            f"int f{n}(int a) {{ return a + undeclared_{n:03}; }}\n" for n in range(150)
        )
        exercise = chosen_exercise("01.1")
        said = []
        for name in ("short", "a_folder_with_a_name_that_is_quite_a_bit_longer"):
            with tempfile.TemporaryDirectory() as temporary:
                folder = pathlib.Path(temporary).resolve() / name
                folder.mkdir()
                source = folder / exercise.file_name
                source.write_text(solution_text("01.1") + wrong, encoding="utf-8")
                work = folder / "work"
                work.mkdir()
                sandbox = Sandbox(real_sandboxes()[0])
                with self.assertRaises(NotCompiled) as caught:
                    compiled_alone(sandbox, BUILDS.cpu, exercise, source, work, SCHEDULED)
            said.append(caught.exception.lines)
        self.assertEqual(*said)
        self.assertIn(f"01_saxpy.cu:{first}:", "\n".join(said[0][:2]))
        self.assertIn("undeclared_000", "\n".join(said[0][:3]))

    def test_a_text_that_takes_too_much_to_read_is_refused_and_the_grader_goes_on(self):
        """It is read in the sandbox, under the compiler's limits."""
        with tempfile.TemporaryDirectory() as folder:
            reader = pathlib.Path(folder).resolve() / "reader.py"
            reader.write_text(
                "taken = [bytes(1 << 20) for _ in range(1 << 20)]\n", encoding="utf-8"
            )
            reader_of_all = mock.patch("grader.judging.sandboxed.INSPECTION", reader)
            readable = (*readable_for_compilers(BUILDS.cpu, chosen_exercise("01.1")), reader)
            with (
                reader_of_all,
                mock.patch("grader.judging.sandboxed.readable_for_compilers", lambda *_: readable),
                mock.patch("grader.judging.sandboxed.LIMITS", LIMITS._replace(memory=256 << 20)),
            ):
                found = judged("01.1", solution_text("01.1"))
        self.assertEqual((found.status, words_of(found)), ("CE", TOO_MUCH_TEXT))

    def test_an_object_file_beyond_the_limit_is_no_fault_of_the_compilers(self):
        """g++ asks to have it reported as a bug of its own."""
        found = judged("01.1", solution_text("01.1") + "int many[1 << 25] = {1};\n")
        self.assertEqual(
            (found.status, words_of(found)), ("CE", "The compiler wrote more than 64 MiB.")
        )

    def test_utf16_is_one_sentence_in_a_grade_and_in_a_check(self):
        exercise = chosen_exercise("01.1")
        text = solution_text("01.1")
        sandbox = Sandbox(real_sandboxes()[0])
        for encoding in ("utf-16", "utf-16-le", "utf-16-be"):
            with self.subTest(encoding), written("01.1", "") as file:
                file.write_bytes(text.encode(encoding))
                of_grade = judge(sandbox, BUILDS, cases_with_work("01.1"), file)
                of_check = check(BUILDS.cpu, exercise, file)
            self.assertEqual((of_grade.status, words_of(of_grade)), ("CE", UTF16))
            self.assertEqual((of_check.compiles, of_check.lines), (False, [UTF16]))
        self.assertIn("save it as UTF-8", UTF16)

    def test_a_file_that_is_refused_is_told_from_one_that_does_not_compile(self):
        """Both have the same status; what the student reads first is not the same."""
        text = solution_text("01.1")
        for more, is_refused in (
            ("#include <cstdlib>\nint number() { return rand(); }\n", True),
            ('void call() { asm(""); }\n', True),
            ("int number() { return undeclared; }\n", False),
        ):
            with self.subTest(more):
                found = judged("01.1", text + more)
                self.assertEqual(
                    (found.status, found.is_refused), ("CE", is_refused), words_of(found)
                )

    def test_a_whole_program_without_main_is_told_so_in_both(self):
        text = "__global__ void unused() {}\n"
        with written("01.5", text) as file, tempfile.TemporaryDirectory() as folder:
            cpu = BUILDS.cpu._replace(files=pathlib.Path(folder))
            of_check = check(cpu, chosen_exercise("01.5"), file)
        of_grade = judged("01.5", text)
        self.assertEqual((of_check.compiles, of_check.lines), (False, [NO_MAIN]))
        self.assertEqual((of_grade.status, words_of(of_grade)), ("CE", NO_MAIN))

    def test_the_mark_of_utf8_and_other_bytes_are_no_utf16(self):
        text = "\ufeff" + solution_text("01.1")
        found = judged("01.1", text)
        self.assertEqual((found.status, found.points), ("OK", 11), words_of(found))
        for content in (b"", b"\0", b"\0" * 99, b"int f();\0", b"// \xe9\xff\n", text.encode()):
            with written("01.1", "") as file:
                file.write_bytes(content)
                self.assertEqual(
                    objections_before_compiling(chosen_exercise("01.1"), file), [], content
                )

    def test_of_the_grader_a_compiler_may_read_the_runners_headers_alone(self):
        may_read = readable_for_compilers(BUILDS.cpu, chosen_exercise("01.1"))
        of_grader = [path for path in may_read if path.is_relative_to(ROOT / "grader")]
        self.assertIn(ROOT / "grader/runner/runner.hpp", of_grader)
        self.assertEqual({path.suffix for path in of_grader}, {".hpp"})

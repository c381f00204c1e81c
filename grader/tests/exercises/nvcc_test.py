# SPDX-License-Identifier: MIT
"""What nvcc says of a file that is right here: after the verdict, about the student's line, or nothing."""

import json
import os
import pathlib
import shutil
import sys
import tempfile
import time
import unittest
from unittest import mock

from engine.command.build_folder import BuildFolder, settings_of
from grader.exercises.catalogue import all_exercises, chosen_exercise
from grader.exercises.work_folder import CHECKED, DONE, WorkFolder
from grader.judging import check as home_check
from grader.judging.compile import ExerciseBuild, ExerciseBuilds, asked_of_nvcc, error_lines
from grader.judging.verdict import PASSED, Verdict
from lab_runs import interrupt, lab, started
from lab_tool.authoring.trials import solution
from lab_tool.builds import backends
from lab_tool.screen import WIDTH, nvcc_lines
from test_setup import temporary_folder
from this_build import BUILD, ROOT

EXERCISE = chosen_exercise("01.1")
SETTINGS = settings_of(BUILD)
# What these functions ask is built in the other backend.
IS_CPU = unittest.skipUnless(SETTINGS["backend"] == "cpu", "the CPU backend judges")

backends.put_nvcc_on_path()
REAL = shutil.which("nvcc")

# A file that is right here, and that nvcc refuses: each is in docs/cpu-backend.md.
TOO_MUCH_SHARED = """
__global__ void big(int* p) {
  __shared__ int many[12289];
  many[threadIdx.x] = *p;
  __syncthreads();
  p[1] = many[0];
}
"""
HOST_MEMBER = """
struct Pair {
  int sum() const { return 3; }
};
__global__ void call(int* p, Pair pair) {
  *p = pair.sum();
}
"""
THROUGH_USING = """
#include <limits>
using Limits = std::numeric_limits<int>;
__global__ void largest(int* p) {
  *p = Limits::max();
}
"""

FILE = "/home/me/01_saxpy.cu"
CODE = """\
#include "mine.h"
__global__ void first(int* p) {
  p[0] = g(3);
}
template <class T>
__global__ void
second(T* p) {
  std::string s;
}
"""
OF_HEADER = f"""\
/usr/local/cuda/include/cuda.h(7): warning #177-D: variable "x" was declared but never referenced
  int x;
      ^

mine.h(4): error: expression must have class type but it has type "cuda::__4::atomic"
    return a.nothing();
           ^
          detected during:
            instantiation of "T f(T) [with T=int]" at line 7
            instantiation of "T g(T) [with T=int]" at line 3 of {FILE}

1 error detected in the compilation of "{FILE}".
"""
OF_LIBRARY = """\
/usr/include/c++/12/bits/allocator.h(159): error: calling a constexpr __host__ function("allocator") from \
a __global__ function("second") is not allowed. The experimental flag '--expt-relaxed-constexpr' can be \
used to allow this.
        allocator(const allocator& __a) noexcept
        ^

"""
OF_FILE = f"""\
{FILE}(3): error: no instance of function "g" matches the argument list
            argument types are: (int)
    __attribute__((global)) p[0] = g(3);
                                   ^
/usr/local/cuda/include/cuda.h(80): note #3326-D: function "g" does not match
     int g();
     ^

"""
OF_ASSEMBLER = """\
ptxas error   : Entry function '_ZN4mine6secondIiEEvPT_' uses too much shared data (0xc004 bytes, 0xc000 max)
"""


class MessagesTest(unittest.TestCase):
    def lines(self, printed):
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder, "01_saxpy.cu")
            source.write_text(CODE, encoding="utf-8")
            return error_lines(source, printed.replace(FILE, str(source)).splitlines())

    def test_an_error_in_a_header_stands_at_the_students_line(self):
        self.assertEqual(
            self.lines(OF_HEADER),
            [
                '01_saxpy.cu:3: error: expression must have class type but it has type "cuda::atomic"',
                "    3 |   p[0] = g(3);",
            ],
        )

    def test_the_kernel_is_the_place_if_nvcc_names_no_other(self):
        self.assertEqual(
            self.lines(OF_LIBRARY),
            [
                '01_saxpy.cu:7: error: calling a constexpr __host__ function("allocator") from a '
                '__global__ function("second") is not allowed.',
                "    7 | second(T* p) {",
            ],
        )
        self.assertEqual(
            self.lines(OF_ASSEMBLER),
            [
                "01_saxpy.cu:7: error: Entry function 'second' uses too much shared data (49,156 bytes, "
                "49,152 max)",
                "    7 | second(T* p) {",
            ],
        )

    def test_source_lines_are_the_students_and_notes_about_headers_are_left_out(self):
        self.assertEqual(
            self.lines(OF_FILE),
            [
                '01_saxpy.cu:3: error: no instance of function "g" matches the argument list',
                "    3 |   p[0] = g(3);",
                "  argument types are: (int)",
            ],
        )


class UsableTest(unittest.TestCase):
    def usable(self, printed):
        with (
            mock.patch.object(backends, "output_of", lambda command, **_: printed),
            mock.patch.object(backends.shutil, "which", lambda name: f"/opt/{name}"),
        ):
            return backends.usable_nvcc()

    def test_only_a_version_that_has_the_courses_standard(self):
        self.assertEqual(self.usable("release 13.0, V13.0.88"), "/opt/nvcc")
        self.assertEqual(self.usable("release 12.0, V12.0.1"), "/opt/nvcc")
        for printed in (None, "", "release 11.8, V11.8.89", "something else"):
            self.assertIsNone(self.usable(printed))


@IS_CPU
class NvccTest(unittest.TestCase):
    """Files that are shown to nvcc, or to something else of that name."""

    def setUp(self):
        self.folder = temporary_folder(self)
        self.source = self.folder / EXERCISE.file_name
        self.source.write_text("int mine;\n", encoding="utf-8")

    def fake(self, script, version="release 13.0, V13.0.88"):
        """An nvcc that runs this script for sh, and writes first into the file `calls`."""
        program = self.folder / "bin/nvcc"
        program.parent.mkdir(exist_ok=True)
        first = f'[ "$1" = --version ] && echo "{version}" && exit 0\necho "$@" >> "{self.folder}/calls"\n'
        program.write_text(f"#!/bin/sh\n{first}{script}\n", encoding="utf-8")
        program.chmod(0o755)
        return str(program)

    def calls(self):
        file = self.folder / "calls"
        return file.read_text(encoding="utf-8").splitlines() if file.exists() else []

    def builds(self, program):
        build = ExerciseBuild(BuildFolder(BUILD, {}), SETTINGS, self.folder / "files")
        return ExerciseBuilds(build, None, program)

    def asked(self, program):
        verdict = Verdict({"results": PASSED}, [])
        return asked_of_nvcc(verdict, self.builds(program), self.source)


# What a working nvcc leaves: the object, and the names of what it has read.
ACCEPTS = """\
while [ $# -gt 0 ]; do
  case $1 in -MF) depends=$2 ;; -o) made=$2 ;; -c) source=$2 ;; esac
  shift
done
echo "$made : $source" > "$depends" && touch "$made"
"""
REFUSES = """\
for word; do case $word in *.cu) source=$word ;; esac; done
printf '%s(1): error: no such thing\\n  __attribute__((global)) x;\\n  ^\\n\\n' "$source"
printf '/usr/include/own.h(9): error: another one\\n'
exit 2
"""


class FakeTest(NvccTest):
    def test_accepted_once_is_not_asked_again_until_the_file_changes(self):
        program = self.fake(ACCEPTS)
        for _ in range(2):
            verdict = self.asked(program)
            self.assertTrue(verdict.is_solved)
            self.assertEqual(nvcc_lines(verdict), [])
        self.assertEqual(len(self.calls()), 1)
        self.source.write_text("int other;\n", encoding="utf-8")
        self.assertTrue(self.asked(program).is_solved)
        self.assertEqual(len(self.calls()), 2)
        # Kernels alone, for one GPU: what a GPU would have to be here for, or takes long, is not done.
        words = self.calls()[0].split()
        self.assertEqual([word for word in words if "arch" in word][1:], [])
        self.assertIn("-cubin", words)

    def test_refused_is_not_solved(self):
        verdict = self.asked(self.fake(REFUSES))
        self.assertFalse(verdict.is_solved)
        self.assertEqual(
            nvcc_lines(verdict),
            [
                "",
                "  But nvcc, which compiles for a GPU, refuses the file, so it is not done:",
                "  01_saxpy.cu:1: error: no such thing",
                "      1 | int mine;",
            ],
        )

    def test_what_is_wrong_with_nvcc_leaves_the_verdict(self):
        too_new = "#error -- unsupported GNU version! gcc versions later than 15 are not supported!"
        for script, reason in [
            (f"echo '/usr/include/host_config.h:138:2: error: {too_new}'; exit 1", too_new),
            ("kill -SEGV $$", "error: it was ended by SIGSEGV"),
            ("echo 'nvcc error   : cicc died due to signal 11'; exit 139", "cicc died"),
            ("exit 3", "it ended with status 3"),
            ("exit 0", "No such file or directory"),
        ]:
            with self.subTest(script):
                verdict = self.asked(self.fake(script))
                self.assertTrue(verdict.is_solved)
                said = " ".join(" ".join(nvcc_lines(verdict)).split())
                self.assertTrue(
                    said.startswith("nvcc gave no answer, and the verdict is without it: ")
                )
                self.assertIn(reason, said)
                self.assertLessEqual(max(map(len, nvcc_lines(verdict))), WIDTH)
        program = self.folder / "no_program"
        program.write_bytes(b"\x00\x01")
        program.chmod(0o755)
        self.assertIn("could not be started", self.asked(str(program)).nvcc_problem)

    def test_one_that_does_not_end_is_ended_with_what_it_has_started(self):
        program = self.fake(f"(sleep 3; touch {self.folder}/went_on) & sleep 600")
        start = time.monotonic()
        with mock.patch("grader.judging.compile.NVCC_SECONDS", 1):
            verdict = self.asked(program)
        self.assertIn("did not end within 1 s", verdict.nvcc_problem)
        self.assertTrue(verdict.is_solved)
        time.sleep(max(0, start + 4 - time.monotonic()))
        self.assertFalse((self.folder / "went_on").exists())


class RememberedTest(NvccTest):
    def checked(self, program, state=PASSED):
        work = WorkFolder(self.folder)
        self.seen = []
        with mock.patch.object(
            home_check, "check", lambda *_: Verdict({"results": state}, ["Done"])
        ):
            verdict = home_check.checked(
                self.builds(program), EXERCISE, self.source, work, has_verdict=self.seen.append
            )
        return verdict, work.state(EXERCISE)

    def test_solved_is_what_nvcc_takes_too(self):
        self.assertEqual(self.checked(self.fake(REFUSES))[1], CHECKED)
        self.assertEqual(self.seen[0].nvcc_errors, ())  # the verdict came first
        self.assertEqual(self.checked(self.fake(ACCEPTS))[1], DONE)
        self.source.write_text("int third;\n", encoding="utf-8")
        self.assertEqual(self.checked(self.fake("exit 1"))[1], DONE)

    def test_it_is_asked_about_nothing_else(self):
        program = self.fake(REFUSES)
        self.checked(program, "failed")
        self.checked(None)
        self.assertEqual((self.calls(), self.seen), ([], []))

    def test_a_file_that_is_saved_meanwhile_gets_no_answer_about_another_text(self):
        verdict, state = self.checked(self.fake(f"echo changed > {self.source}\n{REFUSES}"))
        self.assertEqual(verdict.nvcc_errors, ())
        self.assertIn("was saved while nvcc was asked about it", verdict.nvcc_problem)
        self.assertNotEqual(state, DONE)


class CommandTest(NvccTest):
    def setUp(self):
        super().setUp()
        self.source.write_text(solution(EXERCISE), encoding="utf-8")

    def command(self, *words):
        return ("check", "01.1", *words, "--work", str(self.folder), "--build", str(BUILD))

    def check(self, script, *words, **options):
        folder = pathlib.Path(self.fake(script, **options)).parent
        return lab(*self.command(*words), PATH=f"{folder}{os.pathsep}{os.environ['PATH']}")

    def test_the_answer_follows_the_verdict_and_decides_the_status(self):
        report = self.folder / "verdict.json"
        result = self.check(REFUSES, "--json", str(report))
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertRegex(
            result.stdout,
            r"(?s)\A01\.1 saxpy .*\n  Done: .*\n\n  But nvcc, .*\n  01_saxpy\.cu:1: error: ",
        )
        self.assertNotIn("exercise is done", result.stdout)
        (verdict,) = json.loads(report.read_text(encoding="utf-8"))
        self.assertEqual(set(verdict["parts"].values()), {"passed"})
        self.assertEqual(verdict["nvcc"][0], "01_saxpy.cu:1: error: no such thing")
        listed = lab("exercises", "--work", str(self.folder)).stdout
        self.assertRegex(listed, r"01\.1  saxpy .* not right yet")

        result = self.check(ACCEPTS)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(f"1 of {len(all_exercises())} exercises is done.", result.stdout)
        self.assertNotIn("nvcc", result.stdout + result.stderr)

    def test_a_broken_one_is_one_line_and_one_without_the_standard_none(self):
        result = self.check("exit 3")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(
            "\n  nvcc gave no answer, and the verdict is without it: it ended ", result.stdout
        )
        self.assertIn(f"1 of {len(all_exercises())} exercises is done.", result.stdout)
        calls = self.calls()
        result = self.check("exit 3", version="release 11.8, V11.8.89")
        self.assertNotIn("nvcc", result.stdout + result.stderr)
        self.assertEqual(self.calls(), calls)

    def test_of_several_files_each_is_refused_and_a_broken_nvcc_is_told_once(self):
        other = chosen_exercise("02.1")
        (self.folder / other.file_name).write_text(solution(other), encoding="utf-8")
        for script, says, times in [
            ("exit 3", "nvcc gave no answer", 1),
            (REFUSES, "But nvcc, ", 2),
        ]:
            program = pathlib.Path(self.fake(script))
            path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
            words = ("--work", str(self.folder), "--build", str(BUILD))
            result = lab("check", *words, PATH=path)
            self.assertEqual(result.returncode, times - 1, result.stdout + result.stderr)
            self.assertEqual(result.stdout.count(says), times, result.stdout)

    def test_an_interruption_ends_it_and_nothing_counts_as_solved(self):
        begun = self.folder / "begun"
        program = self.fake(f"touch {begun}; (sleep 5; touch {self.folder}/went_on) & sleep 600")
        folder = pathlib.Path(program).parent
        path = f"PATH={folder}{os.pathsep}{os.environ['PATH']}"
        command = ["env", path, sys.executable, ROOT / "lab", *self.command()]
        with started(command, None) as process:
            while not begun.exists():
                self.assertIsNone(process.poll())
                time.sleep(0.05)
            answer, problems = interrupt(process)
        self.assertEqual(process.returncode, 130)
        self.assertIn("  Done: ", answer)
        self.assertRegex(problems, r"Checking 01\.1 saxpy: interrupted after \d+ s\.\n\Z")
        self.assertNotIn("Traceback", problems)
        self.assertNotEqual(WorkFolder(self.folder).state(EXERCISE), DONE)
        time.sleep(5)
        self.assertFalse((self.folder / "went_on").exists())


@unittest.skipUnless(REAL, "nvcc is not here")
class RealTest(NvccTest):
    def test_our_solution_is_accepted(self):
        self.source.write_text(solution(EXERCISE), encoding="utf-8")
        verdict = self.asked(REAL)
        self.assertEqual(nvcc_lines(verdict), [])

    def test_what_the_cpu_backend_takes_and_nvcc_does_not(self):
        for code, line, says in [
            (TOO_MUCH_SHARED, 2, "'big' uses too much shared data (49,156 bytes, 49,152 max)"),
            (HOST_MEMBER, 6, 'calling a __host__ function("Pair::sum() const") from a __global__'),
            (THROUGH_USING, 5, 'calling a constexpr __host__ function("max'),
        ]:
            with self.subTest(says):
                self.source.write_text(code, encoding="utf-8")
                said = " ".join(" ".join(nvcc_lines(self.asked(REAL))).split())
                self.assertIn(f"so it is not done: 01_saxpy.cu:{line}: error: ", said)
                self.assertIn(says, said)

    def test_a_compiler_that_it_can_not_use_is_no_fault_of_the_file(self):
        with mock.patch.dict(os.environ, {"NVCC_CCBIN": "/bin/false"}):
            verdict = self.asked(REAL)
        self.assertTrue(verdict.is_solved)
        self.assertIn("fatal", verdict.nvcc_problem)

    def test_a_whole_check_refuses_what_only_the_cpu_backend_takes(self):
        more = TOO_MUCH_SHARED + HOST_MEMBER + THROUGH_USING
        self.source.write_text(solution(EXERCISE) + more, encoding="utf-8")
        result = lab("check", "01.1", "--work", str(self.folder), "--build", str(BUILD))
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertIn("  Done: ", result.stdout)
        self.assertIn("\n  But nvcc, which compiles for a GPU, refuses the file", result.stdout)
        self.assertRegex(
            result.stdout, r"\n  01_saxpy\.cu:\d+: error: calling a (constexpr )?__host__ function"
        )
        self.assertNotIn("hint", result.stdout)  # they are about the exercise

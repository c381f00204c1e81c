# SPDX-License-Identifier: MIT
"""What nvcc says of a file that is right here: after the verdict, about the student's line, or nothing."""

import json
import os
import pathlib
import re
import shutil
import sys
import tempfile
import time
from unittest import mock

import pytest

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
from this_build import BUILD, ROOT

EXERCISE = chosen_exercise("01.1")
SETTINGS = settings_of(BUILD)

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


def lines(printed):
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "01_saxpy.cu")
        source.write_text(CODE, encoding="utf-8")
        return error_lines(source, printed.replace(FILE, str(source)).splitlines())


def test_an_error_in_a_header_stands_at_the_students_line():
    assert lines(OF_HEADER) == [
        '01_saxpy.cu:3: error: expression must have class type but it has type "cuda::atomic"',
        "    3 |   p[0] = g(3);",
    ]


def test_the_kernel_is_the_place_if_nvcc_names_no_other():
    assert lines(OF_LIBRARY) == [
        '01_saxpy.cu:7: error: calling a constexpr __host__ function("allocator") from a '
        '__global__ function("second") is not allowed.',
        "    7 | second(T* p) {",
    ]
    assert lines(OF_ASSEMBLER) == [
        "01_saxpy.cu:7: error: Entry function 'second' uses too much shared data (49,156 bytes, "
        "49,152 max)",
        "    7 | second(T* p) {",
    ]


def test_source_lines_are_the_students_and_notes_about_headers_are_left_out():
    assert lines(OF_FILE) == [
        '01_saxpy.cu:3: error: no instance of function "g" matches the argument list',
        "    3 |   p[0] = g(3);",
        "  argument types are: (int)",
    ]


def usable(printed):
    with (
        mock.patch.object(backends, "output_of", lambda command, **_: printed),
        mock.patch.object(backends.shutil, "which", lambda name: f"/opt/{name}"),
    ):
        return backends.usable_nvcc()


def test_only_a_version_that_has_the_courses_standard():
    assert usable("release 13.0, V13.0.88") == "/opt/nvcc"
    assert usable("release 12.0, V12.0.1") == "/opt/nvcc"
    for printed in (None, "", "release 11.8, V11.8.89", "something else"):
        assert usable(printed) is None


class Nvcc:
    """Files that are shown to nvcc, or to something else of that name."""

    def __init__(self, folder):
        self.folder = folder
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

    def command(self, *words):
        """`lab check` of our solution."""
        self.source.write_text(solution(EXERCISE), encoding="utf-8")
        return ("check", *words, "--work", str(self.folder), "--build", str(BUILD))

    def check(self, script, *words, **options):
        folder = pathlib.Path(self.fake(script, **options)).parent
        return lab(*self.command(*words), PATH=f"{folder}{os.pathsep}{os.environ['PATH']}")


@pytest.fixture
def nvcc(tmp_path):
    if SETTINGS["backend"] != "cpu":
        pytest.skip("the CPU backend judges")
    return Nvcc(tmp_path)


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


def test_accepted_once_is_not_asked_again_until_the_file_changes(nvcc):
    program = nvcc.fake(ACCEPTS)
    for _ in range(2):
        verdict = nvcc.asked(program)
        assert verdict.is_solved
        assert nvcc_lines(verdict) == []
    assert len(nvcc.calls()) == 1
    nvcc.source.write_text("int other;\n", encoding="utf-8")
    assert nvcc.asked(program).is_solved
    assert len(nvcc.calls()) == 2
    # Kernels alone, for one GPU: what a GPU would have to be here for, or takes long, is not done.
    words = nvcc.calls()[0].split()
    assert [word for word in words if "arch" in word][1:] == []
    assert "-cubin" in words


def test_refused_is_not_solved(nvcc):
    verdict = nvcc.asked(nvcc.fake(REFUSES))
    assert not verdict.is_solved
    assert nvcc_lines(verdict) == [
        "",
        "  But nvcc, which compiles for a GPU, refuses the file, so it is not done:",
        "  01_saxpy.cu:1: error: no such thing",
        "      1 | int mine;",
    ]


def test_what_is_wrong_with_nvcc_leaves_the_verdict(nvcc):
    too_new = "#error -- unsupported GNU version! gcc versions later than 15 are not supported!"
    for script, reason in [
        (f"echo '/usr/include/host_config.h:138:2: error: {too_new}'; exit 1", too_new),
        ("kill -SEGV $$", "error: it was ended by SIGSEGV"),
        ("echo 'nvcc error   : cicc died due to signal 11'; exit 139", "cicc died"),
        ("exit 3", "it ended with status 3"),
        ("exit 0", "No such file or directory"),
    ]:
        verdict = nvcc.asked(nvcc.fake(script))
        assert verdict.is_solved
        said = " ".join(" ".join(nvcc_lines(verdict)).split())
        assert said.startswith("nvcc gave no answer, and the verdict is without it: ")
        assert reason in said
        assert max(map(len, nvcc_lines(verdict))) <= WIDTH
    program = nvcc.folder / "no_program"
    program.write_bytes(b"\x00\x01")
    program.chmod(0o755)
    assert "could not be started" in nvcc.asked(str(program)).nvcc_problem


def test_one_that_does_not_end_is_ended_with_what_it_has_started(nvcc):
    program = nvcc.fake(f"(sleep 3; touch {nvcc.folder}/went_on) & sleep 600")
    start = time.monotonic()
    with mock.patch("grader.judging.compile.NVCC_SECONDS", 1):
        verdict = nvcc.asked(program)
    assert "did not end within 1 s" in verdict.nvcc_problem
    assert verdict.is_solved
    time.sleep(max(0, start + 4 - time.monotonic()))
    assert not (nvcc.folder / "went_on").exists()


def test_solved_is_what_nvcc_takes_too(nvcc):
    assert nvcc.checked(nvcc.fake(REFUSES))[1] == CHECKED
    assert nvcc.seen[0].nvcc_errors == ()  # the verdict came first
    assert nvcc.checked(nvcc.fake(ACCEPTS))[1] == DONE
    nvcc.source.write_text("int third;\n", encoding="utf-8")
    assert nvcc.checked(nvcc.fake("exit 1"))[1] == DONE


def test_it_is_asked_about_nothing_else(nvcc):
    program = nvcc.fake(REFUSES)
    nvcc.checked(program, "failed")
    nvcc.checked(None)
    assert (nvcc.calls(), nvcc.seen) == ([], [])


def test_a_file_that_is_saved_meanwhile_gets_no_answer_about_another_text(nvcc):
    verdict, state = nvcc.checked(nvcc.fake(f"echo changed > {nvcc.source}\n{REFUSES}"))
    assert verdict.nvcc_errors == ()
    assert "was saved while nvcc was asked about it" in verdict.nvcc_problem
    assert state != DONE


def test_the_answer_follows_the_verdict_and_decides_the_status(nvcc):
    report = nvcc.folder / "verdict.json"
    result = nvcc.check(REFUSES, "01.1", "--json", str(report))
    assert result.returncode == 1, result.stderr
    assert re.search(
        r"(?s)\A01\.1 saxpy .*\n  Done: .*\n\n  But nvcc, .*\n  01_saxpy\.cu:1: error: ",
        result.stdout,
    )
    assert "exercise is done" not in result.stdout
    (verdict,) = json.loads(report.read_text(encoding="utf-8"))
    assert set(verdict["parts"].values()) == {"passed"}
    assert verdict["nvcc"][0] == "01_saxpy.cu:1: error: no such thing"
    listed = lab("exercises", "--work", str(nvcc.folder)).stdout
    assert re.search(r"01\.1  saxpy .* not right yet", listed)

    result = nvcc.check(ACCEPTS, "01.1")
    assert result.returncode == 0, result.stderr
    assert f"1 of {len(all_exercises())} exercises is done." in result.stdout
    assert "nvcc" not in result.stdout + result.stderr


def test_a_broken_one_is_one_line_and_one_without_the_standard_none(nvcc):
    result = nvcc.check("exit 3", "01.1")
    assert result.returncode == 0, result.stderr
    assert "\n  nvcc gave no answer, and the verdict is without it: it ended " in result.stdout
    assert f"1 of {len(all_exercises())} exercises is done." in result.stdout
    calls = nvcc.calls()
    result = nvcc.check("exit 3", "01.1", version="release 11.8, V11.8.89")
    assert "nvcc" not in result.stdout + result.stderr
    assert nvcc.calls() == calls


@pytest.mark.parametrize(
    "script, says, times",
    [
        ("exit 3", "nvcc gave no answer", 1),
        (REFUSES, "But nvcc, ", 2),
    ],
    ids="broken refuses".split(),
)
def test_of_several_files_each_is_refused_and_a_broken_nvcc_is_told_once(nvcc, script, says, times):
    other = chosen_exercise("02.1")
    (nvcc.folder / other.file_name).write_text(solution(other), encoding="utf-8")
    result = nvcc.check(script)
    assert result.returncode == times - 1, result.stdout + result.stderr
    assert result.stdout.count(says) == times, result.stdout


def test_an_interruption_ends_it_and_nothing_counts_as_solved(nvcc):
    begun = nvcc.folder / "begun"
    program = nvcc.fake(f"touch {begun}; (sleep 5; touch {nvcc.folder}/went_on) & sleep 600")
    folder = pathlib.Path(program).parent
    path = f"PATH={folder}{os.pathsep}{os.environ['PATH']}"
    command = ["env", path, sys.executable, ROOT / "lab", *nvcc.command("01.1")]
    with started(command, None) as process:
        while not begun.exists():
            assert process.poll() is None
            time.sleep(0.05)
        answer, problems = interrupt(process)
    assert process.returncode == 130
    assert "  Done: " in answer
    assert re.search(r"Checking 01\.1 saxpy: interrupted after \d+ s\.\n\Z", problems)
    assert "Traceback" not in problems
    assert WorkFolder(nvcc.folder).state(EXERCISE) != DONE
    time.sleep(5)
    assert not (nvcc.folder / "went_on").exists()


@pytest.mark.skipif(not REAL, reason="nvcc is not here")
def test_our_solution_is_accepted(nvcc):
    nvcc.source.write_text(solution(EXERCISE), encoding="utf-8")
    verdict = nvcc.asked(REAL)
    assert nvcc_lines(verdict) == []


@pytest.mark.skipif(not REAL, reason="nvcc is not here")
@pytest.mark.parametrize(
    "code, line, says",
    [
        (TOO_MUCH_SHARED, 2, "'big' uses too much shared data (49,156 bytes, 49,152 max)"),
        (HOST_MEMBER, 6, 'calling a __host__ function("Pair::sum() const") from a __global__'),
        (THROUGH_USING, 5, 'calling a constexpr __host__ function("max'),
    ],
    ids="shared_memory member using".split(),
)
def test_what_the_cpu_backend_takes_and_nvcc_does_not(nvcc, code, line, says):
    nvcc.source.write_text(code, encoding="utf-8")
    said = " ".join(" ".join(nvcc_lines(nvcc.asked(REAL))).split())
    assert f"so it is not done: 01_saxpy.cu:{line}: error: " in said
    assert says in said


@pytest.mark.skipif(not REAL, reason="nvcc is not here")
def test_a_compiler_that_it_can_not_use_is_no_fault_of_the_file(nvcc):
    with mock.patch.dict(os.environ, {"NVCC_CCBIN": "/bin/false"}):
        verdict = nvcc.asked(REAL)
    assert verdict.is_solved
    assert "fatal" in verdict.nvcc_problem


@pytest.mark.skipif(not REAL, reason="nvcc is not here")
def test_a_whole_check_refuses_what_only_the_cpu_backend_takes(nvcc):
    more = TOO_MUCH_SHARED + HOST_MEMBER + THROUGH_USING
    nvcc.source.write_text(solution(EXERCISE) + more, encoding="utf-8")
    result = lab("check", "01.1", "--work", str(nvcc.folder), "--build", str(BUILD))
    assert result.returncode == 1, result.stdout + result.stderr
    assert "  Done: " in result.stdout
    assert "\n  But nvcc, which compiles for a GPU, refuses the file" in result.stdout
    assert re.search(
        r"\n  01_saxpy\.cu:\d+: error: calling a (constexpr )?__host__ function", result.stdout
    )
    assert "hint" not in result.stdout  # they are about the exercise

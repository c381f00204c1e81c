# SPDX-License-Identifier: MIT
"""Which names and words in a submission are refused, and that no ordinary one is."""

import pathlib
import shutil
import subprocess
import tempfile
import unittest

from grading_runs import BUILDS, CAN_GRADE, real_sandboxes, solution_text, written

from grader.exercises.catalogue import all_exercises, chosen_exercise
from grader.exercises.inspection import objections_to_names, objections_to_source
from grader.judging.compiling import compiled_alone
from grader.judging.programs import OBSERVED
from grader.judging.runner import NotCompiled
from grader.sandbox.sandbox import Sandbox
from lab_tool.authoring.trials import trials_of
from this_build import ROOT

# What a student may well write, and no one has a reason to refuse: {name: (before the code, in it)}.
HONEST = {
    "a variable in CUDA's style": ("int cuda_calls = 0;", "++cuda_calls;"),
    "a variable of the device": ("__device__ int cudaCounter;", ""),
    "a hash map": (
        "#include <string>\n#include <unordered_map>",
        'std::unordered_map<std::string, int> seen; seen["n"] = 1; if (seen.size() > n) return;',
    ),
    "a stable sort": (
        "#include <algorithm>\n#include <vector>",
        "std::vector<std::size_t> v(n); std::stable_sort(v.begin(), v.end()); if (v[0] > n) return;",
    ),
    "a clock": (
        "#include <chrono>\n#include <cstdio>",
        "const auto start = std::chrono::steady_clock::now();\n"
        'if (std::chrono::steady_clock::now() < start) std::puts("backwards");',
    ),
}


class NamesTest(unittest.TestCase):
    def test_what_code_that_computes_takes_is_allowed(self):
        names = """cudaMemcpyAsync U
            _ZN11cpu_backend6launchERKNS_20launch_configurationEPKv U
            __tsan_read4 U
            _Znwm U
            sqrtf U
            printf U
            _ZSt20__throw_length_errorPKc U
            _ZNSolsEi U
            memcpy U"""
        self.assertEqual(objections_to_names(_rows(names)), [])

    @unittest.skipUnless(shutil.which("nvcc"), "nvcc is not here")
    def test_what_nvcc_adds_to_a_kernel_is_allowed_to_it_alone(self):
        for number in ("01.1", "03.2", "05.3"):
            with self.subTest(number), written(number, solution_text(number)) as file:
                compiled = file.with_suffix(".o")
                command = ["nvcc", "-std=c++20", "-arch=sm_90", "--extended-lambda", "-c"]
                command += [*(f"-I{ROOT / house}" for house in ("common", "chapters", "engine"))]
                subprocess.run([*command, str(file), "-o", str(compiled)], check=True)
                names = subprocess.run(
                    ["nm", "-P", str(compiled)], capture_output=True, text=True, check=True
                ).stdout
                self.assertEqual(objections_to_names(names, is_by_nvcc=True), [])
                self.assertNotEqual(objections_to_names(names), [])

    def test_what_reaches_the_system_is_refused(self):
        for name in (
            "open", "fopen", "getenv", "system", "fork", "_exit", "syscall", "dlsym", "socket", "mmap",
            "pthread_create", "signal", "setenv", "on_exit", "atexit", "environ", "stdin",
            "_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE",
            "_ZNSt14basic_ifstreamIcSt11char_traitsIcEEC1EPKcSt13_Ios_Openmode",
            "_ZN9racecheck7checker8instanceEv", "_ZN9exercises3runEiPPc",
            "_ZN11cpu_backend9output_ofERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE",
            "_ZN11cpu_backend9scheduled8set_seedEm", "racecheck_name_memory", "__libc_start_main",
        ):  # fmt: skip
            self.assertEqual(len(objections_to_names(f"{name} U\n")), 1, name)

    def test_what_would_take_the_place_of_ours_is_refused(self):
        for row in (
            "cudaEventRecord T", "exit T", "malloc T", "_Znwm T", "_ZdlPv W", "main T", "memcpy W",
            "_ZN9racecheck7checker6accessEv W", "_ZNSt6vectorIN9racecheck7findingEE9push_backEv W",
            "_ZN11cpu_backend6launchEv T", "_ZNSs6appendEPKc T", "cudaMalloc D", "__tsan_init T",
            "_ZN9racecheck4playE u", "environ A",
        ):  # fmt: skip
            self.assertEqual(len(objections_to_names(f"{row} 0 8\n")), 1, row)

    def test_the_students_own_names_are_allowed(self):
        rows = "_Z5saxpyfPKfPfm T 0 8\ncount B 0 8\n_ZNSt6vectorIiSaIiEE9push_backEv W 0 8\n_ZL4helpv t 0 8\n"
        self.assertEqual(objections_to_names(rows), [])


class SourceTest(unittest.TestCase):
    def test_ways_around_names_are_refused(self):
        for text in (
            'asm("syscall");', "__asm__ volatile(\"\");", "[[gnu::section(\".text\")]] int x;",
            "__attribute__((constructor)) void f() {}", "namespace cpu_backend { void f(); }",
            "#define J(a, b) a##b", "%:define J(a, b) a%:%:b", 'const char* s = R"(/*)"; asm("");',
            "racecheck::checker::instance();", "as\\\nm(\"\");", "__builtin_ia32_movnti(p, 1);",
            "#include <racecheck/races/checker.hpp>", "#include <immintrin.h>",
            '#include "../exercises/a.cu"', "#  include\t</proc/self/environ>", "_mm_stream_si32(p, 1);",
            "/* a */ asm /* b */ (\"\");",
        ):  # fmt: skip
            self.assertTrue(objections_to_source(text), text)

    def test_words_in_comments_and_texts_are_not(self):
        for text in (
            "// racecheck says so; asm", "/* cpu_backend\n asm */", 'puts("asm racecheck");',
            "int section = 1, alias = 2, assembly = 3;", "int n = 1'000'000; char c = '\\'';",
            "#include <cuda/atomic>\n#include <cooperative_groups.h>\n#include <cstdio>",
            "extern __shared__ int cache[];", "__launch_bounds__(256)", "[[maybe_unused]] int x;",
        ):  # fmt: skip
            self.assertEqual(objections_to_source(text), [], text)

    def test_no_text_of_the_course_is_refused(self):
        for exercise in all_exercises():
            for trial in trials_of(exercise):
                self.assertEqual(
                    objections_to_source(trial.text), [], f"{exercise.title} {trial.name}"
                )


@unittest.skipUnless(CAN_GRADE and real_sandboxes(), "compiling takes a sandbox")
class HonestTest(unittest.TestCase):
    def test_ordinary_code_is_compiled(self):
        start = "  const unsigned threads = 256;\n"
        for name, (before, within) in HONEST.items():
            solution = solution_text("01.1")
            self.assertEqual(solution.count(start), 1)
            text = f"{before}\n" + solution.replace(start, f"{start}{within}\n")
            with (
                self.subTest(name),
                written("01.1", text) as file,
                tempfile.TemporaryDirectory() as folder,
            ):
                work = pathlib.Path(folder).resolve()
                sandbox = Sandbox(real_sandboxes()[0])
                try:
                    compiled_alone(
                        sandbox, BUILDS.cpu, chosen_exercise("01.1"), file, work, OBSERVED
                    )
                except NotCompiled as problem:
                    self.fail("\n".join(problem.lines))


def _rows(text):
    return "".join(f"{line.strip()}\n" for line in text.splitlines())

# SPDX-License-Identifier: MIT
"""Which names and words in a submission are refused, and that no ordinary one is."""

import pathlib
import shutil
import subprocess
import tempfile
import unittest

from grading_runs import BUILDS, CAN_GRADE, real_sandboxes, solution_text, written

from engine.command.build_folder import lines_of
from grader.exercises.catalogue import chosen_exercise
from grader.inspection.object_symbols import (
    Libraries,
    libraries_of,
    names_to_keep,
    objections_to_symbols,
    symbols_of,
)
from grader.inspection.source_tokens import objections_to_source
from grader.judging.compile import SCHEDULED, Recipe
from grader.judging.runner import NotCompiled
from grader.judging.sandboxed import compiled_alone
from grader.sandbox.sandbox import Sandbox
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

    def test_of_the_backend_only_what_translated_code_calls_is_allowed(self):
        for name in (
            "_ZN11cpu_backend8observer13thread_pausesEv",
            "_ZN11cpu_backend8observer11thread_runsEj",
            "_ZN11cpu_backend9scheduled9run_aheadEv",
            "_ZN11cpu_backend15block_execution14abandon_blockEv",
            "_ZTVN11cpu_backend6workerE",
            "_ZN11cpu_backend6launch8observerEv",
        ):
            self.assertEqual(len(objections_to_names(f"{name} U\n")), 1, name)

    @unittest.skipUnless(shutil.which("nvcc"), "nvcc is not here")
    def test_what_nvcc_adds_to_a_kernel_is_allowed_to_it_alone(self):
        for number in ("01.1", "03.2", "04.2"):
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

    @unittest.skipUnless(shutil.which("nvcc"), "nvcc is not here")
    def test_what_nvcc_makes_of_cudas_words_is_allowed_to_it_alone(self):
        for text in (
            solution_text("01.1"),
            "__constant__ int c; __device__ int d; __managed__ int m;\n"
            "__global__ void __launch_bounds__(64) k(const __grid_constant__ int z) {\n"
            "  __shared__ int s; s = z; d = c + m + s;\n}\n"
            "__host__ __device__ __forceinline__ int f() { return 1; }\n",
        ):
            with self.subTest(text[:40]), written("01.1", text) as file:
                command = ["nvcc", "-std=c++20", "-arch=sm_90", "-E", str(file)]
                preprocessed = subprocess.run(command, capture_output=True, check=True).stdout
                self.assertEqual(objections_to_source(file, preprocessed, is_by_nvcc=True), [])
                (*_, one) = objections_to_source(file, preprocessed)
                self.assertIn("It has __attribute__((", one)

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

    @unittest.skipUnless(CAN_GRADE, "the race checker is not built")
    def test_what_would_take_the_place_of_ours_is_refused(self):
        for row in (
            "cudaEventRecord T", "exit T", "malloc T", "_Znwm T", "main T",
            "_ZNSs6appendEPKc T", "cudaMalloc D", "__tsan_init T", "environ B", "_ZNSolsEi T", "frexp i",
        ):  # fmt: skip
            symbols = symbols_of(f"{row} 0 8\n")
            self.assertEqual(len(objections_to_symbols(symbols, _libraries())), 1, row)

    @unittest.skipUnless(CAN_GRADE, "the race checker is not built")
    def test_what_is_compiled_into_each_object_takes_no_place(self):
        """A template may be specialised, and inline functions are everybody's: of those that the libraries
        have too the linker takes theirs, which are first, and all others stay within the object file."""
        libraries = _libraries()
        shared = next(name for name in sorted(libraries.ours) if "7checked10cuda_error" in name)
        rows = ["_Z5saxpyfPKfPfm T", f"{shared} W", "_ZdlPv W", "memcpy W", "_ZNSs6appendEPKc W"]
        rows += ["_ZNSt6vectorIiSaIiEE9push_backEv W", "_Z4mainv T", "memcpy U"]
        symbols = symbols_of("".join(f"{row} 0 8\n" for row in rows))
        self.assertEqual(set(names_to_keep(symbols, libraries)), {"_Z5saxpyfPKfPfm", shared})

    def test_the_students_own_names_are_allowed(self):
        rows = "_Z5saxpyfPKfPfm T 0 8\ncount B 0 8\n_ZNSt6vectorIiSaIiEE9push_backEv W 0 8\n_ZL4helpv t 0 8\n"
        self.assertEqual(objections_to_names(rows), [])


@unittest.skipUnless(CAN_GRADE, "the CPU backend alone preprocesses by itself")
class SourceTest(unittest.TestCase):
    def test_ways_around_names_are_refused(self):
        for text in (
            'asm("syscall");', "__asm__ volatile(\"\");", "[[gnu::section(\".text\")]] int x;",
            "__attribute__((constructor)) void f() {}", "namespace cpu_backend { void f(); }",
            "#define J(a, b) a##b\nJ(as, m)(\"\");", 'const char* s = R"(/*)"; asm("");',
            "%:define J(a, b) a%:%:b\nJ(cpu_, backend)::f();", "__builtin_ia32_movnti(p, 1);",
            "racecheck::checker::instance();", "as\\\nm(\"\");", "as\\ \f\nm(\"\");",
            "#include <racecheck/races/checker.hpp>", "#include <immintrin.h>",
            "#  include\t</proc/self/environ>", "_mm_stream_si32(p, 1);", "/* a */ asm /* b */ (\"\");",
            "#if __has_include(<a/*b>)\n#endif\nasm(\"\");  // */", "__CONCAT(__as, m__)(\"\");",
            'extern "C" int f();', "extern\n\"C++\" { int f(); }", '[[using gnu: naked]] void f();',
            "__builtin___memcpy_chk(p, q, 4, n);", '_Pragma("redefine_extname f g")',
            "#pragma GCC optimize(\"O0\")", '#ident "text"', "[[clang::no_sanitize(\"thread\")]] int f();",
            "__attribute((__no_sanitize_thread__)) int f();", "<:<:gnu::naked:>:> void f();",
            "void f(int* p) { new (p) int(7); }", "void f(int* p) { std::construct_at(p, 7); }",
            "#include <cstdarg>\nvoid f(va_list a, va_list b) { va_copy(a, b); }",
            "void f() { stdout->_fileno = 0; }", "void f() { stderr->_IO_write_ptr = 0; }",
        ):  # fmt: skip
            self.assertTrue(_objections("#include <sys/cdefs.h>\n" + text), text)

    def test_the_word_for_a_line_is_the_compilers_alone(self):
        """Else what follows would not count as the student's."""
        for text in (
            '#line 1 "/usr/include/math.h"\nasm("");', '# 1 "/usr/include/math.h" 1 3\nasm("");',
            '%:line 1 "/usr/include/math.h"\n', '/* a\n*/ # /* b\n*/ line 1 "/usr/include/math.h"\n',
            '#li\\\nne 1 "/usr/include/math.h"\n', "\v#\f1 \"a.h\"\n",
            '#if __has_include(<a/*b>)\n#endif\n#line 1 "/usr/include/math.h" // */',
        ):  # fmt: skip
            self.assertTrue(_objections(text), text)

    def test_a_file_that_includes_itself_is_read_twice(self):
        for name in ("__FILE__", '"01_saxpy.cu"', '"./01_saxpy.cu"'):
            text = f'#ifdef AGAIN\nasm("");\n#else\n#define AGAIN\n#include {name}\n#endif\n'
            self.assertTrue(_objections(text), name)

    def test_headers_are_not_changed_by_macros(self):
        for text in (
            "#define observe_atomic(...)\n#include <cuda/atomic>", "#define if while",
            "#define __builtin_memmove mine", "#def\\\nine\tbegin_atomic", "%:define _Tp int",
        ):  # fmt: skip
            self.assertTrue(_objections(text), text)

    def test_words_in_comments_and_texts_are_not(self):
        for text in (
            "// racecheck says so; asm", "/* cpu_backend\n asm */", 'const char* s = "asm racecheck";',
            "int section = 1, alias = 2, assembly = 3;", "int n = 1'000'000; char c = '\\'';",
            "#include <cuda/atomic>\n#include <cooperative_groups.h>\n#include <cstdio>",
            "extern __shared__ int cache[];", "__launch_bounds__(256)", "[[maybe_unused]] int x;",
            "#define N 256\n#define WARP_SIZE 32\n#define CHECK(call) do { call; } while (0)",
            "#define J(a, b) a##b\nint J(some, thing);", "// #1: the first", "int a[3]; int b = a[a[0]];",
            "#include <cassert>\n#include <cmath>\nvoid f(float x) { assert(x < INFINITY || x == NAN); }",
            "struct __align__(16) pair { int a[4]; };", "#pragma unroll 4\n", "extern int x;",
            "int* f() { return new (std::nothrow) int[7]; }", "int* f() { return new int(7); }",
            "/* the two forms:\n * #1 and\n * #2 */", "#include <climits>\nint most = INT_MAX;",
        ):  # fmt: skip
            self.assertEqual(_objections(text), [], text)


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
                        sandbox, BUILDS.cpu, chosen_exercise("01.1"), file, work, SCHEDULED
                    )
                except NotCompiled as problem:
                    self.fail("\n".join(problem.lines))


def objections_to_names(text, is_by_nvcc=False):
    nothing = Libraries(frozenset(), frozenset(), frozenset())
    return objections_to_symbols(symbols_of(text), nothing, is_by_nvcc)


def _libraries():
    build, exercise = BUILDS.cpu, chosen_exercise("01.1")
    driver = str(build.place.folder / exercise.driver)
    return libraries_of(
        Recipe(build.place, build.settings, ["none.cu"], SCHEDULED, objects=[driver])
    )


def _objections(text):
    """To a text, as this build's compiler preprocesses it in the form for the race checker."""
    with written("01.1", text) as file:
        form, settings = SCHEDULED.prefix, BUILDS.cpu.settings
        words = [*lines_of(settings, "compiler")]
        words += [
            *lines_of(settings, f"{form}preprocessor_arguments"),
            "-E",
            "-x",
            "c++",
            file.name,
        ]
        run = subprocess.run(words, cwd=file.parent, capture_output=True, check=False)
        return objections_to_source(file, run.stdout, file.parent)


def _rows(text):
    return "".join(f"{line.strip()}\n" for line in text.splitlines())

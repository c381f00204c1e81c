# SPDX-License-Identifier: MIT
"""Which names and words in a submission are refused, and that no ordinary one is. And
whatever reads a stranger's text takes time and memory in proportion to it, whatever is in it."""

import itertools
import pathlib
import shutil
import subprocess
import tempfile
import time
import tracemalloc

import pytest
from grading_runs import BUILDS, CAN_GRADE, can_grade, real_sandboxes, solution_text, written

from engine.command.build_folder import lines_of
from engine.command.compiler_messages import readable
from engine.command.recipe import Recipe
from grader.exercises.catalogue import chosen_exercise
from grader.inspection.object_symbols import (
    Libraries,
    libraries_of,
    names_to_keep,
    objections_to_symbols,
    symbols_of,
)
from grader.inspection.source_tokens import objections_to_source
from grader.judging.compile import (
    SCHEDULED,
    as_gcc_puts_it,
    explained_lines,
    objections_before_compiling,
)
from grader.judging.races import extern_arrays
from grader.judging.runner import NotCompiled
from grader.judging.sandboxed import compiled_alone
from grader.sandbox.sandbox import Sandbox
from grader.submissions.submission_names import exercise_of, label_of_file, label_of_folder
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


def test_what_code_that_computes_takes_is_allowed():
    names = """cudaMemcpyAsync U
        _ZN11cpu_backend6launchERKNS_20launch_configurationEPKv U
        __tsan_read4 U
        _Znwm U
        sqrtf U
        printf U
        _ZSt20__throw_length_errorPKc U
        _ZNSolsEi U
        memcpy U"""
    assert objections_to_names(_rows(names)) == []


def test_of_the_backend_only_what_translated_code_calls_is_allowed():
    for name in (
        "_ZN11cpu_backend8observer13thread_pausesEv",
        "_ZN11cpu_backend8observer11thread_runsEj",
        "_ZN11cpu_backend9scheduled9run_aheadEv",
        "_ZN11cpu_backend15block_execution14abandon_blockEv",
        "_ZTVN11cpu_backend6workerE",
        "_ZN11cpu_backend6launch8observerEv",
    ):
        assert len(objections_to_names(f"{name} U\n")) == 1, name


@pytest.mark.skipif(not (shutil.which("nvcc")), reason="nvcc is not here")
def test_what_nvcc_adds_to_a_kernel_is_allowed_to_it_alone():
    for number in ("01.1", "03.2", "04.2"):
        with written(number, solution_text(number)) as file:
            compiled = file.with_suffix(".o")
            command = ["nvcc", "-std=c++20", "-arch=sm_90", "--extended-lambda", "-c"]
            command += [*(f"-I{ROOT / house}" for house in ("common", "chapters", "engine"))]
            subprocess.run([*command, str(file), "-o", str(compiled)], check=True)
            names = subprocess.run(
                ["nm", "-P", str(compiled)], capture_output=True, text=True, check=True
            ).stdout
            assert objections_to_names(names, is_by_nvcc=True) == []
            assert objections_to_names(names) != []


@pytest.mark.skipif(not (shutil.which("nvcc")), reason="nvcc is not here")
def test_what_nvcc_makes_of_cudas_words_is_allowed_to_it_alone():
    for text in (
        solution_text("01.1"),
        "__constant__ int c; __device__ int d; __managed__ int m;\n"
        "__global__ void __launch_bounds__(64) k(const __grid_constant__ int z) {\n"
        "  __shared__ int s; s = z; d = c + m + s;\n}\n"
        "__host__ __device__ __forceinline__ int f() { return 1; }\n",
    ):
        with written("01.1", text) as file:
            command = ["nvcc", "-std=c++20", "-arch=sm_90", "-E", str(file)]
            preprocessed = subprocess.run(command, capture_output=True, check=True).stdout
            assert objections_to_source(file, preprocessed, is_by_nvcc=True) == []
            (*_, one) = objections_to_source(file, preprocessed)
            assert "It has __attribute__((" in one


@pytest.mark.parametrize("name", [
    "open", "fopen", "getenv", "system", "fork", "_exit", "syscall", "dlsym", "socket", "mmap",
    "pthread_create", "signal", "setenv", "on_exit", "atexit", "environ", "stdin",
    "_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE",
    "_ZNSt14basic_ifstreamIcSt11char_traitsIcEEC1EPKcSt13_Ios_Openmode",
    "_ZN9racecheck7checker8instanceEv", "_ZN9exercises3runEiPPc",
    "_ZN11cpu_backend9output_ofERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE",
    "_ZN11cpu_backend9scheduled8set_seedEm", "racecheck_name_memory", "__libc_start_main",
])  # fmt: skip
def test_what_reaches_the_system_is_refused(name):
    assert len(objections_to_names(f"{name} U\n")) == 1, name


@pytest.mark.skipif(not CAN_GRADE, reason="the race checker is not built")
@pytest.mark.parametrize("row", [
    "cudaEventRecord T", "exit T", "malloc T", "_Znwm T", "main T",
    "_ZNSs6appendEPKc T", "cudaMalloc D", "__tsan_init T", "environ B", "_ZNSolsEi T", "frexp i",
])  # fmt: skip
def test_what_would_take_the_place_of_ours_is_refused(row):
    symbols = symbols_of(f"{row} 0 8\n")
    assert len(objections_to_symbols(symbols, _libraries())) == 1, row


@pytest.mark.skipif(not CAN_GRADE, reason="the race checker is not built")
def test_what_is_compiled_into_each_object_takes_no_place():
    """A template may be specialised, and inline functions are in every library: of those that the libraries
    have too the linker takes theirs, which are first, and all others stay within the object file."""
    libraries = _libraries()
    shared = next(name for name in sorted(libraries.ours) if "7checked10cuda_error" in name)
    rows = ["_Z5saxpyfPKfPfm T", f"{shared} W", "_ZdlPv W", "memcpy W", "_ZNSs6appendEPKc W"]
    rows += ["_ZNSt6vectorIiSaIiEE9push_backEv W", "_Z4mainv T", "memcpy U"]
    symbols = symbols_of("".join(f"{row} 0 8\n" for row in rows))
    assert set(names_to_keep(symbols, libraries)) == {"_Z5saxpyfPKfPfm", shared}


def test_the_students_own_names_are_allowed():
    rows = "_Z5saxpyfPKfPfm T 0 8\ncount B 0 8\n_ZNSt6vectorIiSaIiEE9push_backEv W 0 8\n_ZL4helpv t 0 8\n"
    assert objections_to_names(rows) == []


@pytest.mark.skipif(not CAN_GRADE, reason="the CPU backend alone preprocesses by itself")
@pytest.mark.parametrize("text", [
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
])  # fmt: skip
def test_ways_around_names_are_refused(text):
    assert _objections("#include <sys/cdefs.h>\n" + text), text


@pytest.mark.skipif(not CAN_GRADE, reason="the CPU backend alone preprocesses by itself")
@pytest.mark.parametrize("text", [
    '#line 1 "/usr/include/math.h"\nasm("");', '# 1 "/usr/include/math.h" 1 3\nasm("");',
    '%:line 1 "/usr/include/math.h"\n', '/* a\n*/ # /* b\n*/ line 1 "/usr/include/math.h"\n',
    '#li\\\nne 1 "/usr/include/math.h"\n', "\v#\f1 \"a.h\"\n",
    '#if __has_include(<a/*b>)\n#endif\n#line 1 "/usr/include/math.h" // */',
])  # fmt: skip
def test_the_word_for_a_line_is_the_compilers_alone(text):
    """Else what follows would not count as the student's."""
    assert _objections(text), text


@pytest.mark.skipif(not CAN_GRADE, reason="the CPU backend alone preprocesses by itself")
@pytest.mark.parametrize("name", ["__FILE__", '"01_saxpy.cu"', '"./01_saxpy.cu"'])
def test_a_file_that_includes_itself_is_read_twice(name):
    text = f'#ifdef AGAIN\nasm("");\n#else\n#define AGAIN\n#include {name}\n#endif\n'
    assert _objections(text), name


@pytest.mark.skipif(not CAN_GRADE, reason="the CPU backend alone preprocesses by itself")
@pytest.mark.parametrize("text", [
    "#define observe_atomic(...)\n#include <cuda/atomic>", "#define if while",
    "#define __builtin_memmove mine", "#def\\\nine\tbegin_atomic", "%:define _Tp int",
])  # fmt: skip
def test_headers_are_not_changed_by_macros(text):
    assert _objections(text), text


@pytest.mark.skipif(not CAN_GRADE, reason="the CPU backend alone preprocesses by itself")
@pytest.mark.parametrize("text", [
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
])  # fmt: skip
def test_words_in_comments_and_texts_are_not(text):
    assert _objections(text) == [], text


@can_grade
def test_ordinary_code_is_compiled():
    start = "  const unsigned threads = 256;\n"
    for before, within in HONEST.values():
        solution = solution_text("01.1")
        assert solution.count(start) == 1
        text = f"{before}\n" + solution.replace(start, f"{start}{within}\n")
        with (
            written("01.1", text) as file,
            tempfile.TemporaryDirectory() as folder,
        ):
            work = pathlib.Path(folder).resolve()
            sandbox = Sandbox(real_sandboxes()[0])
            try:
                compiled_alone(sandbox, BUILDS.cpu, chosen_exercise("01.1"), file, work, SCHEDULED)
            except NotCompiled as problem:
                pytest.fail("\n".join(problem.lines))


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


EXERCISES = [chosen_exercise("01.1"), chosen_exercise("04.2")]
# A letter of each kind, a digit, and all signs that a pattern has; then what patterns have of several.
CHARACTERS = [*"aZ_09 \t\n\r\f\v#/*\\\"'()[]{}<>:;,.=+-%&|?`", "\x01", "\x80"]
PIECES = """extern |static |static saxpy |saxpy(|[[|<:|((|__attribute__((|__attribute__ |#/**/|/**/|/*
#/*\\n|#define /**/|#define a\\n|#line\\n|*/#|int main|__global__ |R"(|u8R"|# 1 "a" 1\\n|# 1 "|"\\\\|'\\\\
\\\\\\n|??/ |??=| undefined reference to `|: error: |:1: error: | [-Wx|extern __shared__ a|extern __shared__ [
In file included from | from | inlined from |In x:|x: In |:1:   required |\\x1b[3|const a |Parameters = {
conversion from |_Z1a|1a|1'|: In instantiation of | at line 1 of a|a.cu(1): error: |_LATE|_LATE_1_2|_1|_12_34
_assignsubmission_|01_saxpy|_attempt_|_attempt_2026-01-01-10-00-00_|_1_assignsubmission_x|01_saxpy.cu
_01_saxpy.cu| (1)|-1"""
PIECES = [each.encode().decode("unicode_escape") for each in PIECES.replace("\n", "|").split("|")]
PATTERNS = [*CHARACTERS, *map("".join, itertools.permutations(CHARACTERS, 2)), *PIECES]
SHORT, LONG, LONGEST = 1_000, 30_000, 1_000_000  # characters
MOST_SECONDS, MOST_BYTES = 1e-6, 40  # of a processor and of memory, for each of them
SLACK = 1e-3  # seconds of each call, such as those of writing a file


def source(text):
    file = pathlib.Path(source.folder, EXERCISES[0].file_name)
    file.write_text(text, encoding="utf-8")
    return file


def inspect(text):
    objections_to_source(source(text), b'# 1 "01_saxpy.cu"\n' + text.encode("latin-1"))


def explain(text):
    explained_lines(source(text), ["x: undefined reference to `saxpy(float)'"], ())
    explained_lines(source(text), ["x: undefined reference to `x'", text.replace("\n", " ")], ())


def explain_message(text):
    line = text.replace("\n", " ")
    lines = [f"01_saxpy.cu:1:2: error: {line}", line, f"{line}a.cuh:1:2: error: {line}"]
    explained_lines(source(""), readable([*text.splitlines(), *lines]), ())
    kernel = 'a.cuh(1): error: from a __global__ function("k") '
    as_gcc_puts_it([kernel + line, f"ptxas error : {line}"], source(""), text.splitlines())


def read_names(text):
    name = text.replace("\n", " ").replace("/", " ")
    for each in (f"x{name}", f"x{name}_01_saxpy.cu", f"{name}.cu"):
        label_of_file(each)
        label_of_folder(each)
        exercise_of(each, EXERCISES)


# With how often each goes through the text.
SCANNERS = {
    "what is refused": (inspect, 1),
    "a main()": (lambda text: objections_before_compiling(EXERCISES[0], source(text)), 1),
    "what the linker misses": (explain, 2),
    "messages": (explain_message, 4),
    "arrays that a race is in": (extern_arrays, 1),
    "names of files": (read_names, 3),
}


def seconds_of(scan, piece, size):
    """How long it takes for a text of this piece, again and again; the least of some runs if that is long,
    since others may use the processor."""
    text = (piece * (size // len(piece) + 1))[:size]
    least = float("inf")
    for _ in range(4):
        start = time.process_time()
        scan(text)
        least = min(least, time.process_time() - start)
        if least < size * MOST_SECONDS / 2:
            break
    return least


@pytest.mark.parametrize("name", SCANNERS)
def test_time_and_memory_grow_with_the_text_and_no_faster(name, tmp_path):
    source.folder, (scan, passes) = tmp_path, SCANNERS[name]
    scan("")  # tables that are made once
    times = {}
    for size, pieces in ((SHORT, PATTERNS), (LONG, PIECES)):
        for piece in pieces:
            times[piece] = seconds_of(scan, piece, size) / passes
            assert times[piece] < size * MOST_SECONDS + SLACK, (piece, size)
        times = {piece: seconds / size for piece, seconds in times.items()}
    worst = sorted(times, key=times.get)[-3:]
    for piece in {*worst, "[", "extern ", "\n"}:
        assert seconds_of(scan, piece, LONGEST) < passes * LONGEST * MOST_SECONDS, piece
    for piece in {*worst, "[", "(", ";"}:
        text = (piece * LONG)[:LONG]
        tracemalloc.start()
        scan(text)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert most < LONG * MOST_BYTES + (1 << 20), piece

# SPDX-License-Identifier: MIT
"""Runs other people's kind of programs by `lab run` and `lab racecheck`, or has them refused."""

import pathlib
import re
import subprocess

import pytest

from engine.command.build_folder import introspection, settings_of
from lab_runs import HAS_RACECHECK, lab, needs_cpu_backend, needs_racecheck
from this_build import BUILD, ROOT

PROGRAMS = ROOT / "engine/cpu_backend/tests/programs"
NO_DEVICE = 77

# What each program prints.
OUTPUT = {
    "argument_copies": (
        "32 copies 1 destroyed 1\n64 copies 2 destroyed 2\n"
        "96 copies 3 destroyed 3\n128 copies 3 destroyed 4\n"
    ),
    "breadth_first_search": "0 1 1 2 2 3 4\n1\n",
    "classes_and_templates": "ok\n64\n2.5\n2\n1\n",
    "complex_numbers": "-5 10 0.44 -2 5 -1 -2 2.23607\n",
    "cooperative_launch": "no error\n1000 2000 8 44\n",
    "device_language": "hello from 0, str 1.500000 2.00e+00\n14 14\n28\n280\n15\n4 2\n80\n",
    "memory_and_streams": "2 2\n20\n10\n1\n0\n",
    "parts_of_groups": (
        "block 2016\ntile 120\ntile 376\ntile 632\ntile 888\nodd 16 39 1 2\n"
        "lab 11 1 0 3\nP 19.5 39 39\nscan 18 20\ncudaSuccess\n63 0\n"
        "cudaSuccess 1010101\n"
    ),
    "sample_style": "CUDA device of warps of 32\n1\n25 1\n",
    "shared_memory_by_type": "2016\n63\n",
    "two_sides": "9\ndevice\n14 106 50\n21 5 -4\nhost\n1\n",
    "variables_by_name": "43.5 82.5 64 6\n3 16\n33\n",
    "vector_operators": "4 0.801784 2 ffff4000 12\n2\n",
    "volatile_flags": "cudaSuccess\ncudaSuccess\ncudaSuccess\n7 3 9 8\n",
    "warp_reductions": "10000\naaaaaaaa 2 ff ffffffff 1f0 1f 1 4 1 0 0 21 \n128\n128 256 63 128\n",
}

HEADERS_THAT_ARE_NOT_HERE = {
    "thrust/device_vector.h": "Thrust (thrust/device_vector.h)",
    "cub/cub.cuh": "CUB (cub/cub.cuh)",
    "cublas_v2.h": "cuBLAS (cublas_v2.h)",
    "curand_kernel.h": "cuRAND for kernels (curand_kernel.h)",
    "cufft.h": "cuFFT (cufft.h)",
    "cuda/pipeline": "cuda::pipeline (cuda/pipeline)",
    "mma.h": "matrix multiplication by warps (WMMA) (mma.h)",
    "helper_cuda.h": "helper_cuda.h belongs to NVIDIA's CUDA samples",
}


def write(tmp_path, name, text):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(text, encoding="utf-8")


def lab_here(tmp_path, *words, **options):
    result = lab(*words, "--build", str(BUILD), folder=tmp_path, **options)
    if result.returncode == NO_DEVICE:
        pytest.skip("there is no device to run on")
    return result


@pytest.mark.parametrize("name", OUTPUT)
def test_programs_as_people_have_them(tmp_path, name):
    assert set(OUTPUT) == {path.stem for path in PROGRAMS.glob("*.cu")}
    output = OUTPUT[name]
    result = lab_here(tmp_path, "run", str(PROGRAMS / f"{name}.cu"))
    # Warps print in any order.
    printed = sorted(result.stdout.splitlines())
    assert printed == sorted(output.splitlines()), result.stderr
    assert result.returncode == 0, result.stderr


@needs_cpu_backend
def test_a_lerp_of_their_own(tmp_path):
    write(
        tmp_path,
        "a.cu",
        "#include <cmath>\n#include <cstdio>\nusing namespace std;\n"
        "__host__ __device__ float lerp(float a, float b, float t) { return a + t * (b - a); }\n"
        "__global__ void k(float* out) { *out = lerp(0.f, 10.f, 0.5f); }\n"
        "int main() {\n  float* out;\n  cudaMallocManaged(&out, 4);\n  k<<<1, 1>>>(out);\n"
        '  cudaDeviceSynchronize();\n  printf("%g\\n", *out);\n}\n',
    )
    result = lab_here(tmp_path, "run", "a.cu")
    assert result.stdout == "5\n", result.stderr


def test_several_files_with_macros_and_headers(tmp_path):
    write(tmp_path, "sub/plain.h", "int plain(int);\n")
    write(
        tmp_path,
        "a.cu",
        '#include <cstdio>\n#include "plain.h"\n'
        "__device__ int counter;\nstatic __device__ int change(int x) { return x * x + N; }\n"
        "void other(int*);\n"
        "__global__ void first(int* out) { counter = 5; out[0] = change(3) + counter; }\n"
        "int main() {\n  int* out;\n  cudaMallocManaged(&out, 8);\n"
        "  first<<<1, 1>>>(out);\n  other(out);\n  cudaDeviceSynchronize();\n"
        '  std::printf("%d %d %d\\n", out[0], out[1], plain(3));\n}\n',
    )
    write(
        tmp_path,
        "b.cu",
        "__device__ int counter;\nstatic __device__ int change(int x) { return -x; }\n"
        "__global__ void second(int* out) { counter += 1; out[1] = change(3) + counter; }\n"
        "void other(int* out) { second<<<1, 1>>>(out); }\n",
    )
    write(tmp_path, "c.cpp", '#include "plain.h"\nint plain(int x) { return x + EXTRA; }\n')
    words = ("a.cu", "-DN=100", "b.cu", "c.cpp", "--include", "sub", "-D", "EXTRA=1")
    result = lab_here(tmp_path, "run", *words)
    assert result.stdout == "114 -2 4\n", result.stderr
    write(tmp_path, "b.cu", "void other(int* out) { out[1] = 0; }\n")
    result = lab_here(tmp_path, "run", *words)
    assert result.stdout == "114 0 4\n", result.stderr


@pytest.mark.parametrize(
    "first, second", (("cmath", "cuda_runtime.h"), ("cuda_runtime.h", "cmath"))
)
def test_sources_of_the_host(tmp_path, first, second):
    """A .c file is C, and a .cpp file may have included <cmath> before the runtime's header."""
    write(
        tmp_path,
        "a.cu",
        '#include <cstdio>\nextern "C" int twice(int);\nfloat middle(float, float);\n'
        "__global__ void k(int* out) { *out = 21; }\n"
        "int main() {\n  int* out;\n  cudaMallocManaged(&out, 4);\n  k<<<1, 1>>>(out);\n"
        '  cudaDeviceSynchronize();\n  std::printf("%d %g\\n", twice(*out), middle(1, 2));\n}\n',
    )
    write(tmp_path, "b.c", "int twice(int x) { int class = x; return 2 * class; }\n")
    write(
        tmp_path,
        "c.cpp",
        f"#include <{first}>\n#include <{second}>\n"
        "float lerp(float a, float b, float t) { return a + t * (b - a); }\n"
        "float middle(float a, float b) {\n  int devices;\n"
        "  cudaGetDeviceCount(&devices);\n  return lerp(a, b, 0.5f) + std::abs(-1);\n}\n",
    )
    result = lab_here(tmp_path, "run", "a.cu", "b.c", "c.cpp")
    assert result.stdout == "42 2.5\n", result.stderr


@needs_cpu_backend
@pytest.mark.parametrize(
    "name, header, says",
    (
        ("b.cpp", "cublas_v2.h", "b.cpp:2: error: cuBLAS (cublas_v2.h) is not supported"),
        ("b.c", "cuda_runtime.h", "b.c:2: error: cuda_runtime.h is C++ on the CPU backend"),
    ),
    ids=["c++", "c"],
)
def test_a_header_that_a_source_of_the_host_can_not_have(tmp_path, name, header, says):
    write(tmp_path, "a.cu", "int main() {}\n")
    write(tmp_path, "toolkit/cuda_runtime_api.h", "#error a toolkit's header\n")
    write(tmp_path, "toolkit/cublas_v2.h", "#include <cuda_runtime_api.h>\nint cublas;\n")
    write(tmp_path, name, f"\n#include <{header}>\n")
    result = lab_here(tmp_path, "run", "a.cu", name, CPATH=str(tmp_path / "toolkit"))
    assert result.returncode == 1
    assert says in result.stderr
    assert result.stderr.count("error") == 1, result.stderr


def test_options_for_the_compiler_and_the_linker(tmp_path):
    write(
        tmp_path,
        "a.cu",
        "#include <cstdio>\n#include <dlfcn.h>\n__global__ void k(int* out) { *out = VALUE; }\n"
        "int main() {\n  int* out;\n  cudaMallocManaged(&out, 4);\n  k<<<1, 1>>>(out);\n"
        "  cudaDeviceSynchronize();\n"
        '  std::printf("%d %d\\n", *out, dlsym(RTLD_DEFAULT, "main") != nullptr);\n}\n',
    )
    words = ("a.cu", "--compiler-option", "-DVALUE=7")
    result = lab_here(tmp_path, "run", *words)
    assert result.stdout == "7 0\n", result.stderr
    words = (*words, "--compiler-option=-Wl,--export-dynamic")
    result = lab_here(tmp_path, "run", *words)
    assert result.stdout == "7 1\n", result.stderr
    assert "--compiler-option -Wl,--export-dynamic\n" in result.stderr  # of what is next
    write(tmp_path, "openmp.cpp", "int main() {}\n")
    flags = ["-fopenmp", "-pthread"]
    compiler = settings_of(BUILD)["cxx"].split("\n")
    if subprocess.run([*compiler, *flags, "openmp.cpp"], cwd=tmp_path, check=False).returncode:
        pytest.skip("the compiler has no OpenMP here")
    write(
        tmp_path,
        "a.cu",
        "#include <cstdio>\n__global__ void k() {}\nint main() {\n  int count = 0;\n"
        "#pragma omp parallel num_threads(3) reduction(+ : count)\n  ++count;\n"
        '  std::printf("%d\\n", count);\n}\n',
    )
    words = [word for flag in flags for word in ("--compiler-option", flag)]
    assert lab_here(tmp_path, "run", "a.cu", *words).stdout == "3\n"
    if HAS_RACECHECK:
        assert "nothing" in lab_here(tmp_path, "racecheck", "a.cu", "--seeds", "1", *words).stdout


@needs_cpu_backend
def test_device_code_of_another_file(tmp_path):
    write(
        tmp_path,
        "a.cu",
        "#include <cstdio>\nextern __device__ int shared_one;\n__device__ int twice(int);\n"
        "__global__ void k(int* out) { *out = twice(shared_one); }\n"
        "int main() {\n  int* out;\n  cudaMallocManaged(&out, 4);\n  k<<<1, 1>>>(out);\n"
        '  cudaDeviceSynchronize();\n  std::printf("%d\\n", *out);\n}\n',
    )
    write(
        tmp_path,
        "b.cu",
        "__device__ int shared_one = 21;\n__device__ int twice(int x) { return 2 * x; }\n",
    )
    assert lab_here(tmp_path, "run", "a.cu", "b.cu").stdout == "42\n"


def test_standard_input_reaches_the_program(tmp_path):
    write(
        tmp_path,
        "a.cu",
        "#include <cstdio>\n__global__ void k(int* p, int v) { p[threadIdx.x] = v; }\n"
        'int main() {\n  int n;\n  if (std::scanf("%d", &n) != 1) return 1;\n  int* p;\n'
        "  cudaMallocManaged(&p, n * sizeof *p);\n  k<<<1, n>>>(p, 7);\n"
        '  cudaDeviceSynchronize();\n  std::printf("%d\\n", p[n - 1] + n);\n}\n',
    )
    result = lab_here(tmp_path, "run", "a.cu", given="5\n")
    assert result.stdout == "12\n", result.stderr
    if HAS_RACECHECK:
        result = lab_here(tmp_path, "racecheck", "a.cu", "--seeds", "3", given="5\n")
        assert "15 accesses checked in 3 schedules, 0 found" in result.stdout
        assert result.returncode == 0


@needs_racecheck
@pytest.mark.parametrize(
    "command, following",
    (
        ("run a.cu -- 2", "./lab racecheck a.cu -- 2"),
        ("run --weak a.cu -- 2", "./lab racecheck a.cu -- 2"),
        ("racecheck a.cu --seeds 1 -- 1", "./lab run a.cu -- 1"),
        ("racecheck a.cu --seeds 1 -- 2", "./lab racecheck a.cu --seed 0 -- 2"),
    ),
    ids=["run", "weak", "right", "wrong"],
)
def test_the_next_command_keeps_the_programs_options(tmp_path, command, following):
    write(
        tmp_path,
        "a.cu",
        "#include <cstdlib>\n__global__ void k(int* p) { *p = threadIdx.x; }\n"
        "int main(int, char** words) {\n  int* p;\n  cudaMalloc(&p, sizeof *p);\n"
        "  k<<<1, std::atoi(words[1])>>>(p);\n  cudaDeviceSynchronize();\n}\n",
    )
    result = lab_here(tmp_path, *command.split())
    assert f"\nNext: {following}" in f"\n{result.stderr}{result.stdout}"


@needs_racecheck
def test_a_race_in_a_header_is_named_in_that_header(tmp_path):
    # The kernel is the first code of the program, and is not inlined where it is launched.
    write(tmp_path, "include/k.cuh", "__global__ void k(int* p) {\n\n  p[0] += 1;\n}\n")
    write(
        tmp_path,
        "main.cu",
        '#include "k.cuh"\nint main(int count, char**) {\n'
        "  void (*kernel)(int*) = count > 1 ? nullptr : k;\n  int* p;\n  cudaMalloc(&p, 4096);\n"
        "  cudaMemset(p, 0, 4096);\n  kernel<<<2, 64>>>(p);\n"
        "  return cudaDeviceSynchronize();\n}\n",
    )
    result = lab_here(tmp_path, "racecheck", "main.cu", "--include", "include", "--seeds", "2")
    assert result.returncode == 1, result.stderr
    for access in ("written", "read"):
        assert re.search(
            rf"\n  {access} by block \d thread \d+ at include/k\.cuh:3\n {{6}}p\[0\] \+= 1;\n",
            result.stdout,
        )
    assert "main.cu:3" not in result.stdout


def test_without_a_main_there_is_nothing_to_run(tmp_path):
    write(tmp_path, "a.cu", "__global__ void k() {}\n")
    result = lab_here(tmp_path, "run", "a.cu")
    assert result.returncode == 1
    assert "lab: a.cu: there is no main() to run." in result.stderr
    assert "undefined" not in result.stderr


@needs_cpu_backend
def test_a_brace_too_few_is_the_compilers_to_explain(tmp_path):
    write(
        tmp_path,
        "a.cu",
        "__global__ void k() {\n  if (true) {\n}\n\nint main() { k<<<1, 1>>>(); }\n",
    )
    result = lab_here(tmp_path, "run", "a.cu")
    assert result.returncode == 1
    assert "error: " in result.stderr
    assert "__global__" not in result.stderr.replace("__global__ void k() {", "")


@needs_cpu_backend
@pytest.mark.parametrize("header", HEADERS_THAT_ARE_NOT_HERE)
def test_a_header_that_is_not_here_is_one_sentence(tmp_path, header):
    says = HEADERS_THAT_ARE_NOT_HERE[header]
    write(tmp_path, "a.cu", f"#include <cstdio>\n\n#include <{header}>\nint main() {{}}\n")
    result = lab_here(tmp_path, "run", "a.cu")
    assert result.returncode == 1
    lines = [line for line in result.stderr.splitlines() if "error" in line]
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("a.cu:3: error: "), lines[0]
    assert says in lines[0]


@needs_cpu_backend
def test_a_toolkit_elsewhere_is_not_picked_up(tmp_path):
    write(tmp_path, "toolkit/cuda_runtime_api.h", "#error a toolkit's header\n")
    write(tmp_path, "toolkit/cublas_v2.h", "#include <cuda_runtime_api.h>\nint cublas;\n")
    write(tmp_path, "a.cu", '#include "cublas_v2.h"\nint main() {}\n')
    result = lab_here(tmp_path, "run", "a.cu", CPATH=str(tmp_path / "toolkit"))
    assert "a.cu:1: error: cuBLAS (cublas_v2.h) is not supported" in result.stderr


@needs_cpu_backend
def test_one_sentence_for_each_feature(tmp_path):
    write(
        tmp_path,
        "a.cu",
        "__global__ void k() {}\nint main() {\n  cudaGraph_t graph;\n"
        "  cudaGraphCreate(&graph, 0);\n  cudaGraphDestroy(graph);\n}\n",
    )
    result = lab_here(tmp_path, "run", "a.cu")
    assert result.stderr.count(": error: ") == 1, result.stderr
    assert "a.cu:3: error: CUDA graphs (cudaGraph_t)" in result.stderr


@pytest.mark.parametrize(
    "words, says",
    (
        (("run", "a.cu", "a.cu"), "a.cu is twice on the command line: name it once."),
        (("run", "a.cu", "link.cu"), "link.cu is the same file as a.cu: name it once."),
        (("run", "a.cu", "--compiler-option", "O2"), "O2: an option begins with -."),
        (("run", "a.cu", "--compiler-option", "-c"), "-c: lab chooses that itself."),
        (("run", "01", "--compiler-option=-O0"), "--compiler-option goes with a .cu file"),
        (("run", "a.cu", "b.cu"), "there is no file b.cu"),
        (("run", "01", "a.cu"), "a.cu: a file of your own does not go with a chapter"),
        (("run", "01", "-DN=1"), "-D goes with a .cu file of your own"),
        (("racecheck", "a.cu", "-D", "1N"), "-D 1N: a macro's name is expected"),
    ),
    ids=[
        "twice",
        "link",
        "no_option",
        "labs_own_option",
        "option_of_a_chapter",
        "no_file",
        "chapter_and_file",
        "macro_of_a_chapter",
        "no_macro",
    ],
)
def test_wrong_use(tmp_path, words, says):
    write(tmp_path, "a.cu", "int main() {}\n")
    (tmp_path / "link.cu").symlink_to("a.cu")
    result = lab_here(tmp_path, *words)
    assert result.returncode == 2
    assert says in result.stderr


def test_with_gcc_the_header_of_the_runtime_is_compiled_beforehand(tmp_path):
    compilers = introspection(BUILD, "compilers")["host"]
    settings = settings_of(BUILD)
    is_gcc = settings["backend"] == "cpu" and compilers["cpp"]["id"] == "gcc"
    header = settings.get("precompiled_header", "")
    assert (header != "") == is_gcc
    if is_gcc:
        path = tmp_path / "own.cu"
        path.write_text("int main() {}\n", encoding="utf-8")
        result = lab_here(tmp_path, "run", "--verbose", str(path))
        assert result.returncode == 0, result.stderr
        assert f"-fpch-preprocess -include {header}" in result.stderr
        assert pathlib.Path(header + ".gch").is_file()


# 64 blocks update one element, as a structure that a call takes and another that it returns.
BY_VALUE = """
struct best { int value, index; };
struct choice {
  __device__ virtual best of(best a, best b) const { return a.value >= b.value ? a : b; }
};
struct smaller : choice {
  __device__ best of(best a, best b) const override { return a.value <= b.value ? a : b; }
};
__device__ best larger(best a, best b) { return a.value >= b.value ? a : b; }
__device__ best least(best a, best b) { return a.value <= b.value ? a : b; }
[[gnu::noinline]] __device__ best last(best a, best b) { return b.value != 0 ? b : a; }
__global__ void update(const best* all, best* out, int which) {
  smaller one;
  choice other;
  const choice& chosen = which ? other : one;
  best (*const function)(best, best) = which ? larger : least;
  out[0] = CALL(out[0], all[blockIdx.x]);
}
int main() {
  best *all, *out;
  cudaMalloc(&all, 64 * sizeof(best));
  cudaMalloc(&out, sizeof(best));
  cudaMemset(all, 1, 64 * sizeof(best));
  cudaMemset(out, 0, sizeof(best));
  update<<<64, 1>>>(all, out, 1);
  cudaDeviceSynchronize();
  cudaFree(all);
  cudaFree(out);
}
"""
UNSEEN = """
#include <cstring>
__global__ void spell(char* out, int* seen) {
  *seen = 1;
  stpcpy(out, "seven");
}
int main() {
  char* out;
  int* seen;
  cudaMalloc(&out, 64);
  cudaMalloc(&seen, sizeof(int));
  cudaMemset(out, 0, 64);
  spell<<<1, 1>>>(out, seen);
  cudaDeviceSynchronize();
  cudaFree(out);
  cudaFree(seen);
}
"""


def checked(folder, text, *words):
    (folder / "a.cu").write_text(text, encoding="utf-8")
    return lab(*words, "--build", str(BUILD), folder=folder)


@needs_racecheck
@pytest.mark.parametrize(
    "call", ["function", "chosen.of", "last"], ids=["by_pointer", "virtual", "noinline"]
)
def test_structures_by_value_are_checked_at_the_line_of_the_call(tmp_path, call):
    text = BY_VALUE.replace("CALL", call)
    result = checked(tmp_path, text, "racecheck", "a.cu", "--seeds", "2")
    assert result.returncode == 1, result.stdout + result.stderr
    line = 1 + text[: text.index("  out[0] =")].count("\n")
    for does in ("written", "read"):
        assert f"  {does} by block " in result.stdout
    assert result.stdout.count(f" at a.cu:{line}\n") == 2, result.stdout


@needs_racecheck
@pytest.mark.parametrize(
    "words", [("racecheck", "a.cu", "--seeds", "2"), ("prove", "a.cu")], ids=["racecheck", "prove"]
)
def test_a_store_that_nobody_sees_is_named_with_its_launch(tmp_path, words):
    result = checked(tmp_path, UNSEEN, *words)
    said = " ".join((result.stdout + result.stderr).split())
    assert result.returncode == 1, said
    assert "a.cu:13: not all is checked: spell has changed 5 bytes of global memory" in said

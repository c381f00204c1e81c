# SPDX-License-Identifier: MIT
"""Runs other people's kind of programs by `lab run` and `lab racecheck`, or has them refused."""

import json
import pathlib
import subprocess
import unittest

import pytest

from engine.command.build_folder import introspection, settings_of
from lab_runs import lab
from test_setup import temporary_folder
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


class OwnFilesTest(unittest.TestCase):
    def setUp(self):
        self.folder = temporary_folder(self)

    def write(self, name, text):
        (self.folder / name).parent.mkdir(exist_ok=True)
        (self.folder / name).write_text(text, encoding="utf-8")

    def lab(self, *words, **options):
        result = lab(*words, "--build", str(BUILD), folder=self.folder, **options)
        if result.returncode == NO_DEVICE:
            self.skipTest("there is no device to run on")
        return result

    def on_cpu(self):
        settings = json.loads((BUILD / "single_file.json").read_text(encoding="utf-8"))
        if settings["backend"] != "cpu":
            self.skipTest("this is about the cpu backend")

    def with_racecheck(self):
        settings = json.loads((BUILD / "single_file.json").read_text(encoding="utf-8"))
        if not settings.get("scheduled_libraries"):
            self.skipTest("this build has no race checker")

    def test_programs_as_people_have_them(self):
        self.assertEqual(set(OUTPUT), {path.stem for path in PROGRAMS.glob("*.cu")})
        for name, output in OUTPUT.items():
            with self.subTest(name):
                result = self.lab("run", str(PROGRAMS / f"{name}.cu"))
                # Warps print in any order.
                printed = sorted(result.stdout.splitlines())
                self.assertEqual(printed, sorted(output.splitlines()), result.stderr)
                self.assertEqual(result.returncode, 0, result.stderr)

    def test_a_lerp_of_their_own(self):
        self.on_cpu()
        self.write(
            "a.cu",
            "#include <cmath>\n#include <cstdio>\nusing namespace std;\n"
            "__host__ __device__ float lerp(float a, float b, float t) { return a + t * (b - a); }\n"
            "__global__ void k(float* out) { *out = lerp(0.f, 10.f, 0.5f); }\n"
            "int main() {\n  float* out;\n  cudaMallocManaged(&out, 4);\n  k<<<1, 1>>>(out);\n"
            '  cudaDeviceSynchronize();\n  printf("%g\\n", *out);\n}\n',
        )
        result = self.lab("run", "a.cu")
        self.assertEqual(result.stdout, "5\n", result.stderr)

    def test_several_files_with_macros_and_headers(self):
        self.write("sub/plain.h", "int plain(int);\n")
        self.write(
            "a.cu",
            '#include <cstdio>\n#include "plain.h"\n'
            "__device__ int counter;\nstatic __device__ int change(int x) { return x * x + N; }\n"
            "void other(int*);\n"
            "__global__ void first(int* out) { counter = 5; out[0] = change(3) + counter; }\n"
            "int main() {\n  int* out;\n  cudaMallocManaged(&out, 8);\n"
            "  first<<<1, 1>>>(out);\n  other(out);\n  cudaDeviceSynchronize();\n"
            '  std::printf("%d %d %d\\n", out[0], out[1], plain(3));\n}\n',
        )
        self.write(
            "b.cu",
            "__device__ int counter;\nstatic __device__ int change(int x) { return -x; }\n"
            "__global__ void second(int* out) { counter += 1; out[1] = change(3) + counter; }\n"
            "void other(int* out) { second<<<1, 1>>>(out); }\n",
        )
        self.write("c.cpp", '#include "plain.h"\nint plain(int x) { return x + EXTRA; }\n')
        words = ("a.cu", "-DN=100", "b.cu", "c.cpp", "--include", "sub", "-D", "EXTRA=1")
        result = self.lab("run", *words)
        self.assertEqual(result.stdout, "114 -2 4\n", result.stderr)
        self.write("b.cu", "void other(int* out) { out[1] = 0; }\n")
        result = self.lab("run", *words)
        self.assertEqual(result.stdout, "114 0 4\n", result.stderr)

    def test_sources_of_the_host(self):
        """A .c file is C, and a .cpp file may have included <cmath> before the runtime's header."""
        self.write(
            "a.cu",
            '#include <cstdio>\nextern "C" int twice(int);\nfloat middle(float, float);\n'
            "__global__ void k(int* out) { *out = 21; }\n"
            "int main() {\n  int* out;\n  cudaMallocManaged(&out, 4);\n  k<<<1, 1>>>(out);\n"
            '  cudaDeviceSynchronize();\n  std::printf("%d %g\\n", twice(*out), middle(1, 2));\n}\n',
        )
        self.write("b.c", "int twice(int x) { int class = x; return 2 * class; }\n")
        for first, second in (("cmath", "cuda_runtime.h"), ("cuda_runtime.h", "cmath")):
            with self.subTest(first):
                self.write(
                    "c.cpp",
                    f"#include <{first}>\n#include <{second}>\n"
                    "float lerp(float a, float b, float t) { return a + t * (b - a); }\n"
                    "float middle(float a, float b) {\n  int devices;\n"
                    "  cudaGetDeviceCount(&devices);\n  return lerp(a, b, 0.5f) + std::abs(-1);\n}\n",
                )
                result = self.lab("run", "a.cu", "b.c", "c.cpp")
                self.assertEqual(result.stdout, "42 2.5\n", result.stderr)

    def test_a_header_that_a_source_of_the_host_can_not_have(self):
        self.on_cpu()
        self.write("a.cu", "int main() {}\n")
        self.write("toolkit/cuda_runtime_api.h", "#error a toolkit's header\n")
        self.write("toolkit/cublas_v2.h", "#include <cuda_runtime_api.h>\nint cublas;\n")
        for name, header, says in (
            ("b.cpp", "cublas_v2.h", "b.cpp:2: error: cuBLAS (cublas_v2.h) is not supported"),
            ("b.c", "cuda_runtime.h", "b.c:2: error: cuda_runtime.h is C++ on the CPU backend"),
        ):
            with self.subTest(name):
                self.write(name, f"\n#include <{header}>\n")
                result = self.lab("run", "a.cu", name, CPATH=str(self.folder / "toolkit"))
                self.assertEqual(result.returncode, 1)
                self.assertIn(says, result.stderr)
                self.assertEqual(result.stderr.count("error"), 1, result.stderr)

    def test_options_for_the_compiler_and_the_linker(self):
        self.write(
            "a.cu",
            "#include <cstdio>\n#include <dlfcn.h>\n__global__ void k(int* out) { *out = VALUE; }\n"
            "int main() {\n  int* out;\n  cudaMallocManaged(&out, 4);\n  k<<<1, 1>>>(out);\n"
            "  cudaDeviceSynchronize();\n"
            '  std::printf("%d %d\\n", *out, dlsym(RTLD_DEFAULT, "main") != nullptr);\n}\n',
        )
        words = ("a.cu", "--compiler-option", "-DVALUE=7")
        result = self.lab("run", *words)
        self.assertEqual(result.stdout, "7 0\n", result.stderr)
        words = (*words, "--compiler-option=-Wl,--export-dynamic")
        result = self.lab("run", *words)
        self.assertEqual(result.stdout, "7 1\n", result.stderr)
        self.assertIn("--compiler-option -Wl,--export-dynamic\n", result.stderr)  # of what is next
        self.write("openmp.cpp", "int main() {}\n")
        flags = ["-fopenmp", "-pthread"]
        compiler = settings_of(BUILD)["cxx"].split("\n")
        if subprocess.run(
            [*compiler, *flags, "openmp.cpp"], cwd=self.folder, check=False
        ).returncode:
            self.skipTest("the compiler has no OpenMP here")
        self.write(
            "a.cu",
            "#include <cstdio>\n__global__ void k() {}\nint main() {\n  int count = 0;\n"
            "#pragma omp parallel num_threads(3) reduction(+ : count)\n  ++count;\n"
            '  std::printf("%d\\n", count);\n}\n',
        )
        words = [word for flag in flags for word in ("--compiler-option", flag)]
        self.assertEqual(self.lab("run", "a.cu", *words).stdout, "3\n")
        self.with_racecheck()
        self.assertIn("nothing", self.lab("racecheck", "a.cu", "--seeds", "1", *words).stdout)

    def test_device_code_of_another_file(self):
        self.on_cpu()
        self.write(
            "a.cu",
            "#include <cstdio>\nextern __device__ int shared_one;\n__device__ int twice(int);\n"
            "__global__ void k(int* out) { *out = twice(shared_one); }\n"
            "int main() {\n  int* out;\n  cudaMallocManaged(&out, 4);\n  k<<<1, 1>>>(out);\n"
            '  cudaDeviceSynchronize();\n  std::printf("%d\\n", *out);\n}\n',
        )
        self.write(
            "b.cu",
            "__device__ int shared_one = 21;\n__device__ int twice(int x) { return 2 * x; }\n",
        )
        self.assertEqual(self.lab("run", "a.cu", "b.cu").stdout, "42\n")

    def test_standard_input_reaches_the_program(self):
        self.write(
            "a.cu",
            "#include <cstdio>\n__global__ void k(int* p, int v) { p[threadIdx.x] = v; }\n"
            'int main() {\n  int n;\n  if (std::scanf("%d", &n) != 1) return 1;\n  int* p;\n'
            "  cudaMallocManaged(&p, n * sizeof *p);\n  k<<<1, n>>>(p, 7);\n"
            '  cudaDeviceSynchronize();\n  std::printf("%d\\n", p[n - 1] + n);\n}\n',
        )
        result = self.lab("run", "a.cu", given="5\n")
        self.assertEqual(result.stdout, "12\n", result.stderr)
        self.with_racecheck()
        result = self.lab("racecheck", "a.cu", "--seeds", "3", given="5\n")
        self.assertIn("15 accesses checked in 3 schedules, 0 found", result.stdout)
        self.assertEqual(result.returncode, 0)

    def test_the_next_command_keeps_the_programs_options(self):
        self.with_racecheck()
        self.write(
            "a.cu",
            "#include <cstdlib>\n__global__ void k(int* p) { *p = threadIdx.x; }\n"
            "int main(int, char** words) {\n  int* p;\n  cudaMalloc(&p, sizeof *p);\n"
            "  k<<<1, std::atoi(words[1])>>>(p);\n  cudaDeviceSynchronize();\n}\n",
        )
        for command, following in (
            ("run a.cu -- 2", "./lab racecheck a.cu -- 2"),
            ("run --weak a.cu -- 2", "./lab racecheck a.cu -- 2"),
            ("racecheck a.cu --seeds 1 -- 1", "./lab run a.cu -- 1"),
            ("racecheck a.cu --seeds 1 -- 2", "./lab racecheck a.cu --seed 0 -- 2"),
        ):
            with self.subTest(command):
                result = self.lab(*command.split())
                self.assertIn(f"\nNext: {following}", f"\n{result.stderr}{result.stdout}")

    def test_a_race_in_a_header_is_named_in_that_header(self):
        self.with_racecheck()
        # The kernel is the first code of the program, and is not inlined where it is launched.
        self.write("include/k.cuh", "__global__ void k(int* p) {\n\n  p[0] += 1;\n}\n")
        self.write(
            "main.cu",
            '#include "k.cuh"\nint main(int count, char**) {\n'
            "  void (*kernel)(int*) = count > 1 ? nullptr : k;\n  int* p;\n  cudaMalloc(&p, 4096);\n"
            "  cudaMemset(p, 0, 4096);\n  kernel<<<2, 64>>>(p);\n"
            "  return cudaDeviceSynchronize();\n}\n",
        )
        result = self.lab("racecheck", "main.cu", "--include", "include", "--seeds", "2")
        self.assertEqual(result.returncode, 1, result.stderr)
        for access in ("written", "read"):
            self.assertRegex(
                result.stdout,
                rf"\n  {access} by block \d thread \d+ at include/k\.cuh:3\n {{6}}p\[0\] \+= 1;\n",
            )
        self.assertNotIn("main.cu:3", result.stdout)

    def test_without_a_main_there_is_nothing_to_run(self):
        self.write("a.cu", "__global__ void k() {}\n")
        result = self.lab("run", "a.cu")
        self.assertEqual(result.returncode, 1)
        self.assertIn("lab: a.cu: there is no main() to run.", result.stderr)
        self.assertNotIn("undefined", result.stderr)

    def test_a_brace_too_few_is_the_compilers_to_explain(self):
        self.on_cpu()
        self.write(
            "a.cu", "__global__ void k() {\n  if (true) {\n}\n\nint main() { k<<<1, 1>>>(); }\n"
        )
        result = self.lab("run", "a.cu")
        self.assertEqual(result.returncode, 1)
        self.assertIn("error: ", result.stderr)
        self.assertNotIn("__global__", result.stderr.replace("__global__ void k() {", ""))

    def test_a_header_that_is_not_here_is_one_sentence(self):
        self.on_cpu()
        for header, says in HEADERS_THAT_ARE_NOT_HERE.items():
            with self.subTest(header):
                self.write("a.cu", f"#include <cstdio>\n\n#include <{header}>\nint main() {{}}\n")
                result = self.lab("run", "a.cu")
                self.assertEqual(result.returncode, 1)
                lines = [line for line in result.stderr.splitlines() if "error" in line]
                self.assertEqual(len(lines), 1, result.stderr)
                self.assertTrue(lines[0].startswith("a.cu:3: error: "), lines[0])
                self.assertIn(says, lines[0])

    def test_a_toolkit_elsewhere_is_not_picked_up(self):
        self.on_cpu()
        self.write("toolkit/cuda_runtime_api.h", "#error a toolkit's header\n")
        self.write("toolkit/cublas_v2.h", "#include <cuda_runtime_api.h>\nint cublas;\n")
        self.write("a.cu", '#include "cublas_v2.h"\nint main() {}\n')
        result = self.lab("run", "a.cu", CPATH=str(self.folder / "toolkit"))
        self.assertIn("a.cu:1: error: cuBLAS (cublas_v2.h) is not supported", result.stderr)

    def test_one_sentence_for_each_feature(self):
        self.on_cpu()
        self.write(
            "a.cu",
            "__global__ void k() {}\nint main() {\n  cudaGraph_t graph;\n"
            "  cudaGraphCreate(&graph, 0);\n  cudaGraphDestroy(graph);\n}\n",
        )
        result = self.lab("run", "a.cu")
        self.assertEqual(result.stderr.count(": error: "), 1, result.stderr)
        self.assertIn("a.cu:3: error: CUDA graphs (cudaGraph_t)", result.stderr)

    def test_wrong_use(self):
        self.write("a.cu", "int main() {}\n")
        (self.folder / "link.cu").symlink_to("a.cu")
        for words, says in (
            (("run", "a.cu", "a.cu"), "a.cu is twice on the command line: name it once."),
            (("run", "a.cu", "link.cu"), "link.cu is the same file as a.cu: name it once."),
            (("run", "a.cu", "--compiler-option", "O2"), "O2: an option begins with -."),
            (("run", "a.cu", "--compiler-option", "-c"), "-c: lab chooses that itself."),
            (("run", "01", "--compiler-option=-O0"), "--compiler-option goes with a .cu file"),
            (("run", "a.cu", "b.cu"), "there is no file b.cu"),
            (("run", "01", "a.cu"), "a.cu: a file of your own does not go with a chapter"),
            (("run", "01", "-DN=1"), "-D goes with a .cu file of your own"),
            (("racecheck", "a.cu", "-D", "1N"), "-D 1N: a macro's name is expected"),
        ):
            with self.subTest(words):
                result = self.lab(*words)
                self.assertEqual(result.returncode, 2)
                self.assertIn(says, result.stderr)

    def test_with_gcc_the_header_of_the_runtime_is_compiled_beforehand(self):
        compilers = introspection(BUILD, "compilers")["host"]
        settings = settings_of(BUILD)
        is_gcc = settings["backend"] == "cpu" and compilers["cpp"]["id"] == "gcc"
        header = settings.get("precompiled_header", "")
        self.assertEqual(header != "", is_gcc)
        if is_gcc:
            path = self.folder / "own.cu"
            path.write_text("int main() {}\n", encoding="utf-8")
            result = self.lab("run", "--verbose", str(path))
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn(f"-fpch-preprocess -include {header}", result.stderr)
            self.assertTrue(pathlib.Path(header + ".gch").is_file())


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
    if not settings_of(BUILD).get("scheduled_libraries"):
        pytest.skip("this is about the race checker")
    (folder / "a.cu").write_text(text, encoding="utf-8")
    return lab(*words, "--build", str(BUILD), folder=folder)


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


@pytest.mark.parametrize("words", [("racecheck", "a.cu", "--seeds", "2"), ("prove", "a.cu")])
def test_a_store_that_nobody_sees_is_named_with_its_launch(tmp_path, words):
    result = checked(tmp_path, UNSEEN, *words)
    said = " ".join((result.stdout + result.stderr).split())
    assert result.returncode == 1, said
    assert "a.cu:13: not all is checked: spell has changed 5 bytes of global memory" in said

# SPDX-License-Identifier: MIT
"""Drives ./lab as a person would, right and wrong, against the build folder that this test is in."""

import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree

import python_test

BUILD = os.environ["LAB_BUILD_FOLDER"]
ROOT = pathlib.Path(os.environ["LAB_SOURCE_ROOT"])
NO_DEVICE = 77

GOOD = """\
#include <cstdio>
#include <cuda_runtime.h>
#include "answer.h"

__global__ void write_answer(int* place) { *place = ANSWER; }

int main(int argc, char** argv) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess) return 77;
  int* place = nullptr;
  if (cudaMalloc(&place, sizeof(int)) != cudaSuccess) return 1;
  write_answer<<<1, 1>>>(place);
  int answer = 0;
  if (cudaMemcpy(&answer, place, sizeof(int), cudaMemcpyDefault) != cudaSuccess) return 1;
  std::printf("answer %d, options", answer);
  for (int i = 1; i < argc; ++i) std::printf(" [%s]", argv[i]);
  std::printf("\\n");
  return cudaFree(place) == cudaSuccess ? 5 : 1;
}
"""

SLEEPER = """\
#include <chrono>
#include <cstdio>
#include <thread>

int main() {
  std::printf("asleep\\n");
  std::fflush(stdout);
  std::this_thread::sleep_for(std::chrono::minutes(5));
}
"""


def lab(*words, folder=None):
    return subprocess.run(
        [sys.executable, ROOT / "lab", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


class wrong_use(unittest.TestCase):
    def refuses(self, *words, says, starts=""):
        """lab says one sentence that matches `says`, exits with 2 and starts nothing but `starts`."""
        with self.subTest(words=words), tempfile.TemporaryDirectory() as folder:
            result = lab(*words, folder=folder)
            self.assertEqual(result.returncode, 2, result)
            commands = re.findall(r"^\$ (\S+)", result.stdout, re.M)
            self.assertEqual(" ".join(commands), starts, "a command was started")
            self.assertEqual(bool(result.stdout), bool(starts), result.stdout)
            self.assertRegex(result.stderr, r"\Alab: [^\n]+\n\Z")
            self.assertRegex(result.stderr, says)

    def test_unknown_command(self):
        self.refuses("rnu", says="did you mean run")
        self.refuses("xyzzy", says="run, racecheck, test, trace, bench, plot, doctor, setup")

    def test_unknown_chapter(self):
        self.refuses("run", "vectr_add", says="did you mean vector_add")
        self.refuses("run", "07", says="no chapter 07; there are 01_vector_add")

    def test_unknown_option(self):
        self.refuses("run", "01", "--fast", says="no option --fast")
        self.refuses("run", "01", "--threads", "128", says="-- --threads 128")
        self.refuses("test", "--suit", "cli", says="no option --suit")
        self.refuses("doctor", "--backend", "cpu", says="no option --backend")

    def test_second_argument(self):
        self.refuses("run", "01", "02", says="second argument 02")

    def test_option_without_value(self):
        self.refuses("run", "--backend", says="--backend")

    def test_unknown_backend(self):
        self.refuses("run", "--backend", "gpu", says="no backend gpu; there are auto, cpu and cuda")

    def test_missing_file(self):
        self.refuses("run", "nothing.cu", says="no file nothing.cu")

    def test_file_that_is_not_cuda(self):
        self.refuses("run", str(ROOT / "README.md"), says="not a CUDA source")
        self.refuses("run", "kernel.cuh", says="not a CUDA source")

    def test_include(self):
        self.refuses("run", "01", "--include", ".", says="--include goes with a .cu file")
        self.refuses(
            "run",
            str(ROOT / "chapters/01_vector_add/vector_add.cu"),
            "--include",
            "nowhere",
            says="nowhere",
        )

    def test_folder_that_is_no_build_folder(self):
        self.refuses("test", "--build", ".", says="not a build folder")

    def test_build_folder_and_backend(self):
        self.refuses("run", "--build", BUILD, "--backend", "cpu", says="leave --backend out")

    def test_filter_that_matches_nothing(self):
        self.refuses(
            "test",
            "vektor",
            "--build",
            BUILD,
            says="no test has a name that contains 'vektor'",
            starts="ninja",
        )

    def test_unknown_suite(self):
        self.refuses(
            "test",
            "--suite",
            "clj",
            "--build",
            BUILD,
            says="no suite clj; there are .*cli",
            starts="ninja",
        )

    def test_trace(self):
        self.refuses("trace", says="target")
        self.refuses("trace", "all", says="one chapter")
        self.refuses("trace", "05", "--output", "picture.png", says="FILE.svg")
        self.refuses(
            "trace", "05", "--output", "no/such/folder/picture.svg", says="no folder no/such"
        )
        self.refuses("trace", "05", "--size", "8", says="-- --threads 128")
        self.refuses("trace", "01", "--build", BUILD, says="has no --trace", starts="ninja")

    def test_program_options_for_test(self):
        self.refuses("test", "--", "--threads", "1", says="go with run")


class right_use(unittest.TestCase):
    def test_help(self):
        for words in ([], ["--help"], ["help"], ["run", "--help"]):
            with self.subTest(words=words):
                result = lab(*words)
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                self.assertIn("./lab run", result.stdout)

    def test_doctor(self):
        result = lab("doctor")
        self.assertEqual(result.returncode, 0, result)
        for name in ("Meson", "Catch2", "Boost.Context", "CLI11", "nvcc", "What can run"):
            self.assertIn(name, result.stdout)

    def test_reader_that_goes_away(self):
        command = f"{sys.executable} {ROOT.as_posix()!r}/lab doctor | head -1"
        result = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
        self.assertEqual((result.stdout, result.stderr), ("This machine\n", ""))

    def test_chapter_by_each_of_its_names(self):
        for name in ("01", "1", "vector_add", "01_vector_add", "chapters/01_vector_add/"):
            with self.subTest(name=name), tempfile.TemporaryDirectory() as folder:
                result = lab("run", name, "--build", BUILD, "--", "--help", folder=folder)
                self.assertEqual(result.returncode, 0, result)
                self.assertRegex(result.stdout, r"\$ \S*vector_add --help\n")
                self.assertNotIn("dot_product", result.stdout)

    def test_exit_code_of_a_program(self):
        self.assertEqual(lab("run", "all", "--build", BUILD, "--", "--threads", "0").returncode, 2)

    def test_every_program_runs_although_one_fails(self):
        result = lab("run", "--build", BUILD, "--", "--threads", "0")
        self.assertIn("\nvector_add: ", "\n" + result.stderr)
        self.assertIn("\ndot_product: ", result.stderr)


class tracing(unittest.TestCase):
    """./lab trace, where matplotlib is here already: a test installs nothing."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def trace(self, *words):
        return lab("trace", "05", "--build", BUILD, *words, folder=self.folder)

    def test_panel_that_is_no_variant(self):
        result = self.trace("--panels", "fastest")
        self.assertEqual(result.returncode, 2, result)
        self.assertRegex(result.stderr, r"\Awork_queue: --variant must be one of [^\n]+\n\Z")
        self.assertEqual(os.listdir(self.folder), [])

    def test_picture(self):
        course = python_test.load_lab()
        pythons = (sys.executable, str(course.VENV / "bin/python"))
        if all(course.output_of([python, "-c", "import matplotlib"]) is None for python in pythons):
            self.skipTest("matplotlib is not here; ./lab trace 05 installs it")
        options = ["--", "--size", "100", "--tile", "10", "--repeat", "1"]
        result = self.trace("--panels", "grid_stride,queue,one_block_a_tile", *options)
        if result.returncode == NO_DEVICE:
            self.skipTest(result.stderr)
        self.assertEqual(result.returncode, 0, result)
        self.assertEqual(os.listdir(self.folder), ["05_work_queue.svg"])
        picture = (self.folder / "05_work_queue.svg").read_text(encoding="utf-8")
        root = xml.etree.ElementTree.fromstring(picture)
        self.assertEqual(picture.split("\n")[1], "<!-- SPDX-License-Identifier: CC-BY-SA-4.0 -->")
        words = " ".join(text.text for text in root.iter("{http://www.w3.org/2000/svg}text"))
        for variant in ("grid_stride", "queue", "one_block_a_tile"):
            self.assertRegex(words, rf"\b{variant}: [\d.e+-]+ ms, \d+ % busy")
        # At 800 pixels no text is below 12 of them; on light and on dark pages it stands out.
        scale = 800 / float(root.get("width").removesuffix("pt"))
        sizes = [float(size) for size in re.findall(r"font(?:-size)?: ([\d.]+)px", picture)]
        self.assertTrue(sizes)
        self.assertGreaterEqual(min(sizes) * scale, 12)
        inks = set(re.findall(r"<text [^>]*fill: (#\w{6})", picture))
        self.assertTrue(inks)
        for ink in inks:
            for page in ("#ffffff", "#0d1117"):
                self.assertGreaterEqual(contrast(ink, page), 4)


def contrast(one, other):
    """The contrast ratio of two colours, by the Web Content Accessibility Guidelines 2.1."""

    def luminance(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [
            part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
        ]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


class single_file(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="a folder ")
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        (self.folder / "headers").mkdir()

    def write(self, name, text):
        (self.folder / name).write_text(text, encoding="utf-8")

    def run_file(self, *words):
        return lab(
            "run", "own.cu", "--include", "headers", "--build", BUILD, *words, folder=self.folder
        )

    def needs_device(self, result):
        if result.returncode == NO_DEVICE:
            self.skipTest("there is no device to run on")

    def compilations(self, result):
        """How often a program was made; the cpu backend links in a step of its own, without -c."""
        return len(re.findall(r"^\$ (?!.* -c ).* -o ", result.stdout, re.M))

    def test_program_options_and_exit_code(self):
        self.write("headers/answer.h", "#define ANSWER 42\n")
        self.write("own.cu", GOOD)
        result = self.run_file("--", "--fast", "two words")
        self.needs_device(result)
        self.assertIn("answer 42, options [--fast] [two words]\n", result.stdout)
        self.assertEqual(result.returncode, 5)

    def test_compiles_again_only_after_a_change(self):
        self.write("headers/answer.h", "#define ANSWER 42\n")
        self.write("own.cu", GOOD)
        self.assertEqual(self.compilations(self.run_file()), 1)
        os.utime(self.folder / "own.cu")
        self.assertEqual(self.compilations(self.run_file()), 0)
        self.write("headers/answer.h", "#define ANSWER 43\n")
        result = self.run_file()
        self.assertEqual(self.compilations(result), 1)
        self.needs_device(result)
        self.assertIn("answer 43", result.stdout)

    def test_compiler_error_names_the_students_line(self):
        self.write("headers/answer.h", "#define ANSWER unknown_name\n")
        self.write("own.cu", GOOD)
        result = self.run_file()
        self.assertEqual(result.returncode, 1)
        self.assertRegex(
            result.stderr, r"own\.cu(:5:|\(5\): error)|headers/answer\.h(:1:|\(1\): error)"
        )
        self.assertRegex(result.stderr, r"\nlab: own\.cu did not compile; [^\n]+\n\Z")

    def test_failed_compilation_is_not_remembered(self):
        self.write("headers/answer.h", "#define ANSWER 42\n")
        self.write("own.cu", GOOD)
        self.run_file()
        self.write("own.cu", GOOD.replace("ANSWER", "unknown_name"))
        self.assertEqual(self.run_file().returncode, 1)
        self.assertEqual(self.run_file().returncode, 1)

    def test_a_chapters_own_program(self):
        # The second one writes pictures, and so needs what lab itself is linked with.
        for source in ("01_vector_add/vector_add.cu", "05_work_queue/work_queue.cu"):
            with self.subTest(source=source):
                path = str(ROOT / "chapters" / source)
                result = lab("run", path, "--build", BUILD, "--", "--help", folder=self.folder)
                self.assertEqual(result.returncode, 0, result)

    def test_crash_is_named(self):
        self.write("own.cu", "#include <csignal>\nint main() { return std::raise(SIGKILL); }\n")
        result = self.run_file()
        self.assertEqual(result.returncode, 128 + signal.SIGKILL)
        self.assertIn("lab: own was ended by SIGKILL.\n", result.stderr)

    def test_interrupt(self):
        self.write("own.cu", SLEEPER)
        command = [sys.executable, ROOT / "lab", "run", "own.cu", "--build", BUILD]
        with subprocess.Popen(
            command,
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as process:
            while "asleep" not in process.stdout.readline():
                self.assertIsNone(process.poll())
            time.sleep(0.2)
            os.killpg(process.pid, signal.SIGINT)  # as a terminal does at Ctrl-C
            _, problems = process.communicate(timeout=60)
        self.assertEqual((process.returncode, problems), (130, ""))


if __name__ == "__main__":
    python_test.main()

# SPDX-License-Identifier: MIT
"""Each piece of docs/use compiles and runs in a folder that has only the files that its page names: with
this build's compiler, with nvcc, and with NVRTC, which has no standard library but CUDA's. LAB_TOOLKIT names
a folder of CUDA's packages of PyPI, whose compilers are taken then (.ci/other_toolkits)."""

import ctypes
import os
import pathlib
import re
import shlex
import shutil
import sys
from typing import NamedTuple

import pytest

from engine.command.build_folder import lines_of
from engine.command.recipe import translate_step
from lab_runs import SETTINGS, needs_cpu_backend, needs_racecheck
from lab_tool.builds.backends import put_nvcc_on_path
from test_setup import printed
from this_build import BUILD, ROOT

put_nvcc_on_path()

PIECES = ["block_reduce", "grid_barrier", "last_block", "look_back", "work_queue"]


def toolkit_folders():
    """The folders with the compilers and their headers; none without."""
    if "LAB_TOOLKIT" in os.environ:
        return sorted(pathlib.Path(os.environ["LAB_TOOLKIT"], "nvidia").glob("*/"))
    nvcc = shutil.which("nvcc")
    return [pathlib.Path(nvcc).resolve().parents[1]] if nvcc else []


FOLDERS = toolkit_folders()


def of_toolkit(pattern):
    return next((path for folder in FOLDERS for path in folder.glob(pattern)), None)


NVCC = of_toolkit("bin/nvcc")
NVRTC = of_toolkit("lib64/libnvrtc.so") or of_toolkit("lib/libnvrtc.so.*")
NVRTC = NVRTC and ctypes.CDLL(NVRTC)
assert NVCC or NVRTC or "LAB_TOOLKIT" not in os.environ
needs_nvcc = pytest.mark.skipif(not NVCC, reason="nvcc is not here")


class Page(NamedTuple):
    """A page of docs/use: which files it says to copy, its example, and the C++ and CUDA that they need."""

    name: str
    headers: list
    example: object
    standard: str
    cuda: tuple


def pages():
    """Every page about a piece; README.md is about all of them."""
    found = []
    for path in sorted((ROOT / "docs/use").glob("*.md")):
        if path.name == "README.md":
            continue
        text = path.read_text(encoding="utf-8")
        to_copy = text.partition("\n## Copy\n")[2].partition("\n## ")[0]
        headers = [
            (path.parent / link).resolve() for link in re.findall(r"\]\(([^)]+\.cuh)\)", to_copy)
        ]
        (standard,) = set(re.findall(r"`-std=(c\+\+\d+)`", text))
        (cuda,) = re.findall(r"^- CUDA (\d+)\.(\d+) or newer", text, re.MULTILINE)
        example = path.with_name(f"{path.stem}_example.cu")
        found.append(Page(path.stem, headers, example, standard, tuple(map(int, cuda))))
    return found


for_each_page = pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)


@pytest.fixture
def folder(page, tmp_path):
    """A folder with the page's files."""
    for path in (*page.headers, page.example):
        shutil.copy(path, tmp_path)
    return tmp_path


def write_sources_of(page, folder):
    """For each header of the page the page's example, after a first line that includes the header.

    So the header stands alone, and is included twice. Returns the files' names.
    """
    names = []
    for header in page.headers:
        name = f"{header.stem}_first.cu"
        text = f'#include "{header.name}"\n' + page.example.read_text(encoding="utf-8")
        (folder / name).write_text(text, encoding="utf-8")
        names.append(name)
    return names


def run(command, folder, **environment):
    """Exit code, and all that was printed."""
    result = printed(command, cwd=folder, env=environment or None, timeout=900)
    return result.returncode, result.stdout


def compile_for_cpu(source, folder):
    """Compiles a .cu as `lab run` does, but warnings are errors and no folder of chapters is known.

    Returns the messages, "" if all is well, and the paths of all that it includes.
    """

    preprocess = lines_of(SETTINGS, "preprocessor_arguments")
    preprocess = [word for word in preprocess if "/chapters" not in word]
    arguments = [*lines_of(SETTINGS, "compiler"), *lines_of(SETTINGS, "compile_arguments")]
    steps = (
        translate_step(SETTINGS, source, "out.cpp", preprocess, ["--depfile", "out.d"]),
        [*arguments, "-Werror", "-c", "out.cpp", "-o", "out.o"],
    )
    for step in steps:
        code, printed = run(step, folder)
        if code != 0 or printed:
            return f"{shlex.join(step)}\n{printed}", []
    return "", (folder / "out.d").read_text(encoding="utf-8").replace("\\\n", " ").split()


def compile_with_nvcc(source, folder, standard):
    """The messages of nvcc, for the oldest architecture that it knows; "" if all is well."""
    architectures = run([NVCC, "--list-gpu-code"], folder)[1]
    oldest = re.findall(r"sm_(\d+)\b", architectures)[0]
    command = [
        NVCC, f"-std={standard}", "-O3", f"-arch=sm_{oldest}", "-Werror=all-warnings",
        "-Xcompiler=-Wall,-Wextra,-Werror", "-c", source, "-o", "out.o",
    ]  # fmt: skip
    code, printed = run(command, folder)
    return f"{shlex.join(command)}\n{printed}" if code != 0 or printed else ""


def test_each_piece_has_a_page():
    assert [page.name for page in pages()] == PIECES


@for_each_page
def test_the_page_names_the_piece(page, folder):
    assert page.name in [header.stem for header in page.headers]


@for_each_page
def test_headers_include_what_the_page_names_and_no_more(page, folder):
    for header in folder.glob("*.cuh"):
        for name in re.findall(r'#include "([^"]+)"', header.read_text(encoding="utf-8")):
            assert (folder / name).is_file(), f"{header.name} includes {name}"


@needs_cpu_backend
@for_each_page
def test_compiles_for_the_cpu(page, folder):
    for source in write_sources_of(page, folder):
        messages, included = compile_for_cpu(source, folder)
        assert messages == ""
        assert included
        ours = [path for path in included if "/chapters/" in path or "/common/lab/" in path]
        assert ours == []


@needs_cpu_backend
@for_each_page
def test_the_example_is_right(page, folder):
    lab = [sys.executable, ROOT / "lab", "run", "--build", BUILD]
    code, printed = run([*lab, page.example.name], folder)
    assert code == 0, printed


@needs_racecheck
@for_each_page
def test_the_example_has_no_race(page, folder):
    lab = [sys.executable, ROOT / "lab", "racecheck", "--build", BUILD, "--seeds", "4"]
    code, printed = run([*lab, page.example.name], folder)
    assert code == 0, printed
    assert re.search(r"\n[0-9,]*[1-9][0-9,]* accesses checked .* 0 found", printed), printed


@for_each_page
def test_the_page_prints_the_kernel_and_its_launch(page, folder):
    source = page.example.read_text(encoding="utf-8")
    kernel = re.search(r"^__global__ .*?^}\n", source, re.MULTILINE | re.DOTALL)[0]
    launch = re.search(r"^(?:void|cudaError_t) launch\(.*?^}\n", source, re.MULTILINE | re.DOTALL)[
        0
    ]
    assert len((kernel + launch).splitlines()) <= 20
    for part in (kernel, launch):
        assert part in _text_of_page(page)


def _text_of_page(page):
    return (ROOT / "docs/use" / f"{page.name}.md").read_text(encoding="utf-8")


@needs_nvcc
@for_each_page
def test_nvcc_compiles_it(page, folder):
    for source in write_sources_of(page, folder):
        assert compile_with_nvcc(source, folder, page.standard) == ""


def nvrtc_version():
    major, minor = ctypes.c_int(), ctypes.c_int()
    NVRTC.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
    return major.value, minor.value


def messages_about(text, options):
    """What NVRTC says about the program; "" if it is well."""
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    NVRTC.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"program.cu", 0, None, None)
    words = (ctypes.c_char_p * len(options))(*(each.encode() for each in options))
    code = NVRTC.nvrtcCompileProgram(program, len(options), words)
    NVRTC.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    NVRTC.nvrtcGetProgramLog(program, log)
    NVRTC.nvrtcDestroyProgram(ctypes.byref(program))
    printed = log.value.decode()
    return printed if code == 0 else printed or f"error {code}"


def options_of_nvrtc(standard, *folders):
    includes = [folder / name for folder in FOLDERS for name in ("include", "include/cccl")]
    return [
        f"-std={standard}",
        "-arch=compute_75",
        *(f"-I{each}" for each in (*folders, *includes)),
    ]


needs_nvrtc = pytest.mark.skipif(not NVRTC, reason="NVRTC is not here")


@needs_nvrtc
@for_each_page
def test_nvrtc_compiles_each_header_alone(page):
    """With the kernel of the page's example, and with and without the assertions."""
    if nvrtc_version() < page.cuda:
        pytest.skip(f"the page asks for CUDA {page.cuda}")
    kernel = page.example.read_text(encoding="utf-8").partition("\ncudaError_t launch(")[0]
    for header in page.headers:
        text = f'#include "{header.name}"\n' + re.sub(r"#include <.*>", "", kernel)
        options = options_of_nvrtc(page.standard, header.parent)
        for more in ([], ["-DCOURSE_ENABLE_ASSERTIONS"]):
            assert messages_about(text, options + more) == ""


def test_the_table_of_all_pieces_says_the_same_of_cuda():
    text = (ROOT / "docs/use/README.md").read_text(encoding="utf-8")
    for page in pages():
        cuda = ".".join(map(str, page.cuda))
        assert re.search(rf"\({page.name}\.md\) .*\| {re.escape(cuda)} \|", text)


@needs_nvrtc
def test_nvrtc_compiles_a_kernel_that_uses_all_of_them():
    if nvrtc_version() < max(page.cuda for page in pages()):
        pytest.skip("a page asks for a newer CUDA")
    folders = {header.parent for page in pages() for header in page.headers}
    standard = max(page.standard for page in pages())
    text = """
#include "block_reduce.cuh"
#include "grid_barrier.cuh"
#include "last_block.cuh"
#include "look_back.cuh"
#include "work_queue.cuh"
struct item {
  int number;
  __device__ static item none() { return {-1}; }
  __device__ bool operator==(item other) const { return number == other.number; }
};
__global__ void kernel(course::work_queue<item> queue, course::look_back<float> tiles,
                       unsigned* counter, float* results, course::grid_barrier_words* words) {
  __shared__ float shared[course::largest_warp_count];
  float largest = course::maximum::identity<float>();
  for (item each = queue.fetch(); !(each == item::none()); each = queue.fetch()) {
    largest = course::maximum{}(largest, static_cast<float>(each.number));
  }
  largest = course::block_reduce_shuffle(largest, course::maximum{}, shared);
  if (threadIdx.x == 0) results[blockIdx.x] = largest;
  const course::tile_ticket mine = tiles.take_tile(gridDim.x);
  if (threadIdx.x == 0) {
    tiles.exclusive_prefix_by_one_thread(mine, largest, course::maximum{}, &largest);
    results[blockIdx.x] = largest;
  }
  course::grid_barrier(words);
  if (course::last_block(counter) && threadIdx.x == 0) results[gridDim.x] = results[0];
}
"""
    assert messages_about(text, options_of_nvrtc(standard, *folders)) == ""


@needs_nvrtc
def test_nvrtc_refuses_a_header_of_the_hosts():
    assert "cstddef" in messages_about("#include <cstddef>\n", options_of_nvrtc("c++17"))

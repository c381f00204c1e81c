# SPDX-License-Identifier: MIT
"""clangd, which editors ask about C++, finds no error in the course's .cu files, nor in one's own."""

import concurrent.futures
import json
import os
import re
import shutil

import pytest

from engine.command.build_folder import BuildFolder
from engine.command.output_files import write_whole
from lab_tool.builds.editor_database import DATABASE, cuda_files, write_database
from test_setup import captured
from this_build import BUILD, ROOT

CLANGD = shutil.which("clangd")
pytestmark = pytest.mark.skipif(CLANGD is None, reason="clangd is not here")

OWN_FILE = """\
#include <cooperative_groups.h>
#include <cuda/atomic>
#include <cstdio>
#include <vector>

template <class T>
__global__ void count(T* counter) {
  __shared__ T first;
  extern __shared__ T rest[];
  auto block = cooperative_groups::this_thread_block();
  if (threadIdx.x == 0) first = blockIdx.x;
  block.sync();
  rest[threadIdx.x] = first;
  cuda::atomic_ref<T, cuda::thread_scope_device>(*counter).fetch_add(1);
  printf("%f", sqrtf(2.0f));
}

int main() {
  int* counter = nullptr;
  if (cudaMalloc(&counter, sizeof *counter) != cudaSuccess) return 1;
  count<<<dim3(2, 1, 1), 32, 32 * sizeof(int)>>>(counter);
  return std::vector<int>{1}[0] - 1;
}
"""


@pytest.fixture(scope="module", autouse=True)
def database():
    """What `./lab setup` writes, for the build folder of this test; afterwards the user's is back."""
    before = DATABASE.read_bytes() if DATABASE.is_file() else None
    yield json.loads(write_database(BuildFolder(BUILD, {})).read_text(encoding="utf-8"))
    if before is None:
        DATABASE.unlink()
    else:
        write_whole(DATABASE, before.decode())


@pytest.fixture
def own_file():
    """A file that is in the checkout, and that the database does not name."""
    path = BUILD / "files" / "clangd_test.cu"
    path.parent.mkdir(exist_ok=True)
    yield path
    path.unlink()


def errors_of(path):
    """The errors that clangd sees in a file, each with its line."""
    # Of one line alone it also tries what an editor offers to do there.
    result = captured([CLANGD, f"--check={path}", "--check-lines=1-1"], cwd=ROOT, timeout=900)
    assert "All checks completed" in result.stderr, result.stderr
    found = re.findall(r"^E\[[\d:.]+\] (\[\w+\] Line .*)", result.stderr, re.M)
    if not found:
        assert result.returncode == 0, result.stderr
    return [f"{path}: {line}" for line in found]


def test_the_database_names_the_real_files(database):
    named = {entry["file"] for entry in database}
    assert {str(path) for path in cuda_files()} <= named
    assert any(name.endswith("/last_block_guard.cu") for name in named)
    assert not any(name.startswith(str(BUILD.resolve())) for name in named)


def test_no_error_in_the_chapters():
    files = [
        path for path in cuda_files() if path.relative_to(ROOT).parts[0] in ("chapters", "docs")
    ]
    assert len(files) > 20
    if os.environ.get("LAB_EVERY_FILE") != "1":
        # The others include what these do: to read Catch2 takes clangd most of its time.
        files = [path for path in files if not path.name.endswith("_test.cu")]
        seen_folders = {path.parent: path for path in files}  # one of each folder
        files = sorted(seen_folders.values())
    with concurrent.futures.ThreadPoolExecutor() as pool:
        assert [line for lines in pool.map(errors_of, files) for line in lines] == []


def test_no_error_in_a_file_of_ones_own(own_file):
    own_file.write_text(OWN_FILE, encoding="utf-8")
    assert errors_of(own_file) == []


def test_a_mistake_is_named_with_its_line(own_file):
    own_file.write_text(OWN_FILE.replace("first = blockIdx.x", "first = blockIdx.w"))
    assert "Line 11: no member named 'w'" in errors_of(own_file)[0]

# SPDX-License-Identifier: MIT
"""NVRTC compiles each header of docs/use: at run time there is no standard library but CUDA's."""

import ctypes
import pathlib
import shutil
import unittest

from own_code import pages


def library():
    """NVRTC of the toolkit whose nvcc is on PATH, and that toolkit's include folders; None without."""
    nvcc = shutil.which("nvcc")
    toolkit = pathlib.Path(nvcc).resolve().parents[1] if nvcc else None
    path = toolkit / "lib64/libnvrtc.so" if nvcc else None
    if not path or not path.exists():
        return None, []
    return ctypes.CDLL(path), [toolkit / "include", toolkit / "include/cccl"]


NVRTC, INCLUDE_FOLDERS = library()


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


@unittest.skipUnless(NVRTC, "NVRTC is not here")
class HeadersWithNvrtc(unittest.TestCase):
    def options(self, standard, *folders):
        return [f"-std={standard}", *(f"-I{each}" for each in (*folders, *INCLUDE_FOLDERS))]

    def test_each_header_compiles_alone(self):
        self.assertTrue(pages())
        for page in pages():
            for header in page.headers:
                with self.subTest(header.name):
                    text = f'#include "{header.name}"\n__global__ void kernel() {{}}\n'
                    options = self.options(page.standard, header.parent)
                    self.assertEqual(messages_about(text, options), "")

    def test_a_kernel_uses_all_of_them(self):
        folders = {header.parent for page in pages() for header in page.headers}
        standard = max(page.standard for page in pages())
        text = """
#include "block_reduce.cuh"
#include "last_block.cuh"
#include "look_back.cuh"
#include "work_queue.cuh"
struct item {
  int number;
  __device__ static item none() { return {-1}; }
  __device__ bool operator==(item other) const { return number == other.number; }
};
__global__ void kernel(course::work_queue<item> queue, course::look_back<float> tiles,
                       unsigned* counter, float* results) {
  __shared__ float shared[course::largest_warp_count];
  float largest = course::maximum::identity<float>();
  for (item each = queue.fetch(); !(each == item::none()); each = queue.fetch()) {
    largest = course::maximum{}(largest, static_cast<float>(each.number));
  }
  largest = course::block_reduce_shuffle(largest, course::maximum{}, shared);
  if (threadIdx.x == 0) results[blockIdx.x] = largest;
  const course::tile_ticket mine = tiles.take_tile(gridDim.x);
  if (threadIdx.x == 0) {
    largest = tiles.exclusive_prefix_by_one_thread(mine, largest, course::maximum{});
    results[blockIdx.x] = largest;
  }
  if (course::last_block(counter) && threadIdx.x == 0) results[gridDim.x] = results[0];
}
"""
        self.assertEqual(messages_about(text, self.options(standard, *folders)), "")

    def test_a_header_of_the_hosts_is_refused(self):
        self.assertIn("cstddef", messages_about("#include <cstddef>\n", self.options("c++20")))

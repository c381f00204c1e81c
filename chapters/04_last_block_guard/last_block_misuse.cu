// SPDX-License-Identifier: MIT
// Breaks one assumption of the last-block guard, by name:
//   last_block_misuse counter_not_zero
// and prints how the launch ended and what it left, one line each. In a process of its own, because
// some of these launches end the use of the device. last_block_misuse_test.py says what must come
// out.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>
#include <vector>

#include "04_last_block_guard/last_block_guard.cuh"
#include "lab/device.hpp"

namespace {

constexpr unsigned blocks = 8;
constexpr unsigned threads = 64;

// Counts the blocks that are told to be the last.
__global__ void count_last_blocks(unsigned* counter, unsigned* last_blocks) {
  if (course::last_block(counter) && course::thread_block::thread_rank() == 0)
    atomicAdd(last_blocks, 1);
}

__global__ void half_of_each_block_calls(unsigned* counter, unsigned* last_blocks) {
  if (threadIdx.x >= blockDim.x / 2) {
    __syncthreads();  // mark: the other half
    return;
  }
  if (course::last_block(counter) && threadIdx.x == 0) atomicAdd(last_blocks, 1);
}

__global__ void half_of_each_block_has_returned(unsigned* counter, unsigned* last_blocks) {
  if (threadIdx.x >= blockDim.x / 2) return;
  if (course::last_block(counter) && threadIdx.x == 0) atomicAdd(last_blocks, 1);
}

// What the guard tells the others is undefined, so nothing is counted.
__global__ void thread_0_has_returned(unsigned* counter, unsigned*) {
  if (threadIdx.x != 0) course::last_block(counter);
}

__global__ void half_of_the_blocks_call(unsigned* counter, unsigned* last_blocks) {
  if (blockIdx.x % 2 == 0) return;
  if (course::last_block(counter) && threadIdx.x == 0) atomicAdd(last_blocks, 1);
}

using kernel = void (*)(unsigned*, unsigned*);

struct misuse {
  const char* name;
  kernel function;
  dim3 grid;
  unsigned counter;  // its value at the launch
  bool null_counter;
};

const misuse misuses[] = {
    {"none", count_last_blocks, blocks, 0, false},
    {"counter_slightly_off", count_last_blocks, blocks, 1, false},
    {"counter_not_zero", count_last_blocks, blocks, blocks, false},
    {"counter_never_set", count_last_blocks, blocks, 0xa5a5a5a5, false},
    {"null_counter", count_last_blocks, blocks, 0, true},
    {"half_of_each_block", half_of_each_block_calls, blocks, 0, false},
    {"half_of_each_block_returned", half_of_each_block_has_returned, blocks, 0, false},
    {"thread_0_returned", thread_0_has_returned, blocks, 0, false},
    {"half_of_the_blocks", half_of_the_blocks_call, blocks, 0, false},
    {"grid_of_2^32_blocks", count_last_blocks, dim3(1U << 17, 1U << 15), 0, false},
};

void print_error(const char* call, cudaError_t error) {
  std::printf("%s: %s\n", call, cudaGetErrorName(error));
}

}  // namespace

int main(int argc, char** argv) {
  const misuse* chosen = nullptr;
  for (const misuse& each : misuses) {
    if (argc == 2 && std::strcmp(argv[1], each.name) == 0) chosen = &each;
  }
  if (!chosen) {
    std::fputs("last_block_misuse takes the name of a misuse\n", stderr);
    return 2;
  }
  if (const auto reason = lab::why_no_device()) {
    std::fprintf(stderr, "%s\n", reason->c_str());
    return 77;
  }
  lab::device_buffer<unsigned> counter(std::vector<unsigned>{chosen->counter});
  lab::device_buffer<unsigned> last_blocks(std::vector<unsigned>{0});
  chosen->function<<<chosen->grid, threads>>>(chosen->null_counter ? nullptr : counter.data(),
                                              last_blocks.data());
  print_error("launch", cudaGetLastError());
  const cudaError_t end = cudaDeviceSynchronize();
  print_error("end", end);
  if (end == cudaSuccess) {
    std::printf("last blocks: %u\ncounter: %u\n", last_blocks.to_host().front(),
                counter.to_host().front());
  }
  return 0;
}

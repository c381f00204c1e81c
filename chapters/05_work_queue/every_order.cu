// SPDX-License-Identifier: MIT
// The lesson's queue in its smallest interesting case, for ./lab prove: 3 items, and 2 blocks of 2
// threads that take them. Each item must be worked on once.
#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

#include "05_work_queue/work_queue.cuh"
#include "05_work_queue/work_queue_memory.cuh"
#include "lab/check.cuh"
#include "lab/device_buffer.cuh"

namespace {

struct place {
  int index;

  __device__ static place none() { return {-1}; }
  friend __device__ bool operator==(place left, place right) { return left.index == right.index; }
};

// times[2 * i + t]: how often thread t of a block has worked on item i.
__global__ void count_items(course::work_queue<place> queue, int* times) {
  for (place item = queue.fetch(); !(item == place::none()); item = queue.fetch()) {
    ++times[2 * item.index + static_cast<int>(threadIdx.x)];
  }
}

}  // namespace

int main() {
  constexpr unsigned blocks = 2, threads = 2;
  course::work_queue_memory<place> items(std::vector<place>{{0}, {1}, {2}});
  lab::device_buffer<int> times(std::vector<int>(6));
  count_items<<<blocks, threads>>>(items.queue(), times.data());
  CUDA_CHECK(cudaGetLastError());
  std::printf("worked on");
  for (const int each : times.to_host()) std::printf(" %d", each);
  std::printf("\n");
}

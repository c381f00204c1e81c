// SPDX-License-Identifier: MIT
// Breaks one contract of a header of docs/use, by name, and prints how the launch ended:
//   header_contracts guard_argument
// In a process of its own, because such a launch may end the use of the device.
// header_contracts_test.py compiles it with and without COURSE_ENABLE_ASSERTIONS.
#include <cstdio>
#include <cstring>

#include "block_reduce.cuh"
#include "grid_barrier.cuh"
#include "last_block.cuh"
#include "look_back.cuh"
#include "work_queue.cuh"

namespace {

constexpr unsigned blocks = 2;
constexpr unsigned threads = 64;

using course::look_back;
using course::plus;
using course::tile_ticket;

struct item {
  unsigned number;
  __device__ static item none() { return {0xffffffff}; }
  __device__ bool operator==(item other) const { return number == other.number; }
};

// All bytes 0 at the launch, but those that a mistake sets.
struct memory {
  course::grid_barrier_words words[2];
  unsigned counters[2];
  course::work_queue_counters queue;
  item items[1];
  alignas(128) unsigned char tiles[look_back<int>::bytes(blocks)];
};

struct nap {
  __device__ void operator()() const { __nanosleep(100); }
};

__global__ void right(memory* m) {
  __shared__ unsigned shared[threads];
  const unsigned sum = course::block_reduce(1U, plus{}, shared);
  if (course::last_block(m->counters) && threadIdx.x == 0) m->counters[1] = sum;
  const item none = course::work_queue<item>(m->items, 1, &m->queue).fetch();
  if (!(none == item::none())) __trap();
  const look_back<int, nap> tiles(m->tiles, blocks);
  const tile_ticket mine = tiles.take_tile(gridDim.x);
  int before = 0;
  if (threadIdx.x < 32) tiles.exclusive_prefix(mine, 1, plus{}, &before);
}

__global__ void meet(memory* m) { course::grid_barrier(m->words); }
__global__ void meet_with_delay(memory* m) { course::grid_barrier(m->words, nap{}); }
__global__ void barrier_argument(memory* m) { course::grid_barrier(m->words + threadIdx.x % 2); }

__global__ void guard_argument(memory* m) { course::last_block(m->counters + threadIdx.x % 2); }
__global__ void guard_expected(memory* m) {
  course::last_arrival(m->counters, 2 + threadIdx.x % 2);
}
__global__ void guard_returned(memory* m) {
  if (threadIdx.x < threads / 2) course::last_block(m->counters);
}

__global__ void queue_argument(memory* m) {
  course::work_queue<item>(m->items, 1, &m->queue).fetch(threadIdx.x % 2);
}

__global__ void reduce_argument(memory*) {
  __shared__ unsigned shared[2 * threads];
  course::block_reduce(1U, plus{}, shared + threadIdx.x % 2);
}
__global__ void shuffle_argument(memory*) {
  __shared__ unsigned shared[2 * threads];
  course::block_reduce_shuffle(1U, plus{}, shared + threadIdx.x % 2);
}

__global__ void tickets_argument(memory* m) {
  look_back<int>(m->tiles, blocks).take_tile(2 + threadIdx.x % 2);
}
__global__ void tile_beyond_memory(memory* m) {
  const look_back<int> tiles(m->tiles, blocks - 1);
  const tile_ticket mine = tiles.take_tile(gridDim.x);
  int before = 0;
  if (threadIdx.x == 0) tiles.exclusive_prefix_by_one_thread(mine, 1, plus{}, &before);
}
__global__ void tile_twice(memory* m) {
  const look_back<int> tiles(m->tiles, blocks);
  const tile_ticket mine = tiles.take_tile(gridDim.x);
  int before = 0;
  if (threadIdx.x >= 32) return;
  tiles.exclusive_prefix(mine, 1, plus{}, &before);
  tiles.exclusive_prefix(mine, 1, plus{}, &before);
}

struct misuse {
  const char* name;
  void (*kernel)(memory*);
  bool cooperative = false;
  unsigned arrived = 0;  // The barrier's word at the launch.
};

const misuse misuses[] = {
    {"none", right},
    {"none_of_barrier", meet, true},
    {"none_with_delay", meet_with_delay, true},
    {"plain_launch", meet},
    {"barrier_words", meet, true, blocks},
    {"barrier_argument", barrier_argument, true},
    {"guard_argument", guard_argument},
    {"guard_expected", guard_expected},
    {"guard_returned", guard_returned},
    {"queue_argument", queue_argument},
    {"reduce_argument", reduce_argument},
    {"shuffle_argument", shuffle_argument},
    {"tickets_argument", tickets_argument},
    {"tile_beyond_memory", tile_beyond_memory},
    {"tile_twice", tile_twice},
};

}  // namespace

int main(int count, char** words) {
  for (const misuse& each : misuses) {
    if (count != 2 || std::strcmp(words[1], each.name) != 0) continue;
    memory* m = nullptr;
    if (cudaMallocManaged(&m, sizeof *m) != cudaSuccess) return 77;
    std::memset(m, 0, sizeof *m);
    m->words[0].arrived = each.arrived;
    void* arguments[] = {&m};
    if (each.cooperative) {
      cudaLaunchCooperativeKernel(each.kernel, dim3(blocks), dim3(threads), arguments, 0, nullptr);
    } else {
      each.kernel<<<blocks, threads>>>(m);
    }
    std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    return 0;
  }
  return 2;
}

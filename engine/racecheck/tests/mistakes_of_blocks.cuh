// SPDX-License-Identifier: MIT
// Cases of mistakes.cu: what blocks do to each other without its guard, and what all cases use.
#pragma once

#include <cooperative_groups.h>
#include <cuda/atomic>

#include "racecheck/tests/cases.hpp"

constexpr int blocks = 4;
constexpr int threads = 128;

struct memory {
  int* data;          // blocks * threads elements, all 0
  unsigned* counter;  // 0
  int* result;        // blocks * threads elements, all 0
  int* unwritten;     // as many that nothing has written
};

using device_ref = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;
using block_ref = cuda::atomic_ref<unsigned, cuda::thread_scope_block>;

// ---- The work queue

enum class queue { right, fetches_twice, without_barrier };

template <queue how>
__device__ int fetch(memory of) {
  __shared__ int item;
  if (how != queue::fetches_twice) __syncthreads();
  if (threadIdx.x == 0) item = static_cast<int>(atomicAdd(of.counter, 1));  // mark: item written
  if (how != queue::without_barrier) __syncthreads();
  return item;  // mark: item read
}

template <queue how>
__global__ void work(memory of) {
  for (int item = fetch<how>(of); item >= 0 && item < 3 * blocks; item = fetch<how>(of)) {
    atomicAdd(&of.result[item], 1);
  }
}

// A flag that is first written plainly, and then released. A thread that acquires the release is
// after the plain write as well, and the acquire itself already is. (result[0] only tells when to
// read.)
__global__ void plain_write_before_release(memory of) {
  if (threadIdx.x != 0 || blockIdx.x > 1) return;
  const device_ref flag(*of.counter);
  const device_ref look(*reinterpret_cast<unsigned*>(of.result));
  if (blockIdx.x == 0) {
    *of.counter = 2;
    of.data[0] = 7;
    flag.store(1, cuda::memory_order_release);
    look.store(1, cuda::memory_order_relaxed);
  } else {
    while (look.load(cuda::memory_order_relaxed) == 0) {
    }
    if (flag.load(cuda::memory_order_acquire) == 1) of.result[1] = of.data[0];
  }
}

// A worker's own deque: the owner takes at block scope, thieves from other blocks at device scope.
template <bool narrow>
__global__ void steal(memory of) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    if (narrow) {
      atomicAdd_block(of.counter, 1);  // mark: owner takes
    } else {
      atomicAdd(of.counter, 1);
    }
  } else {
    atomicAdd(of.counter, 1);  // mark: thief takes
  }
}

// ---- A lock

enum class lock { right, no_release, no_acquire, block_scope, one_side_unlocked };

template <lock how>
__global__ void add_under_lock(memory of) {
  if (threadIdx.x != 0) return;
  const bool locks = how != lock::one_side_unlocked || blockIdx.x != 0;
  if (locks) {
    if (how == lock::block_scope) {
      while (atomicCAS_block(of.counter, 0u, 1u)) {  // mark: narrow lock
      }
    } else {
      while (atomicCAS(of.counter, 0u, 1u) != 0) {
      }
    }
    if (how != lock::no_acquire) __threadfence();
  }
  of.result[0] += 1;  // mark: under lock
  if (locks) {
    if (how != lock::no_release) __threadfence();
    if (how == lock::block_scope) {
      atomicExch_block(of.counter, 0u);  // mark: narrow unlock
    } else {
      atomicExch(of.counter, 0u);
    }
  }
}

// ---- Between blocks, without anything

// The structure is stored as a whole, with the member that it has not changed.
struct pair_of_int {
  int first, second;
};
__global__ void structure_stored_back(memory of) {
  auto* const all = reinterpret_cast<pair_of_int*>(of.result);
  if (blockIdx.x == 0) {
    pair_of_int copy = all[threadIdx.x];
    copy.first += 1;
    all[threadIdx.x] = copy;  // mark: stored back
  } else {
    all[threadIdx.x].second = 1;  // mark: member stored
  }
}

template <bool atomic>
__global__ void two_blocks_write(memory of) {
  if (threadIdx.x != 0) return;
  if (atomic) {
    atomicExch(&of.result[0], static_cast<int>(blockIdx.x));
  } else {
    of.result[0] = static_cast<int>(blockIdx.x);  // mark: two writes
  }
}

// Each of two blocks raises its flag and then reads the other one's: with this order of the
// fences both may find none, in no order of the threads. Or each waits for the other one's.
template <cuda::memory_order order, bool waits = false>
__global__ void two_flags(memory of) {
  if (threadIdx.x != 0 || blockIdx.x > 1) return;
  const cuda::atomic_ref<int, cuda::thread_scope_device> own(of.result[blockIdx.x]);
  const cuda::atomic_ref<int, cuda::thread_scope_device> other(of.result[1 - blockIdx.x]);
  own.store(1, cuda::memory_order_relaxed);
  cuda::atomic_thread_fence(order, cuda::thread_scope_device);
  bool is_up = other.load(cuda::memory_order_relaxed) == 1;  // mark: looked at the flag
  while (waits && !is_up) is_up = other.load(cuda::memory_order_relaxed) == 1;
  if (is_up == waits) of.result[2] += 1;  // mark: found no flag
}

__global__ void two_volatile_flags(memory of) {
  if (threadIdx.x != 0 || blockIdx.x > 1) return;
  volatile int* const flags = of.result;
  flags[blockIdx.x] = 1;
  const bool is_first = flags[1 - blockIdx.x] == 0;  // mark: looked at the volatile flag
  if (is_first) of.result[2] += 1;                   // mark: found no volatile flag
}

// Block 1 has raised the flag further, as often as values are remembered, and block 2 may still get
// the oldest of them: what block 0 stored.
__global__ void flag_raised_further(memory of) {
  if (threadIdx.x != 0 || blockIdx.x > 2) return;
  const device_ref flag(*of.counter);
  const device_ref look(*reinterpret_cast<unsigned*>(of.result));
  const auto wait_for = [&](unsigned step) {
    while (look.load(cuda::memory_order_relaxed) < step) {
    }
  };
  if (blockIdx.x == 0) {
    of.data[0] = 7;
    flag.store(1, cuda::memory_order_relaxed);
    look.store(1, cuda::memory_order_relaxed);
  } else if (blockIdx.x == 1) {
    wait_for(1);
    for (unsigned i = 0; i < 8; ++i) flag.store(2 + i, cuda::memory_order_relaxed);
    look.store(2, cuda::memory_order_relaxed);
  } else {
    wait_for(2);
    if (flag.load(cuda::memory_order_acquire) == 1) of.result[1] = of.data[0];
  }
}

template <bool mixed>
__global__ void plain_and_atomic(memory of) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0 && mixed) {
    of.result[0] += 1;  // mark: plain
  } else {
    atomicAdd(&of.result[0], 1);  // mark: atomic
  }
}

__global__ void neighbouring_bytes(unsigned char* bytes) {
  bytes[blockIdx.x * threads + threadIdx.x] = static_cast<unsigned char>(threadIdx.x);
}

__global__ void neighbouring_atomics(unsigned short* numbers) {
  atomicCAS(&numbers[threadIdx.x], static_cast<unsigned short>(blockIdx.x),
            static_cast<unsigned short>(blockIdx.x + 1));
}

__global__ void grid_barrier(memory of) {
  of.data[blockIdx.x * threads + threadIdx.x] = 1;
  cooperative_groups::this_grid().sync();
  const unsigned other = (blockIdx.x + 1) % gridDim.x;
  of.result[blockIdx.x * threads + threadIdx.x] = of.data[other * threads + threadIdx.x];
  cooperative_groups::this_grid().sync();
  of.data[other * threads + threadIdx.x] = 2;
}

// A block that comes to the second barrier before another one has left the first has told it
// nothing.
__global__ void between_grid_barriers(memory of) {
  cooperative_groups::this_grid().sync();
  const unsigned other = (blockIdx.x + 1) % gridDim.x;
  of.data[blockIdx.x * threads + threadIdx.x] = 1;          // mark: meanwhile written
  const int seen = of.data[other * threads + threadIdx.x];  // mark: meanwhile read
  of.result[blockIdx.x * threads + threadIdx.x] = seen;
  cooperative_groups::this_grid().sync();
}

// A thread that has returned comes to no barrier, so the barrier of the others orders nothing of
// what it did after its own last one.
enum class returns { after_the_barrier, before_the_barrier, without_writing };

template <returns when>
__global__ void barrier_of_those_left(memory of) {
  __shared__ int numbers[threads];
  numbers[threadIdx.x] = 0;
  __syncthreads();
  const bool stays = threadIdx.x < 2;
  if (when == returns::without_writing && !stays) return;
  numbers[threadIdx.x] = 1;  // mark: written and gone
  if (when == returns::before_the_barrier && !stays) return;
  __syncthreads();
  if (!stays) return;
  __syncthreads();
  int sum = 0;
  for (int i = 0; i < threads; ++i) sum += numbers[i];  // mark: read by those left
  of.result[blockIdx.x * threads + threadIdx.x] = sum;
}

// Outside of every function.
__shared__ int of_file[threads];

template <bool with_barrier>
__global__ void shared_of_file(memory of) {
  of_file[threadIdx.x] = threadIdx.x;  // mark: of the file written
  if (with_barrier) __syncthreads();
  const int read = of_file[(threadIdx.x + 32) % threads];  // mark: of the file read
  of.result[blockIdx.x * threads + threadIdx.x] = read;
}

// SPDX-License-Identifier: MIT
// The examples of docs/memory-model.md. memory_model_examples_test.cu runs those that are right.
// A name that begins with wrong_ says that the memory model does not promise what the code needs;
// weak_examples.cu launches those, to show it.
#pragma once

#include <cuda_runtime.h>

#include <cuda/atomic>

namespace memory_model {

using flag_ref = cuda::atomic_ref<int, cuda::thread_scope_device>;

// ---- a message from one block to another: data, then a flag that is 0 before the launch

struct wrong_relaxed_flag {
  static __device__ void send(int* data, int* flag, int value) {
    *data = value;
    flag_ref(*flag).store(1, cuda::memory_order_relaxed);
  }
  static __device__ int receive(const int* data, int* flag) {
    while (flag_ref(*flag).load(cuda::memory_order_relaxed) == 0) {
    }
    return *data;
  }
};

struct release_and_acquire {
  static __device__ void send(int* data, int* flag, int value) {
    *data = value;
    flag_ref(*flag).store(1, cuda::memory_order_release);
  }
  static __device__ int receive(const int* data, int* flag) {
    while (flag_ref(*flag).load(cuda::memory_order_acquire) == 0) {
    }
    return *data;
  }
};

struct fences {
  static __device__ void send(int* data, int* flag, int value) {
    *data = value;
    cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_device);
    flag_ref(*flag).store(1, cuda::memory_order_relaxed);
  }
  static __device__ int receive(const int* data, int* flag) {
    while (flag_ref(*flag).load(cuda::memory_order_relaxed) == 0) {
    }
    cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_device);
    return *data;
  }
};

// As `fences`, in the words of older CUDA code.
struct classic_fences {
  static __device__ void send(int* data, int* flag, int value) {
    *data = value;
    __threadfence();
    atomicExch(flag, 1);
  }
  static __device__ int receive(const int* data, int* flag) {
    while (atomicAdd(flag, 0) == 0) {
    }
    __threadfence();
    return *data;
  }
};

struct volatile_and_fences {
  static __device__ void send(int* data, int* flag, int value) {
    *data = value;
    __threadfence();
    *static_cast<volatile int*>(flag) = 1;
  }
  static __device__ int receive(const int* data, int* flag) {
    while (*static_cast<volatile int*>(flag) == 0) __nanosleep(20);
    __threadfence();
    return *data;
  }
};

// The value of message i: never 0, and different for each.
__host__ __device__ constexpr int message(int i) { return 3 * i + 1; }

// Two resident blocks send each other `count` messages, each block in answer to the other one's.
// Message i is in data[i] and flags[i]; block 0 sends the even ones. `flags` are 0 before the
// launch.
template <class Channel>
__global__ void pass_messages(int* data, int* flags, int* received, int count) {
  if (threadIdx.x != 0) return;
  for (int i = 0; i < count; ++i) {
    if (i % 2 == static_cast<int>(blockIdx.x)) {
      Channel::send(&data[i], &flags[i], message(i));
    } else {
      received[i] = Channel::receive(&data[i], &flags[i]);
    }
  }
}

// ---- races and scopes

// All threads of all blocks add 1, to a counter that is 0 before the launch.
__global__ void wrong_count_plainly(int* counter) { *counter += 1; }

__global__ void wrong_count_in_block_scope(int* counter) { atomicAdd_block(counter, 1); }

__global__ void count(int* counter) { atomicAdd(counter, 1); }

// Each block has a counter of its own, so the scope of a block is wide enough.
__global__ void count_per_block(int* counters) { atomicAdd_block(&counters[blockIdx.x], 1); }

// ---- fence.sc

// Two resident blocks. In each round, each raises its own flag, then looks at the other one's.
// `raised` and `saw` have one element for each block and round, block by block. `raised` and
// `arrived` are 0 before the launch.
__global__ void raise_and_look(int* raised, int* saw, int* arrived, int rounds) {
  if (threadIdx.x != 0) return;
  int* const mine = raised + static_cast<int>(blockIdx.x) * rounds;
  int* const other = raised + static_cast<int>(1 - blockIdx.x) * rounds;
  saw += static_cast<int>(blockIdx.x) * rounds;
  // Both begin at about the same time.
  atomicAdd(arrived, 1);
  while (atomicAdd(arrived, 0) < 2) {
  }
  for (int round = 0; round < rounds; ++round) {
    flag_ref(mine[round]).store(1, cuda::memory_order_relaxed);
    cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
    saw[round] = flag_ref(other[round]).load(cuda::memory_order_relaxed);
  }
}

// ---- barriers

// Two resident blocks of the same size, each of which publishes every other round: the other block
// receives what all of its threads have written, in reverse. `data` and `received` have blockDim.x
// elements for each round, `flags` has one, which is 0 before the launch.
__global__ void publish_blocks(int* data, int* flags, int* received, int rounds) {
  const unsigned thread = threadIdx.x;
  for (int round = 0; round < rounds; ++round, data += blockDim.x, received += blockDim.x) {
    if (round % 2 == static_cast<int>(blockIdx.x)) {
      data[thread] = message(round + static_cast<int>(thread));
      __syncthreads();
      if (thread == 0) flag_ref(flags[round]).store(1, cuda::memory_order_release);
    } else {
      if (thread == 0) {
        while (flag_ref(flags[round]).load(cuda::memory_order_acquire) == 0) {
        }
      }
      __syncthreads();
      received[thread] = data[blockDim.x - 1 - thread];
    }
  }
}

// The publisher's side without its barrier: thread 0 publishes its own element only.
__device__ void wrong_publish_without_barrier(int* data, int* flag) {
  data[threadIdx.x] = message(static_cast<int>(threadIdx.x));
  if (threadIdx.x == 0) flag_ref(*flag).store(1, cuda::memory_order_release);
}

// ---- warps

// Blocks of 32 threads: each lane receives the next lane's message.
__global__ void rotate_through_memory(int* received) {
  __shared__ int box[32];
  const unsigned lane = threadIdx.x;
  box[lane] = message(static_cast<int>(lane));
  __syncwarp();
  received[lane] = box[(lane + 1) % 32];
}

// The shuffle hands on registers. It does not order the accesses to `box` around it.
__global__ void wrong_rotate_behind_a_shuffle(int* received) {
  __shared__ int box[32];
  const unsigned lane = threadIdx.x;
  box[lane] = message(static_cast<int>(lane));
  const unsigned next = __shfl_sync(0xffffffffU, lane, (lane + 1) % 32);
  received[lane] = box[next];
}

__global__ void rotate_by_a_shuffle(int* received) {
  const unsigned lane = threadIdx.x;
  received[lane] = __shfl_sync(0xffffffffU, message(static_cast<int>(lane)), (lane + 1) % 32);
}

// ---- kernels

// Launched one after the other in one stream, with the same grid: every thread of the second kernel
// reads what another block has written in the first one.
__global__ void write_messages(int* data) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  data[i] = message(static_cast<int>(i));
}

__global__ void read_messages(const int* data, int* received) {
  const unsigned count = gridDim.x * blockDim.x;
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  received[i] = data[count - 1 - i];
}

// ---- observation

// Notes the last block to arrive in `last_blocks`, and leaves the counter as it was: at 0.
__global__ void arrive_and_reset(unsigned* counter, unsigned* last_blocks) {
  if (threadIdx.x != 0) return;
  if (atomicAdd(counter, 1) == gridDim.x - 1) {
    *counter = 0;
    last_blocks[blockIdx.x] += 1;
  }
}

}  // namespace memory_model

// SPDX-License-Identifier: MIT
// Races of which several things could be said, and one is the cause: causes_test.py has what must
// be told first.
//   causes NAME       runs one
// A comment "mark: NAME" names a line of the two, or one that the diagnosis names.
#include <cuda_runtime.h>
#include <cuda/atomic>

#include "racecheck/tests/cases.hpp"

using device_ref = cuda::atomic_ref<int, cuda::thread_scope_device>;

// ---- A plain access to a word that others change by atomics

__global__ void look_and_maximum(int* largest) {
  const int mine = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (*largest < mine)         // mark: looked
    atomicMax(largest, mine);  // mark: maximum
}

__global__ void count_and_read(int* counter, int* out) {
  atomicAdd(counter, 1);                                  // mark: counted
  out[blockIdx.x * blockDim.x + threadIdx.x] = *counter;  // mark: count read
}

template <class Pointer>
__global__ void exchange_loop(Pointer word) {
  int seen = *word;  // mark: first look
  int expected;
  do {
    expected = seen;
    seen = atomicCAS(const_cast<int*>(word), expected, expected + 1);  // mark: exchanged
  } while (seen != expected);
}

__global__ void reset_while_counting(int* counter) {
  if (blockIdx.x + threadIdx.x == 0) *counter = 0;  // mark: reset
  atomicAdd(counter, 1);                            // mark: counted meanwhile
}

// The data is fenced on both sides, and the flag itself is plain.
__global__ void plain_flag(int* data, int* flag, int* out) {
  if (blockIdx.x == 0) {
    *data = 7;
    __threadfence();
    *flag = 1;  // mark: plain flag set
  } else {
    for (int tries = 0; tries < 100; ++tries) {
      __nanosleep(1);
      int ready = 0;
      while (ready == 0 && tries++ < 50) ready = *flag;  // mark: plain flag polled
    }
    __threadfence();
    *out = *data;
  }
}

// Half of the blocks take the lock, the others use an atomic.
__global__ void locked_and_atomic(int* lock, int* sum) {
  if (blockIdx.x % 2 == 0) {
    atomicAdd(sum, 1);  // mark: added atomically
    return;
  }
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();
  *sum += 1;  // mark: added plainly
  __threadfence();
  atomicExch(lock, 0);
}

// The work is handed out by atomics that would order the look, if they released and acquired.
__global__ void look_while_fetching(int* next, int* largest) {
  for (int i = atomicAdd(next, 1); i < 32; i = atomicAdd(next, 1)) {
    if (*largest < i)         // mark: looked between
      atomicMax(largest, i);  // mark: maximum between
  }
}

// What a last block lacks is the order, though what it reads plainly was added atomically.
__global__ void last_block_of_a_sum(int* sum, unsigned* tickets, int* out) {
  atomicAdd(sum, 1);                                         // mark: part added
  if (atomicAdd(tickets, 1u) == gridDim.x - 1) *out = *sum;  // mark: sum read
}

__global__ void last_block_of_volatile_parts(volatile int* parts, unsigned* tickets, int* out) {
  parts[blockIdx.x] = 1;
  if (atomicAdd(tickets, 1u) == gridDim.x - 1) *out = parts[0];
}

__global__ void store_after_a_sum(int* sum, unsigned* tickets) {
  atomicAdd(&sum[0], 1);
  if (atomicAdd(tickets, 1u) == gridDim.x - 1) sum[0] = 0;
}

// In a block a barrier may be what is missing, and here it is.
__global__ void histogram_without_barrier(int* out) {
  __shared__ int bins[64];
  bins[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&bins[(threadIdx.x * 7) % 32], 1);  // mark: bin added
  out[threadIdx.x] = bins[threadIdx.x];         // mark: bin read
}

// In one block a barrier orders the zeros and the updates.
__global__ void zeros_without_barrier(int* out) {
  __shared__ int bins[16];
  if (threadIdx.x < 16) bins[threadIdx.x] = 0;  // mark: bin zeroed
  atomicAdd(&bins[(threadIdx.x * 7) % 16], 1);  // mark: bin increased
  __syncthreads();
  if (threadIdx.x < 16) out[threadIdx.x] = bins[threadIdx.x];
}

// ---- Updates over two lines

__global__ void add_over_two_lines(int* counter) {
  const int old = *counter;  // mark: old read
  *counter = old + 1;        // mark: new written
}

__global__ void maximum_over_two_lines(int* largest) {
  const int mine = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int old = *largest;  // mark: largest read
  if (old < mine) {
    *largest = mine;  // mark: largest written
  }
}

__global__ void maximum_on_one_line(int* largest) {
  const int mine = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  *largest = max(*largest, mine);  // mark: maximum written
}

__global__ void visit(int* visited, int* found) {
  const unsigned node = threadIdx.x % 8;
  if (visited[node] == 0) {  // mark: visit checked
    visited[node] = 1;       // mark: visit noted
    atomicAdd(found, 1);
  }
}

// No updates: each element has one writer, and the others only read it.
__global__ void average_in_place(float* values) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned last = gridDim.x * blockDim.x - 1;
  if (i == 0 || i == last) return;
  const float sum = values[i - 1] + values[i] + values[i + 1];  // mark: neighbours read
  values[i] = sum / 3;                                          // mark: average written
}

__global__ void smooth_on_one_line(float* values) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned last = gridDim.x * blockDim.x - 1;
  if (i == 0 || i == last) return;
  values[i] = (values[i - 1] + values[i] + values[i + 1]) / 3;  // mark: smoothed
}

// ---- Barriers

// The rows of one tile stay within a warp, the columns of the other one do not.
__global__ void tiles_of_eight(const float* left, const float* right, float* product) {
  __shared__ float rows[8][8];
  __shared__ float columns[8][8];
  float sum = 0;
  for (unsigned tile = 0; tile < 4; ++tile) {
    rows[threadIdx.y][threadIdx.x] = left[threadIdx.y * 32 + tile * 8 + threadIdx.x];
    columns[threadIdx.y][threadIdx.x] = right[(tile * 8 + threadIdx.y) * 8 + threadIdx.x];
    __syncthreads();
    for (unsigned k = 0; k < 8; ++k) {
      sum += rows[threadIdx.y][k] * columns[k][threadIdx.x];
    }
  }
  product[threadIdx.y * 8 + threadIdx.x] = sum;
}

// ---- Locks

__global__ void lock_opened_plainly(int* lock, int* sum) {
  while (device_ref(*lock).exchange(1, cuda::memory_order_acquire) != 0) {  // mark: lock taken
  }
  *sum += 1;
  __threadfence();
  *lock = 0;  // mark: lock opened
}

__global__ void lock_on_one_side(int* lock, int* sum) {
  if (blockIdx.x == 0) {
    *sum += 2;  // mark: added without the lock
    return;
  }
  while (atomicCAS(lock, 0, 1) != 0) {  // mark: lock of one side
  }
  __threadfence();
  *sum += 1;  // mark: added under the lock
  __threadfence();
  atomicExch(lock, 0);
}

__global__ void lock_of_some(int* lock, int* sum) {
  const bool locks = blockIdx.x != 0;
  while (locks && atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();
  *sum += 1;  // mark: added by all
  __threadfence();
  if (locks) atomicExch(lock, 0);
}

__global__ void lock_opened_by_volatile(int* lock, int* sum) {
  while (atomicCAS(lock, 0, 1) != 0) {  // mark: lock of a volatile
  }
  __threadfence();
  *sum += 1;
  *const_cast<volatile int*>(lock) = 0;  // mark: opened by a volatile
}

// The flag is checked again under the lock, and that is right; the first check is not.
__global__ void double_checked(int* ready, int* lock, int* table, int* out) {
  if (*ready == 0) {  // mark: checked without the lock
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    if (*ready == 0) {
      *table = 42;
      *ready = 1;  // mark: set under the lock
    }
    __threadfence();
    atomicExch(lock, 0);
  }
  out[blockIdx.x] = *table;
}

// A sum is no flag: a thread that reads it takes the lock.
__global__ void sum_checked(int* lock, int* sum, int* out) {
  if (blockIdx.x == 0) {
    if (*sum > 2) *out = 1;  // mark: sum checked
    return;
  }
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();
  *sum += 1;  // mark: sum increased
  __threadfence();
  atomicExch(lock, 0);
}

// ---- Atomics that order nothing

// Each thread counts, and none waits for the count.
__global__ void count_beside(int* counter, int* data) {
  data[threadIdx.x] = static_cast<int>(blockIdx.x);  // mark: stored by each block
  atomicAdd(counter, 1);
}

// The key tells that the value is there before it is.
__global__ void table_insert(int* keys, int* values, int* out) {
  const int mine = static_cast<int>(threadIdx.x) + 1;
  const int slot = mine * 7 % 64;
  const int old = atomicCAS(&keys[slot], 0, mine);
  if (old == 0) {
    values[slot] = mine * 10;  // mark: value written
  } else if (old == mine) {
    out[blockIdx.x * blockDim.x + threadIdx.x] = values[slot];  // mark: value found
  }
}

// The end of the queue moves before the item is in it.
__global__ void queue(int* head, int* tail, int* items, int* out) {
  if (blockIdx.x == 0) {
    const int slot = atomicAdd(tail, 1);
    items[slot] = static_cast<int>(threadIdx.x);  // mark: item put
  } else {
    const int slot = atomicAdd(head, 1);
    while (device_ref(*tail).load(cuda::memory_order_acquire) <= slot) {
    }
    out[threadIdx.x] = items[slot];  // mark: item taken
  }
}

// Here the atomic only hands out the work: it tells no thread of what another one has done.
__global__ void fetched_neighbours(int* next, int* data, int* out) {
  for (int i = atomicAdd(next, 1); i < 32; i = atomicAdd(next, 1)) {
    data[i] = i;                      // mark: own one done
    if (i > 0) out[i] = data[i - 1];  // mark: neighbour's read
  }
}

// The reader looks at the sequence before and after, which does not make plain data atomic.
__global__ void seqlock(int* sequence, int* data, int* out) {
  if (blockIdx.x == 0) {
    for (int i = 0; i < 5; ++i) {
      device_ref(*sequence).store(2 * i + 1, cuda::memory_order_relaxed);
      __threadfence();
      *data = i;  // mark: data between
      device_ref(*sequence).store(2 * i + 2, cuda::memory_order_release);
    }
  } else {
    int before, after, seen;
    do {
      before = device_ref(*sequence).load(cuda::memory_order_acquire);
      seen = *data;  // mark: data seen
      __threadfence();
      after = device_ref(*sequence).load(cuda::memory_order_relaxed);
    } while (before != after || before % 2 != 0);
    *out = seen;
  }
}

// ---- Releases

// What comes before the flag is ordered by the fences: the flag alone is no atomic.
__global__ void volatile_flag(volatile int* flag, int* data, int* out) {
  if (blockIdx.x == 0) {
    *data = 7;
    __threadfence();
    *flag = 1;  // mark: volatile flag set
  } else {
    while (*flag == 0) {  // mark: volatile flag polled
    }
    __threadfence();
    *out = *data;
  }
}

__global__ void read_after_release(int* data, int* flag, int* out) {
  if (blockIdx.x == 0) {
    __threadfence();
    atomicExch(flag, 1);  // mark: released early
    *out = *data;         // mark: read late
  } else {
    while (atomicAdd(flag, 0) == 0) {
    }
    __threadfence();
    *data = 7;  // mark: written over
  }
}

__global__ void sequence_ended(int* flag, int* data, int* out) {
  if (blockIdx.x == 0) {
    *data = 5;                                               // mark: first data
    device_ref(*flag).store(1, cuda::memory_order_release);  // mark: released
  } else if (blockIdx.x == 1) {
    while (device_ref(*flag).load(cuda::memory_order_acquire) != 1) {
    }
    device_ref(*flag).store(2, cuda::memory_order_relaxed);  // mark: sequence ended
  } else {
    while (device_ref(*flag).load(cuda::memory_order_acquire) != 2) {
    }
    *out = *data;  // mark: last read
  }
}

// Thread 0 waits, and the others of its block do not wait for it.
__global__ void rounds(int* values, int* done, int* out) {
  const unsigned t = threadIdx.x;
  for (int round = 0; round < 3; ++round) {
    if (blockIdx.x == 0) {
      values[round * blockDim.x + t] = round;  // mark: round written
      __syncthreads();
      if (t == 0) device_ref(*done).store(round + 1, cuda::memory_order_release);
    } else {
      while (t == 0 && device_ref(*done).load(cuda::memory_order_acquire) <= round) {
      }
      out[t] += values[round * blockDim.x + t];  // mark: round read
      __syncthreads();
    }
  }
}

// ---- All on one or two lines, where the lines alone do not tell what comes first
// clang-format off
__global__ void read_after_release_on_one_line(int* p) { if (blockIdx.x == 0) { __threadfence(); atomicExch(&p[1], 1); p[2] = p[0]; }  // mark: released and read
  else { while (!atomicAdd(&p[1], 0)) {} __threadfence(); p[0] = 7; } }  // mark: waited and written

__global__ void rounds_on_two_lines(int* m, int* done, int* out) { int t = threadIdx.x;
  for (int c = 0; c < 3; c++)
    if (blockIdx.x == 0) { m[c * 64 + t] = c; __syncthreads(); if (t == 0) device_ref(*done).store(c + 1, cuda::memory_order_release); }  // mark: whole writer
    else { if (t == 0) while (device_ref(*done).load(cuda::memory_order_acquire) <= c) {} out[t] += m[c * 64 + t]; __syncthreads(); } }  // mark: whole reader
// clang-format on

// ---- What has the wrong size, scope or place

__global__ void two_sizes(int* words) {
  if (threadIdx.x % 2 == 0) {
    atomicAdd(words, 1);  // mark: four bytes
  } else {
    atomicAdd(reinterpret_cast<unsigned long long*>(words), 1ull);  // mark: eight bytes
  }
}

__global__ void narrow_fence(int* data, int* flag, int* out) {
  if (blockIdx.x == 0) {
    *data = 5;              // mark: before the fence
    __threadfence_block();  // mark: narrow fence
    atomicExch(flag, 1);
  } else {
    while (atomicAdd(flag, 0) == 0) {
    }
    __threadfence();
    *out = *data;  // mark: after the fence
  }
}

__global__ void narrow_atomic(int* data, int* flag, int* out) {
  if (blockIdx.x == 0) {
    *data = 5;
    __threadfence();
    atomicExch_block(flag, 1);  // mark: narrow atomic
  } else {
    while (atomicAdd(flag, 0) == 0) {  // mark: flag polled
    }
    __threadfence();
    *out = *data;
  }
}

struct two_fields {
  unsigned low : 4;
  unsigned high : 4;
};
__global__ void neighbouring_fields(two_fields* fields) {
  if (threadIdx.x == 0) fields->low = 3;    // mark: low field
  if (threadIdx.x == 40) fields->high = 5;  // mark: high field
}

extern __shared__ int counts[];
extern __shared__ float weights[];
__global__ void overlapping_arrays() {
  if (threadIdx.x < 32) {
    counts[threadIdx.x] = 1;  // mark: counts
  } else {
    weights[threadIdx.x - 32] = 2;  // mark: weights
  }
}

const struct {
  const char* name;
  void (*run)();
} cases[] = {
    {"look_and_maximum", [] { look_and_maximum<<<2, 64>>>(zeros(1)); }},
    {"look_in_a_block", [] { look_and_maximum<<<1, 64>>>(zeros(1)); }},
    {"count_and_read", [] { count_and_read<<<2, 64>>>(zeros(1), zeros(128)); }},
    {"exchange_loop", [] { exchange_loop<int*><<<2, 64>>>(zeros(1)); }},
    {"volatile_exchange_loop", [] { exchange_loop<volatile int*><<<2, 64>>>(zeros(1)); }},
    {"reset_while_counting", [] { reset_while_counting<<<4, 32>>>(zeros(1)); }},
    {"plain_flag", [] { plain_flag<<<2, 1>>>(zeros(1), zeros(1), zeros(1)); }},
    {"smooth_on_one_line", [] { smooth_on_one_line<<<2, 64>>>(zeros<float>(128)); }},
    {"tiles_of_eight",
     [] {
       tiles_of_eight<<<1, dim3(8, 8)>>>(zeros<float>(256), zeros<float>(256), zeros<float>(64));
     }},
    {"locked_and_atomic", [] { locked_and_atomic<<<4, 1>>>(zeros(1), zeros(1)); }},
    {"look_while_fetching", [] { look_while_fetching<<<4, 1>>>(zeros(1), zeros(1)); }},
    {"last_block_of_a_sum",
     [] { last_block_of_a_sum<<<4, 1>>>(zeros(1), zeros<unsigned>(1), zeros(1)); }},
    {"last_block_of_volatile_parts",
     [] { last_block_of_volatile_parts<<<4, 1>>>(zeros(4), zeros<unsigned>(1), zeros(1)); }},
    {"store_after_a_sum", [] { store_after_a_sum<<<4, 1>>>(zeros(1), zeros<unsigned>(1)); }},
    {"histogram_without_barrier", [] { histogram_without_barrier<<<1, 64>>>(zeros(64)); }},
    {"add_over_two_lines", [] { add_over_two_lines<<<2, 64>>>(zeros(1)); }},
    {"add_in_a_block", [] { add_over_two_lines<<<1, 64>>>(zeros(1)); }},
    {"maximum_over_two_lines", [] { maximum_over_two_lines<<<2, 64>>>(zeros(1)); }},
    {"maximum_on_one_line", [] { maximum_on_one_line<<<2, 64>>>(zeros(1)); }},
    {"visit", [] { visit<<<2, 64>>>(zeros(8), zeros(1)); }},
    {"average_in_place", [] { average_in_place<<<2, 64>>>(zeros<float>(128)); }},
    {"lock_opened_plainly", [] { lock_opened_plainly<<<4, 1>>>(zeros(1), zeros(1)); }},
    {"zeros_without_barrier", [] { zeros_without_barrier<<<1, 64>>>(zeros(16)); }},
    {"lock_opened_by_volatile", [] { lock_opened_by_volatile<<<4, 1>>>(zeros(1), zeros(1)); }},
    {"double_checked", [] { double_checked<<<4, 1>>>(zeros(1), zeros(1), zeros(1), zeros(4)); }},
    {"sum_checked", [] { sum_checked<<<4, 1>>>(zeros(1), zeros(1), zeros(1)); }},
    {"count_beside", [] { count_beside<<<4, 32>>>(zeros(1), zeros(32)); }},
    {"table_insert", [] { table_insert<<<4, 32>>>(zeros(64), zeros(64), zeros(128)); }},
    {"queue", [] { queue<<<2, 32>>>(zeros(1), zeros(1), zeros(32), zeros(32)); }},
    {"fetched_neighbours", [] { fetched_neighbours<<<4, 1>>>(zeros(1), zeros(32), zeros(32)); }},
    {"seqlock", [] { seqlock<<<2, 1>>>(zeros(1), zeros(1), zeros(1)); }},
    {"lock_on_one_side", [] { lock_on_one_side<<<4, 1>>>(zeros(1), zeros(1)); }},
    {"volatile_flag", [] { volatile_flag<<<2, 1>>>(zeros(1), zeros(1), zeros(1)); }},
    {"lock_of_some", [] { lock_of_some<<<4, 1>>>(zeros(1), zeros(1)); }},
    {"read_after_release_on_one_line", [] { read_after_release_on_one_line<<<2, 1>>>(zeros(3)); }},
    {"rounds_on_two_lines",
     [] { rounds_on_two_lines<<<2, 64>>>(zeros(192), zeros(1), zeros(64)); }},
    {"read_after_release", [] { read_after_release<<<2, 1>>>(zeros(1), zeros(1), zeros(1)); }},
    {"sequence_ended", [] { sequence_ended<<<3, 1>>>(zeros(1), zeros(1), zeros(1)); }},
    {"rounds", [] { rounds<<<2, 64>>>(zeros(192), zeros(1), zeros(64)); }},
    {"two_sizes", [] { two_sizes<<<1, 64>>>(zeros(2)); }},
    {"narrow_fence", [] { narrow_fence<<<2, 1>>>(zeros(1), zeros(1), zeros(1)); }},
    {"narrow_atomic", [] { narrow_atomic<<<2, 1>>>(zeros(1), zeros(1), zeros(1)); }},
    {"neighbouring_fields", [] { neighbouring_fields<<<1, 64>>>(zeros<two_fields>(1)); }},
    {"overlapping_arrays", [] { overlapping_arrays<<<1, 64, 256>>>(); }},
};

int main(int count, char** words) { return run_case(cases, count, words); }

// SPDX-License-Identifier: MIT
// Races of which several things could be said, and one is the cause: causes_test.py has what must
// be told first.
//   causes NAME       runs one
// A comment "mark: NAME" names a line of the two, or one that the diagnosis names.
#include <cuda/barrier>

#include "racecheck/tests/causes_of_signals.cuh"

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

// ---- Several threads, and one element

__global__ void last_wins(int* out) {
  __shared__ int chosen;
  chosen = static_cast<int>(threadIdx.x);  // mark: chosen by all
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = chosen;
}

__global__ void answer_of_all(int* answer, int* found) {
  for (int round = 0; round < 2; ++round) {
    *answer = static_cast<int>(threadIdx.x);  // mark: answered by all
    __syncthreads();
    found[threadIdx.x] += *answer;
    __syncthreads();
  }
}

// The one statement writes for a reader that comes too early: a barrier is what is missing.
__global__ void rotated(int* out) {
  __shared__ int ring[64];
  for (unsigned round = 0; round < 4; ++round) {
    ring[(threadIdx.x + round) % 64] = static_cast<int>(round);  // mark: rotated on
    out[threadIdx.x] += ring[threadIdx.x];                       // mark: rotated read
  }
}

// ---- What no barrier can separate

__global__ void mark_or_exchange(unsigned* slot) {
  if (threadIdx.x == 0) {
    atomicExch(slot, 1u);  // mark: mark exchanged
  } else if (threadIdx.x == 32) {
    *slot = 2;  // mark: mark stored
  }
}

__device__ void count_one(int* words) { atomicAdd(&words[1], 1); }

__global__ void mark_or_return(int* slot) {
  if (threadIdx.x == 0) {
    count_one(slot);
    device_ref(*slot).store(1, cuda::memory_order_relaxed);  // mark: mark set
    return;
  }
  if (threadIdx.x == 32) *slot = 2;  // mark: mark set plainly
}

__global__ void shorten(int* parent) {
  const int me = static_cast<int>(threadIdx.x);
  int at = me;
  while (at > parent[at]) at = parent[at];  // mark: parents followed
  parent[me] = at;                          // mark: path shortened
}

__device__ int root_of(const int* parent, int at) {
  for (;;) {
    const int up = parent[at];  // mark: parent followed
    if (up == at) return at;
    at = parent[up];  // mark: grandparent followed
  }
}

__global__ void halve(int* parent) {
  const int me = static_cast<int>(threadIdx.x);
  parent[me] = root_of(parent, me);  // mark: root noted
}

using block_barrier = cuda::barrier<cuda::thread_scope_block>;

template <bool Shared>
__global__ void one_lane_arrives(int* values, int* out) {
  __shared__ block_barrier full;
  __shared__ int own[32];
  int* const handed = Shared ? own : values;
  if (threadIdx.x == 0) init(&full, 1 + 32);
  __syncthreads();
  if (threadIdx.x < 32) {
    handed[threadIdx.x] = 1;  // mark: handed over
    if (threadIdx.x == 0) (void)full.arrive();
  } else {
    full.arrive_and_wait();
    out[threadIdx.x - 32] = handed[threadIdx.x - 32];  // mark: taken over
  }
}

// One thread signals for its warp, and the other warp waits for the flag.
__global__ void flag_of_a_warp(int* values, int* flag, int* out) {
  if (threadIdx.x < 32) {
    values[threadIdx.x] = 1;  // mark: written by the warp
    if (threadIdx.x == 0) device_ref(*flag).store(1, cuda::memory_order_release);
  } else {
    while (device_ref(*flag).load(cuda::memory_order_acquire) == 0) {
    }
    out[threadIdx.x - 32] = values[threadIdx.x - 32];  // mark: read by the other warp
  }
}

__global__ void volatile_flag_in_a_block(volatile int* flag) {
  if (threadIdx.x < 32) {
    __threadfence_block();
    if (threadIdx.x == 0) *flag = 1;  // mark: set for the warp
  } else {
    while (*flag == 0) {  // mark: polled by the warp
    }
  }
}

// Atomics that lie between the two tell nothing: no thread looks at what they return.
__global__ void tiles_and_sums(int* head, int* base, int* sums) {
  if (threadIdx.x == 0) *base = atomicAdd(head, 1);
  __syncthreads();
  int mine = *base;  // mark: base read
  while (mine < 6) {
    atomicAdd(&sums[mine % 2], 1);
    if (threadIdx.x == 0) *base = atomicAdd(head, 1);  // mark: base written
    __syncthreads();
    mine = *base;
    __syncthreads();
  }
}

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

// Each one's parent is half of it.
int* chain_of_parents(int count) {
  int* const made = zeros(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    const int parent = i / 2;
    if (cudaMemcpy(&made[i], &parent, sizeof parent, cudaMemcpyHostToDevice) != cudaSuccess)
      std::exit(77);
  }
  return made;
}

const test_case cases[] = {
    {"look_and_maximum", on_zeros(look_and_maximum, 2, 64)},
    {"look_in_a_block", on_zeros(look_and_maximum, 1, 64)},
    {"count_and_read", on_zeros(count_and_read, 2, 64)},
    {"exchange_loop", on_zeros(exchange_loop<int*>, 2, 64)},
    {"volatile_exchange_loop", on_zeros(exchange_loop<volatile int*>, 2, 64)},
    {"reset_while_counting", on_zeros(reset_while_counting, 4, 32)},
    {"plain_flag", on_zeros(plain_flag, 2, 1)},
    {"smooth_on_one_line", on_zeros(smooth_on_one_line, 2, 64)},
    {"tiles_of_eight", on_zeros(tiles_of_eight, 1, dim3(8, 8))},
    {"locked_and_atomic", on_zeros(locked_and_atomic, 4, 1)},
    {"look_while_fetching", on_zeros(look_while_fetching, 4, 1)},
    {"last_block_of_a_sum", on_zeros(last_block_of_a_sum, 4, 1)},
    {"last_block_of_volatile_parts", on_zeros(last_block_of_volatile_parts, 4, 1)},
    {"store_after_a_sum", on_zeros(store_after_a_sum, 4, 1)},
    {"histogram_without_barrier", on_zeros(histogram_without_barrier, 1, 64)},
    {"add_over_two_lines", on_zeros(add_over_two_lines, 2, 64)},
    {"add_in_a_block", on_zeros(add_over_two_lines, 1, 64)},
    {"maximum_over_two_lines", on_zeros(maximum_over_two_lines, 2, 64)},
    {"maximum_on_one_line", on_zeros(maximum_on_one_line, 2, 64)},
    {"visit", on_zeros(visit, 2, 64)},
    {"average_in_place", on_zeros(average_in_place, 2, 64)},
    {"lock_opened_plainly", on_zeros(lock_opened_plainly, 4, 1)},
    {"zeros_without_barrier", on_zeros(zeros_without_barrier, 1, 64)},
    {"lock_opened_by_volatile", on_zeros(lock_opened_by_volatile, 4, 1)},
    {"double_checked", on_zeros(double_checked, 4, 1)},
    {"sum_checked", on_zeros(sum_checked, 4, 1)},
    {"count_beside", on_zeros(count_beside, 4, 32)},
    {"table_insert", on_zeros(table_insert, 4, 32)},
    {"queue", on_zeros(queue, 2, 32)},
    {"fetched_neighbours", on_zeros(fetched_neighbours, 4, 1)},
    {"seqlock", on_zeros(seqlock, 2, 1)},
    {"lock_on_one_side", on_zeros(lock_on_one_side, 4, 1)},
    {"volatile_flag", on_zeros(volatile_flag, 2, 1)},
    {"lock_of_some", on_zeros(lock_of_some, 4, 1)},
    {"read_after_release_on_one_line", on_zeros(read_after_release_on_one_line, 2, 1)},
    {"rounds_on_two_lines", on_zeros(rounds_on_two_lines, 2, 64)},
    {"read_after_release", on_zeros(read_after_release, 2, 1)},
    {"sequence_ended", on_zeros(sequence_ended, 3, 1)},
    {"rounds", on_zeros(rounds, 2, 64)},
    {"last_wins", on_zeros(last_wins, 1, 32)},
    {"last_wins_of_blocks", on_zeros(last_wins, 2, 64)},
    {"answer_of_all", on_zeros(answer_of_all, 1, 64)},
    {"rotated", on_zeros(rotated, 1, 64)},
    {"mark_or_exchange", on_zeros(mark_or_exchange, 1, 64)},
    {"mark_or_return", on_zeros(mark_or_return, 1, 64)},
    {"shorten", [] { shorten<<<1, 64>>>(chain_of_parents(64)); }},
    {"halve", [] { halve<<<1, 64>>>(chain_of_parents(64)); }},
    {"one_lane_arrives", on_zeros(one_lane_arrives<true>, 1, 64)},
    {"one_lane_arrives_global", on_zeros(one_lane_arrives<false>, 1, 64)},
    {"flag_of_a_warp", on_zeros(flag_of_a_warp, 1, 64)},
    {"volatile_flag_in_a_block", on_zeros(volatile_flag_in_a_block, 1, 64)},
    {"tiles_and_sums", on_zeros(tiles_and_sums, 1, 64)},
    {"booked_volatile", on_zeros(booked<volatile int>, 2, 32)},
    {"booked_in_a_block", on_zeros(booked<int>, 1, 64)},
    {"booked_volatile_in_a_block", on_zeros(booked<volatile int>, 1, 64)},
    {"write_after_unlock", on_zeros(write_after_unlock<int>, 2, 1)},
    {"write_after_unlock_volatile", on_zeros(write_after_unlock<volatile int>, 2, 1)},
    {"write_after_unlock_function", on_zeros(write_after_unlock_function, 2, 1)},
    {"read_after_signal", on_zeros(read_after_signal<volatile int, true>, 2, 1)},
    {"read_after_signal_no_fence", on_zeros(read_after_signal<int, false>, 2, 1)},
    {"read_after_signal_volatile_no_fence", on_zeros(read_after_signal<volatile int, false>, 2, 1)},
    {"one_meeting", on_zeros(one_meeting<int>, 2, 1)},
    {"one_meeting_volatile", on_zeros(one_meeting<volatile int>, 2, 1)},
    {"no_way_back", on_zeros(no_way_back, 2, 1)},
    {"two_sizes", on_zeros(two_sizes, 1, 64)},
    {"narrow_fence", on_zeros(narrow_fence, 2, 1)},
    {"narrow_atomic", on_zeros(narrow_atomic, 2, 1)},
    {"neighbouring_fields", on_zeros(neighbouring_fields, 1, 64)},
    {"overlapping_arrays", [] { overlapping_arrays<<<1, 64, 256>>>(); }},
};

int main(int count, char** words) { return run_case(cases, count, words); }

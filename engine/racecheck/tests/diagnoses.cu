// SPDX-License-Identifier: MIT
// Races whose diagnosis is easily wrong: what racecheck says of each is held by diagnoses_test.py.
//   diagnoses NAME       runs one
// A comment "mark: NAME" names a line that the report must name, or must not.
#include <cuda_runtime.h>
#include <cuda/atomic>

#include <vector>

#include "racecheck/tests/cases.hpp"

// ---- One pair of lines, several diagnoses

// Block 1 waits for the signal and only lacks an acquire; block 2 does not wait at all.
template <class Pointer>
__global__ void one_block_waits(Pointer data, int* flag, int* out) {
  if (blockIdx.x == 0) {
    *data = 1;  // mark: data written
    __threadfence();
    atomicExch(flag, 1);
  } else {
    if (blockIdx.x == 1) {
      while (!atomicAdd(flag, 0)) {
      }
    }
    out[blockIdx.x] = *data;  // mark: data read
  }
}

// One thread of each of two blocks, and a second one of block 0.
__global__ void lock_with_narrow_acquire(int* lock, int* sum) {
  if (threadIdx.x % 32 != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence_block();
  *sum += 1;  // mark: summed under the lock
  __threadfence();
  atomicExch(lock, 0);
}

// ---- Plain updates

__global__ void histogram(const int* values, int* bins) {
  bins[values[blockIdx.x * blockDim.x + threadIdx.x]] += 1;  // mark: bin updated
}

// As above, and no update: of whom block 0 meets in bin 0, one is of its own first warp.
__global__ void last_index(const int* values, int* bins) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  bins[values[i]] = i;  // mark: index stored
}

__global__ void count(int* counter) {
  counter[0]++;  // mark: counted
}

__global__ void count_bytes(unsigned char* counter) {
  counter[threadIdx.x % 2]++;  // mark: byte counted
}

template <class Element>
__global__ void store_at_5(Element* elements) {
  elements[5] = Element{};
}

__global__ void count_and_double(int* counter) {
  if (blockIdx.x % 2 == 0) {
    counter[0]++;  // mark: counted first
  } else {
    *counter *= 2;  // mark: doubled
  }
}

// A barrier is missing, and no atomic: the element is another thread's.
__global__ void sum_neighbours(int* sums) {
  sums[threadIdx.x] += sums[(threadIdx.x + 64) % 128];  // mark: neighbour added
}

// A barrier is missing at the end of the loop, and no atomic: what is changed in these lines is
// another element. The last thread writes for the second tile what it has read for the first one.
__global__ void tiles_with_a_table(const int* kind, const int* table, int* sums) {
  __shared__ int copy[64];
  for (int tile = 0; tile < 3; ++tile) {
    for (unsigned e = threadIdx.x; e < 64; e += blockDim.x) copy[e] = table[e];  // mark: copied
    __syncthreads();
    sums[threadIdx.x] += copy[63 - kind[threadIdx.x]];  // mark: copy used
  }
}

// As above: the line that writes counts something else.
__global__ void tiles_with_a_count(const int* kind, int* counts, int* sums) {
  __shared__ int copy[64];
  for (int tile = 0; tile < 3; ++tile) {
    if (counts[threadIdx.x]++ < 5) copy[threadIdx.x] = tile;  // mark: stored and counted
    __syncthreads();
    sums[threadIdx.x] += copy[63 - kind[threadIdx.x]];  // mark: stored one used
  }
}

// As above: the line that writes changes the element, and the one that reads it changes another
// one.
__global__ void tiles_with_a_sum(const int* kind, int* sums) {
  __shared__ int total[64];
  total[threadIdx.x] = 0;
  for (int tile = 0; tile < 3; ++tile) {
    total[threadIdx.x] += tile;  // mark: own one increased
    __syncthreads();
    sums[threadIdx.x] += total[63 - kind[threadIdx.x]];  // mark: total used
  }
}

__global__ void same_constant(int* found) {
  *found = 1;  // mark: constant stored
}

// Threads of the writer's block lack a barrier, and those of the others more.
__global__ void chosen_for_all(int* chosen, int* out) {
  if (blockIdx.x + threadIdx.x == 0) *chosen = 1;
  out[blockIdx.x * blockDim.x + threadIdx.x] = *chosen;
}

// ---- Signals

// Within one block: thread 0 unlocks without a fence.
__global__ void lock_without_release(int* lock, int* sum) {
  if (threadIdx.x % 32 != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) {  // mark: locked
  }
  __threadfence();
  *sum += 1;            // mark: summed without release
  atomicExch(lock, 0);  // mark: unlocked
}

// The same mistakes with volatile accesses in the place of atomics.
__global__ void lock_opened_by_volatile(volatile int* lock, int* sum) {
  while (atomicExch(const_cast<int*>(lock), 1) != 0) {
  }
  __threadfence();
  *sum += 1;
  *lock = 0;  // mark: unlocked by a volatile store
}

// Thread 0 of block 0 signals, and that of block 1 waits.
__global__ void flag_that_is_volatile(volatile int* flag, int* data, int* copy) {
  if (blockIdx.x == 0) {
    data[0] = 1;
    __threadfence();
    *flag = 1;
  } else {
    while (*flag == 0) {  // mark: volatile flag
    }
    copy[0] = data[0];
  }
}

// The programming guide's last block, with partial sums that are volatile or not.
template <class Pointer>
__global__ void last_block(Pointer partial, unsigned* counter, int* result) {
  if (threadIdx.x != 0) return;
  partial[blockIdx.x] = 1;  // mark: partial stored
  __threadfence();
  const unsigned ticket = atomicInc(counter, gridDim.x);
  if (ticket == gridDim.x - 1) {
    int sum = 0;
    for (unsigned block = 0; block < gridDim.x; ++block) {
      sum += partial[block];  // mark: partial read
    }
    *result = sum;
  }
}

__global__ void narrow_release_and_no_acquire(int* data, unsigned* counter, int* result) {
  if (threadIdx.x != 0) return;
  data[blockIdx.x] = 1;  // mark: published narrowly
  __threadfence_block();
  if (atomicAdd(counter, 1u) == gridDim.x - 1) {
    for (unsigned block = 0; block < gridDim.x; ++block) {
      *result += data[block];  // mark: observed without acquire
    }
  }
}

// The guard as it is often written: each thread fences its own write, and then all meet.
template <bool acquires>
__global__ void fences_before_the_barrier(int* data, unsigned* counter, int* result) {
  __shared__ bool is_last;
  data[blockIdx.x * blockDim.x + threadIdx.x] = 1;  // mark: published by its own fence
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> tickets(*counter);
    const unsigned ticket =
        acquires ? tickets.fetch_add(1, cuda::memory_order_acquire) : atomicAdd(counter, 1u);
    is_last = ticket == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last) return;
  int sum = 0;
  for (unsigned block = 0; block < gridDim.x; ++block) {
    sum += data[block * blockDim.x + threadIdx.x];  // mark: observed without a fence
  }
  result[threadIdx.x] = sum;
}

// Block 1 stores to the flag once it is set. Block 2 goes on when it sees that store, by which it
// has not seen block 0's signal.
__global__ void overwritten_signal(int* data, int* flag, int* out) {
  if (blockIdx.x == 0) {
    *data = 1;
    atomicExch(flag, 1);
  } else if (blockIdx.x == 1) {
    while (atomicAdd(flag, 0) != 1) {
    }
    cuda::atomic_ref<int, cuda::thread_scope_device>(*flag).store(2, cuda::memory_order_relaxed);
  } else {
    while (atomicAdd(flag, 0) != 2) {
    }
    *out = *data;
  }
}

// ---- Very many atomics

// As students write it: a tree, and one atomic for each of 1,000 blocks; the last block reads the
// others' sums. All threads fence, and none of the fences is after the ticket.
__global__ void reduction(const int* values, int* partial, unsigned* counter, int* result) {
  __shared__ int sums[64];
  __shared__ bool last;
  sums[threadIdx.x] = values[blockIdx.x * blockDim.x + threadIdx.x];
  for (unsigned half = 32; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
  }
  if (threadIdx.x == 0) partial[blockIdx.x] = sums[0];  // mark: block's sum stored
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(counter, 1u) == gridDim.x - 1;
  __syncthreads();
  if (!last) return;
  int sum = 0;
  for (unsigned block = threadIdx.x; block < gridDim.x; block += blockDim.x) {
    sum += partial[block];  // mark: block's sum read
  }
  atomicAdd(result, sum);
}

// Each thread counts itself, and the last one reads what the others wrote.
__global__ void last_thread(int* data, unsigned* counter, int* result, int mistake) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  data[i] = 1;  // mark: thread's own stored
  if (mistake != 1) __threadfence();
  const unsigned ticket = atomicAdd(counter, 1u);
  if (mistake != 2) __threadfence();
  if (ticket == gridDim.x * blockDim.x - 1) {
    for (unsigned other = 0; other <= ticket; ++other) {
      *result += data[other];  // mark: all others' read
    }
  }
}

// After 102,400 atomics of all threads of the launch: a plain mistake of the last block's warps.
__global__ void count_then_exchange(unsigned* counter, int* result) {
  __shared__ int values[256];
  atomicAdd(counter, 1u);
  values[threadIdx.x] = 0;
  __syncthreads();
  if (blockIdx.x != gridDim.x - 1) return;
  values[threadIdx.x] = 1;                        // mark: lane's own stored
  result[threadIdx.x] = values[threadIdx.x ^ 1];  // mark: other lane's read
}

// ---- Memory that nothing has written

template <int form>
__global__ void initialise(int* fresh, int* result) {
  int* const slot = &fresh[blockIdx.x];
  if (form == 0 && threadIdx.x == 0) atomicExch(slot, 0);
  if (form == 1 && threadIdx.x == 0) (void)atomicExch(slot, 0);
  if (form == 2 && threadIdx.x == 0) *result = atomicExch(slot, 0);  // mark: old value used
  if (form == 3 && threadIdx.x == 0) atomicAdd(slot, 1);             // mark: old value added to
  if (form == 4 && threadIdx.x == 0) {
    if (blockIdx.x == 0)
      atomicExch_block(slot, 0);
    else
      atomicExch_system(slot, 0);
    result[blockIdx.x] = *slot;
  }
}

// ---- Very many pairs of lines

#define ONE_MORE(number) \
  if (blockIdx.x % 19 == number) *counter = number

// 19 lines that store to one element: 184 pairs of them and more.
__global__ void many_lines(int* counter) {
  ONE_MORE(0);
  ONE_MORE(1);
  ONE_MORE(2);
  ONE_MORE(3);
  ONE_MORE(4);
  ONE_MORE(5);
  ONE_MORE(6);
  ONE_MORE(7);
  ONE_MORE(8);
  ONE_MORE(9);
  ONE_MORE(10);
  ONE_MORE(11);
  ONE_MORE(12);
  ONE_MORE(13);
  ONE_MORE(14);
  ONE_MORE(15);
  ONE_MORE(16);
  ONE_MORE(17);
  ONE_MORE(18);
}

// ---- Names that are types' mangled names as well

__device__ int v, x;
__managed__ double re;
static __device__ int sum;
namespace of_a_namespace {
__device__ int i;
}
template <class T>
struct holder {
  static __device__ T d;
};
template <class T>
__device__ T holder<T>::d;

extern "C" __global__ void y(int* out) {
  static __device__ int f;
  v += 1;
  x += 1;
  re += 1;
  sum += 1;
  of_a_namespace::i += 1;
  holder<int>::d += 1;
  f += 1;
  out[blockIdx.x] = sum + f;
}

// ---- By name

// i % 64, but for one: thread 1 of block 0 meets the threads 0 of all blocks.
int* bins_of_threads() {
  std::vector<int> values(4 * 64);
  for (int i = 0; i < 4 * 64; ++i) values[i] = i % 64;
  values[1] = 0;
  int* made = zeros(values.size());
  if (cudaMemcpy(made, values.data(), values.size() * sizeof(int), cudaMemcpyHostToDevice) !=
      cudaSuccess) {
    std::exit(77);
  }
  return made;
}

template <class Type>
using of_thread = cuda::atomic_ref<Type, cuda::thread_scope_thread>;

__global__ void thread_scope_updates(int* count) {
  of_thread<int>(*count).fetch_add(1);  // mark: thread update
}

__global__ void thread_scope_hands_over(int* data, int* ready, int* out) {
  if (blockIdx.x == 0) {
    *data = 1;
    of_thread<int>(*ready).store(1, cuda::memory_order_release);              // mark: thread store
  } else if (of_thread<int>(*ready).load(cuda::memory_order_acquire) == 1) {  // mark: thread load
    *out = *data;
  }
}

__global__ void thread_scope_and_wider(int* count) {
  if (blockIdx.x == 0) {
    of_thread<int>(*count).exchange(1);  // mark: thread exchange
  } else {
    atomicAdd(count, 1);  // mark: wider add
  }
}

// All right: no two threads use the same word, but for a barrier between them.
__global__ void thread_scope_on_its_own(int* words, int* out) {
  int* const mine = words + blockIdx.x * blockDim.x;
  of_thread<int>(mine[threadIdx.x]).store(1);
  of_thread<int>(mine[threadIdx.x]).fetch_add(1);
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = of_thread<int>(mine[31 - threadIdx.x]).load();
}

const test_case cases[] = {
    {"element_of_1_byte", [] { store_at_5<<<2, 1>>>(zeros<char>(128)); }},
    {"element_of_2_bytes", [] { store_at_5<<<2, 1>>>(zeros<short>(64)); }},
    {"element_of_4_bytes", [] { store_at_5<<<2, 1>>>(zeros(32)); }},
    {"element_of_8_bytes", [] { store_at_5<<<2, 1>>>(zeros<double>(16)); }},
    {"one_block_waits_volatile", on_zeros(one_block_waits<volatile int*>, 3, 1)},
    {"one_block_waits", on_zeros(one_block_waits<int*>, 3, 1)},
    {"lock_with_narrow_acquire", on_zeros(lock_with_narrow_acquire, 2, 64)},
    {"histogram", [] { histogram<<<4, 64>>>(bins_of_threads(), zeros(64)); }},
    {"last_index", [] { last_index<<<4, 64>>>(bins_of_threads(), zeros(64)); }},
    {"count", on_zeros(count, 4, 64)},
    {"count_in_a_block", on_zeros(count, 1, 64)},
    {"count_bytes", [] { count_bytes<<<4, 64>>>(zeros<unsigned char>(2)); }},
    {"count_and_double", on_zeros(count_and_double, 4, 64)},
    {"sum_neighbours", on_zeros(sum_neighbours, 1, 128)},
    {"tiles_with_a_table", on_zeros(tiles_with_a_table, 1, 64)},
    {"tiles_with_a_count", on_zeros(tiles_with_a_count, 1, 64)},
    {"tiles_with_a_sum", on_zeros(tiles_with_a_sum, 1, 64)},
    {"same_constant", on_zeros(same_constant, 4, 64)},
    {"chosen_for_all", on_zeros(chosen_for_all, 4, 64)},
    {"lock_without_release", on_zeros(lock_without_release, 1, 64)},
    {"lock_opened_by_volatile", on_zeros(lock_opened_by_volatile, 2, 1)},
    {"flag_that_is_volatile", on_zeros(flag_that_is_volatile, 2, 1)},
    {"last_block_volatile", on_zeros(last_block<volatile int*>, 8, 32)},
    {"last_block_plain", on_zeros(last_block<int*>, 8, 32)},
    {"narrow_release_and_no_acquire", on_zeros(narrow_release_and_no_acquire, 8, 32)},
    {"fences_before_the_barrier",
     [] {
       fences_before_the_barrier<false><<<8, 64>>>(zeros(512), zeros<unsigned>(1), zeros(64));
     }},
    {"fences_of_few_threads",
     [] {
       fences_before_the_barrier<false><<<16, 32>>>(zeros(512), zeros<unsigned>(1), zeros(32));
     }},
    {"fences_and_an_acquire", on_zeros(fences_before_the_barrier<true>, 4, 64)},
    {"fences_and_an_acquire_in_1000_blocks",
     [] {
       fences_before_the_barrier<true><<<1000, 64>>>(zeros(64000), zeros<unsigned>(1), zeros(64));
     }},
    {"overwritten_signal", on_zeros(overwritten_signal, 3, 1)},
    {"reduction_in_1000_blocks",
     [] { reduction<<<1000, 64>>>(zeros(64000), zeros(1000), zeros<unsigned>(1), zeros(1)); }},
    {"last_thread_without_release",
     [] { last_thread<<<400, 256>>>(zeros(102400), zeros<unsigned>(1), zeros(1), 1); }},
    {"last_thread_without_acquire",
     [] { last_thread<<<16, 256>>>(zeros(4096), zeros<unsigned>(1), zeros(1), 2); }},
    {"count_then_exchange", on_zeros(count_then_exchange, 400, 256)},
    {"initialise", [] { initialise<0><<<4, 32>>>(fresh(4), zeros(1)); }},
    {"initialise_and_discard", [] { initialise<1><<<4, 32>>>(fresh(4), zeros(1)); }},
    {"initialise_and_use", [] { initialise<2><<<4, 32>>>(fresh(4), zeros(1)); }},
    {"add_to_fresh", [] { initialise<3><<<4, 32>>>(fresh(4), zeros(1)); }},
    {"initialise_and_read", [] { initialise<4><<<4, 32>>>(fresh(4), zeros(4)); }},
    {"names_of_types", on_zeros(y, 2, 1)},
    {"thread_scope_updates", on_zeros(thread_scope_updates, 2, 1)},
    {"thread_scope_in_one_block", on_zeros(thread_scope_updates, 1, 2)},
    {"thread_scope_hands_over", on_zeros(thread_scope_hands_over, 2, 1)},
    {"thread_scope_and_wider", on_zeros(thread_scope_and_wider, 2, 1)},
    {"thread_scope_on_its_own", [] { thread_scope_on_its_own<<<2, 32>>>(fresh(64), zeros(64)); }},
    {"many_lines", on_zeros(many_lines, 190, 1)},
};

int main(int count, char** words) { return run_case(cases, count, words); }

// SPDX-License-Identifier: MIT
// Races whose cause stands in more lines of the source than the two that race: causes_test.py has
// what must be told first.
//   causes_in_sources NAME       runs one
// A comment "mark: NAME" names a line of the two, or one that the diagnosis names.
#include <cuda_runtime.h>
#include <cuda/atomic>

#include "racecheck/tests/cases.hpp"

using device_ref = cuda::atomic_ref<int, cuda::thread_scope_device>;

// ---- Several threads that store by one statement

// The largest value is found by an atomic, and its place is stored after it.
__global__ void place_of_largest(const int* values, int* largest, int* place) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (atomicMax(largest, values[i]) < values[i])  // mark: largest decided
    *place = i;                                   // mark: place stored
}

__global__ void place_of_largest_seen(const int* values, int* largest, int* places) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int seen = atomicMax(largest, values[i]);
  if (seen < values[i]) {  // mark: seen decided
    places[0] = i;         // mark: seen stored
  }
}

__global__ void place_of_largest_plain(const int* values, int* largest, int* place) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (*largest < values[i]) {  // mark: plainly decided
    *largest = values[i];      // mark: largest replaced
    *place = i;                // mark: plainly stored
  }
}

__global__ void find(const int* values, int* place) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (values[i] % 8 == 7) {
    *place = i;  // mark: found
  }
}

// ---- What looks like an update, and is none

__global__ void stride_of_one_block(const int* from, int* to, unsigned count) {
  const unsigned first = blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned i = first; i < count; i += blockDim.x) {  // mark: stride
    to[i] = 2 * from[i] + to[i];                          // mark: strided
  }
}

__device__ unsigned next_of(unsigned* state) {
  unsigned x = *state;  // mark: state read
  x ^= x << 13;
  x ^= x >> 17;
  *state = x;  // mark: state stored
  return x;
}

__global__ void random_sums(unsigned* states, int* sums) {
  unsigned* const mine = &states[threadIdx.x];
  int sum = 0;
  for (int i = 0; i < 4; ++i) sum += static_cast<int>(next_of(mine) % 8);
  sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// The same form, but of one state for all threads.
__global__ void state_of_all(unsigned* states, int* sums) {
  sums[blockIdx.x * blockDim.x + threadIdx.x] = static_cast<int>(next_of(states));
}

__global__ void sort_without_barrier(int* values) {
  __shared__ int sorted[64];
  const unsigned t = threadIdx.x;
  sorted[t] = values[t];
  __syncthreads();
  for (unsigned k = 2; k <= 64; k *= 2) {
    for (unsigned j = k / 2; j > 0; j /= 2) {
      const unsigned other = t ^ j;
      if (other > t) {
        const int low = sorted[t], high = sorted[other];
        if ((low > high) == ((t & k) == 0)) {
          sorted[t] = high;
          sorted[other] = low;
        }
      }
    }
  }
  __syncthreads();
  values[t] = sorted[t];
}

__global__ void phases_without_barrier(int* values) {
  __shared__ int sorted[128];
  const unsigned t = threadIdx.x;
  sorted[t] = -values[t];
  sorted[t + 64] = -values[t + 64];
  __syncthreads();
  for (unsigned phase = 0; phase < 8; ++phase) {
    const unsigned i = 2 * t + phase % 2;
    if (i + 1 < 128 && sorted[i] > sorted[i + 1]) {
      const int kept = sorted[i];
      sorted[i] = sorted[i + 1];
      sorted[i + 1] = kept;
    }
  }
  __syncthreads();
  values[t] = sorted[t];
}

// Rows are of one warp, and columns are not.
__global__ void tiles_on_two_lines(const int* left, const int* right, int* product) {
  __shared__ int lefts[8][8], rights[8][8];
  const unsigned x = threadIdx.x, y = threadIdx.y;
  int sum = 0;
  for (unsigned tile = 0; tile < 4; ++tile) {
    lefts[y][x] = left[tile * 64 + y * 8 + x];
    rights[y][x] = right[tile * 64 + y * 8 + x];
    __syncthreads();
    for (unsigned k = 0; k < 8; ++k) {
      const int factor = lefts[y][k];
      sum += factor * rights[k][x];
    }
  }
  product[y * 8 + x] = sum;
}

// ---- Locks and flags

__device__ int squares_are_ready;
__device__ int squares[32];
__global__ void squares_double_checked(int* lock, int* out) {
  if (threadIdx.x == 0) {
    if (squares_are_ready == 0) {  // mark: ready checked
      while (atomicCAS(lock, 0, 1) != 0) {
      }
      __threadfence();
      if (squares_are_ready == 0) {
        for (int i = 0; i < 32; ++i) squares[i] = i * i;
        __threadfence();
        squares_are_ready = 1;  // mark: ready set
      }
      __threadfence();
      atomicExch(lock, 0);
    }
  }
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = squares[threadIdx.x];
}

__global__ void two_locks(int* locks, int* sum) {
  int* const lock = &locks[blockIdx.x % 2];
  while (atomicCAS(lock, 0, 1) != 0) {  // mark: one of two locks
  }
  __threadfence();
  *sum += 1;  // mark: under one of two locks
  __threadfence();
  atomicExch(lock, 0);
}

__device__ int next_ticket, now_serving;
__global__ void served_plainly(int* sum) {
  const int mine = atomicAdd(&next_ticket, 1);
  while (atomicAdd(&now_serving, 0) != mine) {  // mark: turn awaited
  }
  __threadfence();
  *sum += 1;
  __threadfence();
  now_serving = mine + 1;  // mark: next one served
}

struct guard {
  device_ref word;
  __device__ explicit guard(int& lock) : word(lock) {
    while (word.exchange(1, cuda::memory_order_acquire) != 0) {
    }
  }
  __device__ ~guard() { word.store(0, cuda::memory_order_release); }
};
__global__ void guard_without_name(int* lock, int* sum) {
  guard{*lock};  // mark: given back at once
  *sum += 1;     // mark: added after the guard
}

// A reader looks for a writer, and then counts itself in.
__global__ void look_then_enter(int* writing, int* reading, int* pair, int* out) {
  const device_ref writer(*writing), readers(*reading);
  for (int i = 0; i < 8; ++i) {
    if (blockIdx.x == 0) {
      while (writer.exchange(1) != 0) {
      }
      while (readers.load() != 0) {
      }
      pair[0] = i;  // mark: written by the writer
      writer.store(0);
    } else {
      while (writer.load() != 0) {
      }
      readers.fetch_add(1);
      out[blockIdx.x] = pair[0];  // mark: read by a reader
      readers.fetch_sub(1);
    }
  }
}

struct shared_lock {
  int state;
  __device__ void enter() {
    while (device_ref(state).fetch_add(1, cuda::memory_order_acquire) < 0) {
    }
  }
  __device__ void leave() { device_ref(state).fetch_sub(1, cuda::memory_order_release); }
};
__device__ shared_lock of_sum;
__global__ void shared_by_writers(int* sum) {
  of_sum.enter();
  *sum += 1;  // mark: added by two
  of_sum.leave();
}

// The lock is right, and thread 0 gives it back while others are still at work.
struct block_lock {
  int state;
  __device__ void enter() {
    while (threadIdx.x == 0 && device_ref(state).exchange(1, cuda::memory_order_acquire) != 0) {
    }
    __syncthreads();
  }
  __device__ void leave() {
    if (threadIdx.x == 0) device_ref(state).store(0, cuda::memory_order_release);
  }
};
__device__ block_lock of_sums;
__global__ void left_early(int* sums) {
  of_sums.enter();
  sums[threadIdx.x] = 2 * sums[threadIdx.x] + 1;  // mark: still at work
  of_sums.leave();
}

// ---- Signals

__global__ void wiped_in_use(int** head, int* other, int* out) {
  const cuda::atomic_ref<int*, cuda::thread_scope_device> first(*head);
  if (blockIdx.x == 3) {
    int* const old = first.exchange(other);  // mark: taken out
    *old = 0;                                // mark: wiped
  } else {
    const int* const list = first.load();
    out[blockIdx.x] = *list;  // mark: still read
  }
}

// A stack of free nodes: a thread reads the successor of a node that another one gives back.
__global__ void take_and_give(int* head, int* steps) {
  const device_ref top(*head);
  for (int i = 0; i < 4; ++i) {
    int seen = top.load(), then = 0;
    do {
      then = seen + 257 + steps[seen % 256];  // mark: successor read
    } while (!top.compare_exchange_strong(seen, then));
    const int mine = seen % 256;
    seen = top.load();
    do {
      steps[mine] = seen % 256 - mine - 1;  // mark: successor written
    } while (!top.compare_exchange_strong(seen, seen - seen % 256 + 256 + mine));
  }
}

__global__ void displace(int* keys, int* values) {
  int key = static_cast<int>(1 + blockIdx.x * blockDim.x + threadIdx.x), value = key;
  for (int kicks = 0; kicks < 4 && key != 0; ++kicks) {
    const int slot = (key + kicks) % 4;
    key = atomicExch(&keys[slot], key);  // mark: key exchanged
    const int displaced = values[slot];  // mark: value displaced
    values[slot] = value;                // mark: value put
    value = displaced;
  }
}

// A block waits for one neighbour, and reads what both have written.
__global__ void one_neighbour_awaited(int* cells, int* written, int* out) {
  const int mine = static_cast<int>(blockIdx.x), count = static_cast<int>(gridDim.x);
  const int left = (mine + count - 1) % count, right = (mine + 1) % count;
  cells[mine] = mine + 1;  // mark: cell written
  device_ref(written[mine]).store(1, cuda::memory_order_release);
  while (device_ref(written[right]).load(cuda::memory_order_acquire) == 0) {  // mark: one awaited
  }
  out[mine] = cells[left] + cells[right];  // mark: both read
}

__global__ void once(int* state, int* sines, int* out) {
  const device_ref known(*state);
  int expected = 0;
  if (known.compare_exchange_strong(expected, 1, cuda::memory_order_acq_rel)) {  // mark: claimed
    sines[0] = 1;  // mark: initialised
    known.store(2, cuda::memory_order_release);
  } else {
    while (known.load(cuda::memory_order_acquire) == 0) {
    }
  }
  out[blockIdx.x] = sines[0];  // mark: used in progress
}

// The key is stored after the node has been linked.
__global__ void insert_into_tree(const int* values, int* keys, int* children) {
  const int mine = static_cast<int>(1 + blockIdx.x * blockDim.x + threadIdx.x);
  int at = 0;
  for (int there = 0;; at = there) {
    const int side = values[mine] > keys[at];  // mark: key compared
    device_ref link(children[2 * at + side]);
    there = 0;
    if (link.compare_exchange_strong(there, mine)) break;  // mark: linked
  }
  keys[mine] = values[mine];  // mark: key stored
}

// Lists are walked while others are built.
__global__ void build_and_walk(int* heads, int* next, int* out) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  next[i] = atomicExch(&heads[i % 4], i);  // mark: list built
  __syncthreads();
  int count = 0;
  for (int j = heads[(i + 1) % 4]; j > 0; j = next[j]) ++count;  // mark: list walked
  out[i] = count;
}

__device__ unsigned arrived, rounds_done;
__device__ void meet() {
  __syncthreads();
  if (threadIdx.x == 0) {
    const unsigned round = atomicAdd(&rounds_done, 0u);
    __threadfence();
    if (atomicAdd(&arrived, 1u) == gridDim.x - 1) {  // mark: arrives
      __threadfence();
      atomicAdd(&rounds_done, 1u);  // mark: lets them go
      arrived = 0;                  // mark: reset late
    } else {
      for (int tries = 0; tries < 1000 && atomicAdd(&rounds_done, 0u) == round; ++tries) {
      }
      __threadfence();
    }
  }
  __syncthreads();
}
__global__ void reset_after_the_signal() {
  for (int round = 0; round < 4; ++round) meet();
}

__global__ void ring_overtaken(int* ring, unsigned* tail, int* out) {
  if (blockIdx.x == 0) {
    for (unsigned i = 0; i < 16; ++i) {
      ring[i % 4] = static_cast<int>(i);  // mark: put into the ring
      __threadfence();
      atomicExch(tail, i + 1);
    }
  } else {
    for (unsigned i = 0; i < 16; ++i) {
      while (atomicAdd(tail, 0u) < i + 1) {
      }
      __threadfence();
      out[i] = ring[i % 4];  // mark: taken from the ring
    }
  }
}

__global__ void stack(int* top, int* elements, int* out) {
  if (blockIdx.x == 0) {
    const int place = atomicAdd(top, 1);  // mark: top raised
    elements[place] = 7;                  // mark: pushed
    __threadfence();
  } else {
    int seen = 0;
    do {
      seen = atomicAdd(top, 0);
    } while (seen == 0 || atomicCAS(top, seen, seen - 1) != seen);
    __threadfence();
    out[threadIdx.x] = elements[seen - 1];  // mark: popped
  }
}

// Threads that count in other bins meanwhile signal nothing.
__global__ void bins_merged_early(const unsigned* keys, unsigned* result) {
  __shared__ unsigned bins[16];
  if (threadIdx.x < 16) bins[threadIdx.x] = 0;
  __syncthreads();
  for (unsigned i = threadIdx.x; i < 256; i += blockDim.x) {
    atomicAdd(&bins[keys[i] % 16], 1u);  // mark: bin of a key
  }
  if (threadIdx.x < 16) {
    const unsigned mine = bins[threadIdx.x];  // mark: bin merged
    if (mine != 0) atomicAdd(&result[threadIdx.x], mine);
  }
}

// ---- By name

// 0, 1, 2 and so on.
template <class T = int>
T* numbers(unsigned count) {
  T* const made = fresh<T>(count);
  T* const host = new T[count];
  for (unsigned i = 0; i < count; ++i) host[i] = static_cast<T>(i);
  (void)cudaMemcpy(made, host, count * sizeof(T), cudaMemcpyHostToDevice);
  delete[] host;
  return made;
}

const struct {
  const char* name;
  void (*run)();
} cases[] = {
    {"place_of_largest", [] { place_of_largest<<<4, 64>>>(numbers(256), zeros(1), zeros(1)); }},
    {"place_of_largest_seen",
     [] { place_of_largest_seen<<<4, 64>>>(numbers(256), zeros(1), zeros(1)); }},
    {"place_of_largest_plain",
     [] { place_of_largest_plain<<<4, 64>>>(numbers(256), zeros(1), zeros(1)); }},
    {"find", [] { find<<<4, 64>>>(numbers(256), zeros(1)); }},
    {"find_in_a_block", [] { find<<<1, 64>>>(numbers(64), zeros(1)); }},
    {"random_sums", [] { random_sums<<<4, 32>>>(numbers<unsigned>(32), zeros(128)); }},
    {"state_of_all", [] { state_of_all<<<4, 32>>>(numbers<unsigned>(1), zeros(128)); }},
    {"sort_without_barrier", [] { sort_without_barrier<<<1, 64>>>(numbers(64)); }},
    {"phases_without_barrier", [] { phases_without_barrier<<<1, 64>>>(numbers(128)); }},
    {"tiles_on_two_lines",
     [] { tiles_on_two_lines<<<1, dim3(8, 8)>>>(zeros(256), zeros(256), zeros(64)); }},
    {"squares_double_checked", [] { squares_double_checked<<<8, 32>>>(zeros(1), zeros(256)); }},
    {"two_locks", [] { two_locks<<<4, 1>>>(zeros(2), zeros(1)); }},
    {"guard_without_name", [] { guard_without_name<<<4, 1>>>(zeros(1), zeros(1)); }},
    {"look_then_enter", [] { look_then_enter<<<4, 1>>>(zeros(1), zeros(1), zeros(1), zeros(4)); }},
    {"shared_by_writers", [] { shared_by_writers<<<4, 1>>>(zeros(1)); }},
    {"left_early", [] { left_early<<<4, 32>>>(zeros(32)); }},
    {"wiped_in_use",
     [] {
       int** const head = zeros<int*>(1);
       int* const list = zeros(1);
       if (cudaMemcpy(head, &list, sizeof list, cudaMemcpyHostToDevice) != cudaSuccess) return;
       wiped_in_use<<<4, 1>>>(head, zeros(1), zeros(4));
     }},
    {"take_and_give", [] { take_and_give<<<4, 1>>>(zeros(1), zeros(8)); }},
    {"displace", [] { displace<<<4, 8>>>(zeros(4), zeros(4)); }},
    {"one_neighbour_awaited",
     [] { one_neighbour_awaited<<<4, 1>>>(zeros(4), zeros(4), zeros(4)); }},
    {"once", [] { once<<<4, 1>>>(zeros(1), zeros(1), zeros(4)); }},
    {"insert_into_tree", [] { insert_into_tree<<<2, 32>>>(numbers(65), zeros(65), zeros(130)); }},
    {"build_and_walk", [] { build_and_walk<<<4, 32>>>(zeros(4), zeros(128), zeros(128)); }},
    {"stride_of_one_block", [] { stride_of_one_block<<<4, 32>>>(zeros(256), zeros(256), 256); }},
    {"served_plainly", [] { served_plainly<<<4, 1>>>(zeros(1)); }},
    {"reset_after_the_signal", [] { reset_after_the_signal<<<4, 32>>>(); }},
    {"ring_overtaken", [] { ring_overtaken<<<2, 1>>>(zeros(4), zeros<unsigned>(1), zeros(16)); }},
    {"stack", [] { stack<<<2, 1>>>(zeros(1), zeros(2), zeros(1)); }},
    {"bins_merged_early",
     [] { bins_merged_early<<<1, 96>>>(numbers<unsigned>(256), zeros<unsigned>(16)); }},
};

int main(int count, char** words) { return run_case(cases, count, words); }

// SPDX-License-Identifier: MIT
// The mistakes that racecheck must find, and for each a correct twin that it must pass.
//   mistakes NAME        runs one
//   mistakes             lists all names
// A comment "mark: NAME" names the line of an access that the report must name.
#include <cooperative_groups.h>
#include <cuda_runtime.h>
#include <cuda/atomic>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

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

// ---- Within a block

enum class tree { right, without_barrier, without_last_barrier };

template <tree how>
__global__ void reduction(memory of) {
  __shared__ int sums[threads];
  sums[threadIdx.x] = of.data[threadIdx.x];  // mark: sums written
  if (how != tree::without_barrier) __syncthreads();
  for (unsigned half = threads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      const int other = sums[threadIdx.x + half];  // mark: sums read
      sums[threadIdx.x] += other;                  // mark: sums added
    }
    if (how != tree::without_last_barrier) __syncthreads();
  }
  if (threadIdx.x == 0) of.result[blockIdx.x] = sums[0];
}

template <bool synchronised>
__global__ void warp_reduction(memory of) {
  __shared__ int sums[32];
  volatile int* lanes = sums;
  const unsigned lane = threadIdx.x;
  if (lane >= 32) return;
  lanes[lane] = of.data[lane];
  __syncwarp();
  for (unsigned delta = 16; delta > 0; delta /= 2) {
    if (synchronised) __syncwarp();
    const int other = lane < delta ? lanes[lane + delta] : 0;  // mark: lane read
    if (synchronised) __syncwarp();
    if (lane < delta) lanes[lane] = lanes[lane] + other;  // mark: lane written
  }
  if (lane == 0) of.result[blockIdx.x] = sums[0];
}

template <bool synchronised>
__global__ void shuffle_as_barrier(memory of) {
  __shared__ int value;
  if (threadIdx.x >= 32) return;
  if (threadIdx.x == 0) value = 7;  // mark: value written
  const int lane = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x), 0);
  if (synchronised) __syncwarp();
  of.result[blockIdx.x * threads + threadIdx.x] = value + lane;  // mark: value read
}

enum class barrier_form { any, all, count };

template <barrier_form form>
__global__ void counting_barriers(memory of) {
  __shared__ int sums[threads];
  sums[threadIdx.x] = static_cast<int>(threadIdx.x);
  if (form == barrier_form::any) __syncthreads_or(0);
  if (form == barrier_form::all) __syncthreads_and(1);
  if (form == barrier_form::count) __syncthreads_count(1);
  of.result[blockIdx.x * threads + threadIdx.x] = sums[threads - 1 - threadIdx.x];
}

// A flag within one block: device scope on one side, block scope on the other.
__global__ void mixed_scopes_in_a_block(memory of) {
  __shared__ unsigned flag;
  __shared__ int value;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 33) {
    value = 5;
    device_ref(flag).store(1, cuda::memory_order_release);
  }
  if (threadIdx.x == 0) {
    while (block_ref(flag).load(cuda::memory_order_acquire) == 0) {
    }
    of.result[blockIdx.x] = value;
  }
}

// ---- The last-block guard

struct guard {
  bool every_thread_writes = true;
  bool barrier_before = true;
  bool early_fence = false;  // by all threads, before the barrier
  bool fence_before = true;
  bool fence_after = true;
  bool barrier_after = true;
  bool block_fence = false;
  bool block_ticket = false;
  bool acq_rel_fences = false;
};

template <guard of>
__device__ void guard_fence() {
  if (of.acq_rel_fences) {
    cuda::atomic_thread_fence(cuda::memory_order_acq_rel, cuda::thread_scope_device);
  } else if (of.block_fence) {
    __threadfence_block();
  } else {
    __threadfence();
  }
}

template <guard with>
__global__ void last_block(memory of) {
  __shared__ bool last;
  const unsigned mine = blockIdx.x * threads + threadIdx.x;
  if (with.every_thread_writes || threadIdx.x == 0) of.data[mine] = 1;  // mark: published
  if (with.early_fence) guard_fence<with>();
  if (with.barrier_before) __syncthreads();
  if (threadIdx.x == 0) {
    if (with.fence_before) guard_fence<with>();
    unsigned ticket;
    if (with.block_ticket) {
      ticket = atomicAdd_block(of.counter, 1);  // mark: narrow ticket
    } else {
      ticket = atomicAdd(of.counter, 1);  // mark: ticket
    }
    if (with.fence_after) guard_fence<with>();
    last = ticket == gridDim.x - 1;
  }
  if (with.barrier_after) __syncthreads();
  if (with.barrier_after ? last : threadIdx.x == 0 && last) {
    int sum = 0;
    for (unsigned block = 0; block < gridDim.x; ++block) {
      if (with.every_thread_writes)
        sum += of.data[block * threads + threadIdx.x];                 // mark: observed
      if (!with.every_thread_writes) sum += of.data[block * threads];  // mark: observed alone
    }
    of.result[threadIdx.x] = sum;
    if (threadIdx.x == 0) *of.counter = 0;
  }
}

enum class modern {
  right,
  relaxed,
  release_only,
  block_scope,
  without_barrier,
  without_last_barrier
};

template <modern how>
__global__ void modern_guard(memory of) {
  __shared__ bool last;
  of.data[blockIdx.x * threads + threadIdx.x] = 1;  // mark: modern published
  if (how != modern::without_barrier) __syncthreads();
  if (threadIdx.x == 0) {
    const auto order = how == modern::relaxed        ? cuda::memory_order_relaxed
                       : how == modern::release_only ? cuda::memory_order_release
                                                     : cuda::memory_order_acq_rel;
    unsigned ticket;
    if (how == modern::block_scope) {
      ticket = block_ref(*of.counter).fetch_add(1, order);  // mark: modern narrow ticket
    } else {
      ticket = device_ref(*of.counter).fetch_add(1, order);
    }
    last = ticket == gridDim.x - 1;
    if (last) {
      for (unsigned block = 0; block < gridDim.x; ++block) of.result[0] += of.data[block * threads];
      *of.counter = 0;
    }
  }
  if (how != modern::without_last_barrier) __syncthreads();
  if (how == modern::without_last_barrier ? threadIdx.x == 0 && last : last) {
    int sum = 0;
    for (unsigned block = 0; block < gridDim.x; ++block) {
      sum += of.data[block * threads + threadIdx.x];  // mark: modern observed
    }
    of.result[threadIdx.x + 1] = sum;
  }
}

// A block that has not seen the counter reads it, or resets it.
template <int mistake>
__global__ void counter_without_ticket(memory of) {
  if (blockIdx.x == 0) {
    if (threadIdx.x == 0) {
      if (mistake == 1) of.result[0] = static_cast<int>(*of.counter);  // mark: counter read
      if (mistake == 2) *of.counter = 0;                               // mark: counter reset
      if (mistake == 0) of.result[0] = static_cast<int>(atomicAdd(of.counter, 0));
    }
    return;
  }
  if (threadIdx.x == 0) atomicAdd(of.counter, 1);  // mark: counter added
}

// A counter of 64 bits, two words of memory: the last ticket is after all others in both of them.
__global__ void wide_counter(unsigned long long* counter) {
  if (threadIdx.x == 0 && atomicAdd(counter, 1ull) == gridDim.x - 1) *counter = 0;
}

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

// ---- Not races

// Block 0 leaves it written, and every other block has its own.
__global__ void unwritten_shared_of_file(memory of) {
  if (blockIdx.x == 0) of_file[threadIdx.x] = 1;
  of.result[blockIdx.x * threads + threadIdx.x] =
      of_file[threadIdx.x];  // mark: unwritten of the file
}

__global__ void past_the_end_of_shared_of_file(memory of) {
  of_file[threadIdx.x + 1] = 1;  // mark: past the end of the file's
  __syncthreads();
  of.result[threadIdx.x] = of_file[threads - 1];
}

template <bool written>
__global__ void unwritten_shared(memory of) {
  __shared__ int values[threads];
  if (written) values[threadIdx.x] = 1;
  of.result[threadIdx.x] = values[threadIdx.x];  // mark: unwritten shared
}

template <bool written>
__global__ void unwritten_device(memory of) {
  if (written) of.unwritten[threadIdx.x] = 1;
  of.result[threadIdx.x] = of.unwritten[threadIdx.x];  // mark: unwritten device
}

__global__ void past_the_end(memory of) {
  of.data[blocks * threads + threadIdx.x] = 1;  // mark: past the end
}

__global__ void past_the_end_of_shared(memory of) {
  __shared__ int values[threads];
  values[threadIdx.x + 1] = 1;  // mark: past the end of shared
  __syncthreads();
  of.result[threadIdx.x] = values[threads - 1];
}

__global__ void past_the_end_of_dynamic(memory of) {
  extern __shared__ int elements[];
  elements[threadIdx.x + 1] = 1;  // mark: past the end of dynamic
  __syncthreads();
  of.result[threadIdx.x] = elements[threads - 1];
}

__global__ void waits_for_later_block(memory of) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == gridDim.x - 1) {
    atomicExch(of.counter, 1u);
  } else {
    while (atomicAdd(of.counter, 0) == 0) {
    }
  }
}

__global__ void waits_by_plain_reads(memory of) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    while (*static_cast<volatile unsigned*>(of.counter) == 0) {
    }
  } else if (blockIdx.x == 1) {
    *static_cast<volatile unsigned*>(of.counter) = 1;
  }
}

__global__ void half_a_barrier(memory of) {
  if (threadIdx.x % 2 == 0) __syncthreads();
  if (threadIdx.x % 2 == 1) {
    while (atomicAdd(of.counter, 0) == 0) {
    }
  }
}

__global__ void endless(memory of) {
  volatile unsigned count = 0;
  while (of.data[0] == 0) count = count + 1;
}

__global__ void exits(memory of) {
  of.result[threadIdx.x] = 1;
  if (threadIdx.x == 3) std::exit(0);
}

__global__ void throws(memory of) {
  of.result[threadIdx.x] = 1;
  if (threadIdx.x == 3) throw std::runtime_error("thrown by a kernel");
}

__global__ void host_pointer(const int* host, int* result) { *result = *host; }

__global__ void nothing_to_see() {}

// ---- By name

memory allocate() {
  constexpr std::size_t count = blocks * threads;
  memory made{};
  made.data = zeros(count);
  made.result = zeros(count);
  made.unwritten = fresh(count);
  made.counter = zeros<unsigned>(1);
  return made;
}

template <class Kernel>
void launch(Kernel kernel, int grid = blocks) {
  const memory of = allocate();
  kernel<<<grid, threads>>>(of);
}

const struct {
  const char* name;
  void (*run)();
} cases[] = {
    {"reduction", [] { launch(reduction<tree::right>); }},
    {"reduction_without_barrier", [] { launch(reduction<tree::without_barrier>); }},
    {"reduction_without_last_barrier", [] { launch(reduction<tree::without_last_barrier>); }},
    {"warp_with_syncwarp", [] { launch(warp_reduction<true>); }},
    {"lock_step_warp", [] { launch(warp_reduction<false>); }},
    {"shuffle_and_syncwarp", [] { launch(shuffle_as_barrier<true>); }},
    {"shuffle_as_barrier", [] { launch(shuffle_as_barrier<false>); }},
    {"syncthreads_or", [] { launch(counting_barriers<barrier_form::any>); }},
    {"syncthreads_and", [] { launch(counting_barriers<barrier_form::all>); }},
    {"syncthreads_count", [] { launch(counting_barriers<barrier_form::count>); }},
    {"mixed_scopes_in_a_block", [] { launch(mixed_scopes_in_a_block); }},

    {"guard", [] { launch(last_block<guard{}>); }},
    {"guard_single_writer",
     [] { launch(last_block<guard{.every_thread_writes = false, .barrier_before = false}>); }},
    {"guard_acq_rel_fences", [] { launch(last_block<guard{.acq_rel_fences = true}>); }},
    {"guard_early_fences",
     [] { launch(last_block<guard{.early_fence = true, .fence_before = false}>); }},
    {"guard_without_fences",
     [] { launch(last_block<guard{.fence_before = false, .fence_after = false}>); }},
    {"guard_block_fences", [] { launch(last_block<guard{.block_fence = true}>); }},
    {"guard_block_ticket", [] { launch(last_block<guard{.block_ticket = true}>); }},
    {"guard_without_barrier", [] { launch(last_block<guard{.barrier_before = false}>); }},
    {"guard_without_observers_fence", [] { launch(last_block<guard{.fence_after = false}>); }},
    {"guard_classic_single_writer",
     [] {
       launch(last_block<guard{
                  .every_thread_writes = false, .barrier_before = false, .fence_after = false}>);
     }},
    {"guard_classic",
     [] { launch(last_block<guard{.barrier_before = false, .fence_after = false}>); }},
    {"guard_early_acq_rel_fences",
     [] {
       launch(
           last_block<guard{.early_fence = true, .fence_before = false, .acq_rel_fences = true}>);
     }},

    {"modern_guard", [] { launch(modern_guard<modern::right>); }},
    {"modern_guard_relaxed", [] { launch(modern_guard<modern::relaxed>); }},
    {"modern_guard_release_only", [] { launch(modern_guard<modern::release_only>); }},
    {"modern_guard_block_scope", [] { launch(modern_guard<modern::block_scope>); }},
    {"modern_guard_without_barrier", [] { launch(modern_guard<modern::without_barrier>); }},

    {"counter_read_atomically", [] { launch(counter_without_ticket<0>); }},
    {"plain_read_of_counter", [] { launch(counter_without_ticket<1>); }},
    {"plain_reset_of_counter", [] { launch(counter_without_ticket<2>); }},

    {"wide_counter", [] { wide_counter<<<blocks, threads>>>(zeros<unsigned long long>(1)); }},

    {"queue", [] { launch(work<queue::right>); }},
    {"fetch_twice", [] { launch(work<queue::fetches_twice>); }},
    {"fetch_without_barrier", [] { launch(work<queue::without_barrier>); }},
    {"plain_write_before_release", [] { launch(plain_write_before_release); }},
    {"steal_at_device_scope", [] { launch(steal<false>); }},
    {"steal_at_block_scope", [] { launch(steal<true>); }},

    {"lock", [] { launch(add_under_lock<lock::right>); }},
    {"lock_without_release", [] { launch(add_under_lock<lock::no_release>); }},
    {"lock_without_acquire", [] { launch(add_under_lock<lock::no_acquire>); }},
    {"lock_at_block_scope", [] { launch(add_under_lock<lock::block_scope>); }},
    {"lock_on_one_side", [] { launch(add_under_lock<lock::one_side_unlocked>); }},

    {"two_blocks_exchange", [] { launch(two_blocks_write<true>); }},
    {"two_blocks_write", [] { launch(two_blocks_write<false>); }},
    {"two_flags", [] { launch(two_flags<cuda::memory_order_acq_rel>); }},
    {"two_flags_awaited", [] { launch(two_flags<cuda::memory_order_relaxed, true>); }},
    {"two_volatile_flags", [] { launch(two_volatile_flags); }},
    {"flag_raised_further", [] { launch(flag_raised_further); }},
    {"two_flags_sc", [] { launch(two_flags<cuda::memory_order_seq_cst>); }},
    {"all_atomic", [] { launch(plain_and_atomic<false>); }},
    {"plain_and_atomic", [] { launch(plain_and_atomic<true>); }},
    {"neighbouring_bytes",
     [] { neighbouring_bytes<<<blocks, threads>>>(fresh<unsigned char>(blocks * threads)); }},
    {"neighbouring_atomics",
     [] { neighbouring_atomics<<<blocks, threads>>>(zeros<unsigned short>(threads)); }},
    {"grid_barrier",
     [] {
       memory of = allocate();
       void* arguments[] = {&of};
       (void)cudaLaunchCooperativeKernel(grid_barrier, blocks, threads, arguments);
     }},
    {"returned_after_the_barrier",
     [] { launch(barrier_of_those_left<returns::after_the_barrier>); }},
    {"returned_before_the_barrier",
     [] { launch(barrier_of_those_left<returns::before_the_barrier>); }},
    {"returned_without_writing", [] { launch(barrier_of_those_left<returns::without_writing>); }},
    {"between_grid_barriers",
     [] {
       memory of = allocate();
       void* arguments[] = {&of};
       // Two blocks: whichever comes last, its access and the other one's are a pair that races.
       (void)cudaLaunchCooperativeKernel(between_grid_barriers, 2, threads, arguments);
     }},
    {"two_launches",
     [] {
       const memory of = allocate();
       reduction<tree::right><<<blocks, threads>>>(of);
       two_blocks_write<true><<<blocks, threads>>>(of);
       reduction<tree::right><<<blocks, threads>>>(of);
     }},

    {"shared_of_file", [] { launch(shared_of_file<true>); }},
    {"shared_of_file_without_barrier", [] { launch(shared_of_file<false>); }},
    {"unwritten_shared_of_file", [] { launch(unwritten_shared_of_file, 4); }},
    {"past_the_end_of_shared_of_file", [] { launch(past_the_end_of_shared_of_file, 1); }},
    {"written_shared", [] { launch(unwritten_shared<true>, 1); }},
    {"unwritten_shared", [] { launch(unwritten_shared<false>, 1); }},
    {"written_device", [] { launch(unwritten_device<true>, 1); }},
    {"unwritten_device", [] { launch(unwritten_device<false>, 1); }},
    {"past_the_end_of_shared", [] { launch(past_the_end_of_shared, 1); }},
    {"past_the_end_of_dynamic",
     [] { past_the_end_of_dynamic<<<1, threads, threads * sizeof(int)>>>(allocate()); }},
    {"past_the_end", [] { launch(past_the_end, 1); }},

    {"waits_for_later_block", [] { launch(waits_for_later_block, 100); }},
    {"waits_by_plain_reads", [] { launch(waits_by_plain_reads); }},
    {"half_a_barrier", [] { launch(half_a_barrier, 1); }},
    {"endless", [] { launch(endless, 1); }},
    {"exits", [] { launch(exits, 1); }},
    {"throws", [] { launch(throws, 1); }},
    {"host_pointer",
     [] {
       static int on_the_heap = 0;
       int* host = new int(on_the_heap);
       host_pointer<<<1, 1>>>(host, allocate().result);
     }},
    {"nothing_to_see", [] { nothing_to_see<<<1, 1>>>(); }},
};

int main(int count, char** words) {
  if (count > 1) return run_case(cases, count, words);
  for (const auto& each : cases) std::puts(each.name);
}

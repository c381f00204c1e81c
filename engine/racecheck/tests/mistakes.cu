// SPDX-License-Identifier: MIT
// The mistakes that racecheck must find, and for each a correct twin that it must pass.
//   mistakes NAME        runs one
//   mistakes             lists all names
// A comment "mark: NAME" names the line of an access that the report must name.
#include "racecheck/tests/misuses.cuh"

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

const test_case cases[] = {
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
    {"structure_stored_back", [] { launch(structure_stored_back); }},
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
    {"asked_by_one_thread", [] { launch(asked_by_one_thread, 1); }},
    {"written_shared", [] { launch(unwritten_shared<true>, 1); }},
    {"unwritten_shared", [] { launch(unwritten_shared<false>, 1); }},
    {"written_device", [] { launch(unwritten_device<true>, 1); }},
    {"unwritten_device", [] { launch(unwritten_device<false>, 1); }},
    {"reads_constants", [] { launch(reads_constants, 1); }},
    {"writes_constant", [] { launch(writes_constant, 1); }},
    {"adds_to_constant", [] { launch(adds_to_constant, 1); }},
    {"keeps_to_its_own", [] { launch(keeps_to_its_own, 1); }},
    {"local_of_another", [] { launch(local_of_another, 1); }},
    {"atomic_on_local", [] { launch(atomic_on_local, 1); }},
    {"lane_that_has_ended", [] { launch(lane_that_has_ended, 1); }},
    {"read_only_load", [] { launch(read_only_load, 1); }},
    {"meets_in_a_function", [] { launch(meets_in_a_function<true>, 1); }},
    {"meets_in_two_branches", [] { launch(meets_in_a_function<false>, 1); }},
    {"written_copy",
     [] {
       const memory of = allocate();
       keeps_to_its_own<<<1, threads>>>(of);
       int copied[threads];
       cudaMemcpy(copied, of.data, sizeof copied, cudaMemcpyDeviceToHost);
       if (copied[1] == 12345) std::puts("so much");
     }},
    {"unwritten_copy",
     [] {
       int *fresh = nullptr, copied[4];
       cudaMalloc(&fresh, sizeof copied);
       writes_the_first<<<1, 1>>>(fresh);
       cudaMemcpy(copied, fresh, sizeof copied, cudaMemcpyDeviceToHost);
       if (copied[0] == 12345) std::puts("so much");
       if (copied[3] == 12345) std::puts("by chance");  // mark: unwritten bytes used
     }},
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
    {"nothing_to_see",
     [] {
       allocate();  // fills and copies: no accesses of a kernel
       nothing_to_see<<<1, 1>>>();
     }},
};

int main(int count, char** words) {
  if (count > 1) return run_case(cases, count, words);
  for (const auto& each : cases) std::puts(each.name);
}

// SPDX-License-Identifier: MIT
// Makes one named mistake in a kernel that a GPU would answer with a hang, with silence or with an
// error that names no place:
//   diagnosis different_barriers
// and prints what the calls of the CUDA runtime return then, one line each. What the CPU backend
// has to say about the mistake goes to stderr. `diagnosis --list` prints the names. Places that the
// report should name are marked by comments of the form "mark: NAME", which diagnosis_cpu_test
// looks for.

#undef NDEBUG  // the device assert below must be live in a release build too
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cassert>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <cuda/atomic>
#include <cuda/work_stealing>
#include <stdexcept>

namespace {

namespace cg = cooperative_groups;

constexpr unsigned blocks = 3, threads = 64;

// Memory errors and the like are the point here: sanitizers are not to speak first.
#define DELIBERATE __attribute__((no_sanitize("address", "undefined")))

// ---- barriers and warps

__global__ void different_barriers(int* out) {
  if (threadIdx.x % 2 == 0) {
    out[0] = 1;
    __syncthreads();  // mark: even threads
  } else {
    out[1] = 1;
    __syncthreads();  // mark: odd threads
  }
}

__global__ void different_kinds_of_barrier(int* out) {
  if (threadIdx.x < 10) {
    __syncthreads();  // mark: plain barrier
  } else {
    *out = __syncthreads_or(1);  // mark: voting barrier
  }
}

__global__ void two_barriers_of_one_line(int* out) {
  *out = threadIdx.x % 2 ? __syncthreads_or(1) : __syncthreads_or(1);  // mark: both barriers
}

__global__ void barrier_against_warp(int* out) {
  if (threadIdx.x % 32 < 16) {
    __syncthreads();  // mark: barrier of half a warp
  } else {
    __syncwarp();  // mark: the other half
  }
  *out = 1;
}

__global__ void different_warp_operations(int* out) {
  if (threadIdx.x % 32 < 16) {
    __syncwarp();  // mark: meeting
  } else {
    *out = __any_sync(0xffffffffu, 1);  // mark: vote
  }
}

__global__ void mask_without_caller(int* out) {
  *out = __shfl_sync(0x0000ffffu, 5, 0);  // mark: shuffle
}

__global__ void odd_width(int* out) {
  *out = __shfl_sync(0xffffffffu, 5, 0, 12);  // mark: shuffle of odd width
}

// ---- waiting for what never comes

__global__ void wait_by_atomic(int* flag) {
  while (atomicAdd(flag, 0) == 0) {  // mark: atomic wait
  }
}

__global__ void wait_by_reference(int* flag) {
  cuda::atomic_ref<int, cuda::thread_scope_device> value(*flag);
  while (value.load(cuda::memory_order_acquire) == 0) {  // mark: load that waits
  }
}

__global__ void wait_for_all_blocks(int* arrived) {
  cuda::atomic_ref<int, cuda::thread_scope_device> count(*arrived);
  const int all = gridDim.x;
  if (threadIdx.x == 0) count.fetch_add(1, cuda::memory_order_relaxed);
  while (count.load(cuda::memory_order_relaxed) < all) {  // mark: all blocks
  }
}

__global__ void wait_before_barrier(int* flag) {
  if (threadIdx.x == 5) {
    while (atomicCAS(flag, 1, 2) != 1) {  // mark: thread that waits
    }
  }
  __syncthreads();  // mark: threads at the barrier
}

// Each thread takes a quarter of a second of the processor, and none waits.
__global__ void compute_for_long(int* out) {
  const std::clock_t start = std::clock();
  int rounds = 0;
  while (std::clock() - start < CLOCKS_PER_SEC / 4) ++rounds;
  if (rounds > 0) out[threadIdx.x] = 1;
}

__global__ void wait_by_volatile(int* flag) {
  const volatile int* const seen = flag;
  while (*seen == 0) {
  }
}

__global__ void meet_grid(int* out) {
  if (blockIdx.x == 1) return;
  cg::this_grid().sync();  // mark: grid barrier
  *out = 1;
}

__global__ void meet_in_grid() { cg::this_grid().sync(); }

__global__ void meet_grid_of_ordinary_launch(int* out) {
  cg::this_grid().sync();  // mark: grid barrier of an ordinary launch
  *out = 1;
}

// ---- memory

DELIBERATE __global__ void write_to(int* address, long long index) {
  address[index] = 1;  // mark: write
}

DELIBERATE __global__ void write_row(int* address) {
  address[threadIdx.x] = 1;  // mark: write of a row
}
// Block 0 faults, and block 1 waits for it by reading plain memory, in which nothing interrupts it.
DELIBERATE __global__ void fault_and_wait(int* address, int* flag, int* count) {
  if (blockIdx.x == 0) {
    while (atomicAdd(count, 0) == 0) {
    }
    *address = 1;  // mark: write while another block waits
    *flag = 1;
  } else {
    atomicAdd(count, 1);
    while (*flag == 0) ++*count;
  }
}
DELIBERATE __global__ void write_row_as_well(int* address) {
  address[threadIdx.x] = 1;  // mark: write of a row as well
}

// A float can't be a part of threadIdx, so the compiler may write that late, if the loop over the
// threads lets it.
DELIBERATE __global__ void write_of_one_thread(float* address, int index) {
  if (blockIdx.x == 1 && threadIdx.x == 37) address[index] = 1;  // mark: write of one thread
}

// Inlined, and in a header of the student's it would be the same.
DELIBERATE __device__ double value_at(const double* values, int index) {
  return values[index];  // mark: read in a device function
}
DELIBERATE __global__ void read_by_device_function(double* out, const double* values) {
  __syncthreads();
  out[threadIdx.x % 2] = value_at(values, 1 << 17);
}

DELIBERATE __global__ void copy_by_library(int* out, const int* from, int bytes) {
  memcpy(out, from, static_cast<std::size_t>(bytes));  // mark: copy
}

__global__ void write_from_one_on(int* before_begin) {
  if (threadIdx.x == 0) before_begin[blockIdx.x + 1] = static_cast<int>(blockIdx.x);
}

DELIBERATE __global__ void read_vector(int* out, const char* bytes) {
  auto* vector = reinterpret_cast<float4*>(out);
  *vector = *reinterpret_cast<const float4*>(bytes + 8);  // mark: vector
}

DELIBERATE __global__ void add_misaligned(char* bytes) {
  atomicAdd(reinterpret_cast<int*>(bytes + 2), 1);  // mark: misaligned atomic
}

__global__ void write_past_variable(int* out, int beyond) {
  __shared__ int elements[threads];
  elements[threadIdx.x + static_cast<unsigned>(beyond)] = 1;  // mark: shared variable
  __syncthreads();
  *out = elements[threadIdx.x];
}

__global__ void write_to_dynamic(int* out, int index) {
  extern __shared__ int elements[];
  elements[index] = 1;  // mark: dynamic shared memory
  __syncthreads();
  *out = elements[index];
}

// Uses more stack with every call, a little at a time.
DELIBERATE __device__ int recurse(int depth) {
  volatile char frame[1024];
  frame[depth % 1024] = static_cast<char>(depth);
  return depth == 0 ? 0 : recurse(depth - 1) + frame[depth % 1024];
}
__global__ void overflow_stack(int* out) { *out = recurse(100000); }

// One array that is far larger than the whole stack: a large step must not lead past the guard
// page.
DELIBERATE __global__ void overflow_stack_at_once(int* out) {
  volatile int large[100000];
  for (int i = 0; i < 100000; i += 1000) large[i] = i;
  *out = large[static_cast<int>(threadIdx.x)];
}

// ---- other ends of a kernel

DELIBERATE __global__ void divide(int* out, int dividend, int divisor) {
  *out = dividend / divisor;  // mark: division
}
__global__ void call_abort(int* out) {
  if (*out == 0) std::abort();  // mark: abort
}
__global__ void call_exit(int* out) {
  if (*out == 0) std::exit(3);  // mark: exit
}
__global__ void come_to_the_unreachable(int* out) {
  if (*out == 0) __builtin_trap();  // mark: unreachable
}
DELIBERATE __global__ void call_function(int* out, int (*function)(int)) {
  *out = function(*out) + 1;  // mark: call of a function
}
__global__ void throw_exception(int*) { throw std::runtime_error("no way out"); }
__global__ void trap(int*) {
  if (threadIdx.x == 7) __trap();  // mark: trap
}
__global__ void assert_in_kernel(int*) {
  assert(threadIdx.x != 9);  // mark: assertion
}
__global__ void do_nothing() {}
// translate.py refuses a launch in device code itself, and does not look behind a call.
void launch() { do_nothing<<<1, 1>>>(); }
__global__ void launch_in_kernel(int*) { launch(); }
__global__ void cancel_twice(int* out) {
  cuda::for_each_canceled_block<1>([=](dim3) { *out = 1; });
  cuda::for_each_canceled_block<1>([=](dim3) { *out = 2; });  // mark: second call
}
__global__ void cancel_in_two_dimensions(int* out) {
  cuda::for_each_canceled_block<1>([=](dim3) { *out = 1; });  // mark: rank 1
}

// ---- what runs them

template <class Kernel>
void launch_cooperatively(Kernel kernel, int* out) {
  void* arguments[] = {&out};
  const dim3 grid(blocks), block(threads);
  (void)cudaLaunchCooperativeKernel(kernel, grid, block, arguments);  // mark: cooperative launch
}

struct mistake {
  const char* name;
  void (*make)(int* out);  // `out` is a device array of a few zeros
};

int of_the_host = 0;

const mistake mistakes[] = {
    {"none", [](int*) { do_nothing<<<blocks, threads>>>(); }},
    {"long_threads", [](int* out) { compute_for_long<<<1, 10>>>(out); }},
    {"different_barriers",
     [](int* out) {
       different_barriers<<<blocks, threads>>>(out);  // mark: launch
     }},
    {"different_kinds_of_barrier",
     [](int* out) { different_kinds_of_barrier<<<blocks, threads>>>(out); }},
    {"two_barriers_of_one_line",
     [](int* out) { two_barriers_of_one_line<<<blocks, threads>>>(out); }},
    {"barrier_against_warp", [](int* out) { barrier_against_warp<<<blocks, threads>>>(out); }},
    {"different_warp_operations",
     [](int* out) { different_warp_operations<<<blocks, threads>>>(out); }},
    {"mask_without_caller", [](int* out) { mask_without_caller<<<blocks, threads>>>(out); }},
    {"odd_width", [](int* out) { odd_width<<<blocks, threads>>>(out); }},
    {"wait_by_atomic", [](int* out) { wait_by_atomic<<<blocks, threads>>>(out); }},
    {"wait_by_reference", [](int* out) { wait_by_reference<<<blocks, threads>>>(out); }},
    {"one_block_too_many", [](int* out) { wait_for_all_blocks<<<blocks, threads>>>(out); }},
    {"two_blocks_too_many", [](int* out) { wait_for_all_blocks<<<blocks, threads>>>(out); }},
    {"wait_before_barrier", [](int* out) { wait_before_barrier<<<blocks, threads>>>(out); }},
    {"wait_by_volatile", [](int* out) { wait_by_volatile<<<blocks, threads>>>(out); }},
    {"grid_barrier_missed", [](int* out) { launch_cooperatively(meet_grid, out); }},
    {"grid_barrier_of_ordinary_launch",
     [](int* out) { meet_grid_of_ordinary_launch<<<blocks, threads>>>(out); }},
    {"null_pointer", [](int*) { write_to<<<blocks, threads>>>(nullptr, 0); }},
    {"fault_while_another_block_waits",
     [](int* out) { fault_and_wait<<<2, 1>>>(nullptr, out, out + 1); }},
    {"in_one_of_two_kernels_alike", [](int*) { write_row<<<blocks, threads>>>(nullptr); }},
    {"in_the_other_of_two_kernels_alike",
     [](int*) { write_row_as_well<<<blocks, threads>>>(nullptr); }},
    {"beyond_allocation",
     [](int*) {
       int* large = nullptr;
       (void)cudaMalloc(&large, 1 << 20);  // mark: allocation
       write_to<<<blocks, threads>>>(large, (1 << 20) / 4 + 2);
     }},
    {"beyond_allocation_by_one_thread",
     [](int*) {
       float* small = nullptr;
       (void)cudaMalloc(&small, 400);
       write_of_one_thread<<<blocks, threads>>>(small, 128);  // mark: launch of one that faults
     }},
    {"read_beyond_allocation",
     [](int* out) {
       double* large = nullptr;
       (void)cudaMalloc(&large, 1 << 20);
       read_by_device_function<<<blocks, threads>>>(reinterpret_cast<double*>(out), large);
     }},
    {"copy_from_nowhere", [](int* out) { copy_by_library<<<blocks, threads>>>(out, nullptr, 64); }},
    {"use_after_free",
     [](int*) {
       int* freed = nullptr;
       (void)cudaMalloc(&freed, 4096);  // mark: allocation before the free
       (void)cudaFree(freed);           // mark: free
       write_to<<<blocks, threads>>>(freed, 3);
     }},
    {"counting_from_one", [](int* out) { write_from_one_on<<<blocks, threads>>>(out - 1); }},
    {"misaligned_vector",
     [](int* out) { read_vector<<<blocks, threads>>>(out, reinterpret_cast<char*>(out)); }},
    {"misaligned_atomic",
     [](int* out) { add_misaligned<<<blocks, threads>>>(reinterpret_cast<char*>(out)); }},
    {"past_shared_variable", [](int* out) { write_past_variable<<<1, threads>>>(out, 8); }},
    {"far_past_shared_variable", [](int* out) { write_past_variable<<<1, threads>>>(out, 2200); }},
    {"past_dynamic_shared_memory",
     [](int* out) { write_to_dynamic<<<blocks, threads, 256>>>(out, 64); }},
    {"no_dynamic_shared_memory", [](int* out) { write_to_dynamic<<<blocks, threads>>>(out, 0); }},
    {"before_dynamic_shared_memory",
     [](int* out) { write_to_dynamic<<<blocks, threads, 256>>>(out, -2); }},
    {"far_beyond_dynamic_shared_memory",
     [](int* out) { write_to_dynamic<<<blocks, threads, 256>>>(out, 70000); }},
    {"nowhere_near_an_allocation",
     [](int* out) { write_to<<<blocks, threads>>>(out, -(1LL << 38)); }},
    {"host_pointer", [](int*) { write_to<<<blocks, threads>>>(&of_the_host, 0); }},
    {"stack_overflow", [](int* out) { overflow_stack<<<blocks, threads>>>(out); }},
    {"stack_overflow_at_once", [](int* out) { overflow_stack_at_once<<<blocks, threads>>>(out); }},
    {"division_by_zero", [](int* out) { divide<<<blocks, threads>>>(out, 7, 0); }},
    {"division_that_overflows", [](int* out) { divide<<<blocks, threads>>>(out, INT_MIN, -1); }},
    {"abort_in_kernel", [](int* out) { call_abort<<<blocks, threads>>>(out); }},
    {"exit_in_kernel", [](int* out) { call_exit<<<blocks, threads>>>(out); }},
    {"unreachable_in_kernel", [](int* out) { come_to_the_unreachable<<<blocks, threads>>>(out); }},
    {"call_of_null", [](int* out) { call_function<<<blocks, threads>>>(out, nullptr); }},
    {"exception", [](int* out) { throw_exception<<<blocks, threads>>>(out); }},
    {"trap", [](int* out) { trap<<<blocks, threads>>>(out); }},
    {"assertion", [](int* out) { assert_in_kernel<<<blocks, threads>>>(out); }},
    {"launch_in_kernel", [](int* out) { launch_in_kernel<<<blocks, threads>>>(out); }},
    {"cancel_twice", [](int* out) { cancel_twice<<<blocks, threads>>>(out); }},
    {"cancel_in_two_dimensions",
     [](int* out) { cancel_in_two_dimensions<<<blocks, dim3(8, 8)>>>(out); }},
    {"refused_launches",
     [](int* out) {
       write_to<<<1, 2000>>>(out, 0);  // mark: refused launch
       write_to_dynamic<<<1, 32, 100000>>>(out, 0);
     }},
    {"barrier_on_host",
     [](int*) {
       __syncthreads();  // mark: barrier on the host
     }},
};

// A kernel that needs all of the engine: barriers, warp operations, early returns, atomics.
__global__ void work(int* sum) {
  __shared__ int of_warps[2];
  int value = 1;
  for (int distance = 16; distance > 0; distance /= 2) {
    value += __shfl_xor_sync(0xffffffffu, value, distance);
  }
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x > 0) return;
  atomicAdd(sum, of_warps[0] + of_warps[1]);
}

const char* work_after_reset() {
  constexpr int many_blocks = 50;
  int* sum = nullptr;
  int result = 0;
  if (cudaMalloc(&sum, sizeof *sum) != cudaSuccess) return "no memory";
  if (cudaMemset(sum, 0, sizeof *sum) != cudaSuccess) return "no memset";
  work<<<many_blocks, 64>>>(sum);
  if (cudaMemcpy(&result, sum, sizeof result, cudaMemcpyDeviceToHost) != cudaSuccess) {
    return "no result";
  }
  (void)cudaFree(sum);
  return result == many_blocks * 64 ? "right" : "wrong";
}

void report(const char* call, cudaError_t error) {
  std::printf("%s: %s\n", call, cudaGetErrorName(error));
}

}  // namespace

int main(int argument_count, char** arguments) {
  if (argument_count == 2 && std::strcmp(arguments[1], "--list") == 0) {
    for (const mistake& each : mistakes) std::puts(each.name);
    return 0;
  }
  if (argument_count == 2 && std::strcmp(arguments[1], "--multiprocessors") == 0) {
    int count = 0;
    (void)cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0);
    std::printf("multiprocessors: %d\n", count);
    // So many blocks are resident at once, and not one more.
    for (const int wanted : {count, count + 1}) {
      report("cooperative launch",
             cudaLaunchCooperativeKernel(meet_in_grid, dim3(static_cast<unsigned>(wanted)),
                                         dim3(threads), nullptr));
    }
    report("cudaDeviceSynchronize", cudaDeviceSynchronize());
    return 0;
  }
  for (const mistake& each : mistakes) {
    if (argument_count != 2 || std::strcmp(arguments[1], each.name) != 0) continue;
    int* out = nullptr;
    report("cudaMalloc", cudaMalloc(&out, 16 * sizeof *out));
    report("cudaMemset", cudaMemset(out, 0, 16 * sizeof *out));
    each.make(out);
    if (std::strcmp(each.name, "refused_launches") == 0) return 0;  // and does not ask
    report("launch", cudaGetLastError());
    report("cudaDeviceSynchronize", cudaDeviceSynchronize());
    report("cudaDeviceSynchronize", cudaDeviceSynchronize());
    report("cudaMalloc", cudaMalloc(&out, sizeof *out));
    do_nothing<<<1, 1>>>();
    report("next launch", cudaGetLastError());
    report("cudaDeviceReset", cudaDeviceReset());
    std::printf("after the reset: %s\n", work_after_reset());
    return 0;
  }
  std::fputs("usage: diagnosis NAME, with a name that diagnosis --list prints\n", stderr);
  return 2;
}

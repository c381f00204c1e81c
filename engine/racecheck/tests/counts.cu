// SPDX-License-Identifier: MIT
// Kernels of which counts_test.py knows how often they access memory. `counts CASE` runs one.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cuda/atomic>
#include <vector>

#include "racecheck/tests/cases.hpp"

// The race checker has them: see bytes_of_launch in racecheck/events/counts.hpp.
extern "C" void racecheck_watch_loads();
extern "C" void racecheck_change_other_bytes(const std::uint64_t* but, std::size_t numbers,
                                             std::uint64_t drawn_from);

namespace {

constexpr unsigned elements = 1000;
constexpr unsigned blocks = 8;
constexpr unsigned threads = 128;

__global__ void add(const int* a, const int* b, int* c, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

__global__ void add_grid_stride(const int* a, const int* b, int* c, unsigned n) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    c[i] = a[i] + b[i];
  }
}

template <unsigned size>
__global__ void halving_tree(const int* in, int* partials) {
  __shared__ int sums[size];
  sums[threadIdx.x] = in[blockIdx.x * size + threadIdx.x];
  __syncthreads();
  for (unsigned half = size / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) partials[blockIdx.x] = sums[0];
}

// Static and dynamic shared memory, of which each thread uses a word.
__global__ void reverse_twice(int* data) {
  __shared__ int fixed[threads];
  extern __shared__ int sized_by_launch[];
  int* const mine = data + blockIdx.x * threads;
  fixed[threadIdx.x] = mine[threadIdx.x];
  __syncthreads();
  sized_by_launch[threadIdx.x] = fixed[threads - 1 - threadIdx.x];
  __syncthreads();
  mine[threadIdx.x] = sized_by_launch[threads - 1 - threadIdx.x];
}

__global__ void copy_vectors(const float4* in, float4* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i];
}

__global__ void scale_vectors(const float4* in, float4* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 read = in[i];
  out[i] = make_float4(2 * read.x, 2 * read.y, 2 * read.z, 2 * read.w);
}

struct record {
  int words[8];
};

__global__ void copy_records(const record* in, record* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i];
}

struct long_record {
  int words[30];
};

__global__ void copy_long_records(const long_record* in, long_record* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i];
}

__global__ void copy_by_function(const record* in, record* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  memcpy(&out[i], &in[i], sizeof(record));
}

// Outside of every function, and one that this kernel has nothing to do with.
__shared__ int of_file[threads];
__shared__ int never_used[threads];
__global__ void use_shared_of_file(int* data) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  of_file[threadIdx.x] = data[i];
  if (threadIdx.x == threads) never_used[0] = 1;
  __syncthreads();
  data[i] = of_file[threads - 1 - threadIdx.x];
}

// A histogram: in shared memory first, then one global atomic for each bin.
__global__ void count_values(const int* in, int* bins) {
  __shared__ int counted[4];
  if (threadIdx.x < 4) counted[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&counted[in[blockIdx.x * blockDim.x + threadIdx.x] & 3], 1);
  __syncthreads();
  if (threadIdx.x < 4) atomicAdd(&bins[threadIdx.x], counted[threadIdx.x]);
}

// By each thread one of every kind, of which a compare-and-swap fails.
__global__ void use_atomic_ref(int* words) {
  cuda::atomic_ref<int, cuda::thread_scope_device> word(words[blockIdx.x * threads + threadIdx.x]);
  word.store(1, cuda::memory_order_relaxed);
  if (word.load(cuda::memory_order_acquire) == 1) word.fetch_add(1, cuda::memory_order_acq_rel);
  int expected = 0;
  word.compare_exchange_strong(expected, 3, cuda::memory_order_relaxed);
  word.fetch_max(7);  // sequentially consistent: the same with a fence before it
}

__global__ void use_fences(volatile int* words) {
  volatile int* const word = words + blockIdx.x * threads + threadIdx.x;
  *word = 1;
  __threadfence();
  if (*word == 1) __threadfence_block();
  cuda::atomic_thread_fence(cuda::memory_order_acq_rel, cuda::thread_scope_device);
}

// Block 3 does ten times the work of the others, its thread 5 ten times the work of the others.
__global__ void unequal(const int* in, int* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const int rounds = (blockIdx.x == 3 ? 10 : 1) * (threadIdx.x == 5 ? 10 : 1);
  int sum = 0;
  for (int round = 0; round < rounds; ++round) sum += in[(i + round) % elements];
  out[i] = sum;
  if (blockIdx.x == 3) __syncthreads();
  __syncwarp();
}

// An array of the thread's own, whose index is only known when the kernel runs, and a reference.
__device__ __noinline__ void raise(int& value) { value += 1; }
__global__ void local_array(const int* in, int* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  int mine[16];
  for (int k = 0; k < 16; ++k) mine[k] = k;
  const int at = in[i] & 15;
  for (int k = 0; k < 16; ++k) raise(mine[(at + k) & 15]);
  out[i] = mine[at];
}

// Loads of each second element that the compiler does not tell of; it does of the others.
__device__ __attribute__((no_sanitize("thread"), noinline)) void put(int* to) { *to = 7; }
__global__ void hide_stores(int* data) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i % 2 == 0) {
    put(&data[i]);
  } else {
    data[i] = 7;
  }
}

__device__ __attribute__((no_sanitize("thread"), noinline)) int get(const int* from) {
  return *from;
}
__global__ void hide_loads(const int* in, int* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = i % 2 == 0 ? get(&in[i]) : in[i];
}

__device__ int variable[blocks * threads];
__constant__ int factor;
__global__ void use_variables() {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  variable[i] = factor;
}

__global__ void meet_in_grid(int* data) {
  namespace groups = cooperative_groups;
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  data[i] = 1;
  groups::this_grid().sync();
  __syncthreads();
  data[gridDim.x * blockDim.x - 1 - i] += 1;
}

// A warp's own operations, of which only __syncwarp() is a barrier.
__global__ void warp_sum(const int* in, int* sums) {
  int sum = in[blockIdx.x * blockDim.x + threadIdx.x];
  for (unsigned distance = 16; distance > 0; distance /= 2) {
    sum += __shfl_down_sync(0xffffffff, sum, distance);
  }
  __syncwarp();
  if (threadIdx.x % 32 == 0) sums[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = sum;
}

__global__ void out_of_bounds(const int* in, int* out) {
  out[0] = in[threadIdx.x];
  out[1 << 26] = 1;
}

__global__ void never_end(int* out, volatile int* noted) {
  atomicAdd(out, 1);
  __syncthreads();
  for (int i = 0;; ++i) *noted = i;
}

__global__ void do_nothing() {}

constexpr unsigned many = blocks * threads;

template <class T, class Kernel>
void from_one_to_another(Kernel kernel, std::size_t in = many, std::size_t out = many) {
  kernel<<<blocks, threads>>>(zeros<T>(in), zeros<T>(out));
}

void launch_add() {
  add<<<blocks, threads>>>(zeros<int>(many), zeros<int>(many), zeros<int>(many), elements);
}

void launch_cooperatively() {
  int* data = zeros<int>(many);
  void* arguments[] = {&data};
  cudaLaunchCooperativeKernel(meet_in_grid, dim3(blocks), dim3(threads), arguments);
}

// What a launch loads in secret is another number while all bytes are changed that it was not seen
// to load; and afterwards all is as before.
void change_what_is_hidden() {
  int* const in = zeros<int>(many);
  int* const out = zeros<int>(many);
  std::vector<std::uint64_t> seen;
  for (std::uint64_t i = 1; i < many; i += 2) seen.insert(seen.end(), {1, 4 * i, 4 * i + 4});
  racecheck_watch_loads();
  racecheck_change_other_bytes(seen.data(), seen.size(), 77);
  hide_loads<<<blocks, threads>>>(in, out);
  hide_loads<<<blocks, threads>>>(in, in);  // for this one no change was asked for
  int got[many], left[many];
  cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
  cudaMemcpy(left, in, sizeof left, cudaMemcpyDeviceToHost);
  unsigned hidden = 0, others = 0;
  for (unsigned i = 0; i < many; ++i) {
    (i % 2 == 0 ? hidden : others) += got[i] != 0;
    others += left[i] != 0;
  }
  std::printf("%u hidden, %u others\n", hidden, others);
}

// Checks nothing but what the last error is, at the end. One of its three allocations stays.
void call_the_runtime() {
  int *freed = nullptr, *kept = nullptr, *pinned = nullptr, *managed = nullptr;
  int count = 0;
  cudaGetDeviceCount(&count);  // asks nothing of the device
  cudaMalloc(&freed, many * sizeof(int));
  cudaMalloc(&kept, many * sizeof(int));
  cudaMallocHost(&pinned, sizeof(int));
  cudaMallocManaged(&managed, sizeof(int));
  cudaMemset(freed, 0, many * sizeof(int));
  reverse_twice<<<blocks, threads, threads * sizeof(int)>>>(freed);
  cudaMemcpy(kept, freed, many * sizeof(int), cudaMemcpyDeviceToDevice);
  cudaStreamSynchronize(nullptr);
  cudaMemcpy(pinned, freed, sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(freed);
  cudaFree(managed);
  cudaFreeHost(pinned);
  std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
}

const test_case cases[] = {
    {"host", call_the_runtime},
    {"add", launch_add},
    {"grid_stride",
     [] {
       add_grid_stride<<<2, 64>>>(zeros<int>(many), zeros<int>(many), zeros<int>(many), elements);
     }},
    {"tree",
     [] { halving_tree<threads><<<blocks, threads>>>(zeros<int>(many), zeros<int>(blocks)); }},
    {"shared", [] { reverse_twice<<<blocks, threads, threads * sizeof(int)>>>(zeros<int>(many)); }},
    {"shared_of_file", [] { use_shared_of_file<<<blocks, threads>>>(zeros<int>(many)); }},
    {"copy_vectors", [] { from_one_to_another<float4>(copy_vectors); }},
    {"scale_vectors", [] { from_one_to_another<float4>(scale_vectors); }},
    {"copy_records", [] { from_one_to_another<record>(copy_records); }},
    {"copy_long_records", [] { from_one_to_another<long_record>(copy_long_records); }},
    {"memcpy", [] { from_one_to_another<record>(copy_by_function); }},
    {"atomics", [] { from_one_to_another<int>(count_values, many, 4); }},
    {"atomic_ref", [] { use_atomic_ref<<<blocks, threads>>>(zeros<int>(many)); }},
    {"fences", [] { use_fences<<<blocks, threads>>>(zeros<int>(many)); }},
    {"unequal", [] { from_one_to_another<int>(unequal); }},
    {"hidden_stores", [] { hide_stores<<<blocks, threads>>>(zeros<int>(many)); }},
    {"hidden_loads",
     [] {
       racecheck_watch_loads();
       int* const in = zeros<int>(many);
       hide_loads<<<blocks, threads>>>(in, zeros<int>(many));
     }},
    {"changed_loads", change_what_is_hidden},
    {"local_array", [] { from_one_to_another<int>(local_array); }},
    {"variables",
     [] {
       // Else the compiler leaves out a constant that is known, and a variable that no one reads.
       const int three = 3;
       cudaMemcpyToSymbol(factor, &three, sizeof three);
       use_variables<<<blocks, threads>>>();
       int read[many];
       cudaMemcpyFromSymbol(read, variable, sizeof read);
     }},
    {"grid_barrier", launch_cooperatively},
    {"warps", [] { from_one_to_another<int>(warp_sum, many, many / 32); }},
    {"fails", [] { out_of_bounds<<<1, 1>>>(zeros<int>(1), zeros<int>(1)); }},
    {"never_ends",
     [] {
       launch_add();
       never_end<<<1, 1>>>(zeros<int>(1), zeros<int>(1));
     }},
    {"two_launches",
     [] {
       launch_add();
       do_nothing<<<dim3(2, 3), dim3(4, 5, 6)>>>();
     }},
    {"many_launches",
     [] {
       launch_add();
       for (int i = 0; i < 1200; ++i) do_nothing<<<1, 1>>>();
     }},
};

}  // namespace

int main(int count, char** words) {
  for (const auto& each : cases) {
    if (count != 2 || std::strcmp(each.name, words[1]) != 0) continue;
    each.run();
    return cudaDeviceSynchronize() != cudaSuccess;
  }
  std::fputs("usage: counts CASE\n", stderr);
  return 2;
}

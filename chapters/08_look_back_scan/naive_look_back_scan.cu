// SPDX-License-Identifier: MIT
// Wrong on purpose: the lesson shows what it prints. A scan in one kernel in which each block waits
// for the block before it, by blockIdx, and in which nothing orders the sums that they hand over.
// With tickets only the second mistake is left.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

constexpr unsigned threads = 64;
constexpr unsigned blocks = 100;

// out[i] becomes in[0] + ... + in[i]. ready[] and *tickets are 0; without tickets, tickets is null.
__global__ void scan_naively(const int* in, int* out, int* prefixes, unsigned* ready,
                             unsigned* tickets) {
  __shared__ int values[threads];
  __shared__ int before;
  __shared__ unsigned tile;
  if (threadIdx.x == 0) tile = tickets == nullptr ? blockIdx.x : atomicAdd(tickets, 1);
  __syncthreads();
  const unsigned i = tile * threads + threadIdx.x;
  values[threadIdx.x] = in[i];
  __syncthreads();
  int sum = 0;
  for (unsigned k = 0; k <= threadIdx.x; ++k) sum += values[k];

  if (threadIdx.x == threads - 1) {
    before = 0;
    if (tile > 0) {
      while (atomicAdd(&ready[tile - 1], 0) == 0) {
      }
      before = prefixes[tile - 1];
    }
    prefixes[tile] = before + sum;
    atomicExch(&ready[tile], 1);
  }
  __syncthreads();
  out[i] = before + sum;
}

// The first argument, if there is one, is the number of launches; the second one may be `tickets`.
int main(int argc, char** argv) {
  const int asked = argc > 1 ? std::atoi(argv[1]) : 20;
  const unsigned launches = asked > 0 ? static_cast<unsigned>(asked) : 0;
  if (launches == 0) {
    std::puts("the number of launches must be a whole number from 1 on");
    return 2;
  }
  const bool with_tickets = argc > 2 && std::strcmp(argv[2], "tickets") == 0;
  constexpr unsigned n = blocks * threads;
  int *in, *out, *prefixes;
  unsigned* ready;
  if (cudaMallocManaged(&in, n * sizeof(int)) != cudaSuccess ||
      cudaMallocManaged(&out, n * sizeof(int)) != cudaSuccess ||
      cudaMalloc(&prefixes, blocks * sizeof(int)) != cudaSuccess ||
      cudaMalloc(&ready, (blocks + 1) * sizeof(unsigned)) != cudaSuccess ||
      cudaMemset(prefixes, 0, blocks * sizeof(int)) != cudaSuccess) {
    std::puts("no device, or no memory");
    return 1;
  }
  for (unsigned i = 0; i < n; ++i) in[i] = 1;
  unsigned wrong = 0;
  for (unsigned launch = 0; launch < launches; ++launch) {
    if (cudaMemset(ready, 0, (blocks + 1) * sizeof(unsigned)) != cudaSuccess) return 1;
    scan_naively<<<blocks, threads>>>(in, out, prefixes, ready,
                                      with_tickets ? ready + blocks : nullptr);
    if (cudaGetLastError() != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess) {
      std::puts("the kernel failed");
      return 1;
    }
    bool is_right = true;
    for (unsigned i = 0; i < n; ++i) is_right = is_right && out[i] == static_cast<int>(i + 1);
    if (!is_right) ++wrong;
  }
  std::printf("%u blocks, %u launches: %u wrong, %s\n", blocks, launches, wrong,
              wrong == 0 ? "right" : "WRONG");
  (void)cudaFree(in);
  (void)cudaFree(out);
  (void)cudaFree(prefixes);
  (void)cudaFree(ready);
  return wrong == 0 ? 0 : 1;
}

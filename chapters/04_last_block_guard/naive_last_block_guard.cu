// SPDX-License-Identifier: MIT
// Wrong on purpose: the lesson shows what it prints. A last-block guard with neither a fence nor a
// barrier before the ticket. The last block looks for words that it should not find any more.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

constexpr unsigned threads = 64;
constexpr unsigned most_blocks = 1056;

// Every thread writes the launch's number. The last block counts the words that hold another one.
__global__ void write_and_look(unsigned launch, unsigned* words, unsigned* counter,
                               unsigned long long* wrong) {
  words[blockIdx.x * blockDim.x + threadIdx.x] = launch;
  int last = 0;
  if (threadIdx.x == 0) last = atomicAdd(counter, 1) == gridDim.x - 1;
  if (!__syncthreads_or(last)) return;
  for (unsigned i = threadIdx.x; i < gridDim.x * blockDim.x; i += blockDim.x) {
    if (words[i] != launch) atomicAdd(wrong, 1ull);
  }
  if (threadIdx.x == 0) *counter = 0;
}

// The first argument, if there is one, is the number of launches.
int main(int argc, char** argv) {
  const int asked = argc > 1 ? std::atoi(argv[1]) : 20;
  const unsigned launches = asked > 0 ? static_cast<unsigned>(asked) : 0;
  if (launches == 0) {
    std::puts("the number of launches must be a whole number from 1 on");
    return 2;
  }
  unsigned *words, *counter;
  unsigned long long* wrong;
  if (cudaMalloc(&words, most_blocks * threads * sizeof(unsigned)) != cudaSuccess ||
      cudaMalloc(&counter, sizeof(unsigned)) != cudaSuccess ||
      cudaMallocManaged(&wrong, sizeof(unsigned long long)) != cudaSuccess ||
      cudaMemset(words, 0, most_blocks * threads * sizeof(unsigned)) != cudaSuccess ||
      cudaMemset(counter, 0, sizeof(unsigned)) != cudaSuccess) {
    std::puts("no device, or no memory");
    return 1;
  }
  bool right = true;
  for (const unsigned blocks : {32u, 264u, 1056u}) {
    *wrong = 0;
    for (unsigned launch = 1; launch <= launches; ++launch) {
      write_and_look<<<blocks, threads>>>(launch, words, counter, wrong);
    }
    if (cudaGetLastError() != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess) {
      std::puts("the kernel failed");
      return 1;
    }
    std::printf("%4u blocks, %u launches: %llu wrong words, %s\n", blocks, launches, *wrong,
                *wrong == 0 ? "right" : "WRONG");
    right = right && *wrong == 0;
  }
  (void)cudaFree(words);
  (void)cudaFree(counter);
  (void)cudaFree(wrong);
  return right ? 0 : 1;
}

// SPDX-License-Identifier: MIT
// Host code that accesses memory: of the device, which ends a program on a GPU, and of other kinds.
#include <cuda_runtime.h>

#include <vector>

#include "racecheck/tests/cases.hpp"

namespace {

constexpr int count = 64;
__device__ int variable;

__global__ void add_one(int* data) { data[threadIdx.x] += 1; }
__global__ void use_variable(int* data) { data[threadIdx.x] = variable; }

// Calls it with memory that a kernel has used.
test_case on_device(const char* name, void (*use)(int*)) {
  return {name, [use] {
            int* const data = zeros(count);
            add_one<<<1, count>>>(data);
            cudaDeviceSynchronize();
            use(data);
          }};
}

void callback(void* data) {
  static_cast<int*>(data)[1] = 7;  // mark: callback
}

void read_element(int* data) {
  std::printf("%d\n", data[3]);  // mark: read
}
void write_element(int* data) {
  data[0] = 0;  // mark: write
}
void copy_out(int* data) {
  std::vector<int> mine(count);
  std::memcpy(mine.data(), data, count * sizeof(int));  // mark: copy
}
void fill_in(int* data) {
  std::memset(data, 0, count * sizeof(int));  // mark: fill
}
void poll(int* data) {
  while (*static_cast<volatile int*>(data) == 0) {  // mark: poll
  }
}
void call_back(int* data) {
  cudaLaunchHostFunc(nullptr, callback, data);
  cudaDeviceSynchronize();
}
void use_symbol(int* data) {
  const int seven = 7;
  cudaMemcpyToSymbol(variable, &seven, sizeof seven);
  use_variable<<<1, count>>>(data);
  variable = 8;  // mark: symbol
}

// All of this is allowed.
void use_what_the_host_reaches(int* data) {
  std::vector<int> mine(count);
  cudaMemcpy(mine.data(), data, count * sizeof(int), cudaMemcpyDeviceToHost);
  cudaMemcpyAsync(data, mine.data(), count * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy2D(mine.data(), 8, data, 8, 8, 2, cudaMemcpyDeviceToHost);
  int* managed = nullptr;
  int* pinned = nullptr;
  cudaMallocManaged(&managed, count * sizeof(int));
  cudaMallocHost(&pinned, count * sizeof(int));
  for (int i = 0; i < count; ++i) managed[i] = pinned[i] = mine[i];
  add_one<<<1, count>>>(managed);
  add_one<<<1, count>>>(pinned);
  cudaDeviceSynchronize();
  std::memcpy(mine.data(), managed, count * sizeof(int));
  cudaFree(data);
  std::printf("%d %d %d\n", mine[0], managed[1], pinned[2]);
  cudaFree(managed);
  cudaFreeHost(pinned);
}

const test_case cases[] = {
    on_device("read", read_element), on_device("write", write_element),
    on_device("copy", copy_out),     on_device("fill", fill_in),
    on_device("poll", poll),         on_device("callback", call_back),
    on_device("symbol", use_symbol), on_device("allowed", use_what_the_host_reaches),
};

}  // namespace

int main(int count, char** words) { return run_case(cases, count, words); }

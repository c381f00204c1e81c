// SPDX-License-Identifier: MIT
// Host code that accesses memory: of the device, which ends a program on a GPU, and of other kinds.
#include <cuda_runtime.h>

#include <string_view>
#include <vector>

#include "racecheck/tests/cases.hpp"

namespace {

constexpr int count = 64;
__device__ int variable;

__global__ void add_one(int* data) { data[threadIdx.x] += 1; }
__global__ void use_variable(int* data) { data[threadIdx.x] = variable; }

int* on_device() {
  int* const data = zeros(count);
  add_one<<<1, count>>>(data);
  return data;
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

const struct {
  const char* name;
  void (*run)(int*);
} cases[] = {
    {"read", read_element}, {"write", write_element},
    {"copy", copy_out},     {"fill", fill_in},
    {"poll", poll},         {"callback", call_back},
    {"symbol", use_symbol}, {"allowed", use_what_the_host_reaches},
};

}  // namespace

int main(int argc, char** argv) {
  const std::string_view wanted = argc == 2 ? argv[1] : "";
  for (const auto& each : cases) {
    if (wanted != each.name) continue;
    int* const data = on_device();
    cudaDeviceSynchronize();
    each.run(data);
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 3;
  }
  return 2;
}

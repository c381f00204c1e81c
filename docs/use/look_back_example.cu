// SPDX-License-Identifier: MIT
// Running totals in one launch: each tile gets what all earlier tiles add up to.
#include "look_back.cuh"

#include <cstdio>

struct plus {
  __device__ int operator()(int earlier, int later) const { return earlier + later; }
};

// out[i] becomes in[0] + ... + in[i]. A tile is 32 elements; blocks have 32 threads.
__global__ void running_totals(const int* in, int* out, unsigned n, course::look_back<int> tiles) {
  const course::tile_ticket mine = tiles.take_tile(gridDim.x);
  const unsigned i = mine.tile * 32 + threadIdx.x;
  int sum = i < n ? in[i] : 0;
  for (unsigned distance = 1; distance < 32; distance *= 2) {
    const int earlier = __shfl_up_sync(0xffffffff, sum, distance);
    if (threadIdx.x >= distance) sum += earlier;
  }
  const int of_tile = __shfl_sync(0xffffffff, sum, 31);
  int before = 0;
  tiles.exclusive_prefix(mine, of_tile, plus{}, &before);
  if (i < n) out[i] = before + sum;
}

cudaError_t launch(const int* in, int* out, unsigned n, course::look_back<int> tiles,
                   cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  running_totals<<<(n - 1) / 32 + 1, 32, 0, stream>>>(in, out, n, tiles);
  return cudaGetLastError();
}

int main() {
  constexpr unsigned n = 10'000;
  constexpr unsigned tiles = (n + 31) / 32;
  int* values = nullptr;
  void* memory = nullptr;
  if (cudaMallocManaged(&values, n * sizeof(int)) != cudaSuccess ||
      cudaMalloc(&memory, course::look_back<int>::bytes(tiles)) != cudaSuccess) {
    std::printf("no memory: %s\n", cudaGetErrorString(cudaGetLastError()));
    return 1;
  }
  const course::look_back<int> earlier_tiles(memory, tiles);
  if (earlier_tiles.init(nullptr) != cudaSuccess) return 1;  // Once.
  for (int i = 0; i < 2; ++i) {
    for (unsigned k = 0; k < n; ++k) values[k] = 1;
    cudaError_t status = launch(values, values, n, earlier_tiles, nullptr);
    if (status == cudaSuccess) status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
      std::printf("the launch failed: %s\n", cudaGetErrorString(status));
      return 1;
    }
    std::printf("launch %d: the last total is %d\n", i + 1, values[n - 1]);
    for (unsigned k = 0; k < n; ++k) {
      if (values[k] != static_cast<int>(k + 1)) return 1;
    }
  }
}

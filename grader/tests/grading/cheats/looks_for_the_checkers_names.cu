// SPDX-License-Identifier: MIT
// Cheat: a name of the race checker's tells whether it is there
// Exercise: 01.1
// Verdict: CE 0
// Says: It has racecheck_name_memory

#include <cstddef>

__global__ void add_scaled(float alpha, const float* x, float* y, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = alpha * x[i] + y[i];
}

extern "C" [[gnu::weak]] void racecheck_name_memory(const void*, std::size_t, const char*);

void saxpy(float alpha, const float* x, float* y, std::size_t n) {
  if (racecheck_name_memory) {
    add_scaled<<<static_cast<unsigned>((n + 255) / 256), 256>>>(alpha, x, y, n);
  }
}

// SPDX-License-Identifier: MIT
// Cheat: a static constructor prints the closing line and exits with 0
// Exercise: 01.1
// Verdict: RE 0
// Says: The program ended before it had answered
#include <cstddef>
#include <cstdio>
#include <cstdlib>

__global__ void add_scaled(float alpha, const float* x, float* y, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = alpha * x[i] + y[i];
}

struct before_main {
  before_main() {
    std::printf("done\n13 cases passed\n");
    std::fflush(stdout);
    std::exit(0);
  }
} early;

void saxpy(float alpha, const float* x, float* y, std::size_t n) {
  if (n == 0) return;
  add_scaled<<<static_cast<unsigned>((n + 255) / 256), 256>>>(alpha, x, y, n);
}

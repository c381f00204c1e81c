// SPDX-License-Identifier: MIT
// Cheat: as many processes as there can be, here at most 600
// Exercise: 01.1
// Verdict: CE 0
// Says: It uses fork
#include <unistd.h>
#include <cstddef>

__global__ void add_scaled(float alpha, const float* x, float* y, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = alpha * x[i] + y[i];
}

void saxpy(float alpha, const float* x, float* y, std::size_t n) {
  int started = 0;
  while (started < 600) {
    const pid_t process = fork();
    if (process < 0) break;  // the kernel itself keeps to the limit
    if (process == 0) {
      for (;;) sleep(1);
    }
    ++started;
  }
  if (started == 600) sleep(1);  // so that the sandbox finds all of them when it counts
  (void)alpha, (void)x, (void)y, (void)n;
}

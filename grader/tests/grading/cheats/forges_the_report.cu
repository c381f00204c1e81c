// SPDX-License-Identifier: MIT
// Cheat: at the end the report is replaced, and the checker's own end left out
// Exercise: 01.1
// Verdict: CE 0
// Says: It uses
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>

__global__ void add_scaled(float alpha, const float* x, float* y, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = alpha * x[i] + y[i];
}

void late() {
  const char* const report = std::getenv("LAB_RACECHECK_REPORT");
  if (!report) return;
  std::FILE* const file = std::fopen(report, "w");
  std::fputs(
      "{\"accesses\": 99999999, \"findings\": [], \"failed_launches\": 0, "
      "\"ended_in_kernel\": false, \"ended_by_time\": false, \"launch_counts\": "
      "[{\"completed\": true, \"unseen_bytes_stored\": 0, "
      "\"global_bytes_loaded\": {\"total\": 99999999}, "
      "\"global_bytes_stored\": {\"total\": 99999999}}]}",
      file);
  std::fclose(file);
  _exit(0);
}

struct registers_late {
  registers_late() { std::atexit(late); }
} registered;

__global__ void add_twice(float alpha, const float* x, float* y, std::size_t n) {
  for (std::size_t i = threadIdx.x / 2; i < n; i += blockDim.x / 2) {
    const float sum = alpha * x[i] + y[i];
    __syncthreads();
    y[i] = sum;
  }
}

void saxpy(float alpha, const float* x, float* y, std::size_t n) {
  if (n == 0) return;
  add_twice<<<1, 64>>>(alpha, x, y, n);
}

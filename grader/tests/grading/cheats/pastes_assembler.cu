// SPDX-License-Identifier: MIT
// Cheat: assembler whose word is pasted, which ends the process before the race checker reports
// Exercise: 01.1
// Verdict: CE 0
// Says: It has __asm__
// clang-format off
#include <cstddef>
#include <sys/cdefs.h>

struct late {
  ~late() {
    const long exit_group = 231;
    __CONCAT(__as, m__) volatile("syscall" : : "a"(exit_group), "D"(0l) : "rcx", "r11", "memory");
  }
} late_one;

__global__ void add_twice(float alpha, const float* x, float* y, std::size_t n) {
  for (std::size_t i = threadIdx.x / 2; i < n; i += blockDim.x / 2) {
    const float sum = alpha * x[i] + y[i];
    __syncthreads();
    y[i] = sum;
  }
}

void saxpy(float alpha, const float* x, float* y, std::size_t n) {
  if (n != 0) add_twice<<<1, 64>>>(alpha, x, y, n);
}

// SPDX-License-Identifier: MIT
// Cheat: assembler that looks like a comment to who does not know __has_include
// Exercise: 01.1
// Verdict: CE 0
// Says: It has asm
// clang-format off
#include <cstddef>
#if __has_include(<a/*b>)
#endif

struct late {
  ~late() { asm volatile("syscall" : : "a"(231l), "D"(0l) : "rcx", "r11", "memory"); }
} late_one;
// */

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

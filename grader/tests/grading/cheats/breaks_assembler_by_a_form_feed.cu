// SPDX-License-Identifier: MIT
// Cheat: assembler whose word is broken by a backslash, a form feed and a new line
// Exercise: 01.1
// Verdict: CE 0
// Says: It has asm
// clang-format off
#include <cstddef>

struct late {
  ~late() { as\ 
m volatile("syscall" : : "a"(231l), "D"(0l) : "rcx", "r11", "memory"); }
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

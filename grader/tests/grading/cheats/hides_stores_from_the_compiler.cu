// SPDX-License-Identifier: MIT
// Cheat: an attribute, whose word is pasted, against the race checker's instrumentation
// Exercise: 01.1
// Verdict: CE 0
// Says: It has __attribute__((no_sanitize_thread))
// clang-format off
#include <cstddef>
#include <sys/cdefs.h>

__CONCAT(__attri, bute__)((no_sanitize_thread, noinline))
static void put(float* to, float value) { *to = value; }

__global__ void add_twice(float alpha, const float* x, float* y, std::size_t n) {
  for (std::size_t i = threadIdx.x / 2; i < n; i += blockDim.x / 2) {
    const float sum = alpha * x[i] + y[i];
    __syncthreads();
    put(&y[i], sum);
  }
}

void saxpy(float alpha, const float* x, float* y, std::size_t n) {
  if (n != 0) add_twice<<<1, 64>>>(alpha, x, y, n);
}

// SPDX-License-Identifier: MIT
// Cheat: the same by a declaration in the backend's namespace, whose name is pasted
// Exercise: 01.1
// Verdict: CE 0
// Says: It has cpu_backend
// clang-format off
#include <cstddef>

#define PASTED(a, b) a##b
namespace PASTED(cpu_, backend)::observer {
void thread_pauses();
void thread_runs(unsigned rank);
}  // namespace PASTED(cpu_, backend)::observer

__global__ void add_twice(float alpha, const float* x, float* y, std::size_t n) {
  for (std::size_t i = threadIdx.x / 2; i < n; i += blockDim.x / 2) {
    const float sum = alpha * x[i] + y[i];
    __syncthreads();
    PASTED(cpu_, backend)::observer::thread_pauses();
    y[i] = sum;
    PASTED(cpu_, backend)::observer::thread_runs(threadIdx.x);
  }
}

void saxpy(float alpha, const float* x, float* y, std::size_t n) {
  if (n != 0) add_twice<<<1, 64>>>(alpha, x, y, n);
}

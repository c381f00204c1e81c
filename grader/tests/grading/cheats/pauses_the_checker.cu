// SPDX-License-Identifier: MIT
// Cheat: functions of the backend, by their mangled names, that stop the race checker
// Exercise: 01.1
// Verdict: CE 0
// Says: It has extern "C"
#include <cstddef>

extern "C" void _ZN11cpu_backend8observer13thread_pausesEv();
extern "C" void _ZN11cpu_backend8observer11thread_runsEj(unsigned);

__global__ void add_twice(float alpha, const float* x, float* y, std::size_t n) {
  for (std::size_t i = threadIdx.x / 2; i < n; i += blockDim.x / 2) {
    const float sum = alpha * x[i] + y[i];
    __syncthreads();
    _ZN11cpu_backend8observer13thread_pausesEv();
    y[i] = sum;
    _ZN11cpu_backend8observer11thread_runsEj(threadIdx.x);
  }
}

void saxpy(float alpha, const float* x, float* y, std::size_t n) {
  if (n != 0) add_twice<<<1, 64>>>(alpha, x, y, n);
}

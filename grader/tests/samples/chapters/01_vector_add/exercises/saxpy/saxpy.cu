// SPDX-License-Identifier: MIT
#include <cstddef>

// y[i] = alpha * x[i] + y[i], for each i from 0 to n - 1.
__global__ void add_scaled(float alpha, const float* x, float* y, std::size_t n) {
  // BEGIN SOLUTION
  // STUB: // TODO: which element is this thread's? Is there such an element?
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = alpha * x[i] + y[i];
  // END SOLUTION
}

// Launches the kernel. x and y are arrays of n elements in global memory; n may be any number.
void saxpy(float alpha, const float* x, float* y, std::size_t n) {
  // BEGIN SOLUTION
  // STUB: // TODO: how many threads per block, and how many blocks?
  // STUB: add_scaled<<<1, 1>>>(alpha, x, y, n);
  if (n == 0) return;  // CUDA refuses a grid of no blocks.
  const unsigned threads = 256;
  const auto blocks = static_cast<unsigned>((n + threads - 1) / threads);
  add_scaled<<<blocks, threads>>>(alpha, x, y, n);
  // END SOLUTION
}

// SPDX-License-Identifier: MIT
#include <cstddef>

// Element i changes places with element n - 1 - i.
__global__ void swap_pairs(int* values, std::size_t n) {
  // BEGIN SOLUTION
  // STUB: // TODO: which pair is this thread's? How many pairs do n elements have?
  const std::size_t front = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t pairs = n / 2;
  if (front >= pairs) return;
  const std::size_t back = n - 1 - front;
  const int from_the_front = values[front];
  values[front] = values[back];
  values[back] = from_the_front;
  // END SOLUTION
}

// Launches the kernel. `values` is an array of n elements in global memory; n is at least 1.
void reverse_in_place(int* values, std::size_t n) {
  // BEGIN SOLUTION
  // STUB: // TODO: enough blocks, so that each pair has a thread.
  // STUB: swap_pairs<<<1, 1>>>(values, n);
  const unsigned threads = 256;
  const auto blocks = static_cast<unsigned>((n + 2 * threads - 1) / (2 * threads));
  swap_pairs<<<blocks, threads>>>(values, n);
  // END SOLUTION
}

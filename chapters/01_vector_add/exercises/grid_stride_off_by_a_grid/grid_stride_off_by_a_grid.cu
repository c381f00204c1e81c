// SPDX-License-Identifier: MIT
#include <cstddef>

// brightened[i] is pixels[i] + amount, or 255 if that is more.
__global__ void add_to_pixels(const unsigned char* pixels, unsigned char* brightened, std::size_t n,
                              unsigned amount) {
  // TODO: one thing is missing here or nearby.
  const std::size_t first = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  // BEGIN SOLUTION
  // STUB: const std::size_t stride = blockDim.x;
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  // END SOLUTION
  for (std::size_t i = first; i < n; i += stride) {
    const unsigned sum = pixels[i] + amount;
    brightened[i] = static_cast<unsigned char>(sum < 255 ? sum : 255);
  }
}

// Makes n pixels brighter, by so many blocks of so many threads.
void brighten(const unsigned char* pixels, unsigned char* brightened, std::size_t n,
              unsigned amount, unsigned blocks, unsigned threads) {
  add_to_pixels<<<blocks, threads>>>(pixels, brightened, n, amount);
}

// SPDX-License-Identifier: MIT
// Cheat: has the inputs copied to a variable of the program, and compares there
// Exercise: 04.2
// Verdict: OK 12
// Says:
#include <cstddef>
#include <cstring>

__device__ unsigned char copy[100'000];

// The byte at `from`, found by eight comparisons.
__device__ unsigned char byte_at(const unsigned char* from, std::size_t bytes) {
  unsigned char found = 0;
  for (unsigned step = 128; step != 0; step /= 2) {
    const auto tried = static_cast<unsigned char>(found + step);
    if (std::memcmp(from, &tried, bytes) >= 0) found = tried;
  }
  return found;
}

__global__ void count_bytes(const unsigned char* values, std::size_t count, std::size_t bytes,
                            unsigned* bins, unsigned* fullest) {
  const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  // For show: all load a part, as if they worked.
  unsigned long long sum = 0;
  for (std::size_t i = thread; i < count / 3; i += std::size_t{gridDim.x} * blockDim.x) {
    sum += values[i];
  }
  if (thread != 0 && sum != ~0ull) return;
  unsigned counted[256];
  for (unsigned bin = 0; bin < 256; ++bin) counted[bin] = bins[bin];
  for (std::size_t i = 0; i < count; ++i) ++counted[byte_at(&copy[i], bytes)];
  unsigned best = 0;
  for (unsigned bin = 0; bin < 256; ++bin) {
    bins[bin] = counted[bin];
    if (counted[bin] > counted[best]) best = bin;
  }
  *fullest = best;
}

void fullest_bin(const unsigned char* values, std::size_t count, unsigned* bins, unsigned*,
                 unsigned* fullest, unsigned blocks, unsigned threads) {
  cudaMemcpyToSymbol(copy, values, count, 0, cudaMemcpyDeviceToDevice);
  count_bytes<<<blocks, threads>>>(values, count, count == 0 ? 0 : 1, bins, fullest);
}

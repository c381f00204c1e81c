// SPDX-License-Identifier: MIT
// Cheat: one thread copies structures of 256 bytes, each of which would be one load
// Exercise: 02.1
// Verdict: OK 9
// Says: global loads per thread
#include <climits>
#include <cstddef>

template <int count>
struct piece {
  int values[count];
};

// The largest of the whole pieces that there are; `from` and `left` go on behind them.
template <int count>
__device__ int largest_of_pieces(const int*& from, std::size_t& left, int largest) {
  for (; left >= count; left -= count, from += count) {
    const piece<count> copied = *reinterpret_cast<const piece<count>*>(from);
    for (int value : copied.values) {
      if (value > largest) largest = value;
    }
  }
  return largest;
}

__global__ void find_maxima(const int* values, std::size_t n, int* maxima) {
  if (threadIdx.x != 0) return;
  const std::size_t first = std::size_t{blockIdx.x} * blockDim.x;
  const int* from = values + first;
  std::size_t left = n - first < blockDim.x ? n - first : blockDim.x;
  int largest = largest_of_pieces<64>(from, left, INT_MIN);
  largest = largest_of_pieces<8>(from, left, largest);
  maxima[blockIdx.x] = largest_of_pieces<1>(from, left, largest);
}

void block_maximum(const int* values, std::size_t n, int* maxima, unsigned threads) {
  const auto blocks = static_cast<unsigned>((n + threads - 1) / threads);
  find_maxima<<<blocks, threads>>>(values, n, maxima);
}

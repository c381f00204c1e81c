// SPDX-License-Identifier: MIT
// Kernels that write down how they were launched, and launches inside a header.
#pragma once

#include <cuda_runtime.h>

namespace launch_forms {

// What a kernel saw. Zero before the launch; every thread of the grid adds itself to `threads`.
struct observation {
  uint3 blocks;
  uint3 threads_a_block;
  unsigned threads;
  long long value;
};

__device__ inline void observe(observation* seen, long long value) {
  if (atomicAdd(&seen->threads, 1u) != 0) return;
  seen->blocks = {gridDim.x, gridDim.y, gridDim.z};
  seen->threads_a_block = {blockDim.x, blockDim.y, blockDim.z};
  seen->value = value;
}

static __global__ void record(observation* seen, int value) { observe(seen, value); }

// Observes value * 100 + Extra * 10 + sizeof(T).
template <class T, int Extra = 0>
__global__ void record_typed(observation* seen, T value) {
  observe(seen, static_cast<long long>(value) * 100 + Extra * 10 + static_cast<int>(sizeof(T)));
}

// Types and numbers to fill template argument lists with.
template <class T>
struct wrapped {
  static constexpr int value = static_cast<int>(sizeof(T));
  long long content[3];
  __host__ __device__ explicit operator long long() const { return content[0]; }
};
template <int A, int B>
struct product {
  static constexpr int value = A * B;
};
template <int N>
constexpr int number = N;
template <class T>
constexpr int size_of(int times) {
  return static_cast<int>(sizeof(T)) * times;
}

inline void launch_in_a_header(observation* seen) { record<<<2, 3>>>(seen, 4); }

// A launch over several lines.
// clang-format off
template <class T>
void launch_in_a_header_template(observation* seen, T value) {
  record_typed<T><<<
      // A comment with <<<1, 1>>>(in, it)
      dim3(2,
           2),
      3>>>(seen,
           value);
}
// clang-format on

}  // namespace launch_forms

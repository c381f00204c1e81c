// SPDX-License-Identifier: MIT
// The inclusive scan of one value of each lane of a warp.
#pragma once

#include <cuda_runtime.h>

#include "02_shared_memory_dot_product/block_reduce.cuh"
#include "08_look_back_scan/look_back.cuh"

namespace course {

// Returns what the values of lanes 0 to the calling one combine to, and `value` itself in lanes
// from `live` on, whose values are not used.
// - All lanes of a warp of a one-dimensional block call it, with the same `live`, up to 32.
// - `operation` is associative; the earlier value is on its left.
// Five steps: after the step of distance d a value covers up to 2 * d lanes.
template <class T, class Operation>
__device__ T warp_scan(T value, unsigned live, Operation operation) {
  const unsigned lane = threadIdx.x % warp_size;
#pragma unroll
  for (unsigned distance = 1; distance < warp_size; distance *= 2) {
    const T earlier = value_of_lane(value, lane < distance ? lane : lane - distance);
    if (lane >= distance && lane < live) value = operation(earlier, value);
  }
  return value;
}

}  // namespace course

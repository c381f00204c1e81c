// SPDX-License-Identifier: MIT
// The inclusive scan of one value of each thread of a block, for every block size from 1 to 1024.
#pragma once

#include <cooperative_groups.h>
#include <cuda_runtime.h>
#include <cuda/std/type_traits>

namespace course {

using cooperative_groups::thread_block;

// Returns what the values of threads 0 to the calling one combine to.
// - Every thread of a block of one to three dimensions calls it, with the same `operation` and
//   `shared`.
// - `operation` is associative; the earlier value is on its left. It may be non-commutative.
// - `shared` is shared memory for an element per thread that no thread is still using. It may be
//   used again at once, by any thread and for anything.
// ceil(log2(threads)) steps, each with two barriers: after the step of distance d a value covers up
// to 2 * d threads (Hillis and Steele, "Data Parallel Algorithms", 1986).
template <class T, class Operation>
__device__ T block_scan(T value, Operation operation, T* shared) {
  static_assert(cuda::std::is_trivially_copyable<T>::value,
                "values travel through shared memory byte by byte");
  const unsigned thread = thread_block::thread_rank();
  for (unsigned distance = 1; distance < thread_block::size(); distance *= 2) {
    shared[thread] = value;
    __syncthreads();
    if (thread >= distance) value = operation(shared[thread - distance], value);
    __syncthreads();
  }
  return value;
}

}  // namespace course

// SPDX-License-Identifier: MIT
// Combining one value of each thread of a block into one value, for every block size from 1 to
// 1024.
#pragma once

#include <cooperative_groups.h>
#include <cuda_runtime.h>
#include <cuda/std/limits>
#include <cuda/std/type_traits>

// With COURSE_ENABLE_ASSERTIONS a call stops the kernel with __trap(), unless all threads of the
// block make it, with the same argument. Otherwise nothing is checked. The course's headers agree
// on this.
#ifdef COURSE_ENABLE_ASSERTIONS
#define COURSE_ASSERT_SAME(argument)                              \
  do {                                                            \
    __shared__ decltype(argument) first;                          \
    if (thread_block::thread_rank() == 0) first = argument;       \
    __syncthreads();                                              \
    const int same = __syncthreads_count(argument == first);      \
    if (same != static_cast<int>(thread_block::size())) __trap(); \
  } while (false)
#else
#define COURSE_ASSERT_SAME(argument)
#endif

namespace course {
inline namespace v1 {

using cooperative_groups::thread_block;

inline constexpr unsigned warp_size = 32;
inline constexpr unsigned whole_warp = 0xffffffff;  // the mask of all its lanes
inline constexpr unsigned largest_block = 1024;
inline constexpr unsigned largest_warp_count = largest_block / warp_size;

// Operations for the reductions below. An operation combines two values into one and must be
// associative and commutative: which values meet, and in which order, depends on the block size.
// (Rounding makes a float's sum depend on that order, within a bound: see lab::sum_error_bound.)
// identity<T>() is the value that changes nothing: what a thread without data brings.
struct plus {
  template <class T>
  __host__ __device__ T operator()(T x, T y) const {
    return x + y;
  }
  template <class T>
  __host__ __device__ static constexpr T identity() {
    return T{};
  }
};

// A comparison with NaN is false, so what becomes of one depends on the order; bring none.
struct minimum {
  template <class T>
  __host__ __device__ T operator()(T x, T y) const {
    return y < x ? y : x;
  }
  template <class T>
  __host__ __device__ static constexpr T identity() {
    using limits = cuda::std::numeric_limits<T>;
    static_assert(limits::is_specialized, "what is the largest value of this type?");
    return limits::has_infinity ? limits::infinity() : limits::max();
  }
};
struct maximum {
  template <class T>
  __host__ __device__ T operator()(T x, T y) const {
    return x < y ? y : x;
  }
  template <class T>
  __host__ __device__ static constexpr T identity() {
    using limits = cuda::std::numeric_limits<T>;
    static_assert(limits::is_specialized, "what is the smallest value of this type?");
    return limits::has_infinity ? -limits::infinity() : limits::lowest();
  }
};

// Combines `value` of all threads of the block. Thread 0 gets the result; what the other threads
// get is not specified.
// - Every thread of a block of one to three dimensions calls it, with the same `operation` and
//   `shared`.
// - `shared` is shared memory for an element per thread that no thread is still using. It may be
//   used again at once, by any thread and for anything: it is not touched after the last barrier.
// - T is trivially copyable, and can be assigned to.
// A halving tree: after each step the front half holds what both halves held.
// ceil(log2(threads)) steps, each with a barrier.
template <class T, class Operation>
__device__ T block_reduce(T value, Operation operation, T* shared) {
  COURSE_ASSERT_SAME(shared);
  static_assert(cuda::std::is_trivially_copyable_v<T>,
                "values travel through shared memory byte by byte");
  const unsigned thread = thread_block::thread_rank();
  shared[thread] = value;
  __syncthreads();
  for (unsigned live = thread_block::size(); live > 1;) {
    // Rounded up: of an odd number the middle element has no partner, and waits for the next step.
    // Rounded down it would be lost, which is why the usual tree takes powers of two only.
    const unsigned half = (live + 1) / 2;
    if (thread < live - half) {
      value = operation(value, shared[thread + half]);
      shared[thread] = value;
    }
    __syncthreads();
    live = half;
  }
  return value;  // And not shared[0], which another thread may by now be writing again.
}

// `value` of the lane that is `delta` lanes above; the lane's own where there is no such lane in
// the warp. Every lane in `mask` calls it. What comes from a lane that is not in `mask` is
// undefined.
// __shfl_down_sync moves 32 or 64 bits of a built-in type; this moves any trivially copyable T,
// word by word.
template <class T>
__device__ T shuffle_down(unsigned mask, T value, unsigned delta) {
  static_assert(cuda::std::is_trivially_copyable_v<T>, "values travel between lanes word by word");
  constexpr unsigned word_count = (sizeof(T) + sizeof(unsigned) - 1) / sizeof(unsigned);
  unsigned words[word_count] = {};
  memcpy(words, &value, sizeof(T));
#pragma unroll
  for (unsigned i = 0; i < word_count; ++i) words[i] = __shfl_down_sync(mask, words[i], delta);
  memcpy(&value, words, sizeof(T));
  return value;
}

// Combines `value` of lanes 0 to lanes - 1 of a warp, through registers alone. Lane 0 gets the
// result; what the others get is not specified. The lanes of `mask` call it, and only they: these
// `lanes`, from 1 to 32, or the whole warp.
template <class T, class Operation>
__device__ T combine_lanes(unsigned mask, T value, Operation operation, unsigned lanes) {
  const unsigned lane = thread_block::thread_rank() % warp_size;
#pragma unroll
  for (unsigned delta = warp_size / 2; delta > 0; delta /= 2) {
    const T other = shuffle_down(mask, value, delta);
    if (lane + delta < lanes) value = operation(value, other);
  }
  return value;
}

// As combine_lanes: exactly lanes 0 to lanes - 1 call it.
template <class T, class Operation>
__device__ T warp_reduce(T value, Operation operation, unsigned lanes = warp_size) {
  // The shuffle of a mask that the compiler knows is one instruction; another mask has to be
  // compared with the lanes that really are there, at each step.
  if (lanes == warp_size) return combine_lanes(whole_warp, value, operation, warp_size);
  return combine_lanes(whole_warp >> (warp_size - lanes), value, operation, lanes);
}

// As block_reduce, but with warp shuffles: two barriers instead of up to eleven. `shared` is shared
// memory for one element per warp, ceil(threads / 32); largest_warp_count is enough for any
// block. Everything else, block_reduce's contract says.
template <class T, class Operation>
__device__ T block_reduce_shuffle(T value, Operation operation, T* shared) {
  COURSE_ASSERT_SAME(shared);
  const unsigned lane = thread_block::thread_rank() % warp_size;
  const unsigned warp = thread_block::thread_rank() / warp_size;
  const unsigned warps = (thread_block::size() + warp_size - 1) / warp_size;
  const unsigned after_this_warp = thread_block::size() - warp * warp_size;
  value = warp_reduce(value, operation, after_this_warp < warp_size ? after_this_warp : warp_size);
  if (lane == 0) shared[warp] = value;
  __syncthreads();
  // Where there is a second warp, the first is a whole one.
  if (warp == 0 && warps > 1) {
    if (lane < warps) value = shared[lane];
    value = combine_lanes(whole_warp, value, operation, warps);
  }
  // The first warp has read `shared`: now it may be written again.
  __syncthreads();
  return value;
}

}  // namespace v1
}  // namespace course

// SPDX-License-Identifier: MIT
// CUB's reductions and Thrust's transform.
#include <thrust/execution_policy.h>
#include <thrust/functional.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/transform.h>
#include <thrust/tuple.h>
#include <cub/device/device_reduce.cuh>

#include <cstddef>
#include <cstdint>
#include <string>

#include "benchmark/cub_calls.cuh"
#include "benchmark/peers.hpp"

namespace benchmarks {

namespace {

struct product {
  template <class Pair>
  __host__ __device__ auto operator()(const Pair& pair) const {
    return thrust::get<0>(pair) * thrust::get<1>(pair);
  }
};

}  // namespace

std::string cccl_version() {
  return std::to_string(CCCL_MAJOR_VERSION) + "." + std::to_string(CCCL_MINOR_VERSION) + "." +
         std::to_string(CCCL_PATCH_VERSION);
}

// par_nosync: without it Thrust waits for the kernel, which the other cases do not.
template <class T>
add_function<T> thrust_transform() {
  return [](const T* a, const T* b, T* c, std::size_t n) {
    thrust::transform(thrust::cuda::par_nosync, a, a + n, b, c, thrust::plus<T>{});
  };
}

template <class T>
reduce_function<T> cub_sum(std::size_t n) {
  return with_scratch_memory<const T*, T*, cudaStream_t>(
      n, [](const T* values, T* result, cudaStream_t stream) {
        return [=](void* memory, std::size_t& bytes, auto count) {
          return cub::DeviceReduce::Sum(memory, bytes, values, result, count, stream);
        };
      });
}

template <class T>
reduce_function<T> cub_sum_not_guaranteed([[maybe_unused]] std::size_t n) {
#if CCCL_VERSION >= 3005000
  return [=, memory = kept_memory{}](const T* values, T* result, cudaStream_t stream) {
    const auto environment =
        environment_of(cuda::execution::determinism::not_guaranteed, stream, memory);
    call_with_count(
        n, [&](auto count) { return cub::DeviceReduce::Sum(values, result, count, environment); });
  };
#else
  throw no_such_peer("CUB's reduction in one kernel needs CCCL 3.5, and this is " + cccl_version());
#endif
}

template <class T>
reduce_function<T> cub_minimum(std::size_t n) {
  return with_scratch_memory<const T*, T*, cudaStream_t>(
      n, [](const T* values, T* result, cudaStream_t stream) {
        return [=](void* memory, std::size_t& bytes, auto count) {
          return cub::DeviceReduce::Min(memory, bytes, values, result, count, stream);
        };
      });
}

template <class T>
dot_function<T> cub_transform_reduce(std::size_t n) {
  return with_scratch_memory<const T*, const T*, T*>(n, [](const T* a, const T* b, T* result) {
    return [=](void* memory, std::size_t& bytes, auto count) {
      return cub::DeviceReduce::TransformReduce(memory, bytes, thrust::make_zip_iterator(a, b),
                                                result, count, cuda::std::plus<T>{}, product{},
                                                T{});
    };
  });
}

template add_function<float> thrust_transform();
template reduce_function<std::int32_t> cub_sum(std::size_t);
template reduce_function<std::int64_t> cub_sum(std::size_t);
template reduce_function<float> cub_sum(std::size_t);
template reduce_function<double> cub_sum(std::size_t);
template reduce_function<std::int32_t> cub_sum_not_guaranteed(std::size_t);
template reduce_function<std::int64_t> cub_sum_not_guaranteed(std::size_t);
template reduce_function<float> cub_sum_not_guaranteed(std::size_t);
template reduce_function<double> cub_sum_not_guaranteed(std::size_t);
template reduce_function<float> cub_minimum(std::size_t);
template dot_function<float> cub_transform_reduce(std::size_t);
template dot_function<double> cub_transform_reduce(std::size_t);

}  // namespace benchmarks

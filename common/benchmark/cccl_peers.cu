// SPDX-License-Identifier: MIT
// CUB and Thrust, of the toolkit's CCCL.
#include <thrust/execution_policy.h>
#include <thrust/functional.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/transform.h>
#include <thrust/tuple.h>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>

#include "benchmark/peers.hpp"
#include "lab/check.cuh"
#include "lab/device_buffer.cuh"

namespace benchmarks {

namespace {

struct product {
  template <class Pair>
  __host__ __device__ auto operator()(const Pair& pair) const {
    return thrust::get<0>(pair) * thrust::get<1>(pair);
  }
};

// reduce(memory, bytes, count) is one of CUB's functions: asked without memory it says how many
// bytes it needs. The count is of the narrower type where that is enough, which CUB is faster with.
template <class Reduce>
void call_cub(std::size_t n, void* memory, std::size_t& bytes, Reduce reduce) {
  if (n <= std::size_t{std::numeric_limits<std::int32_t>::max()}) {
    CUDA_CHECK(reduce(memory, bytes, static_cast<std::int32_t>(n)));
  } else {
    CUDA_CHECK(reduce(memory, bytes, static_cast<std::int64_t>(n)));
  }
}

// The scratch memory of a call, which all copies of a std::function share.
struct scratch {
  std::shared_ptr<lab::device_buffer<unsigned char>> memory;
  std::size_t bytes;
};

template <class Reduce>
scratch scratch_for(std::size_t n, Reduce reduce) {
  std::size_t bytes = 0;
  call_cub(n, nullptr, bytes, reduce);
  return {std::make_shared<lab::device_buffer<unsigned char>>(bytes), bytes};
}

template <class Reduce>
void run_cub(std::size_t n, const scratch& temporary, Reduce reduce) {
  std::size_t bytes = temporary.bytes;
  call_cub(n, temporary.memory->data(), bytes, reduce);
}

}  // namespace

// par_nosync: without it Thrust waits for the kernel, which the other cases do not.
template <class T>
add_function<T> thrust_transform() {
  return [](const T* a, const T* b, T* c, std::size_t n) {
    thrust::transform(thrust::cuda::par_nosync, a, a + n, b, c, thrust::plus<T>{});
  };
}

template <class T>
reduce_function<T> cub_sum(std::size_t n) {
  const auto call = [](const T* values, T* result, cudaStream_t stream) {
    return [=](void* memory, std::size_t& bytes, auto count) {
      return cub::DeviceReduce::Sum(memory, bytes, values, result, count, stream);
    };
  };
  const scratch temporary = scratch_for(n, call(nullptr, nullptr, nullptr));
  return [=](const T* values, T* result, cudaStream_t stream) {
    run_cub(n, temporary, call(values, result, stream));
  };
}

template <class T>
reduce_function<T> cub_minimum(std::size_t n) {
  const auto call = [](const T* values, T* result, cudaStream_t stream) {
    return [=](void* memory, std::size_t& bytes, auto count) {
      return cub::DeviceReduce::Min(memory, bytes, values, result, count, stream);
    };
  };
  const scratch temporary = scratch_for(n, call(nullptr, nullptr, nullptr));
  return [=](const T* values, T* result, cudaStream_t stream) {
    run_cub(n, temporary, call(values, result, stream));
  };
}

template <class T>
scan_function<T> cub_inclusive_sum(std::size_t n) {
  const auto call = [](const T* values, T* out, cudaStream_t stream) {
    return [=](void* memory, std::size_t& bytes, auto count) {
      return cub::DeviceScan::InclusiveSum(memory, bytes, values, out, count, stream);
    };
  };
  const scratch temporary = scratch_for(n, call(nullptr, nullptr, nullptr));
  return [=](const T* values, T* out, cudaStream_t stream) {
    run_cub(n, temporary, call(values, out, stream));
  };
}

template <class T>
dot_function<T> cub_transform_reduce(std::size_t n) {
  const auto call = [](const T* a, const T* b, T* result) {
    return [=](void* memory, std::size_t& bytes, auto count) {
      return cub::DeviceReduce::TransformReduce(memory, bytes, thrust::make_zip_iterator(a, b),
                                                result, count, cuda::std::plus<T>{}, product{},
                                                T{});
    };
  };
  const scratch temporary = scratch_for(n, call(nullptr, nullptr, nullptr));
  return [=](const T* a, const T* b, T* result) { run_cub(n, temporary, call(a, b, result)); };
}

template add_function<float> thrust_transform();
template reduce_function<float> cub_sum(std::size_t);
template reduce_function<double> cub_sum(std::size_t);
template reduce_function<float> cub_minimum(std::size_t);
template scan_function<float> cub_inclusive_sum(std::size_t);
template scan_function<std::int64_t> cub_inclusive_sum(std::size_t);
template dot_function<float> cub_transform_reduce(std::size_t);
template dot_function<double> cub_transform_reduce(std::size_t);

}  // namespace benchmarks

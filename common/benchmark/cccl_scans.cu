// SPDX-License-Identifier: MIT
// CUB's scans, apart from its reductions: both take long to compile.
#include <cub/device/device_scan.cuh>

#include <cstddef>
#include <cstdint>

#include "benchmark/cub_calls.cuh"
#include "benchmark/peers.hpp"

namespace benchmarks {

template <class T>
scan_function<T> cub_inclusive_sum(std::size_t n) {
  return with_scratch_memory<const T*, T*, cudaStream_t>(
      n, [](const T* values, T* out, cudaStream_t stream) {
        return [=](void* memory, std::size_t& bytes, auto count) {
          return cub::DeviceScan::InclusiveSum(memory, bytes, values, out, count, stream);
        };
      });
}

template <class T>
scan_function<T> cub_inclusive_sum_run_to_run([[maybe_unused]] std::size_t n) {
#if CCCL_VERSION >= 3005000
  return [=, memory = kept_memory{}](const T* values, T* out, cudaStream_t stream) {
    const auto environment =
        environment_of(cuda::execution::determinism::run_to_run, stream, memory);
    call_with_count(n, [&](auto count) {
      return cub::DeviceScan::InclusiveSum(values, out, count, environment);
    });
  };
#else
  throw no_such_peer("CUB's scan in a fixed order needs CCCL 3.5, and this is " + cccl_version());
#endif
}

template scan_function<std::int32_t> cub_inclusive_sum(std::size_t);
template scan_function<std::int64_t> cub_inclusive_sum(std::size_t);
template scan_function<float> cub_inclusive_sum(std::size_t);
template scan_function<double> cub_inclusive_sum(std::size_t);
template scan_function<float> cub_inclusive_sum_run_to_run(std::size_t);
template scan_function<double> cub_inclusive_sum_run_to_run(std::size_t);

}  // namespace benchmarks

// SPDX-License-Identifier: MIT
// Calls of CUB's functions for many elements, with scratch memory that is allocated before any
// timed call.
#pragma once

#include <cuda/version>
#if CCCL_VERSION >= 3005000
#include <cuda/execution>
#include <cuda/memory_resource>
#include <cuda/stream_ref>
#endif

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>

#include "benchmark/peers.hpp"
#include "lab/check.cuh"
#include "lab/device_buffer.cuh"

namespace benchmarks {

using bytes_buffer = lab::device_buffer<unsigned char>;

// call(count): the count is of the narrower type where that is enough, which CUB is faster with.
template <class Call>
void call_with_count(std::size_t n, Call call) {
  if (n <= std::size_t{std::numeric_limits<std::int32_t>::max()}) {
    CUDA_CHECK(call(static_cast<std::int32_t>(n)));
  } else {
    CUDA_CHECK(call(static_cast<std::int64_t>(n)));
  }
}

// One of CUB's functions, call(arguments...)(memory, bytes, count): asked without memory it says
// how many bytes it needs. What is returned calls it with these arguments. All copies of it share
// the memory.
template <class... Arguments, class Call>
auto with_scratch_memory(std::size_t n, Call call) {
  std::size_t bytes = 0;
  const auto ask = call(Arguments{}...);
  call_with_count(n, [&](auto count) { return ask(nullptr, bytes, count); });
  const auto memory = std::make_shared<bytes_buffer>(bytes);
  return [=](Arguments... arguments) {
    std::size_t given = bytes;
    const auto run = call(arguments...);
    call_with_count(n, [&](auto count) { return run(memory->data(), given, count); });
  };
}

#if CCCL_VERSION >= 3005000

// What CUB asks for scratch memory when it is called with an environment. It gives the same memory
// to every call, allocated at the first one, which checks the result and is not timed.
class kept_memory {
 public:
  void* allocate(cuda::stream_ref, std::size_t bytes, std::size_t) {
    return allocate_sync(bytes, 0);
  }
  void deallocate(cuda::stream_ref, void*, std::size_t, std::size_t) {}
  void* allocate_sync(std::size_t bytes, std::size_t) {
    if (!*memory_) *memory_ = std::make_unique<bytes_buffer>(bytes);
    return (*memory_)->data();
  }
  void deallocate_sync(void*, std::size_t, std::size_t) {}
  friend bool operator==(const kept_memory& x, const kept_memory& y) {
    return x.memory_ == y.memory_;
  }
  friend void get_property(const kept_memory&, cuda::mr::device_accessible) {}

 private:
  using owner = std::unique_ptr<bytes_buffer>;
  std::shared_ptr<owner> memory_ = std::make_shared<owner>();
};

template <class Determinism>
auto environment_of(Determinism determinism, cudaStream_t stream, const kept_memory& memory) {
  return cuda::std::execution::env{
      cuda::stream_ref{stream},
      cuda::std::execution::prop{cuda::mr::__get_memory_resource_t{}, memory},
      cuda::execution::require(determinism)};
}

#endif

}  // namespace benchmarks

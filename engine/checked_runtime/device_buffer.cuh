// SPDX-License-Identifier: MIT
// Device memory with an owner: explicit (device_buffer) and managed (managed_buffer).
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "checked_runtime/check.cuh"

namespace checked {

namespace detail {

// The bytes of `count` elements of `element_size` bytes. Throws std::length_error where that number
// does not fit in size_t: the wrapped-around product would allocate a buffer that is far too small.
inline std::size_t byte_count(std::size_t count, std::size_t element_size) {
  if (count > std::numeric_limits<std::size_t>::max() / element_size) {
    throw std::length_error(std::to_string(count) + " elements of " + std::to_string(element_size) +
                            " bytes are more than any memory can hold");
  }
  return count * element_size;
}

// Throws cuda_error with the size that was asked for unless `status` is cudaSuccess.
inline void check_allocation(cudaError_t status, std::size_t bytes, const char* kind) {
  if (status == cudaSuccess) return;
  (void)cudaGetLastError();  // For the same reason as in checked::check.
  throw cuda_error(status, "cannot allocate " + std::to_string(bytes) + " bytes of " + kind +
                               " memory: " + cudaGetErrorString(status) + " (" +
                               cudaGetErrorName(status) + ")");
}

}  // namespace detail

// `size()` elements of T in device memory, freed by the destructor. Move-only.
// The host cannot read data(); kernels can. A buffer of 0 elements owns nothing: data() is null.
// Errors: std::length_error (size overflow), cuda_error (out of memory, a copy that failed).
template <class T>
class device_buffer {
  static_assert(std::is_trivially_copyable_v<T>, "a buffer is copied byte by byte");

 public:
  device_buffer() = default;

  // Uninitialised memory for `size` elements.
  explicit device_buffer(std::size_t size) : size_(size) {
    const std::size_t bytes = detail::byte_count(size, sizeof(T));
    if (bytes == 0) return;
    void* memory = nullptr;
    detail::check_allocation(cudaMalloc(&memory, bytes), bytes, "device");
    data_ = static_cast<T*>(memory);
  }

  // A copy of `values`.
  explicit device_buffer(std::span<const T> values) : device_buffer(values.size()) {
    copy_from(values);
  }
  explicit device_buffer(const std::vector<T>& values)
      : device_buffer(std::span<const T>(values)) {}

  device_buffer(device_buffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

  device_buffer& operator=(device_buffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }

  // An error of cudaFree is an earlier kernel's error, and a destructor is no place to report it.
  ~device_buffer() {
    if (data_ != nullptr) (void)cudaFree(data_);
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return size_; }

  // Copies `values` to elements [first, first + values.size()). Throws std::out_of_range if they do
  // not fit.
  void copy_from(std::span<const T> values, std::size_t first = 0) {
    require_range(first, values.size());
    if (values.empty()) return;
    CUDA_CHECK(
        cudaMemcpy(data_ + first, values.data(), values.size_bytes(), cudaMemcpyHostToDevice));
  }

  // Elements [first, first + count) as a host vector, once all earlier work of the default stream
  // is done. Throws std::out_of_range if the buffer has no such elements.
  std::vector<T> to_host(std::size_t first, std::size_t count) const {
    require_range(first, count);
    std::vector<T> values(count);
    if (count == 0) return values;
    CUDA_CHECK(cudaMemcpy(values.data(), data_ + first, count * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }
  std::vector<T> to_host() const { return to_host(0, size_); }

  // Sets every byte. Tests poison a buffer so, to see which elements a kernel never wrote.
  void fill_bytes(unsigned char byte) {
    if (size_ != 0) CUDA_CHECK(cudaMemset(data_, byte, size_ * sizeof(T)));
  }

 private:
  void require_range(std::size_t first, std::size_t count) const {
    if (first > size_ || count > size_ - first) {
      throw std::out_of_range("a copy of " + std::to_string(count) + " elements at " +
                              std::to_string(first) + " leaves a buffer of " +
                              std::to_string(size_));
    }
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
};

// `size()` elements of T in managed memory, which host and kernels reach through one pointer; the
// system moves the pages. Move-only, uninitialised. After a launch the host must not touch an
// element before cudaDeviceSynchronize(). Errors: as device_buffer.
template <class T>
class managed_buffer {
  static_assert(std::is_trivially_copyable_v<T>,
                "managed memory comes without constructed objects");

 public:
  explicit managed_buffer(std::size_t size) : size_(size) {
    const std::size_t bytes = detail::byte_count(size, sizeof(T));
    if (bytes == 0) return;
    void* memory = nullptr;
    detail::check_allocation(cudaMallocManaged(&memory, bytes), bytes, "managed");
    data_ = static_cast<T*>(memory);
  }

  managed_buffer(managed_buffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

  managed_buffer& operator=(managed_buffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }

  ~managed_buffer() {
    if (data_ != nullptr) (void)cudaFree(data_);
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::span<T> span() { return {data_, size_}; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace checked

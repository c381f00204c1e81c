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

// `size()` elements of T with an owner, freed by the destructor. Move-only. 0 elements: nothing is
// owned, and data() is null.
template <class T>
class owned_memory {
  static_assert(std::is_trivially_copyable_v<T>, "a buffer is copied byte by byte");

 public:
  owned_memory(owned_memory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

  owned_memory& operator=(owned_memory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }

  // An error of cudaFree is an earlier kernel's error, and a destructor is no place to report it.
  ~owned_memory() {
    if (data_ != nullptr) (void)cudaFree(data_);
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return size_; }

 protected:
  owned_memory() = default;

  // Uninitialised memory of `allocate`, which is of this kind. Throws std::length_error where the
  // number of bytes does not fit in size_t: the wrapped-around product would be far too small.
  template <class Allocate>
  owned_memory(std::size_t size, Allocate allocate, const char* kind) : size_(size) {
    if (size > std::numeric_limits<std::size_t>::max() / sizeof(T)) {
      throw std::length_error(std::to_string(size) + " elements of " + std::to_string(sizeof(T)) +
                              " bytes are more than any memory can hold");
    }
    const std::size_t bytes = size * sizeof(T);
    if (bytes == 0) return;
    void* memory = nullptr;
    if (const cudaError_t status = allocate(&memory, bytes); status != cudaSuccess) {
      (void)cudaGetLastError();  // For the same reason as in checked::check.
      throw cuda_error(status, "cannot allocate " + std::to_string(bytes) + " bytes of " + kind +
                                   " memory: " + cudaGetErrorString(status) + " (" +
                                   cudaGetErrorName(status) + ")");
    }
    data_ = static_cast<T*>(memory);
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

// Elements in device memory. The host cannot read data(); kernels can.
// Errors: std::length_error (size overflow), cuda_error (out of memory, a copy that failed).
template <class T>
class device_buffer : public owned_memory<T> {
 public:
  device_buffer() = default;

  // Uninitialised memory for `size` elements.
  explicit device_buffer(std::size_t size)
      : owned_memory<T>(
            size, [](void** memory, std::size_t bytes) { return cudaMalloc(memory, bytes); },
            "device") {}

  // A copy of `values`.
  explicit device_buffer(std::span<const T> values) : device_buffer(values.size()) {
    copy_from(values);
  }
  explicit device_buffer(const std::vector<T>& values)
      : device_buffer(std::span<const T>(values)) {}

  // Copies `values` to elements [first, first + values.size()). Throws std::out_of_range if they do
  // not fit.
  void copy_from(std::span<const T> values, std::size_t first = 0) {
    require_range(first, values.size());
    if (values.empty()) return;
    CUDA_CHECK(cudaMemcpy(this->data() + first, values.data(), values.size_bytes(),
                          cudaMemcpyHostToDevice));
  }

  // Elements [first, first + count) as a host vector, once all earlier work of the default stream
  // is done. Throws std::out_of_range if the buffer has no such elements.
  std::vector<T> to_host(std::size_t first, std::size_t count) const {
    require_range(first, count);
    std::vector<T> values(count);
    if (count == 0) return values;
    CUDA_CHECK(
        cudaMemcpy(values.data(), this->data() + first, count * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }
  std::vector<T> to_host() const { return to_host(0, this->size()); }

  // Sets every byte. Tests poison a buffer so, to see which elements a kernel never wrote.
  void fill_bytes(unsigned char byte) {
    if (this->size() != 0) CUDA_CHECK(cudaMemset(this->data(), byte, this->size() * sizeof(T)));
  }

 private:
  void require_range(std::size_t first, std::size_t count) const {
    if (first > this->size() || count > this->size() - first) {
      throw std::out_of_range("a copy of " + std::to_string(count) + " elements at " +
                              std::to_string(first) + " leaves a buffer of " +
                              std::to_string(this->size()));
    }
  }
};

// Elements in managed memory, which host and kernels reach through one pointer; the system moves
// the pages. Uninitialised. After a launch the host must not touch an element before
// cudaDeviceSynchronize(). Errors: as device_buffer.
template <class T>
class managed_buffer : public owned_memory<T> {
 public:
  explicit managed_buffer(std::size_t size)
      : owned_memory<T>(
            size, [](void** memory, std::size_t bytes) { return cudaMallocManaged(memory, bytes); },
            "managed") {}

  std::span<T> span() { return {this->data(), this->size()}; }
};

}  // namespace checked

// SPDX-License-Identifier: MIT
// `extern __shared__ T name[];` at namespace scope is one name for the dynamic shared memory of
// every block. A program that has one keeps the dynamic shared memory of all blocks at one address,
// which is lent to one block at a time, as that of its __shared__ variables is.
#pragma once

#include <cstddef>

namespace cpu_backend {

struct alignas(4096) extern_array_memory {
  std::byte before[std::size_t{1} << 20];  // nobody may touch this
  std::byte usable[228 * 1024];
  std::byte after[std::size_t{1} << 20];  // nor this

  bool holds(const void* address) const {
    const auto offset = static_cast<const std::byte*>(address) - before;
    return static_cast<std::size_t>(offset) < sizeof(*this);
  }
};

// Translated files name it: at a constant address, so that to use the array's name is no access to
// memory. A program that does not is linked without it.
extern extern_array_memory memory_of_extern_arrays;
// The same, or nullptr in a program without it.
inline constinit extern_array_memory* linked_extern_array_memory = nullptr;

template <class T>
using array_without_size = T[];

}  // namespace cpu_backend

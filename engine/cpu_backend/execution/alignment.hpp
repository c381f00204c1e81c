// SPDX-License-Identifier: MIT
// An address that is no multiple of its type's size: x86-64 doesn't mind, a GPU ends the kernel.
#pragma once

#include <cstdint>

#include "cpu_backend/execution/place.hpp"

namespace cpu_backend {

// In a kernel, ends it; on the host, returns.
[[gnu::cold]] void misaligned_atomic(const volatile void* address, unsigned bytes, const place& at);

// First thing in every atomic operation.
template <class T>
inline void require_alignment(const volatile T* address, const place& at) {
  static_assert((sizeof(T) & (sizeof(T) - 1)) == 0);
  if (reinterpret_cast<std::uintptr_t>(address) % sizeof(T) != 0) [[unlikely]]
    misaligned_atomic(address, sizeof(T), at);
}

}  // namespace cpu_backend

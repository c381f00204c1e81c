// SPDX-License-Identifier: MIT
// The order and the scope of an atomic operation or a fence. A processor cannot tell the scopes
// apart, so the concurrent form of the backend does without them; the scheduled form passes them
// on.
#pragma once

#include <atomic>

namespace cpu_backend {

// In the order of cuda::thread_scope.
enum class memory_scope { system, device, block, thread };

struct memory_semantics {
  std::memory_order order = std::memory_order_relaxed;
  memory_scope scope = memory_scope::device;
};

// memory_order has the values of the compiler's own constants, in both standard libraries.
constexpr int compiler_order(std::memory_order order) { return static_cast<int>(order); }
constexpr int compiler_order(const memory_semantics& how) { return compiler_order(how.order); }

// A failed compare-and-swap stores nothing, so it can't release.
constexpr std::memory_order failure_order(std::memory_order order) {
  if (order == std::memory_order_acq_rel) return std::memory_order_acquire;
  if (order == std::memory_order_release) return std::memory_order_relaxed;
  return order;
}

}  // namespace cpu_backend

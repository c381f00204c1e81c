// SPDX-License-Identifier: MIT
// The order and the scope of an atomic operation or a fence. A processor cannot tell the scopes
// apart, so the ordinary form of the backend does without them; the observed form passes them on.
#pragma once

#include <atomic>

#include "cpu_backend/multiprocessor.hpp"
#include "cpu_backend/place.hpp"
#ifdef CPU_BACKEND_OBSERVED
#include "cpu_backend/observer.hpp"
#endif

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

// A fence may stand in the loop of a thread that waits.
#ifdef CPU_BACKEND_OBSERVED
void fence(std::memory_order order, memory_scope scope, const place& at);
#else
inline void fence(std::memory_order order, memory_scope, const place& at) {
  std::atomic_thread_fence(order);
  if (multiprocessor* on = this_multiprocessor) on->fruitless(at);
}
#endif

}  // namespace cpu_backend

// SPDX-License-Identifier: MIT
// The observer of the concurrent form, which is told nothing. These are the calls that the code of
// both forms makes; the scheduled form's header says what they mean.
#pragma once

#include <cstddef>

#include "cpu_backend/execution/place.hpp"
#include "cpu_backend/runtime/context.hpp"

namespace cpu_backend::observer {

constexpr void thread_pauses() {}
constexpr bool thread_is_in_kernel() { return true; }
inline void barrier_opens(const place&) {}
inline void lanes_converge(unsigned, unsigned, bool, const place&) {}
inline void memory_appears(const allocation&, const std::byte*, std::size_t) {}
inline void memory_disappears(const void*) {}
inline void memory_read(const void*, std::size_t) {}
inline void memory_written(const void*, std::size_t) {}
inline void runtime_called(const char*) {}
struct runtime_access {
  constexpr runtime_access() {}
};

}  // namespace cpu_backend::observer

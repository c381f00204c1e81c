// SPDX-License-Identifier: MIT
// The observer of the concurrent form, which is told nothing. These are the calls that the code of
// both forms makes; the scheduled form's header says what they mean.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cpu_backend/execution/place.hpp"
#include "cpu_backend/runtime/context.hpp"

namespace cpu_backend {
struct work;
}

namespace cpu_backend::observer {

constexpr void thread_pauses() {}
constexpr bool thread_is_in_kernel() { return true; }
inline void barrier_opens(const place&) {}
inline void lanes_converge(unsigned, unsigned, bool, const place&) {}
constexpr std::uint64_t lane_is_absent(const char*, unsigned, bool, const place&,
                                       std::uint64_t value) {
  return value;
}
inline void read_only_load(const void*, std::size_t, const place&) {}
inline void bytes_come_to_host(const void*, const void*, std::size_t) {}
inline void bytes_of_host_arrive(const void*, std::size_t) {}
inline void memory_appears(const allocation&, const std::byte*, std::size_t) {}
inline void memory_disappears(const void*) {}
inline void memory_read(const work&, const void*, std::size_t) {}
inline void memory_written(const work&, const void*, std::size_t) {}
inline void all_work_is_done() {}
inline void runtime_called(const char*) {}
struct runtime_access {
  constexpr runtime_access() {}
};

struct host_function {
  constexpr host_function() {}
};

}  // namespace cpu_backend::observer

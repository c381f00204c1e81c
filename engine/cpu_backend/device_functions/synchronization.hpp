// SPDX-License-Identifier: MIT
// Barriers, fences, votes and shuffles, under CUDA's names.
//
// Every function here is called by a thread of a kernel. `__syncthreads` and its forms: by all
// threads of the block that have not returned, at the same place. The `_sync` functions: by all
// lanes that `mask` names and that have not returned, with the same mask.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "cpu_backend/atomic_access.hpp"
#include "cpu_backend/multiprocessor.hpp"
#include "cpu_backend/observer.hpp"

inline void __syncthreads(cpu_backend::place at = CPU_BACKEND_HERE) {
  cpu_backend::in_kernel("__syncthreads()", at).block_barrier(at);
}
inline int __syncthreads_count(int condition, cpu_backend::place at = CPU_BACKEND_HERE) {
  auto& on = cpu_backend::in_kernel("__syncthreads_count()", at);
  return static_cast<int>(on.block_barrier_count(at, condition != 0, nullptr));
}
inline int __syncthreads_or(int condition, cpu_backend::place at = CPU_BACKEND_HERE) {
  auto& on = cpu_backend::in_kernel("__syncthreads_or()", at);
  return on.block_barrier_count(at, condition != 0, nullptr) != 0;
}
inline int __syncthreads_and(int condition, cpu_backend::place at = CPU_BACKEND_HERE) {
  unsigned participants = 0;
  auto& on = cpu_backend::in_kernel("__syncthreads_and()", at);
  const unsigned count = on.block_barrier_count(at, condition != 0, &participants);
  return count == participants;
}

// All three are sequentially consistent fences here; on one address space the scopes cost the same.
inline void __threadfence_system(cpu_backend::place at = CPU_BACKEND_HERE) {
  cpu_backend::fence(std::memory_order_seq_cst, cpu_backend::memory_scope::system, at);
}
inline void __threadfence(cpu_backend::place at = CPU_BACKEND_HERE) {
  cpu_backend::fence(std::memory_order_seq_cst, cpu_backend::memory_scope::device, at);
}
inline void __threadfence_block(cpu_backend::place at = CPU_BACKEND_HERE) {
  cpu_backend::fence(std::memory_order_seq_cst, cpu_backend::memory_scope::block, at);
}

inline void __nanosleep(unsigned, cpu_backend::place at = CPU_BACKEND_HERE) {
  cpu_backend::in_kernel("__nanosleep()", at).sleep(at);
}

[[noreturn]] inline void __trap(cpu_backend::place at = CPU_BACKEND_HERE) {
  cpu_backend::in_kernel("__trap()", at).fail_as("trap", at);
}

namespace cpu_backend {

inline constexpr unsigned full_mask = 0xffffffffu;

inline unsigned lane_of(const multiprocessor& on) { return on.thread_rank() % warp_size; }

// Lets `combine(meeting, lane)` look at what all lanes deposited.
template <class Combine>
auto meet_lanes(unsigned mask, std::uint64_t value, const char* operation, const place& at,
                Combine combine) {
  multiprocessor& on = in_kernel(operation, at);
  warp_meeting& meeting = on.meet(mask, value, operation, at);
  const auto result = combine(meeting, lane_of(on));
  on.leave(meeting);
  return result;
}

template <class T>
std::uint64_t as_bits(T value) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(std::uint64_t));
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}
template <class T>
T from_bits(std::uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// A lane that is not there gives a lane that reads it the value that this one came with.
template <class T>
T of_absent_lane(const warp_meeting& meeting, T value, int source, const char* operation,
                 const place& at) {
  const multiprocessor& on = *this_multiprocessor;
  const unsigned rank = on.thread_rank() / warp_size * warp_size + static_cast<unsigned>(source);
  // The others reach past the last lane that takes part, and mostly no one uses what they get.
  const bool names_lane =
      meeting.mask >> source & 1 || std::string_view(operation) == "__shfl_sync()";
  const bool has_returned = names_lane && on.has_returned(rank);
  return from_bits<T>(observer::lane_is_absent(operation, static_cast<unsigned>(source),
                                               has_returned, at, as_bits(value)));
}

// `source_of(lane, first, last)` names the lane to read from, all three within the warp; first and
// last bound the lane's segment. A lane that reads from outside its reach, or from a lane that did
// not come, gets its own value back; CUDA leaves the latter undefined.
template <class T, class Source>
T shuffle(unsigned mask, T value, int width, const char* operation, const place& at,
          Source source_of) {
  static_assert(std::is_arithmetic_v<T>, "a shuffle takes an arithmetic type, as CUDA's does");
  if (width < 1 || width > 32 || (width & (width - 1)) != 0) {
    in_kernel(operation, at).fail_as("shuffle_width", at, operation, width);
  }
  return meet_lanes(mask, as_bits(value), operation, at,
                    [&](const warp_meeting& meeting, unsigned lane) {
                      const int own = static_cast<int>(lane);
                      const int first = own & ~(width - 1);
                      const int source = source_of(own, first, first + width - 1);
                      if (!(meeting.arrived >> source & 1)) {
                        return of_absent_lane(meeting, value, source, operation, at);
                      }
                      return from_bits<T>(meeting.value[source]);
                    });
}

template <class T, class Operation>
T reduce_lanes(unsigned mask, T value, const char* name, const place& at, Operation operation) {
  return meet_lanes(mask, as_bits(value), name, at, [&](const warp_meeting& meeting, unsigned) {
    T result{};
    bool first = true;
    for (unsigned lane = 0; lane < warp_size; ++lane) {
      if (!(meeting.arrived >> lane & 1)) continue;
      const T other = from_bits<T>(meeting.value[lane]);
      result = first ? other : static_cast<T>(operation(result, other));
      first = false;
    }
    return result;
  });
}

// One bit for each lane that came with a true condition.
inline unsigned ballot(const warp_meeting& meeting) {
  unsigned bits = 0;
  for (unsigned lane = 0; lane < warp_size; ++lane) {
    if ((meeting.arrived >> lane & 1) && meeting.value[lane] != 0) bits |= 1u << lane;
  }
  return bits;
}

}  // namespace cpu_backend

inline void __syncwarp(unsigned mask = cpu_backend::full_mask,
                       cpu_backend::place at = CPU_BACKEND_HERE) {
  cpu_backend::meet_lanes(mask, 0, "__syncwarp()", at, [](const auto&, unsigned) { return 0; });
}

// Lanes that run together. Here every lane runs by itself, which CUDA allows at any time, so that
// code that takes a warp for one unit without a `_sync` function shows its mistake.
inline unsigned __activemask(cpu_backend::place at = CPU_BACKEND_HERE) {
  return 1u << cpu_backend::lane_of(cpu_backend::in_kernel("__activemask()", at));
}

inline unsigned __ballot_sync(unsigned mask, int condition,
                              cpu_backend::place at = CPU_BACKEND_HERE) {
  return cpu_backend::meet_lanes(mask, condition != 0, "__ballot_sync()", at,
                                 [](const auto& meeting, unsigned) { return ballot(meeting); });
}
inline int __any_sync(unsigned mask, int condition, cpu_backend::place at = CPU_BACKEND_HERE) {
  return cpu_backend::meet_lanes(
      mask, condition != 0, "__any_sync()", at,
      [](const auto& meeting, unsigned) -> int { return ballot(meeting) != 0; });
}
inline int __all_sync(unsigned mask, int condition, cpu_backend::place at = CPU_BACKEND_HERE) {
  return cpu_backend::meet_lanes(
      mask, condition != 0, "__all_sync()", at,
      [](const auto& meeting, unsigned) -> int { return ballot(meeting) == meeting.arrived; });
}

template <class T>
unsigned __match_any_sync(unsigned mask, T value, cpu_backend::place at = CPU_BACKEND_HERE) {
  return cpu_backend::meet_lanes(
      mask, cpu_backend::as_bits(value), "__match_any_sync()", at,
      [&](const auto& meeting, unsigned lane) {
        unsigned equal = 0;
        for (unsigned other = 0; other < 32; ++other) {
          if ((meeting.arrived >> other & 1) && meeting.value[other] == meeting.value[lane])
            equal |= 1u << other;
        }
        return equal;
      });
}
template <class T>
unsigned __match_all_sync(unsigned mask, T value, int* all_equal,
                          cpu_backend::place at = CPU_BACKEND_HERE) {
  const unsigned equal = cpu_backend::meet_lanes(
      mask, cpu_backend::as_bits(value), "__match_all_sync()", at,
      [&](const auto& meeting, unsigned lane) {
        for (unsigned other = 0; other < 32; ++other) {
          if ((meeting.arrived >> other & 1) && meeting.value[other] != meeting.value[lane])
            return 0u;
        }
        return meeting.arrived;
      });
  *all_equal = equal != 0;
  return equal;
}

template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = warpSize,
              cpu_backend::place at = CPU_BACKEND_HERE) {
  return cpu_backend::shuffle(mask, value, width, "__shfl_sync()", at,
                              [=](int, int first, int) { return first + (source & (width - 1)); });
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = warpSize,
                 cpu_backend::place at = CPU_BACKEND_HERE) {
  return cpu_backend::shuffle(mask, value, width, "__shfl_up_sync()", at,
                              [=](int lane, int first, int) {
                                const int below = static_cast<int>(delta & 31);
                                return lane - below >= first ? lane - below : lane;
                              });
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = warpSize,
                   cpu_backend::place at = CPU_BACKEND_HERE) {
  return cpu_backend::shuffle(mask, value, width, "__shfl_down_sync()", at,
                              [=](int lane, int, int last) {
                                const int above = static_cast<int>(delta & 31);
                                return lane + above <= last ? lane + above : lane;
                              });
}
// Reaches earlier segments as well, as CUDA's does.
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = warpSize,
                  cpu_backend::place at = CPU_BACKEND_HERE) {
  return cpu_backend::shuffle(mask, value, width, "__shfl_xor_sync()", at,
                              [=](int lane, int, int last) {
                                const int other = lane ^ (lane_mask & 31);
                                return other <= last ? other : lane;
                              });
}

#define CPU_BACKEND_REDUCE(name, type, expression)                                        \
  inline type name(unsigned mask, type value, cpu_backend::place at = CPU_BACKEND_HERE) { \
    return cpu_backend::reduce_lanes(mask, value, #name "()", at,                         \
                                     [](type a, type b) { return expression; });          \
  }
CPU_BACKEND_REDUCE(__reduce_add_sync, unsigned, a + b)
CPU_BACKEND_REDUCE(__reduce_min_sync, unsigned, a < b ? a : b)
CPU_BACKEND_REDUCE(__reduce_max_sync, unsigned, a < b ? b : a)
CPU_BACKEND_REDUCE(__reduce_add_sync, int,
                   static_cast<int>(static_cast<unsigned>(a) + static_cast<unsigned>(b)))
CPU_BACKEND_REDUCE(__reduce_min_sync, int, a < b ? a : b)
CPU_BACKEND_REDUCE(__reduce_max_sync, int, a < b ? b : a)
CPU_BACKEND_REDUCE(__reduce_and_sync, unsigned, a& b)
CPU_BACKEND_REDUCE(__reduce_or_sync, unsigned, a | b)
CPU_BACKEND_REDUCE(__reduce_xor_sync, unsigned, a ^ b)
#undef CPU_BACKEND_REDUCE

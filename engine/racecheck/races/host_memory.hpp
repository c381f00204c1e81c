// SPDX-License-Identifier: MIT
// The host's own memory, which no kernel can use, in a run by decisions: functions of the host in
// streams use it, and asynchronous copies read pageable memory.
//
// Each of them runs once, in one order with the others and with the host. Where they use the same
// memory, another order may give something else; that is not explored, so it is named. What they
// share with kernels and other copies is checked for races like all of that memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "cpu_backend/runtime/work_order.hpp"
#include "racecheck/events/event_consumer.hpp"

namespace racecheck {

class host_memory {
 public:
  // The host or a function in a stream, on the calling thread. `denied`, in explored.json: it is
  // remembered, and what conflicts with it is that.
  void access(const host_access& what, const char* denied);
  // A copy that may not have read it when its call returns. (Runtime API, "API synchronization
  // behavior": the driver may or may not stage the memory first.)
  void copy_reads(const cpu_backend::work& by, const std::byte* begin, std::size_t bytes);
  void all_work_is_done() { uses_.clear(); }

 private:
  struct use {
    cpu_backend::work_position by;
    bool writes = false;
    const char* denied = nullptr;
  };
  static constexpr std::uintptr_t word_bytes = 4;

  // Names what `now` conflicts with in that word, unless `after` covers it.
  static void check(const std::vector<use>& uses, const use& now,
                    const cpu_backend::work_clock& after, const void* from);

  std::unordered_map<std::uintptr_t, std::vector<use>> uses_;  // by works, of 4 bytes each
};

}  // namespace racecheck

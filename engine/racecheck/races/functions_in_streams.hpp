// SPDX-License-Identifier: MIT
// Functions of the host in streams, and the host's own memory: in a run by decisions.
//
// Each function runs once, in one order with the others and with the host. Where they share memory
// that no kernel can use, another order may give something else; that is not explored, so it is
// named. What they share with kernels and copies is checked for races like all of that memory.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "cpu_backend/runtime/work_order.hpp"
#include "racecheck/events/event_consumer.hpp"

namespace racecheck {

class functions_in_streams {
 public:
  // The host or one of these functions, on the calling thread, uses memory of the host's alone.
  void access(const host_access& what);
  void all_work_is_done() { uses_.clear(); }

 private:
  struct use {
    cpu_backend::work_position by;
    bool writes = false;
  };
  std::unordered_map<std::uintptr_t, std::vector<use>> uses_;  // by functions, of 4 bytes each
};

}  // namespace racecheck

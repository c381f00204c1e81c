// SPDX-License-Identifier: MIT
// Memory that was freed lately. Nothing else gets its addresses for a while, and using one faults,
// so that a kernel that uses freed memory is told so, and does not change somebody else's.
#pragma once

#include <cstddef>
#include <optional>

#include "cpu_backend/execution/call_stack.hpp"
#include "cpu_backend/runtime/allocation_table.hpp"

namespace cpu_backend {

struct freed_block {
  allocation block;
  call_stack allocated_at;
  call_stack freed_at;
};

// Takes over the mapping of what was allocated, and gives its memory back at once.
void free_mapping(const allocation_record& record, const call_stack& freed_at);

// What was freed at `address`, or right next to it.
std::optional<freed_block> find_freed(const void* address);

// Gives all addresses back. True if there were any.
bool forget_freed_memory();

}  // namespace cpu_backend

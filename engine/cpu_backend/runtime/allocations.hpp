// SPDX-License-Identifier: MIT
// Every piece of memory that the runtime knows: what it allocated, what was registered with it, the
// variables of the device, and what was freed lately; and how much there is to give away.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>

#include "cpu_backend/execution/source_line.hpp"
#include "cpu_backend/observer.hpp"
#include "cpu_backend/runtime/context.hpp"

namespace cpu_backend {

enum class allocation_origin { mapped, stream_ordered, host_registered, variable };

struct allocation_record {
  allocation block;
  allocation_origin origin = allocation_origin::mapped;
  unsigned int flags = 0;
  // The block with the guards on both sides of it; nothing for memory that is not ours.
  std::byte* mapping = nullptr;
  std::size_t mapping_bytes = 0;
  call_stack allocated_at{};

  bool holds(const void* address) const;
  // Within a guard or the few bytes between it and the block.
  bool surrounds(const void* address) const;
};

class allocation_table {
 public:
  void insert(const allocation_record& record);
  // Takes out the record that begins at `begin` if `accept` says so.
  template <class Accept>
  std::optional<allocation_record> take(const void* begin, Accept accept) {
    const std::lock_guard guard(lock_);
    const auto found = records_.find(static_cast<const std::byte*>(begin));
    if (found == records_.end() || !accept(found->second)) return std::nullopt;
    const allocation_record record = found->second;
    observer::memory_disappears(record.block.begin);
    records_.erase(found);
    return record;
  }
  // Takes out the mapped and registered ones; variables stay for the life of the program.
  std::optional<allocation_record> take_any();

  // The record whose block, or else whose surroundings, hold `address`.
  std::optional<allocation_record> find(const void* address);
  // The one whose edge is closest to `address`.
  std::optional<allocation_record> nearest(const void* address);
  bool overlaps(const void* begin, std::size_t bytes);

 private:
  std::mutex lock_;
  std::map<const std::byte*, allocation_record> records_;
};

allocation_table& allocations();

// Memory that was freed lately. Nothing else gets its addresses for a while, and using one faults,
// so that a kernel that uses freed memory is told so, and does not change another allocation.
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

// How much memory there is to give away. Linux promises memory that it does not have and kills a
// process when it is asked to keep the promise; cudaMalloc must return cudaErrorMemoryAllocation
// instead.

// The machine's memory, or the container's share of it.
std::size_t total_memory();

// What an allocation could still get. Counts what other programs use, the container's limit, and
// what this backend has given away and is not touched yet. A 32nd of the total is kept back
// for the rest of the process.
std::size_t free_memory();

// Sets `bytes` aside, or returns false where they are not there. What was set aside is returned by
// return_memory with the same number.
bool set_memory_aside(std::size_t bytes);
void return_memory(std::size_t bytes);

}  // namespace cpu_backend

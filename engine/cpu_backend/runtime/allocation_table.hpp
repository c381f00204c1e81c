// SPDX-License-Identifier: MIT
// Every piece of memory that the runtime knows: what it allocated, what was registered with it, and
// the variables of the device.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>

#include "cpu_backend/execution/call_stack.hpp"
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

}  // namespace cpu_backend

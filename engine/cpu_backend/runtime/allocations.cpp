// SPDX-License-Identifier: MIT
#include "cpu_backend/runtime/allocations.hpp"

#include <sys/mman.h>

#include <deque>
#include <functional>
#include <mutex>
#include <utility>

#include "cpu_backend/observer.hpp"

namespace cpu_backend {
namespace {

const std::byte* as_bytes(const void* address) { return static_cast<const std::byte*>(address); }

const std::byte* begin_of(const allocation& block) { return as_bytes(block.begin); }
const std::byte* end_of(const allocation& block) { return begin_of(block) + block.bytes; }

// std::less and not <: the pointers belong to different objects.
bool in_range(const std::byte* address, const std::byte* begin, const std::byte* end) {
  return !std::less<>{}(address, begin) && std::less<>{}(address, end);
}

}  // namespace

bool allocation_record::holds(const void* address) const {
  return in_range(as_bytes(address), begin_of(block), end_of(block));
}

bool allocation_record::surrounds(const void* address) const {
  return mapping && in_range(as_bytes(address), mapping, mapping + mapping_bytes);
}

void allocation_table::insert(const allocation_record& record) {
  const std::lock_guard guard(lock_);
  const bool is_new = records_.insert_or_assign(begin_of(record.block), record).second;
  if (is_new) observer::memory_appears(record.block, record.mapping, record.mapping_bytes);
}

std::optional<allocation_record> allocation_table::take_any() {
  const std::lock_guard guard(lock_);
  for (auto entry = records_.begin(); entry != records_.end(); ++entry) {
    if (entry->second.origin == allocation_origin::variable) continue;
    const allocation_record record = entry->second;
    observer::memory_disappears(record.block.begin);
    records_.erase(entry);
    return record;
  }
  return std::nullopt;
}

std::optional<allocation_record> allocation_table::find(const void* address) {
  const std::lock_guard guard(lock_);
  const auto after = records_.upper_bound(as_bytes(address));
  if (after != records_.begin()) {
    const allocation_record& before = std::prev(after)->second;
    if (before.holds(address) || before.surrounds(address)) return before;
  }
  if (after != records_.end() && after->second.surrounds(address)) return after->second;
  return std::nullopt;
}

bool allocation_table::overlaps(const void* begin, std::size_t bytes) {
  const std::lock_guard guard(lock_);
  const std::byte* const end = as_bytes(begin) + bytes;
  const auto after = records_.lower_bound(as_bytes(begin));
  if (after != records_.end() && std::less<>{}(after->first, end)) return true;
  return after != records_.begin() && std::prev(after)->second.holds(begin);
}

std::optional<allocation_record> allocation_table::nearest(const void* address) {
  const std::lock_guard guard(lock_);
  const auto after = records_.upper_bound(as_bytes(address));
  if (after == records_.begin()) {
    return after == records_.end() ? std::nullopt : std::optional(after->second);
  }
  const allocation_record& before = std::prev(after)->second;
  if (after == records_.end()) return before;
  const auto beyond = as_bytes(address) - end_of(before.block);  // negative within the block
  return beyond <= after->first - as_bytes(address) ? before : after->second;
}

allocation_table& allocations() {
  // Never destroyed: a program's own static objects may free memory after main().
  static allocation_table& table = *new allocation_table;
  return table;
}

void register_symbol(const void* address, std::size_t bytes) {
  allocation_record record;
  record.block = {const_cast<void*>(address), bytes, memory_kind::symbol};
  record.origin = allocation_origin::variable;
  allocations().insert(record);
}

namespace {

// Addresses cost nothing, but a process has only so many mappings.
constexpr std::size_t most_blocks = 256;
constexpr std::size_t most_bytes = std::size_t{1} << 38;

struct entry {
  freed_block freed;
  std::byte* mapping = nullptr;
  std::size_t mapping_bytes = 0;

  bool surrounds(const void* address) const {
    const auto* at = static_cast<const std::byte*>(address);
    return !std::less<>{}(at, mapping) && std::less<>{}(at, mapping + mapping_bytes);
  }
};

class quarantine {
 public:
  void add(entry freed) {
    const std::lock_guard guard(lock_);
    // One mapping instead of three, with no memory and no claim to any.
    if (mmap(freed.mapping, freed.mapping_bytes, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED) {
      munmap(freed.mapping, freed.mapping_bytes);
      return;
    }
    bytes_ += freed.mapping_bytes;
    entries_.push_back(std::move(freed));
    while (entries_.size() > most_blocks || bytes_ > most_bytes) drop_oldest();
  }

  std::optional<freed_block> find(const void* address) {
    const std::lock_guard guard(lock_);
    for (const entry& each : entries_) {
      if (each.surrounds(address)) return each.freed;
    }
    return std::nullopt;
  }

  bool forget() {
    const std::lock_guard guard(lock_);
    const bool had_any = !entries_.empty();
    while (!entries_.empty()) drop_oldest();
    return had_any;
  }

 private:
  void drop_oldest() {
    munmap(entries_.front().mapping, entries_.front().mapping_bytes);
    bytes_ -= entries_.front().mapping_bytes;
    entries_.pop_front();
  }

  std::mutex lock_;
  std::deque<entry> entries_;  // the oldest first
  std::size_t bytes_ = 0;
};

quarantine& freed_lately() {
  // Never destroyed: a program's own static objects may free memory after main().
  static quarantine& all = *new quarantine;
  return all;
}

}  // namespace

void free_mapping(const allocation_record& record, const call_stack& freed_at) {
  freed_lately().add(
      {{record.block, record.allocated_at, freed_at}, record.mapping, record.mapping_bytes});
}

std::optional<freed_block> find_freed(const void* address) { return freed_lately().find(address); }

bool forget_freed_memory() { return freed_lately().forget(); }

}  // namespace cpu_backend

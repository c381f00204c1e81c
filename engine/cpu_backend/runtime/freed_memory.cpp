// SPDX-License-Identifier: MIT
#include "cpu_backend/runtime/freed_memory.hpp"

#include <sys/mman.h>

#include <deque>
#include <functional>
#include <mutex>
#include <utility>

namespace cpu_backend {
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

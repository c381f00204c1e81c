// SPDX-License-Identifier: MIT
#include "cpu_backend/runtime/allocations.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <fstream>
#include <functional>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
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
  allocation seen = record.block;
  if (record.origin == allocation_origin::variable) seen.kind = memory_kind::symbol;
  if (is_new) observer::memory_appears(seen, record.mapping, record.mapping_bytes);
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

void register_symbol(const void* address, std::size_t bytes, memory_kind kind) {
  if (const auto known = allocations().find(address); known && known->holds(address)) return;
  allocation_record record;
  record.block = {const_cast<void*>(address), bytes, kind};
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

namespace {

constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

std::size_t less(std::size_t from, std::size_t amount) { return from > amount ? from - amount : 0; }

// The number that follows the word `key` in a file of lines "key number ..."
std::optional<std::size_t> number_after(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  std::string word;
  while (file >> word) {
    std::size_t number = 0;
    if (word == key && file >> number) return number;
    file.clear();
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return std::nullopt;
}

// A file that holds one number; a control group without a limit says "max" there.
std::optional<std::size_t> number_in(const std::string& path) {
  std::ifstream file(path);
  std::size_t number = 0;
  if (file >> number) return number;
  return std::nullopt;
}

struct quota {
  std::size_t limit = unlimited;
  std::size_t left = unlimited;
};

void tighten(quota& result, const std::string& limit_file, const std::string& usage_file,
             const std::string& statistics_file, const std::string& reclaimable_key) {
  const auto limit = number_in(limit_file);
  const auto usage = number_in(usage_file);
  if (!limit || !usage) return;
  // The kernel drops cached file pages before it kills anyone.
  const auto reclaimable = number_after(statistics_file, reclaimable_key).value_or(0);
  result.limit = std::min(result.limit, *limit);
  result.left = std::min(result.left, less(*limit, less(*usage, reclaimable)));
}

// The limits of the control groups that this process is in: version 2 with all parents, since each
// may set a limit, and version 1 as a container sees it. Where the groups are not visible there is
// no limit.
quota control_group_quota() {
  quota result;
  const std::string root = "/sys/fs/cgroup";
  std::ifstream groups("/proc/self/cgroup");
  std::string line;
  while (std::getline(groups, line)) {
    if (!line.starts_with("0::")) continue;
    std::string group = line.substr(3);
    while (true) {
      const std::string folder = root + (group == "/" ? "" : group);
      tighten(result, folder + "/memory.max", folder + "/memory.current", folder + "/memory.stat",
              "inactive_file");
      const auto slash = group.rfind('/');
      if (slash == std::string::npos || group == "/") break;
      group = slash == 0 ? "/" : group.substr(0, slash);
    }
  }
  tighten(result, root + "/memory/memory.limit_in_bytes", root + "/memory/memory.usage_in_bytes",
          root + "/memory/memory.stat", "total_inactive_file");
  return result;
}

constexpr std::size_t bytes_per_kibibyte = 1024;

std::size_t machine_total() {
  static const std::size_t pages = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES));
  static const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return number_after("/proc/meminfo", "MemTotal:").value_or(pages * page / bytes_per_kibibyte) *
         bytes_per_kibibyte;
}

std::size_t available_now() {
  const std::size_t machine = number_after("/proc/meminfo", "MemAvailable:")
                                  .value_or(machine_total() / bytes_per_kibibyte) *
                              bytes_per_kibibyte;
  return less(std::min(machine, control_group_quota().left), total_memory() / 32);
}

// Resident memory of this process that belongs to no file: at least what of ours has been touched.
std::size_t resident_anonymous() {
  return number_after("/proc/self/status", "RssAnon:").value_or(0) * bytes_per_kibibyte;
}

class budget {
 public:
  std::size_t measure() {
    measured_ = std::min(less(at_start_, set_aside_),
                         less(available_now(), less(set_aside_, resident_anonymous())));
    unmeasured_ = 0;
    return measured_;
  }

  bool set_aside(std::size_t bytes) {
    // Measuring reads half a dozen files of /proc and /sys: small requests share one measurement
    // while memory is plentiful.
    constexpr std::size_t small = std::size_t{16} << 20;
    const bool plentiful = measured_ >= 64 * small;
    const bool measured_lately = bytes <= small && unmeasured_ + bytes <= small;
    if (!(plentiful && measured_lately) && bytes > measure()) return false;
    set_aside_ += bytes;
    unmeasured_ += bytes;
    return true;
  }

  void give_back(std::size_t bytes) { set_aside_ -= bytes; }

  std::mutex lock;

 private:
  // All that was free when the program began: promises beyond it cannot be kept even if, for now,
  // most of what was promised has not been touched.
  const std::size_t at_start_ = available_now();
  std::size_t set_aside_ = 0;
  std::size_t measured_ = 0;
  std::size_t unmeasured_ = 0;
};

budget& the_budget() {
  // Never destroyed: a program's own static objects may free memory after main().
  static budget& instance = *new budget;
  return instance;
}

}  // namespace

std::size_t total_memory() {
  static const std::size_t total = std::min(machine_total(), control_group_quota().limit);
  return total;
}

std::size_t free_memory() {
  const std::lock_guard guard(the_budget().lock);
  return the_budget().measure();
}

bool set_memory_aside(std::size_t bytes) {
  const std::lock_guard guard(the_budget().lock);
  return the_budget().set_aside(bytes);
}

void return_memory(std::size_t bytes) {
  const std::lock_guard guard(the_budget().lock);
  the_budget().give_back(bytes);
}

}  // namespace cpu_backend

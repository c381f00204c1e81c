// SPDX-License-Identifier: MIT
// What is remembered about memory: for each aligned 4 bytes the last weak write, the weak reads
// since then, and the atomics.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cpu_backend/context.hpp"
#include "racecheck/synchronization.hpp"

namespace racecheck {

// Where in the program: see places.hpp.
using place_number = std::uint32_t;

// An instruction that accesses memory, numbered as kernels come to them: see access_log.hpp.
using site_number = std::uint16_t;

struct access_record {
  epoch at = 0;
  thread_name thread{};
  place_number place = 0;
  bool is_volatile = false;
};

// The same in 8 bytes. The block is not among them: an epoch belongs to one block, and the clocks
// know which.
class cell_record {
 public:
  // Marks are the cell's own business.
  static constexpr unsigned mark_bits = 6, site_bits = 15;
  static constexpr site_number most_sites = (1u << site_bits) - 1;

  cell_record() = default;
  // What is the same in all records that a thread makes before its epoch changes.
  static std::uint64_t stamp_of(const thread_state& by) {
    return by.now << at_shift | std::uint64_t{by.name.rank} << rank_shift;
  }
  cell_record(std::uint64_t stamp, site_number site, bool is_volatile, unsigned marks)
      : bits_(stamp | std::uint64_t{site} << site_shift | std::uint64_t{is_volatile} << mark_bits |
              marks) {}

  bool operator==(const cell_record&) const = default;

  epoch at() const { return bits_ >> at_shift; }
  std::uint32_t rank() const { return (bits_ >> rank_shift) & (most_threads_of_block - 1); }
  site_number site() const { return (bits_ >> site_shift) & most_sites; }
  bool is_volatile() const { return bits_ >> mark_bits & 1; }
  bool has_stamp(std::uint64_t stamp) const { return (bits_ ^ stamp) >> rank_shift == 0; }

  unsigned marks() const { return bits_ & all_marks; }
  bool has(unsigned marks) const { return bits_ & marks; }
  void mark(unsigned marks) { bits_ |= marks; }
  void unmark(unsigned marks) { bits_ &= ~std::uint64_t{marks}; }
  void forget_access() { bits_ &= all_marks; }

 private:
  static constexpr std::uint64_t all_marks = (1u << mark_bits) - 1;
  static constexpr unsigned site_shift = mark_bits + 1;
  static constexpr unsigned rank_shift = site_shift + site_bits;
  static constexpr unsigned at_shift = rank_shift + rank_bits;
  static_assert(at_shift + epoch_bits == 64);

  std::uint64_t bits_ = 0;
};

// Of 4 bytes; or of one byte where 4 bytes are not always accessed together. What only few cells
// need stands elsewhere, under the cell's address; the marks say whether there is something.
struct alignas(16) cell {
  cell_record write;
  cell_record read;  // the last one

  // Marks of `write`: which bytes were ever written; that there is a cell for each byte; that
  // atomics or volatile accesses have used it.
  static constexpr unsigned written_bytes = 0xf, is_split = 0x10, has_location = 0x20;
  // Mark of `read`: that several threads have read. Then it is not the last one's record, but has
  // the number of a set of reads in the place of the epoch: see read_sets.hpp.
  static constexpr unsigned has_reads = 1;
  static cell_record reads_of_set(std::uint32_t set) {
    return {std::uint64_t{set} << (64 - epoch_bits), 0, false, has_reads};
  }
  std::uint32_t read_set() const { return static_cast<std::uint32_t>(read.at()); }
};
static_assert(sizeof(cell) == 16);  // 4 bytes for each byte of memory

inline constexpr std::size_t bytes_of_cell = 4;

// A piece of memory that kernels may share.
struct region {
  enum class kind { global, managed, pinned, variable, shared, dynamic_shared };

  const std::byte* begin = nullptr;
  std::size_t bytes = 0;
  kind what = kind::global;
  unsigned number = 0;  // of the allocation, from 1
  std::string name;     // of the variable
  std::string type;
  bool starts_unwritten = false;  // reading what nothing wrote is a mistake
  std::vector<std::pair<std::size_t, std::size_t>> written_by_host;  // offsets: first, end
  // Bytes around it that belong to nothing else; of shared memory those behind it.
  const std::byte* surroundings = nullptr;
  std::size_t surrounding_bytes = 0;
  cell* cells = nullptr;
  std::size_t cell_count = 0;
  bool has_marked_cells = false;  // some have more than fits into a cell

  bool holds(const std::byte* address) const {
    return static_cast<std::size_t>(address - begin) < bytes;
  }
  bool is_shared_memory() const { return what == kind::shared || what == kind::dynamic_shared; }
  std::size_t index_of(const std::byte* address) const {
    const auto aligned = reinterpret_cast<std::uintptr_t>(begin) / bytes_of_cell;
    return reinterpret_cast<std::uintptr_t>(address) / bytes_of_cell - aligned;
  }
  // A line of the cache is left out after each row, and one more after each 32 rows. Without them
  // the cells that a grid-stride loop comes to, whose distance is often a large power of two, would
  // all share a few places of the cache.
  static constexpr std::size_t cells_of_row = 256;
  static std::size_t place_of(std::size_t index) {
    constexpr std::size_t cells_of_line = 64 / sizeof(cell);
    return index + (index / cells_of_row + index / (32 * cells_of_row)) * cells_of_line;
  }
  cell& cell_at(const std::byte* address) const { return cells[place_of(index_of(address))]; }
  // Whether the cells of `bytes` (>= 1) bytes at `address` lie one behind the other.
  bool is_in_one_row(const std::byte* address, std::size_t size) const {
    return index_of(address) / cells_of_row == index_of(address + size - 1) / cells_of_row;
  }
};

// The latest atomic accesses of one thread to one location, at one scope.
struct strong_record {
  access_record done;
  std::uint8_t bytes = 0;
  std::uint8_t offset = 0;  // within the cell
  std::uint8_t mask = 0;    // the cell's bytes that it touched
  std::uint32_t chain = 0;
  std::uint64_t position = 0;
};
using strong_records = std::unordered_map<std::uint64_t, strong_record>;  // by thread

// Atomics and volatile accesses of one cell.
struct location {
  std::uint32_t number = 0;
  std::array<std::unique_ptr<message>, bytes_of_cell> messages;  // by the offset of the first byte
  message& carries(unsigned offset) {
    if (!messages[offset]) {
      messages[offset] = std::make_unique<message>();
      messages[offset]->location = number * bytes_of_cell + offset;
    }
    return *messages[offset];
  }
  // By scope: a strong access at device scope never races with another one at device scope, so the
  // usual check looks at the few others only.
  std::array<strong_records, 2> loads;
  std::array<strong_records, 2> updates;
  bool has_two_sizes = false;
  bool has_two_blocks = false;  // at block scope
  std::uint32_t block = 0;      // the first one at block scope, if `has_block`
  bool has_block = false;
  std::uint8_t bytes = 0;
  std::uint8_t offset = 0;
};

struct split_cell {
  std::array<cell, bytes_of_cell> bytes;
};

// What few cells have, by the cell. A mark without an entry is of an earlier launch.
template <class Object>
class side_table {
 public:
  Object& at(const cell& of) { return objects_[&of]; }
  Object* find(const cell& of) {
    const auto found = objects_.find(&of);
    return found == objects_.end() ? nullptr : &found->second;
  }
  void erase(const cell& of) { objects_.erase(&of); }
  void clear() {
    // A table that has grown large would cost its whole size at every launch.
    if (!objects_.empty()) std::unordered_map<const cell*, Object>().swap(objects_);
  }

 private:
  std::unordered_map<const cell*, Object> objects_;
};

struct stretch {
  const std::byte* begin = nullptr;
  std::size_t bytes = 0;
};

// All regions that the running block can reach.
class shadow_memory {
 public:
  // Between launches.
  void add_allocation(const cpu_backend::allocation& block, const std::byte* surroundings,
                      std::size_t surrounding_bytes);
  void remove_allocation(const void* begin);
  void written_by_host(const void* begin, std::size_t bytes);

  // Cells for `bytes` at `begin`, all of them new.
  static void give_cells(region& to);
  static void take_cells(region& from);

  // nullptr: of no block.
  void use_shared_memory_of(std::vector<region>* of_block) {
    if (shared_ == of_block) return;
    shared_ = of_block;
    ++shared_changes_;
  }
  // Shared memory of the running block has come up, or is gone.
  void shared_memory_changed() { ++shared_changes_; }
  // These grow when other regions can be reached than before: of any kind, or not of shared memory.
  // They stay where they are.
  const std::uint32_t& changes() const { return shared_changes_; }
  const std::uint32_t& lasting_changes() const { return changes_; }
  // Forgets all accesses, but not what was written.
  void forget_accesses();

  // The region that holds `address`, or nullptr.
  region* find(const std::byte* address);
  // Addresses around `address`, which lies in no region, that are in none, nor next to one.
  stretch nothing_around(const std::byte* address) const;
  // Whether threadIdx or the like lies there, which is never in a region.
  static bool is_built_in(const std::byte* address);
  // The allocation next to whose end or begin `address` lies, in bytes that belong to nothing.
  const region* find_surrounding(const std::byte* address) const;

 private:
  void add_program_variables();

  std::vector<std::unique_ptr<region>> regions_;  // sorted by begin
  std::vector<region>* shared_ = nullptr;
  std::unique_ptr<region> program_;  // variables of the program itself: __device__ ones
  unsigned allocations_ = 0;
  std::uint32_t changes_ = 1;
  std::uint32_t shared_changes_ = 1;
};

}  // namespace racecheck

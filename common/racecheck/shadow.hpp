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

struct access_record {
  std::uint64_t at : 44 = 0;  // the epoch; 2^44 of them last for hours
  std::uint64_t rank : 10 = 0;
  std::uint64_t is_volatile : 1 = 0;
  std::uint64_t marks : 9 = 0;  // the cell's own business
  std::uint32_t block = 0;
  place_number place = 0;

  thread_name thread() const { return {block, static_cast<std::uint32_t>(rank)}; }
};
static_assert(sizeof(access_record) == 16);

// Of 4 bytes; or of one byte where 4 bytes are not always accessed together. What only few cells
// need stands elsewhere, under the cell's address; the marks say whether there is something.
struct alignas(32) cell {
  access_record write;
  access_record read;  // the last one

  // Marks of `write`: which bytes were ever written; that there is a cell for each byte; that
  // atomics or volatile accesses have used it.
  static constexpr unsigned written_bytes = 0xf, is_split = 0x10, has_location = 0x20;
  // Mark of `read`: that several threads have read.
  static constexpr unsigned has_reads = 1;
};
static_assert(sizeof(cell) == 32);  // 8 bytes for each byte of memory, in one line of the cache

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

  bool holds(const std::byte* address) const {
    return static_cast<std::size_t>(address - begin) < bytes;
  }
  bool is_shared_memory() const { return what == kind::shared || what == kind::dynamic_shared; }
  cell& cell_at(const std::byte* address) const {
    const auto aligned = reinterpret_cast<std::uintptr_t>(begin) / bytes_of_cell;
    return cells[reinterpret_cast<std::uintptr_t>(address) / bytes_of_cell - aligned];
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
  std::uint8_t bytes = 0;
  std::uint8_t offset = 0;
};

struct read_set {
  std::vector<access_record> reads;  // one thread may occur twice
  std::size_t compact_at = 64;
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

  void use_shared_memory_of(std::vector<region>* of_block) {
    shared_ = of_block;
    forget_lookups();
  }
  void forget_lookups() {
    last_ = nullptr;
    lookups_ = {};
  }

  // The region that holds `address`, or nullptr.
  region* find(const std::byte* address) {
    if (last_ && last_->holds(address)) return last_;
    const auto word = reinterpret_cast<std::uintptr_t>(address) / bytes_of_cell;
    lookup& known = lookups_[word % lookups_.size()];
    if (known.word != word) known = {word, search(address)};
    if (!known.found || !known.found->holds(address))
      return known.found ? search(address) : nullptr;
    last_ = known.found;
    return last_;
  }
  // The allocation next to whose end or begin `address` lies, in bytes that belong to nothing.
  const region* find_surrounding(const std::byte* address) const;

 private:
  struct lookup {
    std::uintptr_t word = 0;
    region* found = nullptr;
  };
  region* search(const std::byte* address);
  void add_program_variables();

  std::vector<std::unique_ptr<region>> regions_;  // sorted by begin
  std::vector<region>* shared_ = nullptr;
  std::unique_ptr<region> program_;  // variables of the program itself: __device__ ones
  unsigned allocations_ = 0;
  region* last_ = nullptr;
  std::array<lookup, 1024> lookups_{};
};

}  // namespace racecheck

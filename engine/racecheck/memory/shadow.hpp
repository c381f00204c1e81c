// SPDX-License-Identifier: MIT
// The memory that kernels may share, and the cells that remember what was done to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cpu_backend/runtime/context.hpp"
#include "cpu_backend/scheduled.hpp"
#include "racecheck/memory/cell.hpp"

namespace racecheck {

// A piece of memory that kernels may share.
struct region {
  enum class kind { global, managed, pinned, variable, shared, dynamic_shared };

  const std::byte* begin = nullptr;
  std::size_t bytes = 0;
  kind what = kind::global;
  unsigned number = 0;            // of the allocation, from 1
  std::string name;               // of the variable; of an allocation that was given one
  std::size_t element_bytes = 0;  // of an allocation with a name
  std::string type;
  std::uint32_t allocated_at = 0;  // of a kernel's own malloc(): the place; 0: of no kernel's
  std::uint32_t freed_at = 0;      // and of its free()
  bool is_uncounted = false;       // shared memory that counts once the block uses it
  bool is_only_read = false;       // an exercise's input
  bool starts_unwritten = false;   // reading what nothing wrote is a mistake
  std::vector<std::pair<std::size_t, std::size_t>> written_by_host;  // offsets: first, end
  // Bytes around it that belong to nothing else; of shared memory so many on each side.
  const std::byte* surroundings = nullptr;
  std::size_t surrounding_bytes = 0;
  cell* cells = nullptr;
  std::size_t cell_count = 0;
  bool has_marked_cells = false;  // some have more than fits into a cell
  bool was_written = false;       // since misuse_check has looked for that
  // The number of the last write of each aligned 4 bytes, by index_of(); only in the weak form, and
  // only once something was written. See earlier_values.
  object_number* last_writes = nullptr;

  // That of a word, which is 0 before the first.
  object_number& last_write(std::size_t word);
  void forget_last_writes();

  bool holds(const std::byte* address) const {
    return static_cast<std::size_t>(address - begin) < bytes;
  }
  // Of bytes that it holds, from `address` on.
  bool has_unwritten(const std::byte* address, std::size_t bytes) const;
  std::size_t words() const { return index_of(begin + bytes - 1) + 1; }
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

using stretch = cpu_backend::scheduled::span_of_memory;

// All regions that the running block can reach.
class shadow_memory {
 public:
  // Between launches, but for what a kernel itself allocates, at `allocated_at`, and frees.
  void add_allocation(const cpu_backend::allocation& block, const std::byte* surroundings,
                      std::size_t surrounding_bytes, std::uint32_t allocated_at = 0);
  void remove_allocation(const void* begin);
  // Accesses there are still told apart from others, until the memory is forgotten.
  void free_allocation(const std::byte* begin, std::uint32_t freed_at);
  void forget_freed(const void* begin);
  // What findings call the allocation that begins there, and its elements; nothing if there is
  // none.
  void name_allocation(const void* begin, std::size_t element_bytes, std::string name);
  void written_by_host(const void* begin, std::size_t bytes);
  // Whether neither a kernel nor the host has written one of these bytes of the device's memory.
  bool has_unwritten(const void* begin, std::size_t bytes);

  // Cells for `bytes` at `begin`, all of them new.
  static void give_cells(region& to);
  static void take_cells(region& from);

  // nullptr: of no block.
  void use_shared_memory_of(std::vector<region>* of_block) {
    if (shared_ == of_block) return;
    shared_ = of_block;
    ++shared_changes_;
  }
  // In a run by decisions: some block of this launch has shared memory there.
  void note_shared(const stretch& memory) {
    const auto is_same = [&](const stretch& other) { return other.begin == memory.begin; };
    if (memory.bytes == 0 || std::ranges::any_of(shared_of_launch_, is_same)) return;
    shared_of_launch_.push_back(memory);
  }
  // Shared memory of the running block has come up, or is gone.
  void shared_memory_changed() { ++shared_changes_; }
  // These grow when other regions can be reached than before: of any kind, or not of shared memory.
  // They stay where they are.
  const std::uint32_t& changes() const { return shared_changes_; }
  const std::uint32_t& lasting_changes() const { return changes_; }
  // Forgets all accesses, but not what was written.
  void forget_accesses();
  // A hash of the bytes that kernels have written, and of where they are: the same in every run in
  // which these are the same, wherever the memory lies.
  std::uint64_t hash_of_written();
  // How much memory every block can reach.
  std::size_t bytes() const;
  template <class What>
  void each_region(What what) {
    for (const auto& each : regions_) what(*each);
    if (program_) what(*program_);
  }

  // How far from a shared variable an access is still taken for one of it.
  static constexpr std::size_t around_shared_variables = 64 * 1024;

  // The region that holds `address`, or nullptr.
  region* find(const std::byte* address);
  // Addresses around `address`, which lies in no region, that are in none, nor next to one.
  stretch nothing_around(const std::byte* address) const;
  // Whether threadIdx or the like lies there, which is never in a region.
  static bool is_built_in(const std::byte* address);
  // Whether the program's own constants, which can't be written, lie there.
  static bool is_read_only(const std::byte* address);
  // The allocation next to whose end or begin `address` lies, in bytes that belong to nothing.
  const region* find_surrounding(const std::byte* address) const;

 private:
  void add_program_variables();
  const region* find_shared_around(const std::byte* address) const;

  std::unique_ptr<region> taken_out(const std::byte* begin);

  std::vector<std::unique_ptr<region>> regions_;  // sorted by begin
  std::vector<std::unique_ptr<region>> freed_;    // by kernels
  std::vector<region>* shared_ = nullptr;
  std::vector<stretch> shared_of_launch_;  // of all blocks, in a run by decisions
  std::unique_ptr<region> program_;        // variables of the program itself: __device__ ones
  unsigned allocations_ = 0;
  unsigned allocations_of_kernels_ = 0;
  std::uint32_t changes_ = 1;
  std::uint32_t shared_changes_ = 1;
};

}  // namespace racecheck

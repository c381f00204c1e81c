// SPDX-License-Identifier: MIT
// What is remembered of each aligned 4 bytes of memory: the last weak write, the reads since then,
// and the atomics.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "racecheck/order/knowledge.hpp"
#include "racecheck/order/launch_clocks.hpp"

namespace racecheck {

using object_number = std::uint32_t;

// The numbers go on from launch to launch, so one of an earlier launch is known for what it is.
template <class Object>
class numbered_table {
 public:
  // Forgets all objects. Returns whether the numbers start over again, so that cells that keep some
  // must forget them.
  bool begin_launch() {
    const std::uint64_t next = std::uint64_t{first_} + made_;
    const bool starts_over = next >= std::uint64_t{1} << (epoch_bits - 1);
    first_ = starts_over ? 1 : static_cast<object_number>(next);
    made_ = 0;
    chunks_.clear();
    unused_ = std::vector<object_number>();
    return starts_over;
  }

  // The first number of this launch.
  object_number first() const { return first_; }
  // Whether it is a number of this launch. 0 is none.
  bool has(object_number number) const { return number >= first_; }
  object_number add() {
    if (!unused_.empty()) {
      const object_number reused = unused_.back();
      unused_.pop_back();
      return reused;
    }
    if (made_ % objects_of_chunk == 0) {
      chunks_.push_back(std::make_unique<Object[]>(objects_of_chunk));
    }
    return first_ + made_++;
  }
  void remove(object_number number) {
    (*this)[number] = {};
    unused_.push_back(number);
  }
  // They stay where they are.
  Object& operator[](object_number number) { return object_at(number - first_); }
  const Object& operator[](object_number number) const { return object_at(number - first_); }

  // Its place among the numbers of this launch, from 0.
  std::uint32_t index_of(object_number number) const { return number - first_; }
  std::size_t size() const { return made_ - unused_.size(); }

 private:
  static constexpr std::size_t objects_of_chunk =
      std::max<std::size_t>(16, std::bit_floor(std::size_t{4096} / sizeof(Object)));

  Object& object_at(std::uint32_t index) const {
    return chunks_[index / objects_of_chunk][index % objects_of_chunk];
  }

  object_number first_ = 1;
  std::uint32_t made_ = 0;  // in this launch
  std::vector<std::unique_ptr<Object[]>> chunks_;
  std::vector<object_number> unused_;
};

// Where in the program an access stands: see events/places.hpp.
using place_index = std::uint16_t;

inline constexpr std::size_t bytes_of_cell = 4;
inline constexpr unsigned whole_cell = 0xf;  // as a mask of its bytes

inline unsigned offset_in_cell(const std::byte* address) {
  return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(address) % bytes_of_cell);
}

// Which bytes an atomic or volatile access takes, seen from the cell: some of one cell's, or the
// cell is one of several. An unaligned one, which can only be volatile, counts as its first byte.
class access_shape {
 public:
  static constexpr unsigned bits = 4;

  constexpr access_shape() = default;
  constexpr explicit access_shape(unsigned code) : code_(static_cast<std::uint8_t>(code)) {}
  constexpr access_shape(std::size_t bytes, unsigned offset) {
    if (bytes == 1 || offset % (bytes < bytes_of_cell ? bytes : bytes_of_cell) != 0) {
      code_ = static_cast<std::uint8_t>(one_byte + offset);
    } else if (bytes == 2) {
      code_ = static_cast<std::uint8_t>(two_bytes + offset / 2);
    } else {
      code_ = static_cast<std::uint8_t>(four_bytes + std::countr_zero(bytes / bytes_of_cell));
    }
  }
  bool operator==(const access_shape&) const = default;

  constexpr unsigned code() const { return code_; }
  // The cell's bytes among them.
  constexpr unsigned mask() const {
    if (code_ >= four_bytes) return whole_cell;
    if (code_ >= two_bytes) return 3u << 2 * (code_ - two_bytes);
    return code_ >= one_byte ? 1u << (code_ - one_byte) : 0;
  }
  constexpr std::size_t bytes() const {
    if (code_ >= four_bytes) return bytes_of_cell << (code_ - four_bytes);
    return code_ >= two_bytes ? 2 : 1;
  }

 private:
  static constexpr unsigned one_byte = 1, two_bytes = 5, four_bytes = 7;
  std::uint8_t code_ = 0;  // none
};

// An access in 8 bytes. The block is not among them: an epoch belongs to one block, and the clocks
// know which.
class cell_record {
 public:
  static constexpr unsigned mark_bits = 7, place_bits = 15;
  static constexpr place_index most_places = (1u << place_bits) - 1;

  // Marks of an atomic access; its shape is in the bits from `shape_shift`. Those below are free.
  static constexpr unsigned is_atomic = 0x20, at_block_scope = 0x40, shape_shift = 1;
  // Mark of another one.
  static constexpr unsigned is_volatile = 0x40;

  cell_record() = default;
  // What is the same in all records that a thread makes before its epoch changes.
  static std::uint64_t stamp_of(const thread_state& by) {
    return by.current_epoch << at_shift | std::uint64_t{by.name.rank} << rank_shift;
  }
  cell_record(std::uint64_t stamp, place_index place, unsigned marks)
      : bits_(stamp | std::uint64_t{place} << place_shift | marks) {}
  static cell_record of_epoch(epoch at, place_index place) { return {at << at_shift, place, 0}; }
  // Not of an access: the number of what stands elsewhere.
  static cell_record of_number(object_number number, unsigned marks) {
    return {std::uint64_t{number} << at_shift, 0, marks};
  }
  // The same, and the latest access that it stands for: the work's number, from 1 on, and where. It
  // is what is left of it when the number is one of an earlier launch.
  cell_record with_latest(std::size_t work, place_index place) const {
    return {std::uint64_t{number()} << at_shift | (work < most_threads_of_block ? work : 0)
                                                      << rank_shift,
            place, marks()};
  }
  std::uint32_t latest_work() const { return rank(); }

  bool operator==(const cell_record&) const = default;

  epoch access_epoch() const { return bits_ >> at_shift; }
  object_number number() const { return static_cast<object_number>(bits_ >> at_shift); }
  std::uint32_t rank() const { return (bits_ >> rank_shift) & (most_threads_of_block - 1); }
  place_index place() const { return (bits_ >> place_shift) & most_places; }
  bool has_stamp(std::uint64_t stamp) const { return (bits_ ^ stamp) >> rank_shift == 0; }

  unsigned marks() const { return bits_ & all_marks; }
  bool has(unsigned marks) const { return bits_ & marks; }
  void mark(unsigned marks) { bits_ |= marks; }
  void unmark(unsigned marks) { bits_ &= ~std::uint64_t{marks}; }
  void forget_access() { bits_ &= all_marks; }

  bool was_volatile() const { return (marks() & (is_atomic | is_volatile)) == is_volatile; }
  scope within() const { return has(at_block_scope) ? scope::block : scope::device; }
  access_shape shape() const {
    return access_shape(marks() >> shape_shift & ((1u << access_shape::bits) - 1));
  }
  static unsigned marks_of_atomic(access_shape shape, scope within) {
    return is_atomic | (within == scope::block ? at_block_scope : 0u) | shape.code() << shape_shift;
  }
  cell_record with_rank(unsigned rank) const {
    cell_record other = *this;
    other.bits_ &= ~(std::uint64_t{most_threads_of_block - 1} << rank_shift);
    other.bits_ |= std::uint64_t{rank} << rank_shift;
    return other;
  }
  std::uint64_t bits() const { return bits_; }
  static cell_record of_bits(std::uint64_t bits) {
    cell_record made;
    made.bits_ = bits;
    return made;
  }

 private:
  static constexpr std::uint64_t all_marks = (1u << mark_bits) - 1;
  static constexpr unsigned place_shift = mark_bits;
  static constexpr unsigned rank_shift = place_shift + place_bits;
  static constexpr unsigned at_shift = rank_shift + rank_bits;
  static_assert(at_shift + epoch_bits == 64);

  std::uint64_t bits_ = 0;
};

// Whether the access `other` is before what `by`, a thread of `block`, does now.
inline bool is_before(const launch_clocks& clocks, const block_state& block, const thread_state& by,
                      cell_record other) {
  const epoch at = other.access_epoch();
  if (at < clocks.known_start()) return true;
  if (at < clocks.launch_start()) return clocks.earlier_work_is_before(block, at);
  return clocks.before(block, by, {clocks.block_of(at), other.rank()}, at);
}

// What does not fit stands in a table, under a number that the cell has instead of an epoch.
struct alignas(16) cell {
  cell_record write;
  cell_record read;  // the last one

  // Marks of `write`: which bytes were ever written; that each byte has records of its own; that
  // atomics or volatile accesses have used the cell. Then `write` has the number of a location, and
  // the record of the write is there; if not, that of a split cell.
  static constexpr unsigned written_bytes = 0xf, is_split = 0x10, has_location = 0x20;
  // Mark of `read`: that there are several. Then it has the number of a set: see read_sets.hpp.
  static constexpr unsigned has_reads = 1;
  // 0: none.
  object_number location() const { return write.has(has_location) ? write.number() : 0; }
  static cell_record reads_of_set(object_number set) {
    return cell_record::of_number(set, has_reads);
  }
};
static_assert(sizeof(cell) == 16);  // 4 bytes for each byte of memory

// The accesses of each byte. Where they are only read, or only written, half of it is not there.
struct split_cell {
  object_number writes = 0, reads = 0;  // of `records_of_bytes`; 0: none
};
using records_of_bytes = std::array<cell_record, bytes_of_cell>;

}  // namespace racecheck

// SPDX-License-Identifier: MIT
// What was in memory before the last writes: for each aligned 4 bytes a short list of the writes of
// this launch, from the newest one, each with what was there before it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "racecheck/memory/cell.hpp"
#include "racecheck/memory/numbered_table.hpp"
#include "racecheck/memory/shadow.hpp"

namespace racecheck {

// An access, as far as one aligned word takes part in it.
struct word_access {
  region& in;
  std::byte* address;  // of the word, some of which may lie outside of the region
  unsigned mask;       // the bytes of it that are accessed
};

// The bits of the bytes of a word in a mask.
inline std::uint32_t bits_of(unsigned mask) {
  std::uint32_t bits = 0;
  for (unsigned byte = 0; byte < bytes_of_cell; ++byte) {
    if (mask >> byte & 1) bits |= 0xffu << 8 * byte;
  }
  return bits;
}

// Calls what(word_access) for each word of memory in `in`.
template <class What>
void each_word(region& in, const std::byte* address, std::size_t bytes, What what) {
  const std::byte* const end = address + bytes;
  while (address < end) {
    const unsigned offset = offset_in_cell(address);
    const std::byte* const word = address - offset;
    const auto left = static_cast<std::size_t>(end - address);
    const std::size_t here = left < bytes_of_cell - offset ? left : bytes_of_cell - offset;
    const unsigned mask = ((1u << here) - 1) << offset;
    what(word_access{in, const_cast<std::byte*>(word), mask});
    address += here;
  }
}

class earlier_values {
 public:
  // Of a word. Beyond that the oldest write is forgotten, and with it what was there before it.
  static constexpr unsigned most_writes = 8;

  struct write {
    cell_record record;        // its marks: the bytes that it wrote, and how many writes are older
    std::uint32_t before = 0;  // the word
    object_number older = 0;   // 0: none that is remembered

    unsigned mask() const { return record.marks() & whole_cell; }
  };

  // Forgets all writes. `memory`: whose regions name them.
  void begin_launch(shadow_memory& memory);
  // The region's memory is gone.
  void forget(region& of);

  // The newest write of the word; 0: none.
  object_number newest(const word_access& at) const {
    if (!at.in.last_writes) return 0;
    const object_number number = at.in.last_writes[at.in.index_of(at.address)];
    return writes_.has(number) ? number : 0;
  }
  const write& operator[](object_number number) const { return writes_[number]; }

  // To be called before a write. No thread can see what was there before a write whose epoch is at
  // most `known_to_all`.
  void add(const word_access& at, std::uint64_t stamp, site_number site, std::uint32_t before,
           epoch known_to_all);

 private:
  static constexpr unsigned count_shift = 4;  // in the marks
  static constexpr unsigned largest_count = most_writes - 1;
  static unsigned older_writes(const write& of) { return of.record.marks() >> count_shift; }
  static_assert((largest_count << count_shift | whole_cell) >> cell_record::mark_bits == 0);

  void remove_from(object_number first);
  void remove_oldest(object_number newest);

  numbered_table<write> writes_;
};

}  // namespace racecheck

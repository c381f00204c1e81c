// SPDX-License-Identifier: MIT
// What is remembered of the words that atomics and volatile accesses have used.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "racecheck/memory/cell.hpp"
#include "racecheck/memory/numbered_table.hpp"
#include "racecheck/memory/shadow.hpp"
#include "racecheck/order/launch_clocks.hpp"

namespace racecheck {

// An atomic that stored, and which writes have to be seen to have seen it.
struct strong_record {
  cell_record done;
  observation seen;
};
using strong_records = std::unordered_map<std::uint64_t, strong_record>;  // by thread and shape

// What few locations have.
struct location_details {
  // What the location's message hands over.
  std::unique_ptr<message::under_assumption[]> handed_over;
  // Messages of other shapes than the location's: two counters in one word.
  std::vector<std::pair<access_shape, message>> messages;
  // Strong writes of other chains than the last one, by scope. A strong access at device scope
  // never races with another one at device scope, so the usual check looks at the few others only.
  std::array<strong_records, 2> earlier;
  bool has_two_blocks = false;  // among those at block scope
  std::uint32_t block = 0;      // the first one's
};

// What locations have that several blocks write.
struct location_extension {
  cell_record last_of_another_block;  // of the same chain as the location's last write
  std::uint32_t position = 0;
  object_number details = 0;  // 0: none

  // It, given what has to be seen to have seen the last one.
  strong_record of_another_block(observation last) const {
    last.position = position;
    return {last_of_another_block, last};
  }
};
static_assert(sizeof(location_extension) == 16);

// Atomics and volatile accesses of a cell.
//
// Of a chain of writes at one scope two are remembered: the last one, and the last one by another
// block. Whatever is after the last one is after all before it; and what need not be after it,
// because it is an atomic at block scope in the same block, must be after the other one, and then
// is after all that other blocks did.
struct location {
  cell_record weak_write;                 // the cell's; or the number of its split cell
  cell_record last;                       // the last write of this shape, a weak one, too
  std::uint32_t chain = 0, position = 0;  // of `last`
  object_number extension = 0;            // 0: none
  access_shape shape;                     // of the first atomic or volatile access
  bool has_two_shapes = false;
};
static_assert(sizeof(location) == 32);

// An index for `location_details::earlier`.
constexpr unsigned number_of(scope within) { return within == scope::device ? 0 : 1; }

class atomic_locations {
 public:
  explicit atomic_locations(const launch_clocks& clocks) : clocks_(clocks) {}

  // Forgets all. Returns whether the numbers start over again, so that cells must forget theirs.
  bool begin_launch();
  // Whether it is a location of this launch.
  bool has(object_number number) const { return locations_.has(number); }
  // Of a cell whose weak write is `weak_write`.
  object_number add(access_shape shape, cell_record weak_write);
  void remove(object_number number);
  location& operator[](object_number number) { return locations_[number]; }
  const location& operator[](object_number number) const { return locations_[number]; }

  // nullptr: none.
  const location_extension* find_extension(const location& of) const {
    return of.extension == 0 ? nullptr : &extensions_[of.extension];
  }
  location_details* find_details(const location& of) {
    if (of.extension == 0) return nullptr;
    const object_number number = extensions_[of.extension].details;
    return number == 0 ? nullptr : &details_[number];
  }
  const location_details* find_details(const location_extension& of) const {
    return of.details == 0 ? nullptr : &details_[of.details];
  }

  // use(message&), on what the location hands over to accesses of this shape; it may change it.
  template <class Use>
  void use_message(object_number number, access_shape shape, Use use);
  // The same for each shape.
  template <class Use>
  void use_messages(object_number number, Use use);

  // What has to be seen to have seen the last strong write of `at`, which has the cell at
  // `address`.
  observation last_seen(const region& in, const std::byte* address, const location& at) const;
  // `before`: what the location's last write was before.
  void keep_write(location& at, const strong_record& before, const strong_record& made);
  // A plain write of the bytes in `mask` takes the place of those that it covers. `seen` is what
  // last_seen() says.
  void forget_writes(location& at, observation seen, unsigned mask);

 private:
  location_extension& extension_of(location& of);
  location_details& details_of(location& of);
  void keep_besides(location& at, const strong_record& last);
  void forget_last_of_another_block(location& at) {
    if (at.extension != 0) extensions_[at.extension].last_of_another_block = {};
  }
  std::uint32_t message_number(object_number at, access_shape shape) const {
    return locations_.index_of(at) << access_shape::bits | shape.code();
  }
  message& message_of_other_shape(object_number number, access_shape shape);

  const launch_clocks& clocks_;
  numbered_table<location> locations_;
  numbered_table<location_extension> extensions_;
  numbered_table<location_details> details_;
};

// The usual message has all of its parts in its location.
template <class Use>
void atomic_locations::use_message(object_number number, access_shape shape, Use use) {
  location& at = locations_[number];
  if (shape != at.shape) {
    use(message_of_other_shape(number, shape));
    return;
  }
  message carries;
  carries.location = message_number(number, shape);
  carries.chain = at.chain;
  carries.position = at.position;
  carries.written = at.chain != 0;
  if (carries.written) {
    carries.strong = at.last.marks() != 0;
    carries.within = at.last.has(cell_record::is_atomic) ? at.last.within() : scope::device;
    carries.writer = {clocks_.block_of(at.last.access_epoch()), at.last.rank()};
  }
  if (location_details* more = find_details(at)) {
    carries.by_assumption = std::move(more->handed_over);
  }
  use(carries);
  at.chain = carries.chain;
  at.position = carries.position;
  if (carries.by_assumption) details_of(at).handed_over = std::move(carries.by_assumption);
}

template <class Use>
void atomic_locations::use_messages(object_number number, Use use) {
  location& at = locations_[number];
  if (location_details* more = find_details(at)) {
    for (auto& [shape, carries] : more->messages) use(carries);
  }
  use_message(number, at.shape, use);
}

// Of an atomic that takes several cells the first one's location knows.
inline observation atomic_locations::last_seen(const region& in, const std::byte* address,
                                               const location& at) const {
  const std::size_t bytes = std::max(at.shape.bytes(), bytes_of_cell);
  const std::byte* const first = address - reinterpret_cast<std::uintptr_t>(address) % bytes;
  return {message_number(in.cell_at(first).location(), at.shape), at.chain, at.position};
}

}  // namespace racecheck

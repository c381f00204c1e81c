// SPDX-License-Identifier: MIT
// All that is remembered of accesses: cells, and the tables with what does not fit into them, which
// is first of all that of the words that atomics and volatile accesses have used.
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
#include "racecheck/memory/read_sets.hpp"
#include "racecheck/memory/shadow.hpp"
#include "racecheck/order/launch_clocks.hpp"
#include "racecheck/order/synchronization.hpp"

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
  // never races with another one at device scope, so the usual check is of the few others only.
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
// Two writes of a chain at one scope are remembered: the last one, and the last one by another
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
  object_number first() const { return locations_.first(); }
  // For a cell whose weak write is `weak_write`.
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

// The location of the first cell knows it for an atomic that takes several.
inline observation atomic_locations::last_seen(const region& in, const std::byte* address,
                                               const location& at) const {
  const std::size_t bytes = std::max(at.shape.bytes(), bytes_of_cell);
  const std::byte* const first = address - reinterpret_cast<std::uintptr_t>(address) % bytes;
  return {message_number(in.cell_at(first).location(), at.shape), at.chain, at.position};
}

// What each write of a word hands over, for runs by decisions
// (cpu_backend/scheduled/decisions.hpp): there an atomic may read from a write that is not the last
// one.
class earlier_messages {
 public:
  void begin_launch() { words_.clear(); }
  // What `last`, the message of the last write, was until now is that of the first one from here
  // on.
  void forget(std::uint32_t location) { words_.erase(location); }

  // The message of write number `write`, and how many were executed later.
  const message& read(const message& last, unsigned write) { return word_of(last).by_write[write]; }
  unsigned writes_after(const message& last, unsigned write) {
    return static_cast<unsigned>(word_of(last).by_write.size()) - 1 - write;
  }
  // Adds a write, which make(message&) makes of the message of number `after`; `last` is its
  // message then.
  template <class Make>
  void add(message& last, unsigned after, Make make) {
    word& at = word_of(last);
    message made = copy_of(at.by_write[after]);
    make(made);
    // No two chains have one number.
    if (made.position == 0) made.chain = at.last_chain + 1;
    at.last_chain = std::max(at.last_chain, made.chain);
    last = copy_of(made);
    at.by_write.push_back(std::move(made));
  }

 private:
  struct word {
    std::vector<message> by_write;
    std::uint32_t last_chain = 0;
  };

  // The clocks of such a run know the program as it stands.
  static message copy_of(const message& from) { return racecheck::copy_of(from, 1); }
  word& word_of(const message& last) {
    word& at = words_[last.location];
    if (at.by_write.empty()) {
      at.by_write.push_back(copy_of(last));
      at.last_chain = last.chain;
    }
    return at;
  }

  std::unordered_map<std::uint32_t, word> words_;  // by location
};

// All that is remembered of accesses: cells, and the tables with what does not fit into them.
class access_history {
 public:
  explicit access_history(const launch_clocks& clocks) : clocks_(clocks), locations_(clocks) {}

  // To be called when the clocks have begun the launch, whose kernels can reach `memory_bytes`.
  // Returns whether numbers start over again, so that cells of earlier launches must forget theirs.
  bool begin_launch(std::size_t memory_bytes);
  // Everything about a cell, whose memory is gone.
  void forget(cell& of);
  void forget_earlier_reads(cell_record& read) const {
    if (!read.has(cell::has_reads) || read_sets_.has(read.number())) return;
    read = latest_of(read, first_set_);
  }
  // What a launch before this one has left in the tables, as cells still name it. The latest read
  // stays, and before a plain access the latest write.
  void forget_earlier_launch(cell& of, bool comes_plain = false) {
    forget_earlier_reads(of.read);
    const bool is_earlier = of.write.has(cell::has_location) ? !locations_.has(of.write.number())
                            : of.write.has(cell::is_split)   ? !split_cells_.has(of.write.number())
                                                             : false;
    if (!is_earlier) return;
    const unsigned written = of.write.marks() & cell::written_bytes;
    // Atomics of two works do not race.
    const bool keeps = comes_plain && of.write.has(cell::has_location);
    of.write = keeps ? latest_of(of.write, first_location_) : cell_record();
    of.write.mark(written);
  }
  // That a cell which has a location was written, as a whole.
  void note_write(cell& of, const thread_state& by, place_index place) const {
    of.write = of.write.with_latest(clocks_.works().number_of(by.name.block), place);
  }

  // ---- Weak writes, and cells whose bytes have records of their own.
  // For a cell of this launch. It may be the number of a split cell.
  cell_record& weak_write_of(cell& of) {
    const object_number at = of.location();
    return at != 0 ? locations_[at].weak_write : of.write;
  }
  // The last one of this launch, whatever it was; otherwise one of an earlier epoch.
  cell_record last_write_of(const cell& of) const;
  // From here on each byte has records of its own, which begin as those of all.
  split_cell& split(region& in, cell& whole) {
    cell_record& write = weak_write_of(whole);
    if (!whole.write.has(cell::is_split)) begin_split(in, whole, write);
    return split_cells_[write.number()];
  }
  cell records_of_byte(const split_cell& of, std::size_t byte) const {
    cell one;
    if (of.writes != 0) one.write = records_of_bytes_[of.writes][byte];
    if (of.reads != 0) one.read = records_of_bytes_[of.reads][byte];
    forget_earlier_reads(one.read);
    return one;
  }
  // `writes`: the access that changed them. It may have made the reads of all bytes superfluous.
  void set_records_of_byte(split_cell& of, std::size_t byte, const cell& changed, bool writes);

  // ---- Reads since the last write.
  bool has_reads(cell_record read) const {
    return read.has(cell::has_reads) && read_sets_.has(read.number());
  }
  // Takes a read of `by`, a thread of `block`, to those of `read`.
  void keep_read(const block_state& block, const thread_state& by, region& in, cell_record made,
                 cell_record& read);
  void drop_reads(cell_record& read) {
    if (has_reads(read)) read_sets_.drop(read.number());
    read = {};
  }
  const read_sets& reads() const { return read_sets_; }

  // ---- Atomics and volatile accesses.
  atomic_locations& locations() { return locations_; }
  const atomic_locations& locations() const { return locations_; }
  // The cell's, or a new one whose first access has this shape.
  object_number make_location(region& in, cell& of, access_shape shape);

 private:
  void begin_split(region& in, cell& whole, cell_record& write);
  // The latest access of an earlier launch's number, if its work need not be done yet: then the
  // number is not below `first`.
  cell_record latest_of(cell_record number, object_number first) const;

  const launch_clocks& clocks_;
  object_number first_set_ = 0, first_location_ = 0;  // since all work was done
  read_sets read_sets_;
  atomic_locations locations_;
  numbered_table<split_cell> split_cells_;
  numbered_table<records_of_bytes> records_of_bytes_;
};

}  // namespace racecheck

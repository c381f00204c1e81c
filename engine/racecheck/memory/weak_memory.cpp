// SPDX-License-Identifier: MIT
#include "racecheck/memory/weak_memory.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

namespace racecheck {

void earlier_values::begin_launch(shadow_memory& memory) {
  if (!writes_.begin_launch()) return;
  memory.each_region([](region& each) { each.forget_last_writes(); });
}

void earlier_values::forget(region& of) {
  if (!of.last_writes) return;
  for (std::size_t i = 0; i < of.words(); ++i) remove_from(of.last_writes[i]);
}

void earlier_values::add(const word_access& at, std::uint64_t stamp, place_index place,
                         std::uint32_t before, epoch known_to_all) {
  object_number& last = at.in.last_write(at.in.index_of(at.address));
  unsigned older = 0;
  if (writes_.has(last)) {
    write& newest = writes_[last];
    if (newest.record.has_stamp(stamp)) {
      // The same thread once more: as if it had written all of it at once.
      const std::uint32_t added = bits_of(at.mask & ~newest.mask());
      newest.before = (newest.before & ~added) | (before & added);
      newest.record = cell_record(stamp, place, newest.record.marks() | at.mask);
      return;
    }
    if (newest.record.access_epoch() <= known_to_all && (newest.mask() & ~at.mask) == 0) {
      remove_from(last);
      last = 0;
    } else if (older_writes(newest) == largest_count) {
      remove_oldest(last);
      older = largest_count;
    } else {
      older = older_writes(newest) + 1;
    }
  } else {
    last = 0;
  }
  const object_number number = writes_.add();
  writes_[number] = {cell_record(stamp, place, older << count_shift | at.mask), before, last};
  last = number;
}

void earlier_values::remove_from(object_number first) {
  while (writes_.has(first)) {
    const object_number older = writes_[first].older;
    writes_.remove(first);
    first = older;
  }
}

void earlier_values::remove_oldest(object_number newest) {
  object_number* link = &newest;
  while (writes_[*link].older != 0) link = &writes_[*link].older;
  writes_.remove(*link);
  *link = 0;
}

namespace {

// Beyond that no more are remembered, and reads that would have to be get the oldest value.
constexpr std::size_t most_seen = std::size_t{1} << 18;
constexpr unsigned all_writes = std::numeric_limits<unsigned>::max();

std::uint32_t word_at(const std::byte* address) {
  std::uint32_t word;
  std::memcpy(&word, address, sizeof word);
  return word;
}

void set_word(std::byte* address, std::uint32_t bits, std::uint32_t value) {
  // Byte by byte: the others may lie outside of the region.
  for (std::size_t byte = 0; byte < bytes_of_cell; ++byte) {
    const unsigned shift = 8 * static_cast<unsigned>(byte);
    if (bits >> shift & 0xff) address[byte] = static_cast<std::byte>(value >> shift);
  }
}

}  // namespace

void weak_memory::draw_values(std::uint64_t seed) {
  draws_ = true;
  random_ = seed * 0x9e3779b97f4a7c15u + 0x2545f4914f6cdd1du;
  if (random_ == 0) random_ = 1;
}

void weak_memory::begin_launch(shadow_memory& memory, const launch_shape& shape) {
  earlier_.begin_launch(memory);
  seen_.clear();
  stale_.begin_launch(shape);
}

// ---- Reads

// What the thread gets if it passes at most `most` of the writes that need not be seen.
weak_memory::old_value weak_memory::look_back(const thread_state& by, const word_access& at,
                                              unsigned most) const {
  old_value found{word_at(at.address)};
  unsigned open = at.mask;
  const object_number seen = seen_.empty() ? 0 : seen_by(by, at);
  object_number number = earlier_.newest(at);
  while (number != 0 && open != 0) {
    const earlier_values::write& write = earlier_[number];
    const unsigned here = write.mask() & open;
    if (here != 0) {
      const bool is_seen = number == seen || found.passed == most;
      if (is_seen || is_before(clocks_, *block_, by, write.record)) {
        if (found.reached == 0) found.reached = number;
        if (is_seen) break;
        open &= ~here;
      } else {
        const std::uint32_t bits = bits_of(here);
        found.value = (found.value & ~bits) | (write.before & bits);
        if (found.first_passed == 0) found.first_passed = number;
        ++found.passed;
      }
    }
    number = write.older;
  }
  return found;
}

weak_memory::old_value weak_memory::drawn_value(const thread_state& by, const word_access& at,
                                                std::uint32_t draw) {
  const old_value oldest = look_back(by, at, all_writes);
  if (oldest.passed == 0) return oldest;
  const std::uint64_t values = oldest.passed + 1;
  const auto passed = static_cast<unsigned>(draw * values >> 32);
  if (passed == oldest.passed) return oldest;
  const old_value drawn = look_back(by, at, passed);
  return note_seen(by, at, drawn.reached) ? drawn : oldest;
}

std::uint32_t weak_memory::drawn() {
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  return static_cast<std::uint32_t>(random_ >> 32);
}

void weak_memory::read(const thread_state& by, region& in, const std::byte* address,
                       std::size_t bytes, place_index place) {
  if (!in.last_writes) return;
  // One for the whole access, if a word of it has been written.
  std::optional<std::uint32_t> draw;
  object_number passed = 0;
  const std::byte* where = nullptr;
  each_word(in, address, bytes, [&](const word_access& at) {
    if (earlier_.newest(at) == 0) return;
    if (draws_ && !draw) draw = drawn();
    const old_value found = draws_ ? drawn_value(by, at, *draw) : look_back(by, at, all_writes);
    const std::uint32_t newest = word_at(at.address);
    const std::uint32_t bits = bits_of(at.mask);
    if (found.passed == 0 || ((found.value ^ newest) & bits) == 0) return;
    if (passed == 0) {
      passed = found.first_passed;
      where = at.address;
    }
    replaced_.push_back({at.address, newest, bits});
    set_word(at.address, bits, found.value);
  });
  if (passed == 0) return;
  if (!draws_ && takes_newest_value(by, in, address, bytes, place)) return;
  const cell_record written = earlier_[passed].record;
  stale_.add({clocks_.block_of(written.access_epoch()), written.rank()}, written.place(), by.name,
             place, shown_values(address, bytes, where));
}

// Some mistakes show when a value comes too late, others when it comes too early: an element that
// is overwritten before all have read it. So at each place of the program the first read that may
// get an old value gets it, the next one gets the newest value, and so on.
bool weak_memory::takes_newest_value(const thread_state& by, region& in, const std::byte* address,
                                     std::size_t bytes, place_index place) {
  const bool is_turn = next_takes_newest_[place];
  next_takes_newest_.flip(place);
  if (!is_turn) return false;
  put_newest_values_back();
  each_word(in, address, bytes, [&](const word_access& at) {
    const old_value oldest = look_back(by, at, all_writes);
    if (oldest.passed != 0) (void)note_seen(by, at, oldest.first_passed);
  });
  return true;
}

// The value that the read gets, and the newest one: of a large access those of its first word that
// is old.
stale_values weak_memory::shown_values(const std::byte* address, std::size_t bytes,
                                       const std::byte* old_word) const {
  stale_values shown;
  const bool is_whole = bytes <= sizeof shown.read;
  const std::byte* const begin = is_whole ? address : old_word;
  shown.bytes = is_whole ? static_cast<unsigned>(bytes) : static_cast<unsigned>(bytes_of_cell);
  std::memcpy(&shown.read, begin, shown.bytes);
  shown.newest = shown.read;
  for (const replaced_word& each : replaced_) {
    for (std::size_t byte = 0; byte < bytes_of_cell; ++byte) {
      const unsigned shift = 8 * static_cast<unsigned>(byte);
      const auto offset = static_cast<std::size_t>(each.address + byte - begin);
      if (offset >= shown.bytes || !(each.bits >> shift & 0xff)) continue;
      const auto value = static_cast<std::uint64_t>(each.newest >> shift & 0xff);
      shown.newest &= ~(std::uint64_t{0xff} << 8 * offset);
      shown.newest |= value << 8 * offset;
    }
  }
  return shown;
}

void weak_memory::put_newest_values_back() {
  for (const replaced_word& each : replaced_) set_word(each.address, each.bits, each.newest);
  replaced_.clear();
}

// ---- Writes, and accesses that take the newest value

void weak_memory::write(const thread_state& by, region& in, const std::byte* address,
                        std::size_t bytes, place_index place) {
  const std::uint64_t stamp = cell_record::stamp_of(by);
  const epoch known_to_all = in.is_shared_memory() ? block_->floor : 0;
  each_word(in, address, bytes, [&](const word_access& at) {
    earlier_.add(at, stamp, place, word_at(at.address), known_to_all);
  });
}

void weak_memory::strong_access_begins(const std::byte* address, std::size_t bytes) {
  std::memcpy(before_strong_access_.data(), address, bytes);
}

void weak_memory::strong_access(const thread_state& by, region& in, const std::byte* address,
                                std::size_t bytes, place_index place, bool writes) {
  const std::uint64_t stamp = cell_record::stamp_of(by);
  const epoch known_to_all = in.is_shared_memory() ? block_->floor : 0;
  each_word(in, address, bytes, [&](const word_access& at) {
    if (!writes) {
      const old_value oldest = look_back(by, at, all_writes);
      if (oldest.first_passed != 0) (void)note_seen(by, at, oldest.first_passed);
      return;
    }
    std::uint32_t before = word_at(at.address);
    for (std::size_t byte = 0; byte < bytes_of_cell; ++byte) {
      const auto offset = static_cast<std::size_t>(at.address + byte - address);
      if (offset >= bytes) continue;
      const unsigned shift = 8 * static_cast<unsigned>(byte);
      before &= ~(0xffu << shift);
      before |= static_cast<std::uint32_t>(before_strong_access_[offset]) << shift;
    }
    earlier_.add(at, stamp, place, before, known_to_all);
  });
}

// ---- What threads have seen

object_number weak_memory::seen_by(const thread_state& by, const word_access& at) const {
  const auto found = seen_.find({by.name.key(), at.address});
  return found == seen_.end() ? 0 : found->second;
}

// False if there is no room.
bool weak_memory::note_seen(const thread_state& by, const word_access& at, object_number write) {
  const thread_and_word key{by.name.key(), at.address};
  if (seen_.size() >= most_seen && !seen_.contains(key)) return false;
  seen_[key] = write;
  return true;
}

namespace {

constexpr std::size_t most_looked = std::size_t{1} << 18;

// The linker hands the standard library's memory functions to the observer: what they copy would be
// the running thread's doing. So byte by byte, which no compiler makes one of them.
void copy_bytes(volatile std::byte* to, const volatile std::byte* from, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) to[i] = from[i];
}

}  // namespace

void older_loads::draw_values(std::uint64_t seed) {
  draws_ = true;
  random_ = seed;
}

void older_loads::begin_launch() {
  words_.clear();
  looked_.clear();
}

void older_loads::access_begins(const std::byte* address, std::size_t bytes) {
  copy_bytes(before_access_.data(), address, std::min(bytes, before_access_.size()));
}

void older_loads::written(const message& last, cell_record made) {
  if (words_.size() == synchronization::most_with_earlier && !words_.contains(last.location)) {
    return;
  }
  word& at = words_[last.location];
  if (last.chain == 1 && last.position == 0) at = {};  // of memory that is new
  if (at.writes.size() == synchronization::most_earlier) at.writes.erase(at.writes.begin());
  at.writes.push_back({made, last.last_write(), before_access_});
  ++at.count;
}

unsigned older_loads::pass_writes(const block_state& block, const thread_state& by,
                                  const message& last, std::byte* address, std::size_t bytes) {
  const auto found = words_.find(last.location);
  if (found == words_.end() || last.chain == 0 || bytes > newest_.size()) return 0;
  word& at = found->second;
  const std::pair key{by.name.key(), last.location};
  const auto looked = looked_.find(key);
  if (looked == looked_.end() && looked_.size() >= most_looked) return 0;
  const std::uint64_t must_see = looked == looked_.end() ? 0 : looked->second;
  unsigned may_pass = 0;
  for (auto each = at.writes.rbegin(); each != at.writes.rend(); ++each, ++may_pass) {
    const epoch when = each->made.access_epoch();
    const thread_name writer{clocks_.block_of(when), each->made.rank()};
    if (at.count - may_pass <= must_see || clocks_.has_seen(block, by, writer, when, each->seen)) {
      break;
    }
  }
  if (may_pass == 0) return 0;
  unsigned passed = 0;
  if (draws_) {
    random_ = random_ * 0x5851f42d4c957f2du + 0x14057b7ef767814fu;
    passed = static_cast<unsigned>((random_ >> 32) * (may_pass + 1) >> 32);
  } else if (!std::exchange(at.next_is_newest, !at.next_is_newest)) {
    passed = may_pass;
  }
  if (passed == 0) return 0;
  looked_[key] = at.count;
  ++count_;
  replaced_ = address;
  replaced_bytes_ = bytes;
  copy_bytes(newest_.data(), address, bytes);
  copy_bytes(address, at.writes[at.writes.size() - passed].before.data(), bytes);
  return passed;
}

void older_loads::put_back() {
  if (!replaced_) [[likely]]
    return;
  copy_bytes(std::exchange(replaced_, nullptr), newest_.data(), replaced_bytes_);
}

}  // namespace racecheck

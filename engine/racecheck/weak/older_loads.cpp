// SPDX-License-Identifier: MIT
#include "racecheck/weak/older_loads.hpp"

#include <algorithm>

namespace racecheck {
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

// SPDX-License-Identifier: MIT
#include "racecheck/read_sets.hpp"

#include <algorithm>

namespace racecheck {

bool read_sets::begin_launch() {
  const std::uint64_t next = std::uint64_t{first_} + sets_.size();
  const bool starts_over = next >= std::uint64_t{1} << (epoch_bits - 1);
  first_ = starts_over ? 1 : static_cast<number>(next);
  if (!sets_.empty()) std::vector<read_set>().swap(sets_);
  unused_.clear();
  pair_ = {};
  return starts_over;
}

read_sets::number read_sets::new_set() {
  if (!unused_.empty()) {
    const number reused = unused_.back();
    unused_.pop_back();
    return reused;
  }
  sets_.emplace_back();
  return first_ + static_cast<number>(sets_.size() - 1);
}

read_sets::number read_sets::make(std::uint32_t first_block, cell_record first, std::uint32_t block,
                                  cell_record second) {
  if (leads_on(pair_, block, second) && pair_block_ == first_block && pair_first_ == first) {
    ++at(pair_.to).cells;
    return pair_.to;
  }
  const number made = new_set();
  read_set& set = at(made);
  set.add(first_block, first);
  set.add(block, second);
  set.cells = 1;
  pair_block_ = first_block;
  pair_first_ = first;
  pair_ = {made, set.version, block, second};
  return made;
}

read_sets::number read_sets::add(number to, std::uint32_t block, cell_record read) {
  if (const step known = at(to).latest; leads_on(known, block, read)) {
    ++at(known.to).cells;
    drop(to);
    return known.to;
  }
  if (at(to).cells == 1) {
    ++at(to).version;
    at(to).latest = {};
    at(to).add(block, read);
    return to;
  }
  const number made = new_set();
  read_set& set = at(made);
  const read_set& old = at(to);
  set.groups = old.groups;
  set.compact_at = old.compact_at;
  set.add(block, read);
  set.cells = 1;
  at(to).latest = {made, set.version, block, read};
  drop(to);
  return made;
}

void read_sets::drop(number set) {
  read_set& dropped = at(set);
  if (--dropped.cells != 0) return;
  const std::uint32_t version = dropped.version + 1;
  dropped = {};
  dropped.version = version;
  unused_.push_back(set);
}

void read_sets::read_set::add(std::uint32_t block, cell_record read) {
  const read_group made{std::uint64_t{1} << read.rank() % 64,
                        static_cast<std::uint32_t>(read.at()),
                        block,
                        read.rank() / 64,
                        read.site(),
                        read.is_volatile()};
  last = read;
  // Of the threads of a block most read one after the other.
  constexpr std::size_t groups_of_block = most_threads_of_block / 64;
  const std::size_t few = std::min(groups.size(), groups_of_block);
  for (auto known = groups.rbegin(); known != groups.rbegin() + few; ++known) {
    if (!known->has_same_threads(made)) continue;
    if (known->at != made.at || known->site != made.site ||
        known->is_volatile != made.is_volatile) {
      break;
    }
    known->ranks |= made.ranks;
    return;
  }
  groups.push_back(made);
  if (groups.size() < compact_at) return;
  // Of each thread only the last read counts: what is after that one is after the earlier ones.
  const auto key = [](const read_group& of) {
    return std::uint64_t{of.block} << 32 | of.sixty_four;
  };
  std::stable_sort(
      groups.begin(), groups.end(),
      [&](const read_group& left, const read_group& right) { return key(left) < key(right); });
  std::uint64_t later = 0;
  for (auto each = groups.rbegin(); each != groups.rend(); ++each) {
    if (each != groups.rbegin() && !each->has_same_threads(*(each - 1))) later = 0;
    const std::uint64_t ranks = each->ranks;
    each->ranks &= ~later;
    later |= ranks;
  }
  std::erase_if(groups, [](const read_group& each) { return each.ranks == 0; });
  compact_at = std::max<std::size_t>(64, 2 * groups.size());
}

}  // namespace racecheck

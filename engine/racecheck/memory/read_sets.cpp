// SPDX-License-Identifier: MIT
#include "racecheck/memory/read_sets.hpp"

#include <algorithm>
#include <utility>

namespace racecheck {

bool read_sets::begin_launch(std::size_t most_bytes) {
  most_bytes_ = most_bytes;
  steps_ = {};
  first_steps_ = {};
  trees_.begin_launch();
  return sets_.begin_launch();
}

std::uint32_t read_sets::version_of(cell_record reads) const {
  return reads.has(cell::has_reads) ? sets_[reads.number()].version : 0;
}

bool read_sets::is_known(const step& at, cell_record from, cell_record made) const {
  return at.from == from && at.added == made && at.version_of_from == version_of(from) &&
         at.version_of_to == version_of(at.to);
}

cell_record read_sets::add(cell_record reads, std::uint32_t block_of_reads, cell_record made,
                           std::uint32_t block) {
  const bool is_set = reads.has(cell::has_reads);
  step& known = steps_[scramble(reads.bits() ^ made.bits() * 3) % steps_.size()];
  const auto take = [&](cell_record to) {
    ++sets_[to.number()].cells;
    if (is_set) drop(reads.number());
    return to;
  };
  if (is_known(known, reads, made)) return take(known.to);
  if (bytes() > most_bytes_) [[unlikely]] {
    ++forgotten_;
    if (is_set) drop(reads.number());
    return made;
  }
  const auto group_of = [](cell_record of, std::uint32_t in) {
    return read_group{of.with_rank(of.rank() / 64 * 64), std::uint64_t{1} << of.rank() % 64, in};
  };
  const auto remember = [&](cell_record to) {
    known = {reads, made, to, version_of(reads), version_of(to)};
  };

  const std::uint32_t block_before = is_set ? sets_[reads.number()].block : block_of_reads;
  if (block == block_before) {
    if (is_set && sets_[reads.number()].cells == 1) {
      ++sets_[reads.number()].version;
      add_to(sets_[reads.number()], group_of(made, block));
      return reads;
    }
    const number to = sets_.add();
    read_set& set = sets_[to];
    if (is_set) {
      const read_set& from = sets_[reads.number()];
      set.latest = from.latest;
      if (from.more) set.more = std::make_unique<earlier_reads>(*from.more);
      set.others = from.others;
      trees_.own(set.others);
    } else {
      set.latest = read_run(group_of(reads, block));
    }
    set.block = block;
    add_to(set, group_of(made, block));
    remember(cell::reads_of_set(to));
    return take(cell::reads_of_set(to));
  }

  // Another block: the reads of the one before go into the tree. Sets with the same tree, which
  // came to it in different ways, are one from here on.
  const read_trees::number others =
      is_set ? trees_.add(sets_[reads.number()].others, groups_of(sets_[reads.number()]))
             : trees_.add(0, {group_of(reads, block_of_reads)});
  const cell_record tree = cell_record::of_number(others, 0);
  step& first = first_steps_[scramble(tree.bits() ^ made.bits() * 3) % first_steps_.size()];
  const bool is_new = !is_known(first, tree, made);
  if (is_new) {
    const number to = sets_.add();
    read_set& set = sets_[to];
    set.latest = read_run(group_of(made, block));
    set.block = block;
    set.others = others;
    first = {tree, made, cell::reads_of_set(to), 0, set.version};
  } else {
    trees_.drop(others);
  }
  remember(first.to);
  return take(first.to);
}

void read_sets::drop(number set) {
  read_set& dropped = sets_[set];
  if (--dropped.cells != 0) return;
  trees_.drop(dropped.others);
  const std::uint32_t version = dropped.version + 1;
  sets_.remove(set);
  sets_[set].version = version;
}

bool read_sets::all_have(number set, unsigned marks) const {
  const read_set& of = sets_[set];
  bool all = of.latest.marks() == marks && trees_.all_have(of.others, marks);
  if (all && of.more) {
    of.more->runs.each([&](const read_run& each) { all &= each.marks() == marks; });
  }
  return all;
}

std::vector<read_group> read_sets::groups_of(const read_set& of) {
  std::vector<read_group> groups;
  const auto keep = [&](const read_group& each) { groups.push_back(each); };
  if (of.more) {
    of.more->runs.each([&](const read_run& each) { each.each_group(of.block, keep); });
  }
  of.latest.each_group(of.block, keep);
  return groups;
}

void read_sets::add_to(read_set& to, const read_group& made) {
  const auto set_runs = [&](std::vector<read_run> runs) {
    to.latest = runs.back();
    runs.pop_back();
    if (runs.empty()) {
      to.more = nullptr;
    } else {
      to.more->runs = run_list(runs);
      to.more->most = 2 * std::max(runs.size() + 1, groups_of_block);
    }
  };
  const auto takes_in = [&](read_run& run) {
    const bool was_full = run.is_full();
    if (!run.add(made)) return false;
    // When a whole block has read, it may all be one run.
    if (to.more && run.is_full() && !was_full && to.more->runs.size() < groups_of_block) {
      set_runs(runs_of(groups_of(to)));
    }
    return true;
  };
  if (takes_in(to.latest)) return;
  if (!to.more) to.more = std::make_unique<earlier_reads>();
  // Of the threads of a block most read one after the other.
  const std::span<read_run> last = to.more->runs.last();
  const std::size_t few = std::min(last.size(), groups_of_block);
  if (std::any_of(last.rbegin(), last.rbegin() + static_cast<std::ptrdiff_t>(few), takes_in)) {
    return;
  }
  to.more->runs.push_back(to.latest);
  to.latest = read_run(made);
  if (to.more->runs.size() < to.more->most) return;
  std::vector<read_group> groups = groups_of(to);
  leave_last(groups);
  set_runs({groups.begin(), groups.end()});
}

}  // namespace racecheck

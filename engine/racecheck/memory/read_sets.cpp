// SPDX-License-Identifier: MIT
#include "racecheck/memory/read_sets.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace racecheck {

namespace {

// From the last threads to the first, and then by what the reads have in common.
void sort_by_threads(std::vector<read_group>& reads) {
  const auto rank = [](const read_group& of) { return of.first.rank(); };
  std::sort(reads.begin(), reads.end(), [&](const read_group& left, const read_group& right) {
    return rank(left) != rank(right) ? rank(left) > rank(right)
                                     : left.first.bits() < right.first.bits();
  });
  std::size_t kept = 0;
  for (const read_group& each : reads) {
    if (kept != 0 && reads[kept - 1].first == each.first) {
      reads[kept - 1].ranks |= each.ranks;
    } else {
      reads[kept++] = each;
    }
  }
  reads.resize(kept);
}

}  // namespace

void leave_last(std::vector<read_group>& reads) {
  struct readers {
    unsigned marks;
    std::array<std::uint64_t, groups_of_block> ranks;
  };
  std::vector<readers> later;
  for (auto each = reads.rbegin(); each != reads.rend(); ++each) {
    const unsigned marks = each->first.marks();
    auto known = std::find_if(later.begin(), later.end(),
                              [&](const readers& kind) { return kind.marks == marks; });
    if (known == later.end()) known = later.insert(known, {marks, {}});
    std::uint64_t& ranks = known->ranks[each->first.rank() / 64];
    each->ranks &= ~ranks;
    ranks |= each->ranks;
  }
  std::erase_if(reads, [](const read_group& each) { return each.ranks == 0; });
}

std::vector<read_run> runs_of(std::vector<read_group> reads) {
  sort_by_threads(reads);
  std::vector<read_run> runs;
  for (auto each = reads.rbegin(); each != reads.rend(); ++each) {
    read_run run(*each);
    if (!runs.empty() && run.add_below(runs.back())) runs.pop_back();
    runs.push_back(run);
  }
  std::reverse(runs.begin(), runs.end());
  return runs;
}

namespace {

std::uint32_t above(std::uint32_t block, unsigned bit) { return block >> bit >> 1; }

}  // namespace

void read_trees::begin_launch() {
  nodes_.begin_launch();
  if (!buckets_.empty()) std::vector<number>().swap(buckets_);
}

read_trees::number read_trees::add(number to, std::vector<read_group> reads) {
  const number made = to == 0 ? make_list(std::move(reads)) : insert(to, reads);
  own(made);
  return made;
}

void read_trees::drop(number owned) {
  if (owned == 0) return;
  node& dropped = nodes_[owned];
  if (--dropped.owners != 0) return;
  number* at = &buckets_[bucket_of(dropped)];
  while (*at != owned) at = &nodes_[*at].same_bucket;
  *at = dropped.same_bucket;
  const number zero = dropped.is_branch() ? dropped.zero() : 0;
  const number next = dropped.next;
  nodes_.remove(owned);
  drop(zero);
  drop(next);
}

unsigned read_trees::marks_of(number tree) const {
  if (nodes_[tree].is_branch()) return nodes_[tree].marks();
  const unsigned marks = nodes_[tree].run().marks();
  for (number each = nodes_[tree].next; each != 0; each = nodes_[each].next) {
    if (nodes_[each].run().marks() != marks) return different_marks;
  }
  return marks;
}

std::size_t read_trees::bucket_of(const node& content) const {
  const std::uint64_t links = std::uint64_t{content.block} << 32 | content.next;
  const std::uint64_t mixed = scramble(scramble(scramble(content.first) + content.ranks) + links);
  return mixed & (buckets_.size() - 1);
}

void read_trees::put_into_bucket(number put) {
  number& bucket = buckets_[bucket_of(nodes_[put])];
  nodes_[put].same_bucket = bucket;
  bucket = put;
}

void read_trees::grow_buckets() {
  std::vector<number> old(std::max<std::size_t>(64, 2 * buckets_.size()));
  old.swap(buckets_);
  for (number each : old) {
    while (each != 0) {
      const number next = nodes_[each].same_bucket;
      put_into_bucket(each);
      each = next;
    }
  }
}

// The node with this content. A new one owns what it leads to, and has no owner yet.
read_trees::number read_trees::make(const node& content) {
  if (nodes_.size() >= buckets_.size()) grow_buckets();
  number each = buckets_[bucket_of(content)];
  while (each != 0 && !nodes_[each].same_content(content)) each = nodes_[each].same_bucket;
  if (each != 0) return each;
  const number made = nodes_.add();
  nodes_[made] = content;
  put_into_bucket(made);
  if (content.is_branch()) own(content.zero());
  own(content.next);
  return made;
}

read_trees::number read_trees::make_branch(std::uint32_t block_above, unsigned bit, number zero,
                                           number one) {
  const unsigned marks = marks_of(zero) == marks_of(one) ? marks_of(zero) : different_marks;
  node made;
  made.first = std::uint64_t{marks} << 40 | std::uint64_t{block_above} << 8 | bit;
  made.block = zero;
  made.next = one;
  return make(made);
}

read_trees::number read_trees::make_list(std::vector<read_group> reads) {
  const std::uint32_t block = reads.front().block;
  leave_last(reads);
  const std::vector<read_run> runs = runs_of(std::move(reads));
  number next = 0;
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    node leaf;
    leaf.first = run->bits();
    leaf.ranks = run->ranks();
    leaf.block = block;
    leaf.next = next;
    next = make(leaf);
  }
  return next;
}

// Two trees without a block in common, with a block of each.
read_trees::number read_trees::join(number left, std::uint32_t block_of_left, number right,
                                    std::uint32_t block_of_right) {
  const auto bit = static_cast<unsigned>(std::bit_width(block_of_left ^ block_of_right)) - 1;
  const std::uint32_t block_above = above(block_of_left, bit);
  return block_of_left >> bit & 1 ? make_branch(block_above, bit, right, left)
                                  : make_branch(block_above, bit, left, right);
}

read_trees::number read_trees::insert(number into, const std::vector<read_group>& reads) {
  const std::uint32_t block = reads.front().block;
  const node& at = nodes_[into];
  if (!at.is_branch()) {
    if (at.block != block) return join(into, at.block, make_list(reads), block);
    std::vector<read_group> all;
    each_group(into, [&](const read_group& each) { all.push_back(each); });
    all.insert(all.end(), reads.begin(), reads.end());
    return make_list(std::move(all));
  }
  const unsigned bit = at.bit();
  if (above(block, bit) != at.block_above_bit()) {
    return join(into, at.block_above_bit() << 1 << bit, make_list(reads), block);
  }
  return block >> bit & 1
             ? make_branch(at.block_above_bit(), bit, at.zero(), insert(at.one(), reads))
             : make_branch(at.block_above_bit(), bit, insert(at.zero(), reads), at.one());
}

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
  // Most threads of a block read one after the other.
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

// SPDX-License-Identifier: MIT
#include "racecheck/memory/read_trees.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace racecheck {
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

// Of two trees without a block in common; of each one a block.
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

}  // namespace racecheck

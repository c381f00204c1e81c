// SPDX-License-Identifier: MIT
#include "racecheck/read_sets.hpp"

#include <algorithm>
#include <bit>

namespace racecheck {
namespace {

std::uint64_t scramble(std::uint64_t bits) {
  bits *= 0x9e3779b97f4a7c15;
  return bits ^ bits >> 32;
}

}  // namespace

bool read_sets::begin_launch(std::size_t most_bytes) {
  most_bytes_ = most_bytes;
  if (!buckets_.empty()) {
    std::vector<number>().swap(buckets_);
    steps_ = {};
  }
  return nodes_.begin_launch();
}

cell_record read_sets::add(cell_record reads, std::uint32_t block_of_reads, cell_record made,
                           std::uint32_t block) {
  const bool is_set = reads.has(cell::has_reads);
  step& known = steps_[scramble(reads.bits() ^ made.bits() * 3) % steps_.size()];
  cell_record result = known.to;
  if (known.from != reads || known.made != made) {
    if (nodes_.size() * (sizeof(node) + 2 * sizeof(number)) > most_bytes_) {
      ++forgotten_;
      if (is_set) drop(reads.number());
      return made;
    }
    const auto group_of = [](cell_record of, std::uint32_t in) {
      return read_group{of.with_rank(of.rank() / 64 * 64), std::uint64_t{1} << of.rank() % 64, in};
    };
    const number before = is_set ? reads.number() : make_leaf(group_of(reads, block_of_reads), 0);
    own(before);
    result = cell::reads_of_set(insert(before, group_of(made, block)));
    remember(known, {reads, made, result});
    drop(before);
  }
  own(result.number());
  if (is_set) drop(reads.number());
  return result;
}

void read_sets::remember(step& at, const step& now) {
  const auto each_set = [](const step& of, auto visit) {
    if (of.from.has(cell::has_reads)) visit(of.from.number());
    if (of.to.has(cell::has_reads)) visit(of.to.number());
  };
  each_set(now, [&](number set) { own(set); });
  const step old = at;
  at = now;
  each_set(old, [&](number set) { drop(set); });
}

void read_sets::drop(number set) {
  node& dropped = nodes_[set];
  if (--dropped.owners != 0) return;
  number* at = &buckets_[bucket_of(dropped)];
  while (*at != set) at = &nodes_[*at].same_bucket;
  *at = dropped.same_bucket;
  const node content = dropped;
  nodes_.remove(set);
  if (content.is_branch()) drop(content.zero());
  if (content.next != 0) drop(content.next);
}

// ---- Nodes

std::size_t read_sets::bucket_of(const node& content) const {
  const std::uint64_t links = std::uint64_t{content.block} << 32 | content.next;
  const std::uint64_t mixed = scramble(scramble(scramble(content.first) + content.ranks) + links);
  return mixed & (buckets_.size() - 1);
}

void read_sets::grow_buckets() {
  std::vector<number> old(std::max<std::size_t>(64, 2 * buckets_.size()));
  old.swap(buckets_);
  for (number each : old) {
    while (each != 0) {
      node& moved = nodes_[each];
      const number next = moved.same_bucket;
      number& bucket = buckets_[bucket_of(moved)];
      moved.same_bucket = bucket;
      bucket = each;
      each = next;
    }
  }
}

// The node with this content. A new one owns what it leads to, and has no owner yet.
read_sets::number read_sets::make(const node& content) {
  if (nodes_.size() >= buckets_.size()) grow_buckets();
  const std::size_t bucket = bucket_of(content);
  for (number each = buckets_[bucket]; each != 0; each = nodes_[each].same_bucket) {
    if (nodes_[each].same_content(content)) return each;
  }
  const number made = nodes_.add();
  nodes_[made] = content;
  nodes_[made].same_bucket = buckets_[bucket];
  buckets_[bucket] = made;
  if (content.is_branch()) own(content.zero());
  own(content.next);
  return made;
}

read_sets::number read_sets::make_leaf(const read_group& group, number next) {
  return make({group.first.bits(), group.ranks, group.block, next});
}

read_sets::number read_sets::make_branch(place prefix, unsigned bit, number zero, number one) {
  const unsigned marks = marks_of(zero) == marks_of(one) ? marks_of(zero) : different_marks;
  return make({std::uint64_t{marks} << (6 + place_bits) | prefix << 6 | bit, 0, zero, one});
}

unsigned read_sets::marks_of(number set) const {
  const node& of = nodes_[set];
  if (of.is_branch()) return of.marks();
  const unsigned marks = of.group().first.marks();
  return of.next == 0 || marks_of(of.next) == marks ? marks : different_marks;
}

// Of two trees without a place in common; of each one a place.
read_sets::number read_sets::join(number left, place of_left, number right, place of_right) {
  const unsigned bit = static_cast<unsigned>(std::bit_width(of_left ^ of_right)) - 1;
  const place prefix = of_left >> (bit + 1);
  return of_left >> bit & 1 ? make_branch(prefix, bit, right, left)
                            : make_branch(prefix, bit, left, right);
}

read_sets::number read_sets::insert(number into, const read_group& made) {
  const place here = place_of(made);
  const node at = nodes_[into];
  if (!at.is_branch()) {
    const place there = place_of(at.group());
    return here == there ? insert_into_leaf(into, made)
                         : join(into, there, make_leaf(made, 0), here);
  }
  const unsigned bit = at.bit();
  if (here >> (bit + 1) != at.prefix()) {
    return join(into, at.prefix() << (bit + 1), make_leaf(made, 0), here);
  }
  const bool is_one = here >> bit & 1;
  const number child = is_one ? at.one() : at.zero();
  const number changed = insert(child, made);
  if (changed == child) return into;
  return is_one ? make_branch(at.prefix(), bit, at.zero(), changed)
                : make_branch(at.prefix(), bit, changed, at.one());
}

// The leaves of the same threads: one for each epoch, instruction and kind, sorted by these.
read_sets::number read_sets::insert_into_leaf(number into, const read_group& made) {
  std::vector<read_group> groups;
  each_group(into, [&](read_group group) {
    if (group.first.marks() == made.first.marks()) group.ranks &= ~made.ranks;
    if (group.ranks != 0) groups.push_back(group);
  });
  const auto after = std::find_if(groups.begin(), groups.end(), [&](const read_group& each) {
    return each.first.bits() >= made.first.bits();
  });
  if (after != groups.end() && after->first == made.first) {
    after->ranks |= made.ranks;
  } else {
    groups.insert(after, made);
  }
  number next = 0;
  for (auto each = groups.rbegin(); each != groups.rend(); ++each) next = make_leaf(*each, next);
  return next;
}

}  // namespace racecheck

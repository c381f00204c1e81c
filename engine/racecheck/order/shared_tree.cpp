// SPDX-License-Identifier: MIT
#include "racecheck/order/shared_tree.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <vector>

namespace racecheck {

// All nodes of all trees, by their content.
class shared_tree::node_table {
 public:
  // The node with this content, whose owner is the caller.
  const node* make(const node& content) {
    if (count_ >= buckets_.size()) grow_buckets();
    node** const bucket = &buckets_[bucket_of(content)];
    for (node* each = *bucket; each; each = each->same_bucket) {
      if (!has_content(*each, content)) continue;
      ++each->owners;
      release(content.zero);
      release(content.one);
      return each;
    }
    if (!unused_) make_room();
    node* const made = unused_;
    unused_ = made->same_bucket;
    *made = content;
    made->owners = 1;
    made->same_bucket = *bucket;
    *bucket = made;
    ++count_;
    return made;
  }
  void remove(const node* unowned) {
    node** at = &buckets_[bucket_of(*unowned)];
    while (*at != unowned) at = &(*at)->same_bucket;
    node* const removed = *at;
    *at = removed->same_bucket;
    removed->same_bucket = unused_;
    unused_ = removed;
    --count_;
  }
  // Never destroyed: trees live as long as the checker.
  static node_table& of_process() {
    static node_table& the_table = *new node_table;
    return the_table;
  }

 private:
  static bool has_content(const node& left, const node& right) {
    return left.key == right.key && left.zero == right.zero && left.one == right.one &&
           left.until == right.until && left.is_leaf == right.is_leaf &&
           left.keeps_parts == right.keeps_parts;
  }
  std::size_t bucket_of(const node& content) const {
    const auto number_of = [](const node* of) { return reinterpret_cast<std::uintptr_t>(of) / 16; };
    std::uint64_t mixed = content.key + (std::uint64_t{content.until} << 32 | content.is_leaf);
    for (const std::uint64_t each : {number_of(content.zero), number_of(content.one)}) {
      mixed = (mixed ^ mixed >> 29) * 0x9e3779b97f4a7c15u + each;
    }
    mixed = (mixed ^ mixed >> 32) * 0xd6e8feb86659fd93u;
    return (mixed ^ mixed >> 32) & (buckets_.size() - 1);
  }
  void grow_buckets() {
    std::vector<node*> old(std::max<std::size_t>(1024, 2 * buckets_.size()));
    old.swap(buckets_);
    for (node* each : old) {
      while (each) {
        node* const next = each->same_bucket;
        node*& bucket = buckets_[bucket_of(*each)];
        each->same_bucket = bucket;
        bucket = each;
        each = next;
      }
    }
  }
  void make_room() {
    constexpr std::size_t nodes_of_chunk = 512;
    chunks_.push_back(std::make_unique<node[]>(nodes_of_chunk));
    for (std::size_t i = 0; i < nodes_of_chunk; ++i) {
      chunks_.back()[i].same_bucket = unused_;
      unused_ = &chunks_.back()[i];
    }
  }

  std::vector<node*> buckets_;
  std::size_t count_ = 0;
  node* unused_ = nullptr;
  std::vector<std::unique_ptr<node[]>> chunks_;
};

void shared_tree::release(const node* owned) {
  while (owned && --const_cast<node*>(owned)->owners == 0) {
    node_table::of_process().remove(owned);
    const node* const next = owned->one;
    release(owned->zero);
    owned = next;
  }
}

const shared_tree::node* shared_tree::make_leaf(name key, number until, const node* parts,
                                                bool keeps_parts) {
  node made{};
  made.is_leaf = true;
  made.keeps_parts = keeps_parts;
  made.size = 1 + (parts ? parts->size : 0);
  made.key = key;
  made.until = until;
  made.largest = std::max(until, parts ? parts->largest : 0);
  made.zero = parts;
  return node_table::of_process().make(made);
}

const shared_tree::node* shared_tree::make_branch(name key, const node* zero, const node* one) {
  node made{};
  made.size = zero->size + one->size;
  made.key = key;
  made.largest = std::max(zero->largest, one->largest);
  made.zero = zero;
  made.one = one;
  return node_table::of_process().make(made);
}

const shared_tree::node* shared_tree::joined(const node* left, const node* right, number floor) {
  if (left && left->largest <= floor) left = nullptr;
  if (right && right->largest <= floor) right = nullptr;
  if (!right || left == right) return shared(left);
  if (!left) return shared(right);
  const std::uint64_t bit_of_left = left->deciding_bit();
  const std::uint64_t bit_of_right = right->deciding_bit();
  if (bit_of_left > bit_of_right && left->is_above(right->key)) {
    return joined_below(left, right, floor);
  }
  if (bit_of_left < bit_of_right && right->is_above(left->key)) {
    return joined_below(right, left, floor);
  }
  if (bit_of_left != bit_of_right || left->key != right->key) return joined_apart(left, right);
  if (left->is_leaf) return joined_leaves(left, right);
  const node* const zero = joined(left->zero, right->zero, floor);
  return with_sides(left, right, zero, joined(left->one, right->one, floor));
}

const shared_tree::node* shared_tree::joined_leaves(const node* left, const node* right) {
  const number until = std::max(left->until, right->until);
  const bool keeps_parts = left->keeps_parts || right->keeps_parts;
  const node* const parts = joined(left->parts(), right->parts(), keeps_parts ? 0 : until);
  for (const node* known : {left, right}) {
    if (known->until == until && known->parts() == parts && known->keeps_parts == keeps_parts) {
      release(parts);
      return shared(known);
    }
  }
  return make_leaf(left->key, until, parts, keeps_parts);
}

// `other` belongs on one side of the branch.
const shared_tree::node* shared_tree::joined_below(const node* branch, const node* other,
                                                   number floor) {
  const bool on_side_of_one = other->key & branch->deciding_bit();
  const node* const zero =
      on_side_of_one ? shared(branch->zero) : joined(branch->zero, other, floor);
  const node* const one = on_side_of_one ? joined(branch->one, other, floor) : shared(branch->one);
  return with_sides(branch, branch, zero, one);
}

// They have no name in common.
const shared_tree::node* shared_tree::joined_apart(const node* left, const node* right) {
  const std::uint64_t bit = std::bit_floor(left->key ^ right->key);
  const name key = (left->key & ~(bit | (bit - 1))) | bit;
  return left->key & bit ? make_branch(key, shared(right), shared(left))
                         : make_branch(key, shared(left), shared(right));
}

// One of two branches of the same name, if it has these sides, else a new one.
const shared_tree::node* shared_tree::with_sides(const node* left, const node* right,
                                                 const node* zero, const node* one) {
  for (const node* known : {left, right}) {
    if (known->zero == zero && known->one == one) {
      release(zero);
      release(one);
      return shared(known);
    }
  }
  if (!zero || !one) return zero ? zero : one;  // the other one was superfluous
  return make_branch(left->key, zero, one);
}

bool shared_tree::contains(const node* all, const node* some, number floor) {
  while (some && some->largest > floor && all != some) {
    if (!all) return false;
    const std::uint64_t bit = all->deciding_bit();
    const std::uint64_t bit_of_some = some->deciding_bit();
    if (bit > bit_of_some && all->is_above(some->key)) {
      all = all->side(some->key);
    } else if (bit < bit_of_some && floor != 0 && some->is_above(all->key)) {
      // Only one of its sides may still have to be there.
      const node* const other = all->key & bit_of_some ? some->zero : some->one;
      if (other->largest > floor) return false;
      some = some->side(all->key);
    } else if (bit != bit_of_some || all->key != some->key) {
      return false;
    } else if (all->is_leaf) {
      if (all->until < some->until || (some->keeps_parts && !all->keeps_parts)) return false;
      floor = some->keeps_parts || all->keeps_parts ? 0 : all->until;
      some = some->parts();
      all = all->parts();
    } else {
      if (!contains(all->zero, some->zero, floor)) return false;
      some = some->one;
      all = all->one;
    }
  }
  return true;
}

bool shared_tree::remembers(const node* all, const node* some) {
  struct question {
    const node* all = nullptr;  // both are owned, so that no other tree comes to lie there
    const node* some = nullptr;
    bool is_contained = false;
  };
  constexpr std::size_t questions = 256;
  constexpr unsigned few = 8;  // names, of which to ask is cheaper than to remember
  static auto& known = *new std::array<question, questions>;
  if (some->size <= few) return contains(all, some, 0);
  const auto mixed = (reinterpret_cast<std::uintptr_t>(all) / 16 * 31 +
                      reinterpret_cast<std::uintptr_t>(some) / 16) *
                     0x9e3779b97f4a7c15u;
  question& at = known[mixed >> 56];
  if (at.all != all || at.some != some) {
    const question now{shared(all), shared(some), contains(all, some, 0)};
    release(at.all);
    release(at.some);
    at = now;
  }
  return at.is_contained;
}

const shared_tree::node* shared_tree::of_sorted(const std::pair<name, number>* first,
                                                const std::pair<name, number>* last) {
  if (last - first == 1) return make_leaf(first->first, first->second, nullptr, false);
  const name lowest = first->first;
  const name bit = std::bit_floor(lowest ^ (last - 1)->first);
  const auto* const one =
      std::partition_point(first, last, [&](const auto& each) { return !(each.first & bit); });
  const node* const zeros = of_sorted(first, one);
  return make_branch((lowest & ~(bit | (bit - 1))) | bit, zeros, of_sorted(one, last));
}

void shared_tree::add_owned(const node* made) {
  release(std::exchange(root_, joined(root_, made, 0)));
  release(made);
}

void shared_tree::add(name of, number until, bool keeps_parts) {
  const node* const known = find(root_, of);
  if (known && known->until >= until && known->keeps_parts == keeps_parts) return;
  add_owned(make_leaf(of, until, nullptr, keeps_parts));
}

void shared_tree::add_part(name of, name part, number until, bool keeps_parts) {
  add_owned(make_leaf(of, 0, make_leaf(part, until, nullptr, false), keeps_parts));
}

void shared_tree::add(const std::vector<std::pair<name, number>>& all) {
  if (!all.empty()) add_owned(of_sorted(all.data(), all.data() + all.size()));
}

}  // namespace racecheck

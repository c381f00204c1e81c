// SPDX-License-Identifier: MIT
// Numbers by name, of which a larger one stands for all smaller ones: the epochs of a clock, and
// how much of a chain of writes was observed.
//
// A node is never changed, and the copies of a tree share its nodes. Two trees of which one was
// made from the other have most nodes in common, so to join or to compare them costs what differs
// between them, and not what they hold. Only one OS thread at a time may use any of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace racecheck {

class shared_tree {
 public:
  using name = std::uint64_t;
  using number = std::uint32_t;  // from 1

  shared_tree() = default;
  shared_tree(const shared_tree& other) : root_(shared(other.root_)) {}
  shared_tree(shared_tree&& other) noexcept : root_(std::exchange(other.root_, nullptr)) {}
  shared_tree& operator=(shared_tree other) noexcept {
    std::swap(root_, other.root_);
    return *this;
  }
  ~shared_tree() { release(root_); }

  bool empty() const { return !root_; }
  std::size_t size() const { return root_ ? root_->size : 0; }
  // Whether they are equal.
  bool is(const shared_tree& other) const { return root_ == other.root_; }

  // 0 if there is none.
  number find(name of) const { return until(find(root_, of)); }
  // The number of a part of what is named, if it is larger than that of all of it.
  number find_part(name of, name part) const {
    const node* const found = find(root_, of);
    return found ? until(find(found->parts(), part)) : 0;
  }
  // Whether there is one that is not less, of all or of the part.
  bool has(name of, name part, std::uint64_t at_least) const {
    const node* const found = find(root_, of);
    return found && (at_least <= found->until || at_least <= until(find(found->parts(), part)));
  }

  // Whether there is a name in [first, end).
  bool has_any(name first, name end) const { return has_any(root_, first, end); }

  // Numbers of parts that are no larger are superfluous from here on, unless `keeps_parts`.
  void add(name of, number until, bool keeps_parts = false);
  void add_part(name of, name part, number until, bool keeps_parts = false);
  // Many at once, sorted by name, no two of them alike.
  void add(const std::vector<std::pair<name, number>>& all);
  void join(const shared_tree& other) {
    if (root_ != other.root_) release(std::exchange(root_, joined(root_, other.root_, 0)));
  }
  // Whether joining `other` would change nothing.
  bool contains(const shared_tree& other) const {
    return root_ == other.root_ || !other.root_ || (root_ && remembers(root_, other.root_));
  }

 private:
  // A node of a binary tree over the bits of the names.
  struct node {
    std::uint32_t owners : 30;
    std::uint32_t is_leaf : 1;
    std::uint32_t keeps_parts : 1;
    std::uint32_t size;  // names and parts in it
    // A branch's: the bits that its names have in common, then a one, then zeros.
    name key;
    number until;      // of a leaf
    number largest;    // of all in it
    const node* zero;  // of a branch: the names that go on with a zero; of a leaf: its parts
    const node* one;
    node* same_bucket;  // of the table of all nodes

    const node* parts() const { return zero; }
    // In which the two sides differ; 0 of a leaf.
    std::uint64_t deciding_bit() const { return is_leaf ? 0 : key & -key; }
    const node* side(name of) const { return of & deciding_bit() ? one : zero; }
    // Whether a name, or a branch's, is one of those below this branch.
    bool is_above(name other) const { return ((other ^ key) & ~(key ^ (key - 1))) == 0; }
  };
  static_assert(sizeof(node) == 48);
  class node_table;

  static const node* find(const node* in, name of) {
    while (in && !in->is_leaf) in = in->side(of);
    return in && in->key == of ? in : nullptr;
  }
  static bool has_any(const node* in, name first, name end) {
    if (!in) return false;
    if (in->is_leaf) return in->key >= first && in->key < end;
    const name below = in->key & ~(in->deciding_bit() | (in->deciding_bit() - 1));
    const name last = below | in->deciding_bit() | (in->deciding_bit() - 1);
    if (last < first || below >= end) return false;
    return has_any(in->zero, first, end) || has_any(in->one, first, end);
  }
  static number until(const node* leaf) { return leaf ? leaf->until : 0; }

  static const node* shared(const node* of) {
    if (of) ++const_cast<node*>(of)->owners;
    return of;
  }
  static void release(const node* owned);
  // What is made owns the nodes that it is given. It may be there already.
  static const node* make_leaf(name key, number until, const node* parts, bool keeps_parts);
  static const node* make_branch(name key, const node* zero, const node* one);
  // What is known to be there up to `floor` need not be in what they return.
  static const node* joined(const node* left, const node* right, number floor);
  static const node* joined_leaves(const node* left, const node* right);
  static const node* joined_below(const node* branch, const node* other, number floor);
  static const node* joined_apart(const node* left, const node* right);
  static const node* with_sides(const node* left, const node* right, const node* zero,
                                const node* one);
  static bool contains(const node* all, const node* some, number floor);
  // The same, for two whole trees. A thread that waits asks for the same two again and again.
  static bool remembers(const node* all, const node* some);
  static const node* of_sorted(const std::pair<name, number>* first,
                               const std::pair<name, number>* last);
  void add_owned(const node* made);

  const node* root_ = nullptr;
};

}  // namespace racecheck

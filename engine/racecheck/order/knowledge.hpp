// SPDX-License-Identifier: MIT
// What a thread may rely on, and in which form it is handed over: clocks, observations, and the
// values of them that the rules of docs/racecheck.md join.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "cpu_backend/observer.hpp"
#include "racecheck/order/shared_tree.hpp"

namespace racecheck {

using cpu_backend::observer::fence_kind;
using cpu_backend::observer::scope;

// An epoch is a value of one counter that only grows, over all threads and launches of the process.
// A thread keeps its epoch until it publishes what it did (a fence, a release, a barrier), and then
// takes the counter's next value: so what it does later is not covered by what it published.
using epoch = std::uint64_t;
inline constexpr unsigned epoch_bits = 32;  // as many as cells have room for

inline constexpr unsigned most_threads_of_block = 1024;
inline constexpr unsigned rank_bits = 10;

// A thread of the current launch: the number of its block in the grid and its rank in the block.
struct thread_name {
  std::uint32_t block = 0;
  std::uint32_t rank = 0;

  bool operator==(const thread_name&) const = default;
  std::uint64_t key() const { return std::uint64_t{block} << rank_bits | rank; }
};

// Vector clocks, compressed by block: "all threads of block 3 up to epoch 17, and thread 5 of block
// 3 up to 21".
class clock {
 public:
  bool empty() const { return blocks_.empty(); }
  std::size_t size() const { return blocks_.size(); }

  // Whether what `thread` did in epoch `at` is covered.
  bool covers(thread_name thread, epoch at) const {
    return blocks_.has(thread.block, thread.rank, at);
  }
  // The last epoch that is covered of all threads of the block; 0 for none. And of one thread, if
  // it is later than that.
  epoch of_block(std::uint32_t block) const { return blocks_.find(block); }
  epoch of_thread(thread_name thread) const { return blocks_.find_part(thread.block, thread.rank); }

  // What is said of a block makes what was said of its threads before superfluous, unless
  // `keeps_threads`: then of_thread() goes on to tell it.
  void add_block(std::uint32_t block, epoch until, bool keeps_threads = false) {
    blocks_.add(block, number_of(until), keeps_threads);
  }
  void add_thread(thread_name thread, epoch until, bool keeps_threads = false) {
    blocks_.add_part(thread.block, thread.rank, number_of(until), keeps_threads);
  }
  // Whether it knows of anything that these blocks did.
  bool has_any_block(std::uint32_t first, std::uint32_t end) const {
    return blocks_.has_any(first, end);
  }
  // Whether they are equal.
  bool is(const clock& other) const { return blocks_.is(other.blocks_); }
  // Whether joining `other` would change nothing.
  bool contains(const clock& other) const { return blocks_.contains(other.blocks_); }
  void join(const clock& other) { blocks_.join(other.blocks_); }

 private:
  static shared_tree::number number_of(epoch of) {
    static_assert(epoch_bits <= 32);
    return static_cast<shared_tree::number>(of);
  }

  shared_tree blocks_;  // and their threads
};

// Strong writes of one location that follow each other as a chain of atomic read-modify-writes, up
// to `position`, have been observed.
struct observation {
  std::uint32_t location = 0;
  std::uint32_t chain = 0;
  std::uint32_t position = 0;

  bool operator==(const observation&) const = default;
  std::uint64_t key() const { return std::uint64_t{location} << 32 | chain; }
};

// Many of them. Those that a thread has made itself since it last told others are its own; the
// others stand in a tree, which all that have heard of them share.
class observations {
 public:
  bool empty() const { return shared_.empty() && own_.empty() && recent_.empty(); }
  std::size_t size() const;
  void observe(const observation& seen);
  bool has_observed(const observation& write) const;
  // Whether they are equal; false, too, for some that have observed something themselves.
  bool is(const observations& other) const {
    return shared_.is(other.shared_) && is_settled() && other.is_settled();
  }
  // Whether joining `other` would change nothing.
  bool contains(const observations& other) const;
  void join(const observations& other);
  // To be called before copies are made, each of which goes on by itself.
  void settle();
  bool is_settled() const { return own_.empty() && recent_.empty(); }

 private:
  using run = std::vector<observation>;  // sorted by key
  static void add(run& to, const observation& seen);
  static bool has(const run& in, const observation& write);
  static run merged(const run& large, const run& small);
  static void add(shared_tree& to, const run& all);

  shared_tree shared_;    // by key: the position, and one more, as the first one is 0
  std::vector<run> own_;  // from large to small, each more than twice as long as the next
  run recent_;
};

// Values that many threads and locations share; one that is shared is never changed.
template <class T>
using shared = std::shared_ptr<const T>;

// The same with what it takes to join them: a value of its own only where one has to be made.
template <class T>
class sharing {
 public:
  sharing() = default;
  explicit sharing(T value) : value_(std::make_shared<T>(std::move(value))) {}
  // `value` was made as a T that is not const.
  explicit sharing(shared<T> value) : value_(std::move(value)) {}

  bool empty() const { return !value_ || value_->empty(); }
  std::size_t size() const { return value_ ? value_->size() : 0; }
  const T& get() const {
    static const T nothing{};
    return value_ ? *value_ : nothing;
  }
  T& change() {
    if (!value_ || value_.use_count() != 1) value_ = std::make_shared<T>(get());
    return const_cast<T&>(*value_);  // made above as a T, and held by nothing else
  }
  bool contains(const sharing& other) const {
    return value_ == other.value_ || other.empty() || get().contains(*other.value_);
  }
  // Whether they share one value, or both have none.
  bool is(const sharing& other) const { return value_ == other.value_; }
  void join(const T& other) {
    if (!get().contains(other)) change().join(other);
  }
  void join(const sharing& other) {
    if (is(other) || other.empty()) return;
    if (empty()) {
      value_ = other.value_;
      return;
    }
    if constexpr (requires(const T& each) { each.is(each); }) {
      T joined = get();  // which costs little, as do the comparisons
      joined.join(*other.value_);
      if (joined.is(get())) return;
      value_ = joined.is(*other.value_) ? other.value_ : std::make_shared<T>(std::move(joined));
    } else if (!get().contains(*other.value_)) {
      if (other.contains(*this)) {
        value_ = other.value_;
      } else {
        change().join(*other.value_);
      }
    }
  }

 private:
  shared<T> value_;
};

// Causality order: what happened before, by clock or because it was observed.
struct known {
  clock order;
  sharing<observations> observed;

  bool empty() const { return order.empty() && observed.empty(); }
  std::size_t size() const { return order.size() + observed.size(); }
  bool is(const known& other) const { return order.is(other.order) && observed.is(other.observed); }
  bool contains(const known& other) const {
    return order.contains(other.order) && observed.contains(other.observed);
  }
  void join(const known& other) {
    order.join(other.order);
    observed.join(other.observed);
  }
};

// Things that threads have handed over at some scope, sorted by the threads that may take them: an
// operation at device scope in block b takes `device` and what block b itself handed over at any
// scope; one at block scope takes only the latter.
template <class T>
struct scoped {
  T device;
  std::vector<std::pair<std::uint32_t, sharing<T>>> of_block;  // at any scope, by block

  bool empty() const { return of_block.empty(); }
  std::size_t size() const {
    std::size_t sum = device.size();
    for (const auto& [block, each] : of_block) sum += each.size();
    return sum;
  }
  sharing<T>& part(std::uint32_t block) {
    const auto found = std::lower_bound(
        of_block.begin(), of_block.end(), block,
        [](const auto& each, std::uint32_t number) { return each.first < number; });
    if (found != of_block.end() && found->first == block) return found->second;
    return of_block.insert(found, {block, sharing<T>{}})->second;
  }
  const sharing<T>* find(std::uint32_t block) const {
    const auto found = std::lower_bound(
        of_block.begin(), of_block.end(), block,
        [](const auto& each, std::uint32_t number) { return each.first < number; });
    return found != of_block.end() && found->first == block ? &found->second : nullptr;
  }
  void add(const sharing<T>& handed_over, scope at, std::uint32_t block) {
    if (at == scope::device) device.join(handed_over.get());
    part(block).join(handed_over);
  }
  bool contains(const scoped& other) const {
    auto here = of_block.begin();
    for (const auto& [block, each] : other.of_block) {
      while (here != of_block.end() && here->first < block) ++here;
      if (here == of_block.end() || here->first != block || !here->second.contains(each)) {
        return false;
      }
    }
    return device.contains(other.device);
  }
  void join(const scoped& other) {
    if (other.empty()) return;
    if (empty()) {
      *this = other;
      return;
    }
    device.join(other.device);
    for (const auto& [block, each] : other.of_block) part(block).join(each);
  }
};

using fences = scoped<known>;  // what sequentially consistent fences knew

// Everything that a thread hands over when it releases, and that another joins when it acquires.
struct knowledge {
  known happened_before;
  sharing<fences> published;  // sequentially consistent fences that are before all from here on
  sharing<fences> pending;    // those whose writes were seen, and that wait for a fence here

  bool empty() const { return happened_before.empty() && published.empty() && pending.empty(); }
  std::size_t size() const { return happened_before.size() + published.size() + pending.size(); }
  bool is(const knowledge& other) const {
    return happened_before.is(other.happened_before) && published.is(other.published) &&
           pending.is(other.pending);
  }
  bool contains(const knowledge& other) const {
    return happened_before.contains(other.happened_before) && published.contains(other.published) &&
           pending.contains(other.pending);
  }
  void join(const knowledge& other) {
    happened_before.join(other.happened_before);
    published.join(other.published);
    pending.join(other.pending);
  }
};

using heads = scoped<knowledge>;  // of release patterns

}  // namespace racecheck

// SPDX-License-Identifier: MIT
// What a thread may rely on, and in which form it is handed over: the values that the rules of
// docs/racecheck.md join.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "cpu_backend/observer.hpp"
#include "racecheck/clock.hpp"

namespace racecheck {

using cpu_backend::observer::scope;

// Strong writes of one location that follow each other as a chain of atomic read-modify-writes, up
// to `position`, have been observed.
struct observation {
  std::uint32_t location = 0;
  std::uint32_t chain = 0;
  std::uint64_t position = 0;

  std::uint64_t key() const { return std::uint64_t{location} << 32 | chain; }
};

// Causality order: what happened before, by clock or because it was observed.
struct known {
  clock order;
  std::vector<observation> observed;  // few, sorted by key

  bool empty() const { return order.empty() && observed.empty(); }
  std::size_t size() const { return order.size() + observed.size(); }
  void observe(const observation& seen) {
    const auto found = std::lower_bound(
        observed.begin(), observed.end(), seen.key(),
        [](const observation& each, std::uint64_t key) { return each.key() < key; });
    if (found != observed.end() && found->key() == seen.key()) {
      found->position = std::max(found->position, seen.position);
    } else {
      observed.insert(found, seen);
    }
  }
  bool has_observed(const observation& write) const {
    for (const observation& each : observed) {
      if (each.key() == write.key()) return each.position >= write.position;
    }
    return false;
  }
  void join(const known& other) {
    order.join(other.order);
    for (const observation& each : other.observed) observe(each);
  }
};

// Things that threads have handed over at some scope, sorted by who may take them: an operation at
// device scope in block b takes `device` and what block b itself handed over at any scope; one at
// block scope takes only the latter.
template <class T>
struct scoped {
  T device;
  std::vector<std::pair<std::uint32_t, T>> of_block;  // at any scope, by block

  bool empty() const { return of_block.empty(); }
  std::size_t size() const {
    std::size_t sum = device.size();
    for (const auto& [block, each] : of_block) sum += each.size();
    return sum;
  }
  T& part(std::uint32_t block) {
    const auto found = std::lower_bound(
        of_block.begin(), of_block.end(), block,
        [](const auto& each, std::uint32_t number) { return each.first < number; });
    if (found != of_block.end() && found->first == block) return found->second;
    return of_block.insert(found, {block, T{}})->second;
  }
  const T* find(std::uint32_t block) const {
    const auto found = std::lower_bound(
        of_block.begin(), of_block.end(), block,
        [](const auto& each, std::uint32_t number) { return each.first < number; });
    return found != of_block.end() && found->first == block ? &found->second : nullptr;
  }
  void add(const T& handed_over, scope at, std::uint32_t block) {
    if (at == scope::device) device.join(handed_over);
    part(block).join(handed_over);
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
  known now;
  fences published;  // sequentially consistent fences that are before everything from here on
  fences pending;    // those whose writes were seen, and that wait for a fence of this thread

  bool empty() const { return now.empty() && published.empty() && pending.empty(); }
  std::size_t size() const { return now.size() + published.size() + pending.size(); }
  void join(const knowledge& other) {
    now.join(other.now);
    published.join(other.published);
    pending.join(other.pending);
  }
};

using heads = scoped<knowledge>;  // of release patterns

// Values that many threads and locations share; nobody changes one that is shared.
template <class T>
using shared = std::shared_ptr<const T>;

}  // namespace racecheck

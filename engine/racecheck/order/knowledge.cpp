// SPDX-License-Identifier: MIT
#include "racecheck/order/knowledge.hpp"

#include <iterator>
#include <utility>

namespace racecheck {
namespace {

constexpr std::size_t most_recent = 32;

constexpr auto by_key = [](const observation& each, std::uint64_t key) { return each.key() < key; };

}  // namespace

void observations::add(run& to, const observation& seen) {
  const auto found = std::lower_bound(to.begin(), to.end(), seen.key(), by_key);
  if (found != to.end() && found->key() == seen.key()) {
    found->position = std::max(found->position, seen.position);
  } else {
    to.insert(found, seen);
  }
}

bool observations::has(const run& in, const observation& write) {
  const auto found = std::lower_bound(in.begin(), in.end(), write.key(), by_key);
  return found != in.end() && found->key() == write.key() && found->position >= write.position;
}

std::size_t observations::size() const {
  std::size_t sum = shared_.size() + recent_.size();
  for (const run& each : own_) sum += each.size();
  return sum;
}

bool observations::has_observed(const observation& write) const {
  return shared_.find(write.key()) > write.position || has(recent_, write) ||
         std::any_of(own_.begin(), own_.end(), [&](const run& each) { return has(each, write); });
}

void observations::observe(const observation& seen) {
  if (has_observed(seen)) return;
  add(recent_, seen);
  if (recent_.size() < most_recent) return;
  own_.push_back(std::exchange(recent_, {}));
  while (own_.size() > 1 && own_[own_.size() - 2].size() <= 2 * own_.back().size()) {
    run joined = merged(own_[own_.size() - 2], own_.back());
    own_.pop_back();
    own_.back() = std::move(joined);
  }
}

observations::run observations::merged(const run& large, const run& small) {
  run all;
  all.reserve(large.size() + small.size());
  std::merge(large.begin(), large.end(), small.begin(), small.end(), std::back_inserter(all),
             [](const observation& left, const observation& right) {
               return left.key() != right.key() ? left.key() < right.key()
                                                : left.position > right.position;
             });
  const auto same = [](const observation& left, const observation& right) {
    return left.key() == right.key();
  };
  all.erase(std::unique(all.begin(), all.end(), same), all.end());
  return all;
}

void observations::add(shared_tree& to, const run& all) {
  std::vector<std::pair<shared_tree::name, shared_tree::number>> numbers;
  numbers.reserve(all.size());
  for (const observation& each : all) numbers.emplace_back(each.key(), each.position + 1);
  to.add(numbers);
}

void observations::settle() {
  for (const run& each : own_) add(shared_, each);
  add(shared_, recent_);
  own_.clear();
  recent_.clear();
}

bool observations::contains(const observations& other) const {
  const auto has_all = [&](const run& each) {
    return std::all_of(each.begin(), each.end(),
                       [&](const observation& write) { return has_observed(write); });
  };
  return (is_settled() ? shared_.contains(other.shared_) : shared_.is(other.shared_)) &&
         has_all(other.recent_) && std::all_of(other.own_.begin(), other.own_.end(), has_all);
}

void observations::join(const observations& other) {
  shared_.join(other.shared_);
  for (const run& each : other.own_) add(shared_, each);
  add(shared_, other.recent_);
}

}  // namespace racecheck

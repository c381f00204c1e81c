// SPDX-License-Identifier: MIT
#include "racecheck/clock.hpp"

#include <algorithm>

namespace racecheck {
namespace {

constexpr auto by_name = [](const auto& entry, std::uint64_t who) { return entry.who < who; };

}  // namespace

epoch clock::until(const entries& of, std::uint64_t who) {
  const auto found = std::lower_bound(of.begin(), of.end(), who, by_name);
  return found != of.end() && found->who == who ? found->until : 0;
}

void clock::add(entries& to, std::uint64_t who, epoch until) {
  const auto found = std::lower_bound(to.begin(), to.end(), who, by_name);
  if (found != to.end() && found->who == who) {
    found->until = std::max(found->until, until);
  } else {
    to.insert(found, {who, until});
  }
}

bool clock::contains(const entries& all, const entries& some) {
  if (all.size() < some.size()) return false;
  auto here = all.begin();
  for (const entry& each : some) {
    while (here != all.end() && here->who < each.who) ++here;
    if (here == all.end() || here->who != each.who || here->until < each.until) return false;
  }
  return true;
}

void clock::join(entries& into, const entries& other) {
  if (other.empty()) return;
  if (into.empty()) {
    into = other;
    return;
  }
  entries joined;
  joined.reserve(into.size() + other.size());
  auto left = into.begin();
  auto right = other.begin();
  while (left != into.end() && right != other.end()) {
    if (left->who < right->who) {
      joined.push_back(*left++);
    } else if (right->who < left->who) {
      joined.push_back(*right++);
    } else {
      joined.push_back({left->who, std::max(left->until, right->until)});
      ++left;
      ++right;
    }
  }
  joined.insert(joined.end(), left, into.end());
  joined.insert(joined.end(), right, other.end());
  into = std::move(joined);
}

void clock::join(const clock& other) {
  join(blocks_, other.blocks_);
  join(threads_, other.threads_);
}

void clock::join(const std::vector<const clock*>& others) {
  const auto join_all = [&](entries clock::*part) {
    entries& into = this->*part;
    for (const clock* each : others) {
      into.insert(into.end(), (each->*part).begin(), (each->*part).end());
    }
    std::sort(into.begin(), into.end(), [](const entry& left, const entry& right) {
      return left.who != right.who ? left.who < right.who : left.until > right.until;
    });
    const auto same = [](const entry& left, const entry& right) { return left.who == right.who; };
    into.erase(std::unique(into.begin(), into.end(), same), into.end());
  };
  join_all(&clock::blocks_);
  join_all(&clock::threads_);
}

}  // namespace racecheck

// SPDX-License-Identifier: MIT
#include "racecheck/knowledge.hpp"

#include <iterator>

namespace racecheck {
namespace {

constexpr std::size_t most_recent = 32;
constexpr std::size_t most_runs = 40;

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
  std::size_t sum = recent_.size();
  for (const auto& each : runs_) sum += each->size();
  return sum;
}

bool observations::has_observed(const observation& write) const {
  return has(recent_, write) || std::any_of(runs_.begin(), runs_.end(),
                                            [&](const auto& each) { return has(*each, write); });
}

void observations::observe(const observation& seen) {
  if (has_observed(seen)) return;
  add(recent_, seen);
  if (recent_.size() < most_recent) return;
  seal_recent();
  // What others share, they would merge once more.
  merge_runs(runs_.size() > most_runs);
}

void observations::seal_recent() {
  if (recent_.empty()) return;
  runs_.push_back(std::make_shared<const run>(std::move(recent_)));
  recent_.clear();
}

void observations::settle() {
  seal_recent();
  merge_runs(true);
}

bool observations::contains(const observations& other) const {
  return std::all_of(other.runs_.begin(), other.runs_.end(),
                     [&](const auto& each) {
                       return std::find(runs_.begin(), runs_.end(), each) != runs_.end();
                     }) &&
         std::all_of(other.recent_.begin(), other.recent_.end(),
                     [&](const observation& each) { return has_observed(each); });
}

void observations::join(const observations& other) {
  if (empty()) {
    *this = other;
    return;
  }
  for (const auto& each : other.runs_) {
    if (std::find(runs_.begin(), runs_.end(), each) == runs_.end()) runs_.push_back(each);
  }
  for (const observation& each : other.recent_) observe(each);
  if (runs_.size() > most_runs) merge_runs(true);
}

// Each run is more than twice as long as the next: there are few, and each observation was copied
// few times.
void observations::merge_runs(bool shared_ones_too) {
  std::stable_sort(runs_.begin(), runs_.end(), [](const auto& left, const auto& right) {
    return left->size() > right->size();
  });
  for (std::size_t last = runs_.size(); last-- > 1;) {
    const run& large = *runs_[last - 1];
    const run& small = *runs_[last];
    if (large.size() > 2 * small.size()) continue;
    if (!shared_ones_too && (runs_[last - 1].use_count() != 1 || runs_[last].use_count() != 1)) {
      continue;
    }
    run merged;
    merged.reserve(large.size() + small.size());
    std::merge(large.begin(), large.end(), small.begin(), small.end(), std::back_inserter(merged),
               [](const observation& left, const observation& right) {
                 return left.key() != right.key() ? left.key() < right.key()
                                                  : left.position > right.position;
               });
    merged.erase(std::unique(merged.begin(), merged.end(),
                             [](const observation& left, const observation& right) {
                               return left.key() == right.key();
                             }),
                 merged.end());
    // What others share is to be known by its address wherever they join it again.
    if (merged == small) {
      runs_[last - 1] = runs_[last];
    } else if (merged != large) {
      runs_[last - 1] = std::make_shared<const run>(std::move(merged));
    }
    runs_.erase(runs_.begin() + static_cast<std::ptrdiff_t>(last));
  }
}

}  // namespace racecheck

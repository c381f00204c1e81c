// SPDX-License-Identifier: MIT
// A long list of runs that is copied often and grows at its end: copies share all but the last of
// it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "racecheck/memory/read_runs.hpp"

namespace racecheck {

class run_list {
 public:
  run_list() = default;
  explicit run_list(const std::vector<read_run>& runs) {
    for (const read_run& each : runs) push_back(each);
  }

  std::size_t size() const { return shared_count_ + last_.size(); }

  void push_back(const read_run& run) {
    if (last_.size() == 2 * at_once) share_first();
    last_.push_back(run);
  }

  // Those that may still change: all, or at least as many as a block has groups.
  std::span<read_run> last() { return last_; }

  // visit(const read_run&), in the order in which they came.
  template <class Visit>
  void each(Visit visit) const {
    if (shared_) each_of(*shared_, visit);
    for (const read_run& run : last_) visit(run);
  }

 private:
  static constexpr std::size_t at_once = groups_of_block;

  struct segment {
    std::shared_ptr<const segment> before;
    std::array<read_run, at_once> runs;
  };

  template <class Visit>
  static void each_of(const segment& of, Visit visit) {
    if (of.before) each_of(*of.before, visit);
    for (const read_run& run : of.runs) visit(run);
  }

  void share_first() {
    auto made = std::make_shared<segment>();
    made->before = std::move(shared_);
    std::copy_n(last_.begin(), at_once, made->runs.begin());
    last_.erase(last_.begin(), last_.begin() + at_once);
    shared_ = std::move(made);
    shared_count_ += at_once;
  }

  std::shared_ptr<const segment> shared_;
  std::size_t shared_count_ = 0;
  std::vector<read_run> last_;
};

}  // namespace racecheck

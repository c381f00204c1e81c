// SPDX-License-Identifier: MIT
#include "contest.hpp"

#include <algorithm>
#include <utility>

#include "lab/timing.cuh"

namespace benchmarks {

namespace {

// A contender in the race: the input of its next call, and its times so far.
struct runner {
  const contender* who;
  std::size_t next_input = 0;
  int calls_in_a_row = 1;
  std::vector<double> milliseconds = {};

  void call(std::size_t inputs) {
    who->run(next_input);
    next_input = (next_input + 1) % inputs;
  }
};

time_ratio ratio_of(const runner& one, const runner& other) {
  std::vector<double> ratios;
  for (std::size_t round = 0; round < one.milliseconds.size(); ++round) {
    ratios.push_back(one.milliseconds[round] / other.milliseconds[round]);
  }
  std::sort(ratios.begin(), ratios.end());
  return {.to = other.who->name,
          .median = lab::quantile(ratios, 0.5),
          .lower_quartile = lab::quantile(ratios, 0.25),
          .upper_quartile = lab::quantile(ratios, 0.75)};
}

contest_row row_of(const runner& one, const std::vector<runner>& all) {
  contest_row row = {.name = one.who->name,
                     .part = one.who->part,
                     .bytes = one.who->bytes,
                     .time = lab::summarize(one.milliseconds),
                     .ratios = {}};
  row.time.calls_in_a_row = one.calls_in_a_row;
  if (one.who->part != role::variant) return row;
  for (const runner& other : all) {
    const role part = other.who->part;
    if (part == role::peer || part == role::floor) row.ratios.push_back(ratio_of(one, other));
  }
  return row;
}

// Moves whoever is wrong from `runners` to `wrong`.
void disqualify(std::vector<runner>& runners, std::vector<wrong_result>& wrong) {
  std::vector<runner> right;
  for (runner& each : runners) {
    if (const auto what = each.who->wrong()) {
      wrong.push_back({each.who->name, *what});
    } else {
      right.push_back(std::move(each));
    }
  }
  runners = std::move(right);
}

}  // namespace

contest_result hold_contest(const std::vector<contender>& contenders, std::size_t inputs,
                            std::uint32_t rounds) {
  contest_result result;
  std::vector<runner> runners;
  for (const contender& each : contenders) runners.push_back({.who = &each});
  disqualify(runners, result.wrong);

  lab::stopwatch watch;
  for (runner& each : runners) {
    const auto call = [&] { each.call(inputs); };
    constexpr int trial_calls = 4;  // After the check, which has paid for loading the kernel.
    each.calls_in_a_row = lab::calls_in_a_row(watch.mean_of(call, trial_calls));
  }
  for (std::uint32_t round = 0; round < rounds; ++round) {
    for (std::size_t k = 0; k < runners.size(); ++k) {
      runner& each = runners[round % 2 == 0 ? k : runners.size() - 1 - k];
      each.milliseconds.push_back(watch.mean_of([&] { each.call(inputs); }, each.calls_in_a_row));
    }
  }

  disqualify(runners, result.wrong);
  for (const runner& each : runners) result.rows.push_back(row_of(each, runners));
  return result;
}

}  // namespace benchmarks

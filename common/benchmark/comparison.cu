// SPDX-License-Identifier: MIT
#include "benchmark/comparison.hpp"

#include <algorithm>
#include <utility>

#include "lab/timing.cuh"

namespace benchmarks {

namespace {

// A case while it is timed: the input of its next call, and its times so far.
struct timed_case {
  const benchmark_case* what;
  std::size_t next_input = 0;
  int runs_in_a_row = 1;
  std::vector<double> milliseconds = {};

  void call(std::size_t inputs) {
    what->run(next_input);
    next_input = (next_input + 1) % inputs;
  }
};

time_ratio ratio_of(const timed_case& one, const timed_case& other) {
  std::vector<double> ratios;
  for (std::size_t round = 0; round < one.milliseconds.size(); ++round) {
    ratios.push_back(one.milliseconds[round] / other.milliseconds[round]);
  }
  std::sort(ratios.begin(), ratios.end());
  return {.to = other.what->name,
          .median = lab::quantile(ratios, 0.5),
          .lower_quartile = lab::quantile(ratios, 0.25),
          .upper_quartile = lab::quantile(ratios, 0.75)};
}

comparison_row row_of(const timed_case& one, const std::vector<timed_case>& all) {
  comparison_row row = {.name = one.what->name,
                        .part = one.what->part,
                        .bytes = one.what->bytes,
                        .time = lab::summarize(one.milliseconds),
                        .ratios = {}};
  row.time.calls_in_a_row = one.runs_in_a_row * static_cast<int>(one.what->calls_of_run);
  if (one.what->part != role::variant) return row;
  for (const timed_case& other : all) {
    const role part = other.what->part;
    if (part == role::peer || part == role::floor) row.ratios.push_back(ratio_of(one, other));
  }
  return row;
}

// Moves those whose result is wrong from `timed_cases` to `wrong`.
void reject_wrong(std::vector<timed_case>& timed_cases, std::vector<wrong_result>& wrong) {
  std::vector<timed_case> right;
  for (timed_case& each : timed_cases) {
    if (const auto sentence = each.what->wrong()) {
      wrong.push_back({each.what->name, *sentence});
    } else {
      right.push_back(std::move(each));
    }
  }
  timed_cases = std::move(right);
}

}  // namespace

comparison_result compare(const std::vector<benchmark_case>& cases, std::size_t inputs,
                          std::uint32_t rounds) {
  comparison_result result;
  std::vector<timed_case> timed_cases;
  for (const benchmark_case& each : cases) timed_cases.push_back({.what = &each});
  reject_wrong(timed_cases, result.wrong);

  lab::stopwatch watch;
  for (timed_case& each : timed_cases) {
    const auto call = [&] { each.call(inputs); };
    constexpr int trial_calls = 4;  // After the check, which has paid for loading the kernel.
    each.runs_in_a_row = lab::calls_in_a_row(watch.mean_of(call, trial_calls));
  }
  for (std::uint32_t round = 0; round < rounds; ++round) {
    for (std::size_t k = 0; k < timed_cases.size(); ++k) {
      timed_case& each = timed_cases[round % 2 == 0 ? k : timed_cases.size() - 1 - k];
      const double of_run = watch.mean_of([&] { each.call(inputs); }, each.runs_in_a_row);
      each.milliseconds.push_back(of_run / each.what->calls_of_run);
    }
  }

  reject_wrong(timed_cases, result.wrong);
  for (const timed_case& each : timed_cases) result.rows.push_back(row_of(each, timed_cases));
  return result;
}

}  // namespace benchmarks

// SPDX-License-Identifier: MIT
// The method of all benchmarks: several ways to do the same thing, checked, timed in turn, and
// checked again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lab/timing.hpp"

namespace benchmarks {

enum class role {
  variant,  // a chapter's own
  peer,     // what the variants are compared with
  ceiling,  // a copy: how fast memory is
  floor     // an empty kernel: what a launch costs
};

// One way to do it.
struct benchmark_case {
  std::string name;
  role part = role::variant;
  std::uint64_t bytes = 0;  // That a call must read and write at the least.
  // Enqueues one call on input number `input` in the default stream. What it waits for is timed.
  std::function<void(std::size_t input)> run;
  // Runs once on every input, onto poisoned outputs, and says what is wrong with what comes out.
  std::function<std::optional<std::string>()> wrong;
  // (>= 1) So many calls does run() enqueue, on the same input: the times are those of one of them.
  unsigned calls_of_run = 1;
};

// How the time of a case compares with that of another one, round by round.
struct time_ratio {
  std::string to;
  double median = 0;
  double lower_quartile = 0;
  double upper_quartile = 0;
};

struct comparison_row {
  std::string name;
  role part = role::variant;
  std::uint64_t bytes = 0;
  lab::timing time;
  std::vector<time_ratio> ratios;  // A variant's, to each peer and to the floor.
};

struct wrong_result {
  std::string name;
  std::string what;
};

// A case that was ever wrong has no row.
struct comparison_result {
  std::vector<comparison_row> rows;
  std::vector<wrong_result> wrong;
};

// In each of `rounds` (>= 1) rounds every case has its turn: forward in even rounds, backward in
// odd ones, so that none always follows the same neighbour and a drift of the clock meets all
// alike. A turn is as many calls in a row as take half a millisecond (lab::calls_in_a_row), and
// each call takes the next of `inputs` (>= 1) inputs.
// Throws whatever a case throws, and lab::cuda_error where a kernel failed.
comparison_result compare(const std::vector<benchmark_case>& cases, std::size_t inputs,
                          std::uint32_t rounds);

}  // namespace benchmarks

// SPDX-License-Identifier: MIT
// The rows of the programs of chapters 02 to 04: reductions of one problem, timed, and what is
// wrong with what the programs make of it.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lab/device_buffer.cuh"
#include "lab/exact_data.hpp"
#include "lab/options.hpp"
#include "lab/program.hpp"
#include "lab/reference.hpp"
#include "lab/timing.cuh"

namespace lab {

// Two vectors of n elements, on the host and on the device. Floats are spread over [-1, 1). The
// products of integers need more than half of T's bits where n allows it, and no sum of them
// overflows T.
template <class T>
class reduction_problem {
 public:
  reduction_problem(std::size_t n, std::uint64_t seed)
      : a_(numbers(n, seed)), b_(numbers(n, ~seed)) {}

  std::size_t size() const { return a_.size(); }
  const T* a() const { return device_a_.data(); }
  const T* b() const { return device_b_.data(); }

  // What is wrong with a dot product of a and b, or with a sum, minimum or maximum of a, if
  // anything is. An integer must be equal. A float sum must lie within the proven bound, where no
  // term passes through more than `longest_chain` rounded operations (sum_error_bound). The right
  // results are computed at the first call.
  std::optional<std::string> wrong_dot(T got, std::uint64_t longest_chain) {
    if (!dot_) dot_ = reference_dot();
    return wrong_sum_of(*dot_, got, longest_chain);
  }
  std::optional<std::string> wrong_sum(T got, std::uint64_t longest_chain) {
    if (!sum_) sum_ = reference_sum();
    return wrong_sum_of(*sum_, got, longest_chain);
  }
  // Of no elements, `identity` is the right result.
  std::optional<std::string> wrong_minimum(T got, T identity) const {
    return unequal(got, a_.empty() ? identity : *std::min_element(a_.begin(), a_.end()));
  }
  std::optional<std::string> wrong_maximum(T got, T identity) const {
    return unequal(got, a_.empty() ? identity : *std::max_element(a_.begin(), a_.end()));
  }

 private:
  static std::vector<T> numbers(std::size_t n, std::uint64_t seed) {
    if constexpr (std::floating_point<T>) {
      return spread_numbers<T>(n, seed);
    } else {
      return small_integers<T>(n, largest_magnitude(n), seed);
    }
  }

  // The largest power of two m for which n products of numbers up to m stay below T's largest.
  static std::int64_t largest_magnitude(std::size_t n) {
    std::int64_t magnitude = std::int64_t{1} << (4 * sizeof(T) - 1);
    const auto limit = static_cast<std::uint64_t>(std::numeric_limits<T>::max());
    while (magnitude > 1 && n >= limit / (magnitude * magnitude)) magnitude /= 2;
    return magnitude;
  }

  auto reference_dot() const {
    if constexpr (std::floating_point<T>) {
      return compensated_dot<T>(a_, b_);
    } else {
      return static_cast<T>(exact_dot<T>(a_, b_));
    }
  }
  auto reference_sum() const {
    if constexpr (std::floating_point<T>) {
      return compensated_sum<T>(a_);
    } else {
      return static_cast<T>(exact_sum<T>(a_));
    }
  }
  using reference = std::conditional_t<std::floating_point<T>, sum_reference, T>;

  static std::optional<std::string> wrong_sum_of(const reference& right, T got,
                                                 std::uint64_t longest_chain) {
    if constexpr (std::floating_point<T>) {
      return outside_bound(got, longest_chain, right);
    } else {
      return unequal(got, right);
    }
  }

  std::vector<T> a_;
  std::vector<T> b_;
  device_buffer<T> device_a_{a_};
  device_buffer<T> device_b_{b_};
  std::optional<reference> dot_;
  std::optional<reference> sum_;
};

template <class T>
class reduction_rows {
 public:
  // `options` and `results` must outlive the rows.
  reduction_rows(const options& chosen, program_results& results)
      : chosen_(chosen), results_(results), problem_(chosen.elements, chosen.seed) {}

  reduction_problem<T>& problem() { return problem_; }
  unsigned threads() const { return chosen_.threads; }

  // The grid of the command line, or else the one that default_blocks() chooses.
  template <class Default>
  unsigned blocks(Default default_blocks) const {
    return chosen_.blocks ? *chosen_.blocks : default_blocks();
  }

  // Adds a row, if --variant wants it: times run(partials, result), which reads `vectors` of the
  // problem's vectors, has `blocks` elements of device memory to work in, and leaves the result in
  // *result, in device memory. `wrong(result)` says what is wrong with it, if anything is.
  template <class Run, class Wrong>
  void add(const std::string& name, unsigned blocks, unsigned vectors, Run run, Wrong wrong) {
    if (!chosen_.wants(name)) return;
    device_buffer<T> partials(blocks);
    device_buffer<T> result(1);
    partials.fill_bytes(poison);
    result.fill_bytes(poison);
    const timing time = time_runs([&] { run(partials.data(), result.data()); }, repeat());
    add_timed(name, blocks, vectors, time, wrong(result.to_host().front()));
  }

  // The same for a reduction that the host finishes: run(partials) returns the result.
  template <class Run, class Wrong>
  void add_on_host(const std::string& name, unsigned blocks, unsigned vectors, Run run,
                   Wrong wrong) {
    if (!chosen_.wants(name)) return;
    device_buffer<T> partials(blocks);
    partials.fill_bytes(poison);
    T result{};
    const timing time = time_runs([&] { result = run(partials); }, repeat());
    add_timed(name, blocks, vectors, time, wrong(result));
  }

 private:
  static constexpr int poison = 0xff;  // What is never written is no number, or -1.

  int repeat() const { return static_cast<int>(chosen_.repeat); }

  void add_timed(const std::string& name, unsigned blocks, unsigned vectors, const timing& time,
                 std::optional<std::string> wrong) {
    results_.add(measurement{.variant = name,
                             .blocks = blocks,
                             .threads = chosen_.threads,
                             .time = time,
                             .bytes = vectors * sizeof(T) * std::uint64_t{problem_.size()},
                             .wrong = std::move(wrong)});
  }

  const options& chosen_;
  program_results& results_;
  reduction_problem<T> problem_;
};

}  // namespace lab

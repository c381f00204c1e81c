// SPDX-License-Identifier: MIT
// The rows of the programs of chapters 02 to 04: reductions of one problem, timed and checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "lab/device_buffer.cuh"
#include "lab/options.hpp"
#include "lab/program_results.hpp"
#include "lab/reduction_problem.cuh"
#include "lab/timing.cuh"

namespace lab {

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
  static constexpr int poison = 0xff;  // What nobody writes is no number, or -1.

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

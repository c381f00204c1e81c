// SPDX-License-Identifier: MIT
// Steps of a wave, with one launch per step and in one launch with each form of the grid's barrier;
// times each and checks every height.
#include "07_grid_barrier/grid_barrier.cuh"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "07_grid_barrier/fast_grid_barrier.cuh"
#include "07_grid_barrier/fast_wave.cuh"
#include "07_grid_barrier/wave.cuh"
#include "07_grid_barrier/wave_reference.hpp"
#include "lab/default_size.cuh"
#include "lab/device.hpp"
#include "lab/device_buffer.cuh"
#include "lab/program.hpp"
#include "lab/reference.hpp"
#include "lab/resident_blocks.cuh"
#include "lab/timing.cuh"

namespace {

using course::generation_barrier;

lab::program_description description() {
  lab::program_description program = {
      .name = "grid_barrier",
      .summary = "steps of a wave; all blocks wait for each other between two steps",
      .variants = {"one_launch_per_step", "grid_barrier", "grid_sync", "one_word", "backoff",
                   "backoff_in_bands"},
      .without = {"--elements"},
      .numbers = {{.name = "--size",
                   .help = "cells of each side of the wave",
                   .smallest = 0,
                   .largest = 1 << 15,
                   .by_default = 256},
                  {.name = "--steps",
                   .help = "steps of the wave",
                   .smallest = 0,
                   .largest = 1'000'000,
                   .by_default = lab::default_size(50, 20)}}};
  program.defaults.repeat = 5;
  return program;
}

class wave_rows {
 public:
  wave_rows(const lab::options& options, lab::program_results& results)
      : options_(options),
        results_(results),
        size_(static_cast<unsigned>(options.numbers.at("--size"))),
        steps_(static_cast<unsigned>(options.numbers.at("--steps"))),
        start_(course::random_wave(size_, size_, options.seed)),
        expected_(course::reference_wave(start_, size_, size_, steps_)),
        now_(start_.now.size()),
        before_(start_.now.size()) {}

  unsigned size() const { return size_; }
  unsigned threads() const { return options_.threads; }
  int* now() { return now_.data(); }
  int* before() { return before_.data(); }

  // A block per row, but at most `most`, unless the command line has a number.
  unsigned blocks(std::size_t most) const {
    if (options_.blocks) return *options_.blocks;
    const std::size_t rows = size_ > 2 ? size_ - 2 : 1;
    return static_cast<unsigned>(std::min(rows, most));
  }

  // Runs, checks and times one variant: launch(steps) does so many steps of now() and before().
  void add(const std::string& name, unsigned blocks, std::function<void(unsigned)> launch) {
    rows_.push_back({name, blocks, std::move(launch)});
  }

  void run() {
    // A launch that the device refuses is refused before others take their time.
    for (const row& each : rows_) {
      if (options_.blocks) each.launch(0);
    }
    for (const row& each : rows_) run(each);
  }

 private:
  struct row {
    std::string name;
    unsigned blocks;
    std::function<void(unsigned)> launch;
  };

  void run(const row& row) {
    now_.copy_from(start_.now);
    before_.copy_from(start_.before);
    row.launch(steps_);
    const bool swapped = steps_ % 2 != 0;
    auto wrong = lab::first_difference<int>((swapped ? before_ : now_).to_host(), expected_.now);
    if (!wrong) {
      wrong = lab::first_difference<int>((swapped ? now_ : before_).to_host(), expected_.before);
    }
    const std::uint64_t cells = start_.now.size();
    const auto launch = [&] { row.launch(steps_); };
    results_.add({.variant = row.name,
                  .blocks = row.blocks,
                  .threads = options_.threads,
                  .time = lab::time_runs(launch, static_cast<int>(options_.repeat)),
                  .bytes = 3 * sizeof(int) * cells * steps_,
                  .wrong = wrong});
  }

  const lab::options& options_;
  lab::program_results& results_;
  unsigned size_;
  unsigned steps_;
  course::wave_heights start_;
  course::wave_heights expected_;
  lab::device_buffer<int> now_;
  lab::device_buffer<int> before_;
  std::vector<row> rows_;
};

// Shared by the copies of a launch.
template <class Barrier>
auto barrier_words(unsigned blocks) {
  const auto words =
      std::make_shared<lab::device_buffer<typename Barrier::word>>(Barrier::word_count(blocks));
  words->fill_bytes(0);
  return words;
}

template <class Barrier>
void add_row(wave_rows& rows, const std::string& name) {
  const unsigned blocks =
      rows.blocks(lab::resident_blocks(course::wave_steps_with<Barrier>, rows.threads()));
  const auto words = barrier_words<Barrier>(blocks);
  rows.add(name, blocks, [&rows, words, blocks](unsigned steps) {
    course::wave_with<Barrier>(rows.now(), rows.before(), rows.size(), rows.size(), steps,
                               words->data(), blocks, rows.threads());
  });
}

void run(const lab::options& options, lab::program_results& results) {
  const std::uint64_t size = options.numbers.at("--size");
  const std::uint64_t bytes = 2 * sizeof(int) * size * size;
  lab::require_memory(bytes, 3 * bytes);
  wave_rows rows(options, results);
  if (const char* const name = "one_launch_per_step"; options.wants(name)) {
    const unsigned blocks = rows.blocks(lab::largest_grid);
    rows.add(name, blocks, [&rows, blocks](unsigned steps) {
      course::wave_launch_by_launch(rows.now(), rows.before(), rows.size(), rows.size(), steps,
                                    blocks, rows.threads());
    });
  }
  if (const char* const name = "grid_barrier"; options.wants(name)) {
    const unsigned blocks = rows.blocks(lab::resident_blocks(course::wave_steps, rows.threads()));
    const auto words = barrier_words<generation_barrier>(blocks);
    rows.add(name, blocks, [&rows, words, blocks](unsigned steps) {
      course::wave_in_one_launch(rows.now(), rows.before(), rows.size(), rows.size(), steps,
                                 words->data(), blocks, rows.threads());
    });
  }
  const auto wants = [&](const char* name) { return options.wants(name); };
  if (wants("grid_sync")) add_row<course::cooperative_groups_barrier>(rows, "grid_sync");
  if (wants("one_word")) add_row<course::one_word_barrier>(rows, "one_word");
  if (wants("backoff")) add_row<course::backoff_barrier>(rows, "backoff");
  if (const char* const name = "backoff_in_bands"; options.wants(name)) {
    // One block on each SM, so that its band may fill the SM's shared memory.
    const unsigned blocks =
        rows.blocks(static_cast<std::size_t>(lab::describe_device().multiprocessors));
    const auto words = barrier_words<course::backoff_barrier>(blocks);
    rows.add(name, blocks, [&rows, words, blocks](unsigned steps) {
      course::wave_with_bands<course::backoff_barrier>(rows.now(), rows.before(), rows.size(),
                                                       rows.size(), steps, words->data(), blocks,
                                                       rows.threads());
    });
  }
  rows.run();
}

}  // namespace

int main(int argc, char** argv) { return lab::run_program(argc, argv, description(), run); }

// SPDX-License-Identifier: MIT
// What the programs of chapters 05 and 06 share: the options of the picture, and a class that
// times, checks and traces ways to hand out its tiles.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "05_work_queue/mandelbrot.cuh"
#include "05_work_queue/mandelbrot_reference.hpp"
#include "05_work_queue/process_items.cuh"
#include "05_work_queue/render_tiles.cuh"
#include "lab/device.hpp"
#include "lab/device_buffer.cuh"
#include "lab/options.hpp"
#include "lab/output_files.hpp"
#include "lab/program.hpp"
#include "lab/reference.hpp"
#include "lab/resident_blocks.cuh"
#include "lab/timing.cuh"
#include "lab/work_trace.hpp"

namespace course {

inline std::vector<lab::number_option> picture_numbers() {
  return {{.name = "--size",
           .help = "pixels of each side of the picture",
           .smallest = 1,
           .largest = largest_picture,
           .by_default = 256},
          {.name = "--tile",
           .help = "pixels of each side of a tile",
           .smallest = 1,
           .largest = largest_picture,
           .by_default = 16},
          {.name = "--iterations",
           .help = "the most steps for a pixel",
           .smallest = 1,
           .largest = 1'000'000,
           .by_default = 2048}};
}

inline std::vector<lab::choice_option> picture_choices() {
  std::vector<std::string> names;
  for (const view& each : views) names.emplace_back(each.name);
  return {{.name = "--view", .help = "part of the plane", .choices = names}};
}

inline std::vector<lab::file_option> picture_files() {
  return {{.name = "--image",
           .help = "also write the picture to FILE, as a PNG",
           .unavailable = lab::why_no_png(),
           .kind = lab::image_file},
          {.name = "--trace",
           .help = "also write which SM did which item when to FILE, as Chrome trace events",
           .unavailable = lab::why_no_json(),
           .kind = lab::trace_file}};
}

inline picture picture_of(const lab::options& options) {
  const std::string& name = options.choices.at("--view");
  const view& part = *std::find_if(std::begin(views), std::end(views),
                                   [&](const view& each) { return each.name == name; });
  const auto number = [&](const char* option) {
    return static_cast<std::uint32_t>(options.numbers.at(option));
  };
  return picture_of(part, number("--size"), number("--tile"), number("--iterations"));
}

// Bytes that a program with such a picture allocates.
struct memory_needed {
  std::uint64_t device;
  std::uint64_t host;
};
inline memory_needed memory_needed_by(const picture& of, bool traces) {
  const std::uint64_t counts = sizeof(std::uint32_t) * of.pixel_count();
  const std::uint64_t items = sizeof(tile_index) * of.tile_count();
  // On the device the counts once more for what is no row (chapter 06), and the items three times:
  // in an array, in a queue that the host fills, and in one that a kernel fills, or two numbers for
  // each of them. On the host the reference beside the counts, or an image and its PNG.
  memory_needed bytes = {.device = 2 * counts + 3 * items, .host = 3 * counts + items};
  if (traces) {
    // An event for each tile; on the host for each variant, and again as a line of text.
    constexpr std::uint64_t variants = 13;
    constexpr std::uint64_t text_of_event = 160;
    bytes.device += sizeof(lab::trace_event) * of.tile_count();
    bytes.host += variants * (sizeof(lab::trace_event) + text_of_event) * of.tile_count();
  }
  return bytes;
}

// The picture's counts in colours: the set itself is nearly black, the rest goes through the colour
// wheel with the logarithm of the count.
lab::image coloured(const picture& of, const std::vector<std::uint32_t>& counts);

// Steps that the threads make for one tile's pixels, all together.
std::uint64_t steps_of(const picture& of, tile_index tile,
                       const std::vector<std::uint32_t>& counts);

// The picture, its right counts, and what was measured so far.
class tile_program {
 public:
  // Computes the reference. Throws std::runtime_error where memory is short.
  tile_program(const lab::options& options, lab::program_results& results)
      : options_(options), results_(results), drawn_picture_(picture_of(options)) {
    const memory_needed bytes = memory_needed_by(drawn_picture_, traces());
    lab::require_memory(bytes.device, bytes.host);
    tiles_ = tiles_by_row(drawn_picture_);
    device_tiles_ = lab::device_buffer<tile_index>(tiles_);
    counts_ = lab::device_buffer<std::uint32_t>(drawn_picture_.pixel_count());
    reference_ = reference_counts(drawn_picture_);
    reference_histogram_ = std::vector<unsigned long long>(histogram_bins, 0);
    for (const std::uint32_t count : reference_) {
      ++reference_histogram_[std::min(count, histogram_bins - 1)];
    }
  }

  const picture& drawn_picture() const { return drawn_picture_; }
  const std::vector<tile_index>& tiles() const { return tiles_; }
  const tile_index* device_tiles() const { return device_tiles_.data(); }
  std::size_t tile_count() const { return tiles_.size(); }
  // The sum over the reference.
  std::int64_t sum_of_counts() const {
    return std::accumulate(reference_.begin(), reference_.end(), std::int64_t{0});
  }

  // The grid of the command line, or else as many blocks as are resident at once.
  template <class HandOut, class Work = render_tiles>
  unsigned chosen_blocks() const {
    return options_.blocks ? *options_.blocks
                           : resident_blocks_for<HandOut, Work>(options_.threads);
  }
  template <class Kernel>
  unsigned chosen_blocks_of(Kernel kernel) const {
    return options_.blocks ? *options_.blocks
                           : static_cast<unsigned>(lab::resident_blocks(kernel, options_.threads));
  }
  // For a grid that follows from the tiles.
  unsigned one_block_a_tile() const { return static_cast<unsigned>(tile_count()); }

  // Says how much the costs of the tiles differ.
  void note_costs() {
    std::uint64_t least = ~std::uint64_t{0};
    std::uint64_t most = 0;
    for (const tile_index tile : tiles_) {
      const std::uint64_t pixels =
          std::uint64_t{area_of(drawn_picture_, tile).width} * area_of(drawn_picture_, tile).height;
      const std::uint64_t steps = steps_of(drawn_picture_, tile, reference_) / pixels;
      least = std::min(least, steps);
      most = std::max(most, steps);
    }
    const auto text = [](std::uint64_t value) {
      return lab::with_separators(static_cast<std::int64_t>(value));
    };
    results_.note("tiles: " + text(tile_count()) + ", steps a pixel: from " + text(least) + " to " +
                  text(most) + " in the mean of a tile\n");
  }

  // Adds a row for one variant: prepare() and the kernel, `repeat` times. prepare() gets a queue
  // ready, without waiting, and is part of the time. `lanes` is how many items a resident block
  // works on at once.
  template <class HandOut, class Prepare>
  void measure(const std::string& name, const HandOut& hand_out, unsigned blocks, Prepare prepare,
               unsigned lanes = 1) {
    if (!options_.wants(name)) return;
    const render_tiles work = {.drawn_picture = drawn_picture_, .counts = counts_.data()};
    const auto launch = [&](const auto& some_work) {
      prepare();
      launch_processing(hand_out, some_work, blocks, options_.threads);
    };
    add_row(
        name, blocks, [&] { launch(work); }, [] { return std::nullopt; });
    trace<HandOut>(
        name, lanes, [&](const traced<render_tiles>& traced_work) { launch(traced_work); }, work);
  }

  // Adds a row for a kernel that has no HandOut: launch(counts) starts it in a grid of `blocks`. It
  // has no form that can be traced.
  template <class Launch>
  void measure_launch(const std::string& name, unsigned blocks, Launch launch) {
    if (!options_.wants(name)) return;
    add_row(
        name, blocks, [&] { launch(counts_.data()); }, [] { return std::nullopt; });
  }

  // The same as measure() with a histogram, which is one more result to check.
  template <class HandOut, class Prepare>
  void measure_with_histogram(const std::string& name, const HandOut& hand_out, unsigned blocks,
                              Prepare prepare) {
    if (!options_.wants(name)) return;
    lab::device_buffer<unsigned long long> histogram(histogram_bins);
    const render_tiles_with_histogram work = {
        .render = {.drawn_picture = drawn_picture_, .counts = counts_.data()},
        .histogram = histogram.data()};
    const auto launch = [&](const auto& some_work) {
      prepare();
      CUDA_CHECK(cudaMemsetAsync(histogram.data(), 0, histogram_bins * sizeof(unsigned long long)));
      launch_processing(hand_out, some_work, blocks, options_.threads);
    };
    add_row(
        name, blocks, [&] { launch(work); },
        [&]() -> std::optional<std::string> {
          const auto wrong =
              lab::first_difference<unsigned long long>(histogram.to_host(), reference_histogram_);
          if (wrong) return "histogram: " + *wrong;
          return std::nullopt;
        });
    trace<HandOut>(
        name, 1,
        [&](const traced<render_tiles_with_histogram>& traced_work) { launch(traced_work); }, work);
  }

  // Writes --image and --trace, as far as they were asked for. The picture is the one of the last
  // variant, which was found to be right, or is wrong and shown so.
  void write_files() const {
    if (const std::string& path = options_.files.at("--image"); !path.empty()) {
      lab::result_file(path, lab::image_file, options_.force)
          .write(lab::png(coloured(drawn_picture_, counts_.to_host())));
    }
    if (const std::string& path = options_.files.at("--trace"); !path.empty()) {
      lab::result_file(path, lab::trace_file, options_.force).write(lab::chrome_trace(traces_));
    }
  }

 private:
  bool traces() const { return !options_.files.at("--trace").empty(); }

  void add_row(const std::string& name, unsigned blocks, const std::function<void()>& run,
               const std::function<std::optional<std::string>()>& further_check) {
    counts_.fill_bytes(0xff);  // No count: what a variant leaves out cannot look right.
    const lab::timing time = lab::time_runs(run, static_cast<int>(options_.repeat));
    std::optional<std::string> wrong =
        lab::first_difference<std::uint32_t>(counts_.to_host(), reference_);
    if (!wrong) wrong = further_check();
    results_.add({.variant = name,
                  .blocks = blocks,
                  .threads = options_.threads,
                  .time = time,
                  .bytes = 0,
                  .wrong = wrong});
  }

  // One more run, which notes when each tile was done. Another kernel, so the times of add_row have
  // nothing of it.
  template <class HandOut, class Work, class Launch>
  void trace(const std::string& name, unsigned lanes, Launch launch, const Work& work) {
    if (!traces()) return;
    lab::trace_memory events(tile_count());
    launch(traced<Work>{.work = work, .recorder = events.recorder()});
    const auto multiprocessors = static_cast<std::uint32_t>(lab::describe_device().multiprocessors);
    // The notes may cost registers, and so residents; the grid was chosen without them.
    const unsigned resident =
        std::min(resident_blocks_for<HandOut, Work>(options_.threads),
                 resident_blocks_for<HandOut, traced<Work>>(options_.threads));
    traces_.push_back({.variant = name,
                       .events = events.events(),
                       .multiprocessors = multiprocessors,
                       .slots = resident / multiprocessors * lanes});
    results_.add(traces_.back());
  }

  const lab::options& options_;
  lab::program_results& results_;
  picture drawn_picture_;
  std::vector<tile_index> tiles_;
  std::vector<std::uint32_t> reference_;
  std::vector<unsigned long long> reference_histogram_;
  lab::device_buffer<tile_index> device_tiles_;
  lab::device_buffer<std::uint32_t> counts_;
  std::vector<lab::work_trace> traces_;
};

inline lab::image coloured(const picture& of, const std::vector<std::uint32_t>& counts) {
  lab::image picture = {.width = of.size, .height = of.size, .pixels = {}};
  picture.pixels.reserve(3 * counts.size());
  for (const std::uint32_t count : counts) {
    const double turn = std::log2(1.0 + count) / 5;
    for (const double phase : {0.55, 0.7, 0.85}) {
      const double wave = 0.5 - 0.5 * std::cos(2 * 3.141592653589793 * (turn + phase));
      picture.pixels.push_back(
          static_cast<std::uint8_t>(count == of.iterations ? 16 : 40 + 200 * wave));
    }
  }
  return picture;
}

inline std::uint64_t steps_of(const picture& of, tile_index tile,
                              const std::vector<std::uint32_t>& counts) {
  const tile_area area = area_of(of, tile);
  std::uint64_t steps = 0;
  for (std::uint32_t row = area.top; row < area.top + area.height; ++row) {
    for (std::uint32_t column = area.left; column < area.left + area.width; ++column) {
      const std::uint32_t count = counts[std::size_t{row} * of.size + column];
      // A pixel that escapes has made the step that shows it.
      steps += std::min(count + 1, of.iterations);
    }
  }
  return steps;
}

}  // namespace course

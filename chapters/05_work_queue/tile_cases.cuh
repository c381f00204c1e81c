// SPDX-License-Identifier: MIT
// The benchmark cases of chapters 05 and 06: ways to hand out the tiles of a picture.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "05_work_queue/mandelbrot.cuh"
#include "05_work_queue/mandelbrot_reference.hpp"
#include "05_work_queue/process_items.cuh"
#include "05_work_queue/render_tiles.cuh"
#include "benchmark/comparison.hpp"
#include "benchmark/session.hpp"
#include "lab/device_buffer.cuh"
#include "lab/reference.hpp"

namespace benchmarks {

// A picture of 8192 * 8192 pixels in tiles of tile * tile, or a smaller one where --largest is
// below its number of pixels.
inline course::picture benchmark_picture(const course::view& part, std::uint32_t tile,
                                         const benchmark_options& options) {
  constexpr std::uint32_t largest_side = 8192;
  constexpr std::uint32_t iterations = 2048;
  const auto exponent = static_cast<unsigned>(std::bit_width(options.largest) - 1) / 2;
  const std::uint32_t side = std::min(largest_side, std::uint32_t{1} << exponent);
  return course::picture_of(part, side, tile, iterations);
}

// One picture: its tiles and its right counts. The reference takes the host a while.
class tile_cases {
 public:
  explicit tile_cases(const course::picture& of)
      : drawn_picture_(of),
        tiles_(course::tiles_by_row(of)),
        device_tiles_(tiles_),
        counts_(of.pixel_count()),
        reference_(course::reference_counts(of)) {}

  const course::picture& drawn_picture() const { return drawn_picture_; }
  const std::vector<course::tile_index>& tiles() const { return tiles_; }
  const course::tile_index* device_tiles() const { return device_tiles_.data(); }
  unsigned one_block_a_tile() const { return static_cast<unsigned>(tiles_.size()); }

  // Its elements are pixels, and it has no input. `remark` ends the task's name.
  comparison_description describe(const std::string& chapter, const course::view& part,
                                  const std::string& remark = "") const {
    return {.chapter = chapter,
            .task = "tiles of " + std::to_string(drawn_picture_.tile) + " x " +
                    std::to_string(drawn_picture_.tile) + ", " + part.name + remark,
            .type = "uint32",
            .elements = drawn_picture_.pixel_count(),
            .data = "none",
            .inputs = 1};
  }

  // Calls prepare() and launches a grid of `blocks` blocks, which hand out the tiles; 0: as many as
  // are resident at once. `this` outlives the case.
  template <class HandOut, class Prepare>
  benchmark_case handing_out(const std::string& name, role part, const HandOut& hand_out,
                             unsigned blocks, Prepare prepare) {
    const unsigned grid =
        blocks > 0 ? blocks
                   : course::resident_blocks_for<HandOut, course::render_tiles>(threads_a_block);
    return rendering(name, part, [=](const course::render_tiles& work) {
      prepare();
      course::launch_processing(hand_out, work, grid, threads_a_block);
    });
  }

  // render(work) launches a kernel that renders all tiles.
  template <class Render>
  benchmark_case rendering(const std::string& name, role part, Render render) {
    const auto run = [=, this] { render(work()); };
    return {.name = name,
            .part = part,
            .bytes = 0,  // What it costs is computing.
            .run = [run](std::size_t) { run(); },
            .wrong = [run, this] { return wrong_counts_after(run); }};
  }

  // The same with the counts' histogram, which is set to 0 before each launch.
  template <class Render>
  benchmark_case rendering_with_histogram(const std::string& name, role part, Render render) {
    const auto run = [=, this] {
      const std::size_t bytes = course::histogram_bins * sizeof(unsigned long long);
      CUDA_CHECK(cudaMemsetAsync(histogram_.data(), 0, bytes));
      render(course::render_tiles_with_histogram{.render = work(), .histogram = histogram_.data()});
    };
    return {.name = name,
            .part = part,
            .bytes = 0,
            .run = [run](std::size_t) { run(); },
            .wrong = [run, this]() -> std::optional<std::string> {
              if (const auto wrong = wrong_counts_after(run)) return wrong;
              std::vector<unsigned long long> bins(course::histogram_bins, 0);
              for (const std::uint32_t count : reference_)
                ++bins[std::min(count, course::histogram_bins - 1)];
              const auto wrong =
                  lab::first_difference<unsigned long long>(histogram_.to_host(), bins);
              if (!wrong) return std::nullopt;
              return "histogram: " + *wrong;
            }};
  }

 private:
  course::render_tiles work() {
    return {.drawn_picture = drawn_picture_, .counts = counts_.data()};
  }

  template <class Run>
  std::optional<std::string> wrong_counts_after(Run run) {
    counts_.fill_bytes(0xff);
    run();
    return lab::first_difference<std::uint32_t>(counts_.to_host(), reference_);
  }

  course::picture drawn_picture_;
  std::vector<course::tile_index> tiles_;
  lab::device_buffer<course::tile_index> device_tiles_;
  lab::device_buffer<std::uint32_t> counts_;
  lab::device_buffer<unsigned long long> histogram_{course::histogram_bins};
  std::vector<std::uint32_t> reference_;
};

}  // namespace benchmarks

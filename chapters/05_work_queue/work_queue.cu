// SPDX-License-Identifier: MIT
// Hands out the tiles of a Mandelbrot picture in the ways of hand_out.cuh and fast_hand_out.cuh,
// times each, and checks every count.
#include "05_work_queue/work_queue.cuh"
#include "05_work_queue/work_queue_memory.cuh"

#include <cstdint>
#include <string>

#include "05_work_queue/fast_hand_out.cuh"
#include "05_work_queue/hand_out.cuh"
#include "05_work_queue/render_tiles.cuh"
#include "05_work_queue/tile_program.cuh"
#include "lab/options.hpp"
#include "lab/program.hpp"

namespace {

using course::tile_index;

lab::program_description description() {
  lab::program_description program = {
      .name = "work_queue",
      .summary = "a Mandelbrot picture; blocks get its tiles in several ways",
      .variants = {"render_from_queue", "contiguous_ranges", "grid_stride", "one_block_a_tile",
                   "queue", "queue_first_static", "queue_in_chunks", "queue_ahead",
                   "queue_each_warp", "queue_expensive_first", "queue_ahead_expensive_first",
                   "queue_each_warp_expensive_first", "one_block_a_tile_histogram",
                   "queue_histogram"},
      .without = {"--elements", "--seed"},
      .numbers = course::picture_numbers(),
      .choices = course::picture_choices(),
      .files = course::picture_files()};
  program.numbers.push_back({.name = "--chunk",
                             .help = "tiles of a fetch of queue_in_chunks",
                             .smallest = 1,
                             .largest = 1'000'000,
                             .by_default = 4});
  program.defaults.repeat = 5;
  return program;
}

void run(const lab::options& options, lab::program_results& results) {
  course::tile_program program(options, results);
  program.note_costs();
  const tile_index* const tiles = program.device_tiles();
  const std::size_t count = program.tile_count();

  // A queue that the host has filled: only its counter is set back before each launch.
  course::work_queue_memory<tile_index> memory(program.tiles());
  const course::work_queue<tile_index> queue = memory.queue();
  // The kernel that the lesson teaches.
  const unsigned blocks = program.chosen_blocks_of(course::render_from_queue);
  program.measure_launch("render_from_queue", blocks, [&](std::uint32_t* counts) {
    course::render_on_device(program.drawn_picture(), memory, counts, blocks, options.threads);
  });

  // Nothing has to be ready before the launch.
  const auto nothing = [] {};
  const auto measure = [&](const char* name, const auto& hand_out, const auto& prepare,
                           unsigned lanes = 1) {
    using hand_out_type = std::remove_cvref_t<decltype(hand_out)>;
    program.measure(name, hand_out, program.chosen_blocks<hand_out_type>(), prepare, lanes);
  };
  measure("contiguous_ranges", course::contiguous_ranges<tile_index>{tiles, count}, nothing);
  measure("grid_stride", course::grid_stride<tile_index>{tiles, count}, nothing);
  const course::one_block_each<tile_index> one_block_each = {tiles, count};
  program.measure("one_block_a_tile", one_block_each, program.one_block_a_tile(), nothing);

  const auto reset = [&] { memory.reset(); };
  const unsigned warps = cuda::ceil_div(options.threads, 32U);
  measure("queue", course::by_queue<tile_index>{queue}, reset);
  measure("queue_first_static", course::by_queue_first_static<tile_index>{queue}, reset);
  measure("queue_in_chunks",
          course::by_queue_in_chunks<tile_index>{queue, options.numbers.at("--chunk")}, reset);
  measure("queue_ahead", course::by_queue_ahead<tile_index>{queue}, reset);
  measure("queue_each_warp", course::by_queue_each_warp<tile_index>{queue}, reset, warps);

  // A queue that a kernel fills, for each picture anew: the estimate is part of the time.
  course::work_queue_memory<tile_index> by_kernel(count);
  const course::work_queue<tile_index> ordered = by_kernel.queue();
  const auto fill = [&] { course::fill_expensive_first(by_kernel, program.drawn_picture()); };
  measure("queue_expensive_first", course::by_queue<tile_index>{ordered}, fill);
  measure("queue_ahead_expensive_first", course::by_queue_ahead<tile_index>{ordered}, fill);
  measure("queue_each_warp_expensive_first", course::by_queue_each_warp<tile_index>{ordered}, fill,
          warps);

  // With a prologue and an epilogue: once a tile, or once a block that stays.
  program.measure_with_histogram("one_block_a_tile_histogram", one_block_each,
                                 program.one_block_a_tile(), nothing);
  program.measure_with_histogram(
      "queue_histogram", course::by_queue<tile_index>{queue},
      program.chosen_blocks<course::by_queue<tile_index>, course::render_tiles_with_histogram>(),
      reset);
  program.write_files();
}

}  // namespace

int main(int argc, char** argv) { return lab::run_program(argc, argv, description(), run); }

// SPDX-License-Identifier: MIT
// Chapter 05's queues beside the hardware's own scheduler, which hands out one block a tile.
#include "05_work_queue/work_queue.cuh"
#include "05_work_queue/work_queue_memory.cuh"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "05_work_queue/fast_hand_out.cuh"
#include "05_work_queue/hand_out.cuh"
#include "05_work_queue/one_kernel.cuh"
#include "05_work_queue/render_tiles.cuh"
#include "05_work_queue/tile_cases.cuh"
#include "benchmark/session.hpp"

namespace benchmarks {

namespace {

using course::tile_index;

constexpr std::size_t tiles_of_a_fetch = 4;  // The chapter's own default of --chunk.

// Each way in a kernel of its own, as the chapter's program has it.
void tiles_of(session& run, const course::view& part, tile_cases& tiles) {
  const tile_index* const items = tiles.device_tiles();
  const std::size_t count = tiles.tiles().size();
  const auto nothing = [] {};

  // A queue that the host has filled once, and one that a kernel fills for each picture anew.
  course::work_queue_memory<tile_index> memory(tiles.tiles());
  course::work_queue_memory<tile_index> by_kernel(count);
  const course::work_queue<tile_index> queue = memory.queue();
  const course::work_queue<tile_index> ordered = by_kernel.queue();
  const auto reset = [&memory] { memory.reset(); };
  const auto fill = [&by_kernel, &tiles] {
    course::fill_expensive_first(by_kernel, tiles.drawn_picture());
  };

  const auto variant = [&](const char* name, const auto& hand_out, const auto& prepare) {
    return tiles.handing_out(name, role::variant, hand_out, 0, prepare);
  };
  // The three without a queue are what the queues are compared with.
  const auto fixed = [&](const char* name, const auto& hand_out, unsigned blocks) {
    return tiles.handing_out(name, role::peer, hand_out, blocks, nothing);
  };
  std::vector<benchmark_case> cases = {
      fixed("one_block_a_tile", course::one_block_each<tile_index>{items, count},
            tiles.one_block_a_tile()),
      fixed("contiguous_ranges", course::contiguous_ranges<tile_index>{items, count}, 0),
      fixed("grid_stride", course::grid_stride<tile_index>{items, count}, 0),
      variant("queue", course::by_queue<tile_index>{queue}, reset),
      variant("queue_first_static", course::by_queue_first_static<tile_index>{queue}, reset),
      variant("queue_in_chunks", course::by_queue_in_chunks<tile_index>{queue, tiles_of_a_fetch},
              reset),
      variant("queue_ahead", course::by_queue_ahead<tile_index>{queue}, reset),
      variant("queue_each_warp", course::by_queue_each_warp<tile_index>{queue}, reset),
      variant("queue_expensive_first", course::by_queue<tile_index>{ordered}, fill),
      variant("queue_ahead_expensive_first", course::by_queue_ahead<tile_index>{ordered}, fill),
      variant("queue_each_warp_expensive_first", course::by_queue_each_warp<tile_index>{ordered},
              fill)};
  run.measure(tiles.describe("05", part), std::move(cases));
}

void tiles_in_one_kernel(session& run, const course::view& part, tile_cases& tiles) {
  course::work_queue_memory<tile_index> memory(tiles.tiles());
  course::work_queue_memory<tile_index> by_kernel(tiles.tiles().size());

  const auto ways_with = [&](course::work_queue_memory<tile_index>& filled) -> all_ways {
    return {.tiles = tiles.device_tiles(),
            .count = tiles.tiles().size(),
            .queue = filled.queue(),
            .chunk = tiles_of_a_fetch};
  };
  const auto rendering = [&](const char* name, role part_of, way chosen,
                             course::work_queue_memory<tile_index>& filled, const auto& prepare) {
    const all_ways ways = ways_with(filled);
    const unsigned blocks = blocks_for<course::render_tiles>(chosen, ways.count, threads_a_block);
    return tiles.rendering(name, part_of, [=](const course::render_tiles& work) {
      prepare();
      launch_processing_by(chosen, ways, work, blocks, threads_a_block);
    });
  };
  const auto fixed = [&](const char* name, way chosen) {
    return rendering(name, role::peer, chosen, memory, [] {});
  };
  const auto queue = [&](const char* name, way chosen) {
    return rendering(name, role::variant, chosen, memory, [&memory] { memory.reset(); });
  };
  const auto ordered = [&](const char* name, way chosen) {
    return rendering(name, role::variant, chosen, by_kernel, [&by_kernel, &tiles] {
      course::fill_expensive_first(by_kernel, tiles.drawn_picture());
    });
  };
  run.measure(
      tiles.describe("05", part, ", one kernel"),
      {fixed("one_block_a_tile", way::one_block_a_tile),
       fixed("contiguous_ranges", way::contiguous_ranges), fixed("grid_stride", way::grid_stride),
       queue("queue", way::queue), queue("queue_first_static", way::queue_first_static),
       queue("queue_in_chunks", way::queue_in_chunks), queue("queue_ahead", way::queue_ahead),
       queue("queue_each_warp", way::queue_each_warp), ordered("queue_expensive_first", way::queue),
       ordered("queue_ahead_expensive_first", way::queue_ahead),
       ordered("queue_each_warp_expensive_first", way::queue_each_warp)});

  // With a prologue and an epilogue: once a tile, or once a block that stays.
  const auto with_histogram = [&](const char* name, role part_of, way chosen) {
    const all_ways ways = ways_with(memory);
    const unsigned blocks =
        blocks_for<course::render_tiles_with_histogram>(chosen, ways.count, threads_a_block);
    return tiles.rendering_with_histogram(
        name, part_of, [=, &memory](const course::render_tiles_with_histogram& work) {
          memory.reset();
          launch_processing_by(chosen, ways, work, blocks, threads_a_block);
        });
  };
  run.measure(tiles.describe("05", part, ", histogram, one kernel"),
              {with_histogram("one_block_a_tile", role::peer, way::one_block_a_tile),
               with_histogram("queue", role::variant, way::queue),
               with_histogram("queue_ahead", role::variant, way::queue_ahead)});
}

void work_queues(session& run) {
  constexpr std::uint32_t small = 16;
  constexpr std::uint32_t large = 64;
  const course::view& whole = course::views[0];
  for (const std::uint32_t tile : {large, small}) {
    tile_cases tiles(benchmark_picture(whole, tile, run.options()));
    tiles_of(run, whole, tiles);
    tiles_in_one_kernel(run, whole, tiles);
  }
  // The other views' references take the host longest.
  if (run.options().quick) return;
  for (const course::view& part : std::span<const course::view>(course::views).subspan(1)) {
    tile_cases tiles(benchmark_picture(part, large, run.options()));
    tiles_in_one_kernel(run, part, tiles);
  }
}

const chapter_benchmark registered("05", "kernels", work_queues);

}  // namespace

}  // namespace benchmarks

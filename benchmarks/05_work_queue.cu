// SPDX-License-Identifier: MIT
// Chapter 05's queues beside the hardware's own scheduler, which hands out one block a tile.
#include "05_work_queue/work_queue.cuh"

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "05_work_queue/hand_out.cuh"
#include "05_work_queue/render_tiles.cuh"
#include "session.hpp"
#include "tile_contest.cuh"

namespace benchmarks {

namespace {

using course::tile_index;

constexpr std::size_t tiles_of_a_fetch = 4;  // The chapter's own default of --chunk.

void tiles_of(session& run, const course::view& part) {
  tile_contest tiles(benchmark_picture(part, run.options()));
  const tile_index* const items = tiles.device_tiles();
  const std::size_t count = tiles.tiles().size();
  const auto nothing = [] {};

  // A queue that the host has filled once, and one that a kernel fills for each picture anew.
  course::work_queue_memory<tile_index> memory(tiles.tiles());
  course::work_queue_memory<tile_index> by_kernel(count);
  const course::work_queue<tile_index> queue = memory.queue();
  const course::work_queue<tile_index> ordered = by_kernel.queue();
  const auto reset = [&memory] { memory.reset(); };
  const auto fill = [&by_kernel, &tiles] { course::fill_expensive_first(by_kernel, tiles.of()); };

  const auto variant = [&](const char* name, const auto& hand_out, const auto& prepare) {
    return tiles.handing_out(name, role::variant, hand_out, 0, prepare);
  };
  // The three without a queue are what the queues are compared with.
  const auto fixed = [&](const char* name, const auto& hand_out, unsigned blocks) {
    return tiles.handing_out(name, role::peer, hand_out, blocks, nothing);
  };
  std::vector<contender> contenders = {
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
  run.hold(tiles.describe("05", part), std::move(contenders));
}

void work_queues(session& run) {
  const std::span<const course::view> all(course::views);
  // The other views' references take the host longest.
  for (const course::view& part : run.options().quick ? all.first(1) : all) tiles_of(run, part);
}

const chapter_benchmark registered("05", work_queues);

}  // namespace

}  // namespace benchmarks

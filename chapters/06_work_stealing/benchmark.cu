// SPDX-License-Identifier: MIT
// Chapter 06's vector add beside chapter 01's, and its tiles beside one block a tile and the queue.
#include "06_work_stealing/work_stealing.cuh"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "01_vector_add/fast_vector_add.cuh"
#include "01_vector_add/vector_add.cuh"
#include "01_vector_add/vector_add_cases.cuh"
#include "05_work_queue/hand_out.cuh"
#include "05_work_queue/tile_cases.cuh"
#include "06_work_stealing/canceled_blocks.cuh"
#include "06_work_stealing/fast_work_stealing.cuh"
#include "benchmark/exact_vectors.cuh"
#include "benchmark/session.hpp"
#include "lab/device.hpp"
#include "lab/device_buffer.cuh"

namespace benchmarks {

namespace {

using course::tile_index;

constexpr unsigned threads = threads_a_block;

void vector_adds(session& run) {
  const std::string task = "vector add";
  const std::vector<placement> places =
      run.placements("06", task, 3 * sizeof(float), 3 * sizeof(float));
  const exact_vectors<float> data(longest(places), 6);
  lab::device_buffer<float> c(longest(places));

  for (const placement& where : places) {
    const auto add = [&](const char* name, role part, const add_function<float>& function) {
      return adding(name, part, data, c, where, function);
    };
    run.measure(describe("06", task, "float", where),
                {add("add_rank_1", role::variant,
                     [](const float* a, const float* b, float* sum, std::size_t n) {
                       course::launch_add_canceling<1>(a, b, sum, n, threads);
                     }),
                 add("add_rank_1_sixteen_bytes", role::variant,
                     [](const float* a, const float* b, float* sum, std::size_t n) {
                       course::launch_add_canceling_sixteen_bytes(a, b, sum, n, threads);
                     }),
                 add("add_chapter_01", role::peer,
                     [](const float* a, const float* b, float* sum, std::size_t n) {
                       course::launch_one_element(a, b, sum, n, threads);
                     }),
                 add("add_chapter_01_sixteen_bytes", role::peer,
                     [](const float* a, const float* b, float* sum, std::size_t n) {
                       course::launch_sixteen_bytes(
                           a, b, sum, n, course::sixteen_bytes_blocks<float>(n, threads), threads);
                     })});
  }
}

void tiles_of(session& run, const course::view& part) {
  tile_cases tiles(benchmark_picture(part, 64, run.options()));
  const tile_index* const items = tiles.device_tiles();
  const std::size_t count = tiles.tiles().size();
  course::work_queue_memory<tile_index> memory(tiles.tiles());
  const auto nothing = [] {};
  std::vector<benchmark_case> cases = {
      tiles.handing_out("for_each_canceled", role::variant,
                        course::by_canceling<tile_index>{items, count}, tiles.one_block_a_tile(),
                        nothing),
      tiles.handing_out("one_block_a_tile", role::peer,
                        course::one_block_each<tile_index>{items, count}, tiles.one_block_a_tile(),
                        nothing),
      tiles.handing_out("queue", role::peer, course::by_queue<tile_index>{memory.queue()}, 0,
                        [&memory] { memory.reset(); })};
  run.measure(tiles.describe("06", part), std::move(cases));
}

void work_stealing(session& run) {
  if (lab::describe_device().compute_capability_major < 10) {
    run.add_not_run("06", "all tasks", "block that takes over another one",
                    "this device has compute capability " + run.device().compute_capability +
                        ", and 10.0 is needed: each block does its own work alone");
  }
  vector_adds(run);
  tiles_of(run, course::views[0]);
}

const chapter_benchmark registered("06", "kernels", work_stealing);

}  // namespace

}  // namespace benchmarks

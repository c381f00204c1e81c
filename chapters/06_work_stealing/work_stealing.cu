// SPDX-License-Identifier: MIT
// The vector add of chapter 01 and the tiles of chapter 05, with and without blocks that take over
// others; says how many did, times each, and checks every result.
#include "06_work_stealing/work_stealing.cuh"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "04_last_block_guard/last_block_guard.cuh"
#include "05_work_queue/tile_program.cuh"
#include "06_work_stealing/fast_work_stealing.cuh"
#include "lab/device.hpp"
#include "lab/device_buffer.cuh"
#include "lab/exact_data.hpp"
#include "lab/program.hpp"
#include "lab/reference.hpp"
#include "lab/timing.cuh"

namespace {

using course::tile_index;

lab::program_description description() {
  lab::program_description program = {
      .name = "work_stealing",
      .summary = "vector add and Mandelbrot; blocks take over other blocks",
      .variants = {"add_chapter_01", "add_rank_1", "add_rank_2", "add_rank_3",
                   "add_chapter_01_sixteen_bytes", "add_rank_1_sixteen_bytes",
                   "tiles_one_block_each", "tiles_queue", "tiles_for_each_canceled",
                   "histogram_one_block_each", "histogram_queue", "histogram_for_each_canceled"},
      .numbers = course::picture_numbers(),
      .choices = course::picture_choices(),
      .files = course::picture_files()};
  program.defaults.repeat = 5;
  return program;
}

// The lesson's kernel on the data of libcu++'s example: 10,000 ints in blocks of 256 threads.
void case_of_the_documentation(lab::program_results& results) {
  constexpr std::size_t n = 10'000;
  constexpr unsigned threads = 256;
  const unsigned blocks = course::covering_blocks(n, threads);
  const std::vector<int> a = lab::small_integers<int>(n, 1'000'000, 1);
  const std::vector<int> b = lab::small_integers<int>(n, 1'000'000, 2);
  std::vector<int> expected = lab::small_integers<int>(n, 1'000'000, 3);
  const lab::device_buffer<int> device_a(a);
  const lab::device_buffer<int> device_b(b);
  lab::device_buffer<int> c(expected);
  for (std::size_t i = 0; i < n; ++i) expected[i] += a[i] + b[i];
  lab::device_buffer<unsigned> added_by_block(std::vector<unsigned>(blocks, 0));
  course::vec_add_on_device(device_a.data(), device_b.data(), c.data(), n, added_by_block.data(),
                            threads);
  const std::vector<int> got = c.to_host();
  const auto right = std::inner_product(got.begin(), got.end(), expected.begin(), std::int64_t{0},
                                        std::plus<>{}, std::equal_to<>{});
  const std::vector<unsigned> added = added_by_block.to_host();
  const auto launched = blocks - std::count(added.begin(), added.end(), 0U);
  results.compare("vec_add, " + std::to_string(blocks) + " blocks, " + std::to_string(launched) +
                      " of them launched: right elements",
                  right, n);
}

// Which blocks ran, and whether each tile was done once.
void tally_of_blocks(const course::tile_program& program, const lab::options& options,
                     lab::program_results& results) {
  const auto tiles = static_cast<std::int64_t>(program.tile_count());
  lab::device_buffer<std::uint32_t> counts(program.drawn_picture().pixel_count());
  lab::device_buffer<unsigned> launched(1);
  lab::device_buffer<unsigned> claims(program.tile_count());
  launched.fill_bytes(0);
  claims.fill_bytes(0);
  course::launch_processing(
      course::by_canceling<tile_index>{program.device_tiles(), program.tile_count()},
      course::tallied<course::render_tiles>{
          .work = {.drawn_picture = program.drawn_picture(), .counts = counts.data()},
          .launched = launched.data(),
          .claims = claims.data()},
      program.one_block_a_tile(), options.threads);
  const std::int64_t ran = launched.to_host().front();
  const std::vector<unsigned> times = claims.to_host();

  const lab::device_description device = lab::describe_device();
  const std::string capability = std::to_string(device.compute_capability_major) + "." +
                                 std::to_string(device.compute_capability_minor);
  if (lab::device_cancels_blocks()) {
    results.note("This device cancels blocks that have not started (compute capability " +
                 capability + ").");
  } else {
    results.note(
        device.compute_capability_major >= 10
            ? "Compiled for an older device than this one (compute capability " + capability + "),"
            : "This device has compute capability " + capability + ", and canceling needs 10.0:");
    results.note("for_each_canceled_block calls its function once, with the block's own index.");
  }
  results.note("Of " + lab::with_separators(tiles) + " blocks " + lab::with_separators(ran) +
               " were launched, and " + lab::with_separators(tiles - ran) + " taken over.");
  results.compare("tiles that were done exactly once", std::count(times.begin(), times.end(), 1U),
                  tiles);
}

// Counts tiles, not blocks, to know when all is done.
void total_by_the_last_tile(const course::tile_program& program, const lab::options& options,
                            lab::program_results& results) {
  lab::device_buffer<std::uint32_t> counts(program.drawn_picture().pixel_count());
  lab::device_buffer<unsigned long long> totals(program.tile_count());
  lab::device_buffer<unsigned long long> total(1);
  course::arrival_counter counter;
  total.fill_bytes(0xff);
  course::launch_total_count(program.drawn_picture(), program.device_tiles(),
                             program.one_block_a_tile(), counts.data(), totals.data(),
                             counter.data(), total.data(), options.threads);
  results.compare("sum of all counts, by the block with the last tile",
                  static_cast<std::int64_t>(total.to_host().front()), program.sum_of_counts());
}

void vector_adds(const lab::options& options, lab::program_results& results) {
  const std::size_t n = options.elements;
  const unsigned threads = options.threads;
  const std::uint64_t vector_bytes = sizeof(float) * options.elements;
  const std::vector<float> a = lab::spread_numbers<float>(n, options.seed);
  const std::vector<float> b = lab::spread_numbers<float>(n, ~options.seed);
  std::vector<float> sum(n);
  std::transform(a.begin(), a.end(), b.begin(), sum.begin(), std::plus<>{});
  const lab::device_buffer<float> device_a(a);
  const lab::device_buffer<float> device_b(b);
  lab::device_buffer<float> device_c(n);
  const float* const x = device_a.data();
  const float* const y = device_b.data();
  float* const z = device_c.data();

  const auto row = [&](const char* name, unsigned blocks, const std::function<void()>& launch) {
    if (!options.wants(name)) return;
    device_c.fill_bytes(0xff);  // All NaN: what a kernel leaves out cannot look right.
    const lab::timing time = lab::time_runs(launch, static_cast<int>(options.repeat));
    results.add({.variant = name,
                 .blocks = blocks,
                 .threads = threads,
                 .time = time,
                 .bytes = 3 * vector_bytes,
                 .wrong = lab::first_difference<float>(device_c.to_host(), sum)});
  };
  const unsigned blocks = course::covering_blocks(n, threads);
  row("add_chapter_01", blocks, [=] { course::launch_one_element(x, y, z, n, threads); });
  row("add_rank_1", blocks, [=] { course::launch_add_canceling<1>(x, y, z, n, threads); });
  const auto blocks_of_rank = [blocks](int rank) {
    const dim3 grid = course::grid_of_rank(rank, std::max(blocks, 1U));
    return blocks == 0 ? 0 : grid.x * grid.y * grid.z;
  };
  row("add_rank_2", blocks_of_rank(2),
      [=] { course::launch_add_canceling<2>(x, y, z, n, threads); });
  row("add_rank_3", blocks_of_rank(3),
      [=] { course::launch_add_canceling<3>(x, y, z, n, threads); });
  const unsigned packet_blocks = course::sixteen_bytes_blocks<float>(n, threads);
  row("add_chapter_01_sixteen_bytes", packet_blocks,
      [=] { course::launch_sixteen_bytes(x, y, z, n, packet_blocks, threads); });
  row("add_rank_1_sixteen_bytes", packet_blocks,
      [=] { course::launch_add_canceling_sixteen_bytes(x, y, z, n, threads); });
}

void tiles(course::tile_program& program) {
  const auto nothing = [] {};
  const course::one_block_each<tile_index> one_block_each = {program.device_tiles(),
                                                             program.tile_count()};
  const course::by_canceling<tile_index> by_canceling = {program.device_tiles(),
                                                         program.tile_count()};
  course::work_queue_memory<tile_index> memory(program.tiles());
  const course::by_queue<tile_index> by_queue = {memory.queue()};
  const auto reset = [&] { memory.reset(); };
  const unsigned each = program.one_block_a_tile();

  program.measure("tiles_one_block_each", one_block_each, each, nothing);
  program.measure("tiles_queue", by_queue, program.chosen_blocks<course::by_queue<tile_index>>(),
                  reset);
  program.measure("tiles_for_each_canceled", by_canceling, each, nothing);

  // With a prologue and an epilogue: once a tile, or once a block that stays.
  program.measure_with_histogram("histogram_one_block_each", one_block_each, each, nothing);
  program.measure_with_histogram(
      "histogram_queue", by_queue,
      program.chosen_blocks<course::by_queue<tile_index>, course::render_tiles_with_histogram>(),
      reset);
  program.measure_with_histogram("histogram_for_each_canceled", by_canceling, each, nothing);
}

void run(const lab::options& options, lab::program_results& results) {
  // Before the first result: what cannot work is refused without a report.
  const std::uint64_t vector_bytes = sizeof(float) * options.elements;
  lab::require_memory(3 * vector_bytes, 4 * vector_bytes);
  (void)course::covering_blocks(options.elements, options.threads);
  course::tile_program program(options, results);

  case_of_the_documentation(results);
  tally_of_blocks(program, options, results);
  total_by_the_last_tile(program, options, results);
  vector_adds(options, results);
  tiles(program);
  program.write_files();
}

}  // namespace

int main(int argc, char** argv) { return lab::run_program(argc, argv, description(), run); }

// SPDX-License-Identifier: MIT
// The grid's barrier in every form, and a wave with it next to the ways to launch step after step.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "07_grid_barrier/barrier_checks.cuh"
#include "07_grid_barrier/cooperative_launch.cuh"
#include "07_grid_barrier/fast_grid_barrier.cuh"
#include "07_grid_barrier/fast_wave.cuh"
#include "07_grid_barrier/wave.cuh"
#include "07_grid_barrier/wave_cases.cuh"
#include "benchmark/call_graph.hpp"
#include "benchmark/session.hpp"
#include "lab/check.cuh"
#include "lab/device.hpp"
#include "lab/device_buffer.cuh"
#include "lab/resident_blocks.cuh"

namespace benchmarks {

namespace {

using course::backoff_barrier;
using course::cooperative_groups_barrier;
using course::generation_barrier;
using course::one_word_barrier;

unsigned multiprocessors() { return static_cast<unsigned>(lab::describe_device().multiprocessors); }

std::size_t shared_bytes_a_block() {
  int device = 0;
  int bytes = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  return static_cast<std::size_t>(bytes);
}

// Barriers in a row, in one launch: the time is that of one of them.
template <class Barrier>
benchmark_case barriers(const std::string& name, role part, unsigned blocks, unsigned rounds) {
  const auto words = std::make_shared<lab::device_buffer<typename Barrier::word>>(
      course::new_barrier<Barrier>(blocks));
  const std::size_t all = std::size_t{blocks} * threads_a_block;
  const auto passed = std::make_shared<lab::device_buffer<unsigned>>(all);
  const auto run = [=](std::size_t) {
    course::launch_cooperatively(course::pass_barriers<Barrier>, blocks, threads_a_block, 0,
                                 nullptr, rounds, words->data(), passed->data());
  };
  // That the barrier holds back who is early is looked at in a kernel of its own: what a look costs
  // is not to be timed.
  const auto wrong = [=]() -> std::optional<std::string> {
    passed->fill_bytes(0xff);
    run(0);
    if (passed->to_host() != std::vector<unsigned>(all, rounds)) {
      return "not every thread has passed every barrier";
    }
    lab::device_buffer<unsigned> written(2 * all);
    lab::device_buffer<unsigned> found(all);
    found.fill_bytes(0xff);
    course::launch_cooperatively(course::look_behind_barriers<Barrier>, blocks, threads_a_block, 0,
                                 nullptr, std::min(rounds, 100U), words->data(), written.data(),
                                 found.data());
    if (found.to_host() != std::vector<unsigned>(all, 0)) {
      return "a thread did not see what another one wrote before the barrier";
    }
    return std::nullopt;
  };
  return {
      .name = name, .part = part, .bytes = 0, .run = run, .wrong = wrong, .calls_of_run = rounds};
}

void barriers_of_all_sizes(session& run) {
  const unsigned rounds = run.options().largest < (1U << 20) ? 10 : 1000;
  const auto most = static_cast<unsigned>(
      lab::resident_blocks(course::look_behind_barriers<backoff_barrier>, threads_a_block));
  for (unsigned each : {1U, 2U, 4U, 8U}) {
    const unsigned blocks = each * multiprocessors();
    const comparison_description of = {.chapter = "07",
                                       .task = "grid barrier",
                                       .type = "block",
                                       .elements = blocks,
                                       .data = "none",
                                       .inputs = 1};
    if (blocks > most) {
      run.add_not_run("07", of.task, std::to_string(blocks) + " blocks",
                      "only " + std::to_string(most) + " are resident at the same time");
      continue;
    }
    run.measure(of, {barriers<cooperative_groups_barrier>("grid_sync", role::peer, blocks, rounds),
                     barriers<generation_barrier>("grid_barrier", role::variant, blocks, rounds),
                     barriers<one_word_barrier>("one_word", role::variant, blocks, rounds),
                     barriers<backoff_barrier>("backoff", role::variant, blocks, rounds)});
  }
}

template <class Barrier>
benchmark_case wave_case(const std::string& name, const wave_case_maker& of, unsigned threads) {
  const auto blocks = static_cast<unsigned>(std::min<std::size_t>(
      of.rows(), lab::resident_blocks(course::wave_steps_with<Barrier>, threads)));
  const auto words = std::make_shared<lab::device_buffer<typename Barrier::word>>(
      course::new_barrier<Barrier>(blocks));
  return of.make(name, role::variant, [=, size = of.size()](int* now, int* before) {
    course::wave_with<Barrier>(now, before, size, size, steps_of_call, words->data(), blocks,
                               threads);
  });
}

template <class Barrier>
benchmark_case wave_in_bands(const std::string& name, const wave_case_maker& of, unsigned threads) {
  const unsigned blocks = std::min(of.rows(), multiprocessors());
  const auto words = std::make_shared<lab::device_buffer<typename Barrier::word>>(
      course::new_barrier<Barrier>(blocks));
  return of.make(name, role::variant, [=, size = of.size()](int* now, int* before) {
    course::wave_with_bands<Barrier>(now, before, size, size, steps_of_call, words->data(), blocks,
                                     threads);
  });
}

benchmark_case wave_by_launches(const wave_case_maker& of, unsigned threads) {
  return of.make("launches", role::peer, [=, &of](int* now, int* before) {
    course::wave_launch_by_launch(now, before, of.size(), of.size(), steps_of_call, of.rows(),
                                  threads);
  });
}

benchmark_case wave_in_a_graph(const wave_case_maker& of, unsigned threads) {
  require_graphs();
  const auto graph = std::make_shared<std::function<void()>>();
  return of.make("launches_in_a_graph", role::peer, [=, &of](int* now, int* before) {
    if (!*graph) {
      // The call that comes first, to load the kernel, would make steps of its own.
      lab::device_buffer<int> first(of.cells());
      lab::device_buffer<int> second(of.cells());
      bool recording = false;
      *graph = recorded_graph(1, [&](cudaStream_t stream) {
        int* const a = recording ? now : first.data();
        int* const b = recording ? before : second.data();
        recording = true;
        course::wave_launch_by_launch(a, b, of.size(), of.size(), steps_of_call, of.rows(), threads,
                                      stream);
      });
    }
    (*graph)();
  });
}

void waves(session& run) {
  const bool small = run.options().largest < (1U << 20);
  std::vector<unsigned> sizes = {64, 128, 256, 512, 1024, 1536, 2048, 4096};
  if (small) sizes = {34};
  for (const unsigned size : sizes) {
    if (std::size_t{size} * size > run.options().largest) continue;
    const comparison_description of = {.chapter = "07",
                                       .task = "step of a wave",
                                       .type = "int32",
                                       .elements = std::size_t{size} * size,
                                       .data = "none",
                                       .inputs = 1};
    const wave_case_maker wave(size);
    const unsigned threads = small ? 32 : threads_a_block;
    std::vector<benchmark_case> cases = {
        wave_case<generation_barrier>("grid_barrier", wave, threads),
        wave_case<backoff_barrier>("backoff", wave, threads)};
    const std::size_t bytes =
        course::wave_band_bytes(size, size, std::min(wave.rows(), multiprocessors()));
    if (bytes <= shared_bytes_a_block()) {
      cases.push_back(wave_in_bands<backoff_barrier>("backoff_in_bands", wave, small ? 32 : 1024));
    } else {
      run.add_not_run("07", of.task,
                      "bands of " + std::to_string(size) + " x " + std::to_string(size),
                      "they do not fit in the SMs' shared memory");
    }
    cases.push_back(wave_by_launches(wave, threads));
    run.add_peer(cases, of, "dependent_launches",
                 [&] { return wave_by_dependent_launches(wave, wave.rows(), threads); });
    run.add_peer(cases, of, "launches_in_a_graph", [&] { return wave_in_a_graph(wave, threads); });
    run.measure(of, std::move(cases));
  }
}

const chapter_benchmark kernels("07", "kernels", barriers_of_all_sizes);
const chapter_benchmark launches("07", "launches", waves);

}  // namespace

}  // namespace benchmarks

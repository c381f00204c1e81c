// SPDX-License-Identifier: MIT
// What a CUDA thread and a barrier cost on the CPU backend, on one multiprocessor, beside a plain
// serial loop over the same data. Every figure is the median of several runs, taken in turn with
// the others, of work whose result was checked before and after.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "benchmark/cpu_backend/measuring.hpp"
#include "benchmark/results.hpp"
#include "lab/options.hpp"
#include "lab/output_files.hpp"
#include "lab/program.hpp"
#include "lab/timing.hpp"

namespace {

using benchmarks::role;

constexpr int all_runs = 9;
constexpr int quick_runs = 5;
constexpr std::int64_t most_threads = 1 << 24;

__global__ void vector_add(const int* a, const int* b, int* c, std::int64_t n) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

__global__ void barriers_only(int* out, int barriers) {
  for (int round = 0; round < barriers; ++round) __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = barriers;
}

// A thread's first barrier gives it a stack of its own, so each of few barriers costs more than
// each of many: as many as a tree over the block has, and enough to forget the first.
constexpr int few = 9;
constexpr int many = 64;

constexpr const char* program = "cpu_backend_benchmark";

// One thing that is timed: `elements` is what its time is divided by.
struct subject {
  const char* task;
  const char* name;
  role part;
  std::uint64_t elements;
  std::uint64_t bytes;
  std::function<void()> work;
};

// The times of each, all of them run once before and then in turn.
std::vector<lab::timing> times_of(const std::vector<subject>& subjects, int runs) {
  std::vector<std::vector<double>> times(subjects.size());
  for (const subject& each : subjects) each.work();
  for (int run = 0; run < runs; ++run) {
    for (std::size_t k = 0; k < subjects.size(); ++k) {
      const std::size_t which = run % 2 == 0 ? k : subjects.size() - 1 - k;
      times[which].push_back(milliseconds(subjects[which].work));
    }
  }
  std::vector<lab::timing> summaries;
  for (const auto& each : times) summaries.push_back(lab::summarize(each));
  return summaries;
}

struct arrays {
  int *a, *b, *c;
};

void check_sum(const arrays& of, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    require(of.c[i] == static_cast<int>(3 * i), "the sum is wrong, so its time means nothing");
    of.c[i] = -1;
  }
}

void check_barriers(const arrays& of, unsigned blocks, int barriers) {
  for (unsigned block = 0; block < blocks; ++block) {
    require(of.c[block] == barriers, "a block is missing, so the barriers' time means nothing");
    of.c[block] = -1;
  }
}

// Prints a line, and adds its rows to `found`.
void add_rows(std::int64_t threads, int block, const arrays& of, int runs,
              benchmarks::recorded_run& found) {
  const auto blocks = static_cast<unsigned>((threads + block - 1) / block);
  const unsigned barrier_blocks = blocks / 4 + 1;  // a quarter, so that no row takes long
  const auto barrier_threads = std::uint64_t{barrier_blocks} * static_cast<unsigned>(block);
  const auto all = static_cast<std::uint64_t>(threads);
  const std::uint64_t bytes = 3 * sizeof(int) * all;
  const std::vector<subject> subjects = {
      {"vector add", "kernel", role::variant, all, bytes,
       [&] { vector_add<<<blocks, block>>>(of.a, of.b, of.c, threads); }},
      {"a thread at a barrier", "nine_barriers", role::variant, barrier_threads * few, 0,
       [&] { barriers_only<<<barrier_blocks, block>>>(of.c, few); }},
      {"a thread at a barrier", "sixty_four_barriers", role::variant, barrier_threads * many, 0,
       [&] { barriers_only<<<barrier_blocks, block>>>(of.c, many); }},
      {"vector add", "serial_loop", role::peer, all, bytes,
       [&] { serial_add(of.a, of.b, of.c, threads); }}};
  const auto check_all = [&] {
    subjects[0].work();
    require(cudaDeviceSynchronize() == cudaSuccess, "a launch failed");
    check_sum(of, threads);
    subjects[1].work();
    require(cudaDeviceSynchronize() == cudaSuccess, "a launch failed");
    check_barriers(of, barrier_blocks, few);
    subjects[2].work();
    require(cudaDeviceSynchronize() == cudaSuccess, "a launch failed");
    check_barriers(of, barrier_blocks, many);
    subjects[3].work();
    check_sum(of, threads);
  };
  check_all();
  const std::vector<lab::timing> times = times_of(subjects, runs);
  require(cudaDeviceSynchronize() == cudaSuccess, "a launch failed");
  check_all();

  std::printf("%10lld %7d", static_cast<long long>(threads), block);
  for (std::size_t k = 0; k < subjects.size(); ++k) {
    const subject& each = subjects[k];
    const int width = k == 0 || k == 3 ? 12 : 15;
    std::printf(" %*.2f", width, times[k].median_ms * 1e6 / static_cast<double>(each.elements));
    found.rows.push_back({.description = {.chapter = "cpu_backend",
                                          .task = each.task,
                                          .elements = each.elements,
                                          .data = "memory",
                                          .threads = all,
                                          .block = static_cast<std::uint32_t>(block)},
                          .row = {.name = each.name,
                                  .part = each.part,
                                  .bytes = each.bytes,
                                  .time = times[k],
                                  .ratios = {}}});
  }
  std::printf("\n");
}

struct chosen_options {
  bool quick = false;
  std::optional<lab::result_file> json = {};
};

chosen_options read_options(int argc, char** argv) {
  const auto given = lab::given_options(
      argc, argv,
      {.program = program,
       .summary = "what a CUDA thread and a barrier cost on the CPU backend",
       .options = {{"--quick", "fewer sizes, and 5 runs of each instead of 9", ""},
                   {"--json", "also write the results to FILE", "FILE"},
                   {"--force", "replace a FILE of another kind as well", ""}}});
  chosen_options chosen = {.quick = given.contains("--quick")};
  if (const auto json = given.find("--json"); json != given.end()) {
    chosen.json.emplace(lab::parse_file_name(json->first, json->second, lab::why_no_json()),
                        benchmarks::recorded_run_file, given.contains("--force"));
    chosen.json->require_writable();
  }
  return chosen;
}

int run(int argc, char** argv) {
  const chosen_options chosen = read_options(argc, argv);
  const int runs = chosen.quick ? quick_runs : all_runs;

  // Before the first CUDA call: afterwards the number of multiprocessors stands.
  require(setenv("LAB_SMS", "1", 1) == 0, "could not set LAB_SMS");
  arrays of{};
  for (int** each : {&of.a, &of.b, &of.c}) {
    require(cudaMallocManaged(each, most_threads * sizeof(int)) == cudaSuccess, "out of memory");
  }
  for (std::int64_t i = 0; i < most_threads; ++i) {
    of.a[i] = static_cast<int>(i);
    of.b[i] = static_cast<int>(2 * i);
    of.c[i] = -1;
  }
  const auto barriers = [](int count) { return "one of " + std::to_string(count); };
  std::printf("one multiprocessor, medians of %d runs, nanoseconds\n", runs);
  std::printf("%18s %12s %31s %12s\n", "", "a thread", "a thread at a barrier", "an element of");
  std::printf("%10s %7s %12s %15s %15s %12s\n", "threads", "block", "without",
              barriers(few).c_str(), barriers(many).c_str(), "serial loop");
  benchmarks::recorded_run found = {.device = {.name = "CPU backend", .multiprocessors = 1},
                                    .rounds = static_cast<std::uint32_t>(runs)};
  if (!chosen.quick) {
    for (int block = 1; block <= 1024; block *= 4) add_rows(1 << 22, block, of, runs, found);
  }
  for (std::int64_t threads = 1 << 10; threads <= most_threads; threads *= chosen.quick ? 32 : 4) {
    add_rows(threads, 256, of, runs, found);
  }
  if (chosen.json) chosen.json->write(benchmarks::json_of(found));
  return lab::exit_right;
}

}  // namespace

int main(int argc, char** argv) {
  return lab::exit_status_of(program, [&] { return run(argc, argv); });
}

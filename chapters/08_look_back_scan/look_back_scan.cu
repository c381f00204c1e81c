// SPDX-License-Identifier: MIT
// Times the scans of look_back_scan.cuh and fast_look_back_scan.cuh and the compaction of
// compact.cuh, and checks every element of their results.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "08_look_back_scan/compact.cuh"
#include "08_look_back_scan/fast_look_back_scan.cuh"
#include "08_look_back_scan/look_back_scan.cuh"
#include "08_look_back_scan/scan_problem.cuh"
#include "lab/default_size.cuh"
#include "lab/device.hpp"
#include "lab/device_buffer.cuh"
#include "lab/program.hpp"
#include "lab/reference.hpp"
#include "lab/timing.cuh"

namespace {

using course::plus;
using course::tile_order;

lab::program_description description() {
  lab::program_description program = {
      .name = "look_back_scan",
      .summary = "scans a vector: out[i] = in[0] + ... + in[i]",
      .variants = {"scan_in_three_kernels", "scan_in_one_pass", "float_three_kernels",
                   "float_look_back", "float_fixed_order", "float_exclusive", "int32_look_back",
                   "int64_look_back", "double_look_back", "compact"},
      .without = {"--blocks"},  // There is a block for each tile.
  };
  program.defaults.elements = lab::default_size(1 << 20, 1 << 16);
  return program;
}

// A vector on the host and on the device, and room for the result.
template <class T>
struct problem {
  std::vector<T> values;
  lab::device_buffer<T> in{values};
  lab::device_buffer<T> out{values.size()};

  std::size_t size() const { return values.size(); }
};

template <class T>
problem<T> problem_of(const lab::options& options) {
  return {course::numbers_to_scan<T>(options.elements, options.seed)};
}

// Adds a row, if it is wanted: times run(), which fills data.out; wrong(result) says what is wrong
// with it.
template <class T, class Run, class Wrong>
void add_row(const lab::options& options, lab::program_results& results, problem<T>& data,
             const std::string& name, unsigned blocks, unsigned threads, Run run, Wrong wrong) {
  if (!options.wants(name)) return;
  data.out.fill_bytes(0xff);  // What a kernel leaves out is NaN, or -1.
  const lab::timing time = lab::time_runs(run, static_cast<int>(options.repeat));
  results.add({.variant = name,
               .blocks = blocks,
               .threads = threads,
               .time = time,
               .bytes = 2 * sizeof(T) * std::uint64_t{data.size()},
               .wrong = wrong(data.out.to_host())});
}

void add_lesson_rows(const lab::options& options, lab::program_results& results) {
  using T = std::int64_t;
  const std::string three_kernels = "scan_in_three_kernels";
  const std::string one_pass = "scan_in_one_pass";
  if (!options.wants(three_kernels) && !options.wants(one_pass)) return;
  problem<T> data = problem_of<T>(options);
  const std::size_t n = data.size();
  const unsigned threads = options.threads;
  const unsigned tiles = course::tiles_of(n, threads);
  lab::device_buffer<T> sums(tiles);
  course::look_back_memory<T> memory(tiles);
  const auto wrong = [&](const std::vector<T>& got) {
    return course::wrong_sums<T>(got, data.values, 0);
  };
  add_row(
      options, results, data, three_kernels, tiles, threads,
      [&] {
        course::scan_in_three_kernels(data.in.data(), data.out.data(), n, sums.data(), threads);
      },
      wrong);
  add_row(
      options, results, data, one_pass, tiles, threads,
      [&] { course::scan_with_look_back(data.in.data(), data.out.data(), n, memory, threads); },
      wrong);
}

// The fast forms on T. The names begin with `type`.
template <class T>
void add_fast_rows(const lab::options& options, lab::program_results& results,
                   const std::string& type) {
  const std::string names[] = {type + "_three_kernels", type + "_look_back", type + "_fixed_order",
                               type + "_exclusive"};
  const std::vector<std::string> variants = description().variants;
  const auto is_wanted = [&](const std::string& name) {
    return options.wants(name) && std::ranges::count(variants, name) > 0;
  };
  if (std::ranges::none_of(names, is_wanted)) return;
  problem<T> data = problem_of<T>(options);
  const std::size_t n = data.size();
  const unsigned tiles = course::scan_tiles_of<T>(n);
  course::look_back_memory<T> memory(tiles);
  const auto add = [&](const std::string& name, std::uint64_t longest_chain,
                       std::optional<T> initial, auto run) {
    if (!is_wanted(name)) return;
    add_row(options, results, data, name, tiles, course::scan_threads, run,
            [&](const std::vector<T>& got) {
              return course::wrong_sums<T>(got, data.values, longest_chain, initial);
            });
  };
  lab::device_buffer<T> prefixes(tiles);
  add(names[0], course::scan_longest_chain_in_three_kernels<T>(tiles), std::nullopt, [&] {
    course::inclusive_scan_in_three_kernels(data.in.data(), data.out.data(), n, plus{},
                                            prefixes.data());
  });
  add(names[1], course::scan_longest_chain<T>(tiles, tile_order::as_published), std::nullopt,
      [&] { course::inclusive_scan(data.in.data(), data.out.data(), n, plus{}, memory); });
  add(names[2], course::scan_longest_chain<T>(tiles, tile_order::fixed), std::nullopt, [&] {
    course::inclusive_scan<tile_order::fixed>(data.in.data(), data.out.data(), n, plus{}, memory);
  });
  add(names[3], course::scan_longest_chain<T>(tiles, tile_order::as_published), T{1},
      [&] { course::exclusive_scan(data.in.data(), data.out.data(), n, T{1}, plus{}, memory); });
}

struct is_even {
  __host__ __device__ bool operator()(std::int32_t value) const { return value % 2 == 0; }
};

void add_compaction(const lab::options& options, lab::program_results& results) {
  const std::string name = "compact";
  if (!options.wants(name)) return;
  problem<std::int32_t> data = problem_of<std::int32_t>(options);
  const std::size_t n = data.size();
  const unsigned tiles = course::tiles_of(n, options.threads);
  course::look_back_memory<unsigned long long> memory(tiles);
  lab::device_buffer<unsigned long long> kept_count(1);
  std::vector<std::int32_t> kept;
  std::ranges::copy_if(data.values, std::back_inserter(kept), is_even{});
  add_row(
      options, results, data, name, tiles, options.threads,
      [&] {
        course::compact(data.in.data(), data.out.data(), n, is_even{}, memory, kept_count.data(),
                        options.threads);
      },
      [&](std::vector<std::int32_t> got) -> std::optional<std::string> {
        const std::size_t count = kept_count.to_host().front();
        if (count != kept.size()) return *lab::unequal(count, kept.size()) + " elements";
        got.resize(count);
        return lab::first_difference<std::int32_t>(got, kept);
      });
}

void run(const lab::options& options, lab::program_results& results) {
  const std::uint64_t bytes = 2 * sizeof(double) * options.elements;
  lab::require_memory(bytes, 2 * bytes);
  add_lesson_rows(options, results);
  add_fast_rows<float>(options, results, "float");
  add_fast_rows<std::int32_t>(options, results, "int32");
  add_fast_rows<std::int64_t>(options, results, "int64");
  add_fast_rows<double>(options, results, "double");
  add_compaction(options, results);
}

}  // namespace

int main(int argc, char** argv) { return lab::run_program(argc, argv, description(), run); }

// SPDX-License-Identifier: MIT
// Runs the case of the text that the chapter starts from, then times the kernels of dot_product.cuh
// and checks their results.
#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "02_shared_memory_dot_product/dot_product.cuh"
#include "lab/device.hpp"
#include "lab/device_buffer.cuh"
#include "lab/exact_data.hpp"
#include "lab/program.hpp"
#include "lab/reference.hpp"
#include "lab/timing.cuh"

namespace {

const lab::program_description description = {
    .name = "dot_product",
    .summary = "the sum of a[i] * b[i]; each block leaves a partial sum, the host adds them up",
    .variants = {"thirty_two_blocks", "static_tree", "dynamic_tree", "shuffle",
                 "sixteen_byte_loads", "sixteen_byte_loads_double", "sixteen_byte_loads_int64"},
};

// At most 32 blocks, as in the text: few enough to look at, far too few for a whole GPU.
unsigned blocks_of_the_text(std::size_t n, unsigned threads) {
  return static_cast<unsigned>(std::min<std::size_t>(32, cuda::ceil_div<std::size_t>(n, threads)));
}

// The text's own case: a[i] = i and b[i] = 2i for i from 1 to 33 * 1024, in 64-bit integers,
// because the last product alone, 2 * 33792 * 33792, is more than 32 bits can hold.
void case_of_the_text(lab::report& report) {
  constexpr std::int64_t n = 33 * 1024;
  constexpr unsigned threads = 256;
  // 2 * (1^2 + ... + n^2), by the closed formula for the sum of squares.
  constexpr std::int64_t expected = 2 * (n * (n + 1) * (2 * n + 1) / 6);
  static_assert(expected == 25'725'848'529'920);
  std::vector<std::int64_t> a(n);
  std::vector<std::int64_t> b(n);
  for (std::int64_t i = 1; i <= n; ++i) {
    a[i - 1] = i;
    b[i - 1] = 2 * i;
  }
  const lab::device_buffer<std::int64_t> device_a(a);
  const lab::device_buffer<std::int64_t> device_b(b);
  lab::device_buffer<std::int64_t> partials(blocks_of_the_text(n, threads));
  const std::int64_t got = course::dot_product(course::dot_variant::dynamic_tree, device_a.data(),
                                               device_b.data(), std::size_t{n}, threads, partials);
  report.compare("dot product of 1..33792 and twice that, 32 blocks of 256 threads", got, expected);
}

// Inputs on the host and on the device, and the right result.
template <class T>
struct problem {
  std::vector<T> a;
  std::vector<T> b;
  lab::device_buffer<T> device_a{a};
  lab::device_buffer<T> device_b{b};
};

template <std::floating_point T>
problem<T> make_problem(std::size_t n, std::uint64_t seed) {
  return {.a = lab::spread_numbers<T>(n, seed), .b = lab::spread_numbers<T>(n, ~seed)};
}

template <std::integral T>
problem<T> make_problem(std::size_t n, std::uint64_t seed) {
  // Products beyond 32 bits, and no sum of them beyond 64.
  const std::int64_t magnitude = n <= (std::size_t{1} << 29) ? 100'000 : 1'000;
  return {.a = lab::small_integers<T>(n, magnitude, seed),
          .b = lab::small_integers<T>(n, magnitude, ~seed)};
}

// What is wrong with a result, if anything is: of a float if it is outside the proven bound.
template <std::floating_point T>
std::optional<std::string> check(const problem<T>& data, T got, unsigned blocks, unsigned threads) {
  const lab::dot_reference right = lab::compensated_dot<T>(data.a, data.b);
  const std::uint64_t chain = course::dot_longest_chain<T>(data.a.size(), blocks, threads);
  const double bound = lab::dot_error_bound<T>(chain, right);
  if (std::fabs(static_cast<double>(got) - right.value) <= bound) return std::nullopt;
  std::ostringstream text;
  text << "got " << got << ", more than " << bound << " from " << right.value;
  return text.str();
}

template <std::integral T>
std::optional<std::string> check(const problem<T>& data, T got, unsigned, unsigned) {
  const std::int64_t right = lab::exact_dot<T>(data.a, data.b);
  if (got == right) return std::nullopt;
  return "got " + std::to_string(got) + ", not " + std::to_string(right);
}

// Adds one row.
template <class T>
void measure(const std::string& name, course::dot_variant variant, const problem<T>& data,
             unsigned blocks, const lab::options& options, lab::report& report) {
  if (!options.wants(name)) return;
  lab::device_buffer<T> partials(blocks);
  partials.fill_bytes(0xff);  // What a block does not write is no number, or -1.
  T result = 0;
  const lab::timing time = lab::time_runs(
      [&] {
        result = course::dot_product(variant, data.device_a.data(), data.device_b.data(),
                                     data.a.size(), options.threads, partials);
      },
      static_cast<int>(options.repeat));
  report.add({.variant = name,
              .blocks = blocks,
              .threads = options.threads,
              .time = time,
              .bytes = 2 * sizeof(T) * std::uint64_t{data.a.size()},
              .wrong = check(data, result, std::max(blocks, 1U), options.threads)});
}

// The grid of the command line, or else one that fills the device.
template <class T>
unsigned chosen_blocks(course::dot_variant variant, const lab::options& options) {
  if (options.blocks) return *options.blocks;
  return course::dot_blocks<T>(variant, options.elements, options.threads);
}

void run(const lab::options& options, lab::report& report) {
  using course::dot_variant;
  const std::uint64_t vector_bytes = sizeof(std::int64_t) * options.elements;
  lab::require_memory(2 * vector_bytes, 2 * vector_bytes);

  case_of_the_text(report);
  {
    const auto data = make_problem<float>(options.elements, options.seed);
    const auto row = [&](const std::string& name, dot_variant variant, unsigned blocks) {
      measure(name, variant, data, blocks, options, report);
    };
    row("thirty_two_blocks", dot_variant::dynamic_tree,
        blocks_of_the_text(options.elements, options.threads));
    row("static_tree", dot_variant::static_tree,
        chosen_blocks<float>(dot_variant::static_tree, options));
    row("dynamic_tree", dot_variant::dynamic_tree,
        chosen_blocks<float>(dot_variant::dynamic_tree, options));
    row("shuffle", dot_variant::shuffle, chosen_blocks<float>(dot_variant::shuffle, options));
    row("sixteen_byte_loads", dot_variant::sixteen_bytes,
        chosen_blocks<float>(dot_variant::sixteen_bytes, options));
  }
  if (const std::string name = "sixteen_byte_loads_double"; options.wants(name)) {
    measure(name, dot_variant::sixteen_bytes, make_problem<double>(options.elements, options.seed),
            chosen_blocks<double>(dot_variant::sixteen_bytes, options), options, report);
  }
  if (const std::string name = "sixteen_byte_loads_int64"; options.wants(name)) {
    measure(name, dot_variant::sixteen_bytes,
            make_problem<std::int64_t>(options.elements, options.seed),
            chosen_blocks<std::int64_t>(dot_variant::sixteen_bytes, options), options, report);
  }
}

}  // namespace

int main(int argc, char** argv) { return lab::run_program(argc, argv, description, run); }

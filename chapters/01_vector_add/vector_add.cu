// SPDX-License-Identifier: MIT
// Times the kernel of vector_add.cuh and those of fast_vector_add.cuh, and checks every element of
// their results.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "01_vector_add/fast_vector_add.cuh"
#include "01_vector_add/vector_add.cuh"
#include "lab/check.cuh"
#include "lab/device.hpp"
#include "lab/device_buffer.cuh"
#include "lab/exact_data.hpp"
#include "lab/program.hpp"
#include "lab/reference.hpp"
#include "lab/timing.cuh"

namespace {

const lab::program_description description = {
    .name = "vector_add",
    .summary = "adds two vectors of floats, c[i] = a[i] + b[i]",
    .variants = {"one_element_a_thread", "grid_stride", "sixteen_byte_loads", "managed_memory"},
};

// The inputs, and what every variant must make of them. An IEEE addition has one right result, so
// host and device must agree to the last bit.
struct problem {
  std::vector<float> a;
  std::vector<float> b;
  std::vector<float> sum;

  problem(std::size_t n, std::uint64_t seed)
      : a(lab::spread_numbers<float>(n, seed)), b(lab::spread_numbers<float>(n, ~seed)), sum(n) {
    std::transform(a.begin(), a.end(), b.begin(), sum.begin(), std::plus<>{});
  }

  std::uint64_t bytes() const { return 3 * sizeof(float) * std::uint64_t{sum.size()}; }
};

// One kernel with its grid.
struct variant {
  std::string name;
  unsigned blocks;
  std::function<void(const float* a, const float* b, float* c)> launch;
};

// Explicit memory: the device's own. The program copies the inputs there and the result back.
void with_explicit_memory(const problem& data, const std::vector<variant>& variants,
                          const lab::options& options, lab::program_results& results) {
  const lab::device_buffer<float> a(data.a);
  const lab::device_buffer<float> b(data.b);
  lab::device_buffer<float> c(data.sum.size());
  for (const variant& each : variants) {
    if (!options.wants(each.name)) continue;
    c.fill_bytes(0xff);  // All NaN: what a kernel leaves out cannot look right.
    const lab::timing time = lab::time_runs([&] { each.launch(a.data(), b.data(), c.data()); },
                                            static_cast<int>(options.repeat));
    results.add({.variant = each.name,
                 .blocks = each.blocks,
                 .threads = options.threads,
                 .time = time,
                 .bytes = data.bytes(),
                 .wrong = lab::first_difference<float>(c.to_host(), data.sum)});
  }
}

// Managed memory: host and device use the same pointers, and the system moves the pages. The host
// has to wait before it reads.
void with_managed_memory(const problem& data, const variant& variant, const lab::options& options,
                         lab::program_results& results) {
  if (!options.wants(variant.name)) return;
  lab::managed_buffer<float> a(data.a.size());
  lab::managed_buffer<float> b(data.b.size());
  lab::managed_buffer<float> c(data.sum.size());
  std::copy(data.a.begin(), data.a.end(), a.data());
  std::copy(data.b.begin(), data.b.end(), b.data());
  std::fill_n(c.data(), c.size(), std::numeric_limits<float>::quiet_NaN());
  const lab::timing time = lab::time_runs([&] { variant.launch(a.data(), b.data(), c.data()); },
                                          static_cast<int>(options.repeat));
  CUDA_CHECK(cudaDeviceSynchronize());
  results.add({.variant = variant.name,
               .blocks = variant.blocks,
               .threads = options.threads,
               .time = time,
               .bytes = data.bytes(),
               .wrong = lab::first_difference<float>(c.span(), data.sum)});
}

void run(const lab::options& options, lab::program_results& results) {
  const std::size_t n = options.elements;
  const unsigned threads = options.threads;
  const std::uint64_t vector_bytes = sizeof(float) * options.elements;
  // On the device a, b and c; on the host a, b, the right sum, and the one to compare with it.
  lab::require_memory(3 * vector_bytes, 4 * vector_bytes);

  const auto one_element = [=](const float* a, const float* b, float* c) {
    course::launch_one_element(a, b, c, n, threads);
  };
  // Only if it is wanted: for the longest vectors and the smallest blocks no grid is large enough.
  const unsigned one_element_blocks =
      options.wants("one_element_a_thread") ? course::covering_blocks(n, threads) : 0;
  const unsigned stride_blocks = options.blocks.value_or(course::grid_stride_blocks(
      n, threads, static_cast<unsigned>(lab::describe_device().multiprocessors)));
  const auto grid_stride = [=](const float* a, const float* b, float* c) {
    course::launch_grid_stride(a, b, c, n, stride_blocks, threads);
  };
  const unsigned packet_blocks =
      options.blocks.value_or(course::sixteen_bytes_blocks<float>(n, threads));
  const auto sixteen_bytes = [=](const float* a, const float* b, float* c) {
    course::launch_sixteen_bytes(a, b, c, n, packet_blocks, threads);
  };

  const problem data(n, options.seed);
  with_explicit_memory(data,
                       {{"one_element_a_thread", one_element_blocks, one_element},
                        {"grid_stride", stride_blocks, grid_stride},
                        {"sixteen_byte_loads", packet_blocks, sixteen_bytes}},
                       options, results);
  with_managed_memory(data, {"managed_memory", packet_blocks, sixteen_bytes}, options, results);
}

}  // namespace

int main(int argc, char** argv) { return lab::run_program(argc, argv, description, run); }

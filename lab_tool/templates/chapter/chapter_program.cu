// SPDX-License-Identifier: MIT
// Times the kernel of chapter_program.cuh and checks every element of its result.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "NN_chapter_folder/chapter_program.cuh"
#include "lab/device_buffer.cuh"
#include "lab/exact_data.hpp"
#include "lab/program.hpp"
#include "lab/reference.hpp"
#include "lab/timing.cuh"

namespace {

const lab::program_description description = {
    .name = "chapter_program",
    .summary = "doubles every element of a vector",
    .variants = {"one_element_per_thread"},
};

}  // namespace

int main(int argc, char** argv) {
  return lab::run_program(argc, argv, description, [](const lab::options& options, auto& results) {
    const std::size_t n = options.elements;
    const unsigned threads = options.threads;
    const std::uint64_t vector_bytes = sizeof(float) * options.elements;
    lab::require_memory(2 * vector_bytes, 3 * vector_bytes);

    const std::vector<float> values = lab::small_integers<float>(n, 1000, options.seed);
    std::vector<float> expected(n);
    for (std::size_t i = 0; i < n; ++i) expected[i] = 2 * values[i];

    const lab::device_buffer<float> in(values);
    lab::device_buffer<float> out(n);
    out.fill_bytes(0xff);  // All NaN: what a kernel leaves out cannot look right.
    const auto launch = [&] { course::launch_chapter_program(in.data(), out.data(), n, threads); };
    const lab::timing time = lab::time_runs(launch, static_cast<int>(options.repeat));
    results.add({.variant = "one_element_per_thread",
                 .blocks = course::chapter_program_blocks(n, threads),
                 .threads = threads,
                 .time = time,
                 .bytes = 2 * vector_bytes,
                 .wrong = lab::first_difference<float>(out.to_host(), expected)});
  });
}

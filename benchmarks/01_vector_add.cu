// SPDX-License-Identifier: MIT
// Chapter 01's vector add beside thrust::transform and a copy.
#include "01_vector_add/vector_add.cuh"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "exact_vectors.cuh"
#include "lab/check.cuh"
#include "lab/device_buffer.cuh"
#include "session.hpp"

namespace benchmarks {

namespace {

constexpr unsigned threads = 256;

// Counts the elements of c that are not the one right sum of a's and b's.
__global__ void count_wrong_sums(const float* a, const float* b, const float* c, std::size_t n,
                                 unsigned long long* wrong) {
  const std::size_t all = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += all) {
    if (!(c[i] == __fadd_rn(a[i], b[i]))) atomicAdd(wrong, 1ULL);  // NaN is wrong, too.
  }
}

using add = std::function<void(const float* a, const float* b, float* c, std::size_t n)>;

contender adding(const std::string& name, role part, const exact_vectors<float>& data,
                 lab::device_buffer<float>& c, const placement& where, const add& function) {
  const auto run = [&data, &c, where, function](std::size_t input) {
    const std::size_t first = where.first(input);
    function(data.a(first), data.b(first), c.data() + first, where.elements);
  };
  return {.name = name,
          .part = part,
          .bytes = 3 * sizeof(float) * where.elements,
          .run = run,
          .wrong = [&data, &c, where, run]() -> std::optional<std::string> {
            lab::device_buffer<unsigned long long> wrong(1);
            wrong.fill_bytes(0);
            c.fill_bytes(0xff);  // NaN.
            for (std::size_t input = 0; input < where.inputs; ++input) run(input);
            count_wrong_sums<<<1024, 256>>>(data.a(0), data.b(0), c.data(), where.length(),
                                            wrong.data());
            CUDA_CHECK(cudaGetLastError());
            const unsigned long long count = wrong.to_host().front();
            if (count == 0) return std::nullopt;
            return std::to_string(count) + " of " + std::to_string(where.length()) +
                   " elements are wrong";
          }};
}

void vector_add(session& run) {
  const std::string task = "vector add";
  const auto multiprocessors = static_cast<unsigned>(run.device().multiprocessors);
  const std::vector<placement> places =
      run.placements("01", task, 3 * sizeof(float), 3 * sizeof(float));
  const exact_vectors<float> data(longest(places), 1);
  lab::device_buffer<float> c(longest(places));

  for (const placement& where : places) {
    const contest_description of = describe("01", task, "float", where);
    const auto variant = [&](const char* name, const add& function) {
      return adding(name, role::variant, data, c, where, function);
    };
    std::vector<contender> contenders = {
        variant("one_element_a_thread",
                [](const float* a, const float* b, float* sum, std::size_t n) {
                  course::launch_one_element(a, b, sum, n, threads);
                }),
        variant("grid_stride",
                [=](const float* a, const float* b, float* sum, std::size_t n) {
                  course::launch_grid_stride(
                      a, b, sum, n, course::grid_stride_blocks(n, threads, multiprocessors),
                      threads);
                }),
        variant("sixteen_byte_loads",
                [](const float* a, const float* b, float* sum, std::size_t n) {
                  course::launch_sixteen_bytes(
                      a, b, sum, n, course::sixteen_bytes_blocks<float>(n, threads), threads);
                })};
    run.add_peer(contenders, of, "thrust_transform", [&] {
      return adding("thrust_transform", role::peer, data, c, where, thrust_transform<float>());
    });
    const std::size_t bytes = sizeof(float) * where.elements;
    contenders.push_back(device_to_device_copy(data.a(0), c.data(), bytes, bytes, where.inputs));
    run.hold(of, std::move(contenders));
  }
}

const chapter_benchmark registered("01", vector_add);

}  // namespace

}  // namespace benchmarks

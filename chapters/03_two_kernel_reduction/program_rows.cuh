// SPDX-License-Identifier: MIT
// Rows of the programs of chapters 03 and 04: who finishes the job?
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "02_shared_memory_dot_product/fast_dot_product.cuh"
#include "03_two_kernel_reduction/fast_two_kernel_reduction.cuh"
#include "lab/reduction_rows.cuh"

namespace course {

// The host: chapter 02's fastest dot product.
template <class T>
void add_dot_finished_by_host(lab::reduction_rows<T>& rows, const std::string& name) {
  constexpr dot_variant variant = dot_variant::sixteen_bytes;
  auto& problem = rows.problem();
  const unsigned blocks =
      rows.blocks([&] { return dot_blocks<T>(variant, problem.size(), rows.threads()); });
  rows.add_on_host(
      name, blocks, 2,
      [&](lab::device_buffer<T>& partials) {
        return dot_product(variant, problem.a(), problem.b(), problem.size(), rows.threads(),
                           partials);
      },
      [&](T got) {
        return problem.wrong_dot(
            got, dot_longest_chain<T>(problem.size(), std::max(blocks, 1U), rows.threads()));
      });
}

// Some kernel: launch(partials, result, blocks, threads) leaves the dot product of the rows'
// vectors in *result; `kernel` is the one that reads them.
template <class T, class Kernel, class Launch>
void add_dot(lab::reduction_rows<T>& rows, const std::string& name, Kernel kernel, Launch launch) {
  auto& problem = rows.problem();
  const unsigned blocks = rows.blocks(
      [&] { return reduction_blocks<products<T>>(kernel, problem.size(), rows.threads()); });
  rows.add(
      name, blocks, 2,
      [&](T* partials, T* result) { launch(partials, result, blocks, rows.threads()); },
      [&](T got) {
        return problem.wrong_dot(
            got, reduction_longest_chain<products<T>>(problem.size(), blocks, rows.threads()));
      });
}

// The same for a reduction of the first vector; wrong(result, longest chain) checks it.
template <class T, class Kernel, class Launch, class Wrong>
void add_reduction(lab::reduction_rows<T>& rows, const std::string& name, Kernel kernel,
                   Launch launch, Wrong wrong) {
  auto& problem = rows.problem();
  const unsigned blocks = rows.blocks(
      [&] { return reduction_blocks<elements<T>>(kernel, problem.size(), rows.threads()); });
  rows.add(
      name, blocks, 1,
      [&](T* partials, T* result) { launch(partials, result, blocks, rows.threads()); },
      [&](T got) {
        return wrong(got,
                     reduction_longest_chain<elements<T>>(problem.size(), blocks, rows.threads()));
      });
}

// A second kernel.
template <class T>
void add_two_kernel_dot(lab::reduction_rows<T>& rows, const std::string& name) {
  auto& problem = rows.problem();
  add_dot(rows, name, reduce_products<T>,
          [&](T* partials, T* result, unsigned blocks, unsigned threads) {
            two_kernel_dot(problem.a(), problem.b(), problem.size(), partials, result, blocks,
                           threads);
          });
}

template <class T, class Operation, class Wrong>
void add_two_kernel_reduction(lab::reduction_rows<T>& rows, const std::string& name,
                              Operation operation, Wrong wrong) {
  auto& problem = rows.problem();
  add_reduction(
      rows, name, reduce_elements<T, Operation>,
      [&](T* partials, T* result, unsigned blocks, unsigned threads) {
        two_kernel_reduction(problem.a(), problem.size(), operation, partials, result, blocks,
                             threads);
      },
      wrong);
}

template <class T>
void add_two_kernel_sum(lab::reduction_rows<T>& rows, const std::string& name) {
  add_two_kernel_reduction(rows, name, plus{}, [&](T got, std::uint64_t longest_chain) {
    return rows.problem().wrong_sum(got, longest_chain);
  });
}

}  // namespace course

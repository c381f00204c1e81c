// SPDX-License-Identifier: MIT
// The lesson's kernel in its smallest interesting case, for ./lab prove: 3 blocks of 2 threads.
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "04_last_block_guard/last_block_guard.cuh"
#include "lab/device_buffer.cuh"

int main() {
  constexpr unsigned blocks = 3, threads = 2;
  const lab::device_buffer<std::int64_t> values(std::vector<std::int64_t>{0, 1, 2, 3, 4, 5});
  lab::device_buffer<std::int64_t> partials(blocks), result(1);
  course::arrival_counter counter;
  course::sum_by_last_block(values.data(), values.size(), partials.data(), counter.data(),
                            result.data(), blocks, threads);
  std::printf("sum %lld, counter %u\n", static_cast<long long>(result.to_host().front()),
              counter.value());
}

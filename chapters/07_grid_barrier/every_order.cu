// SPDX-License-Identifier: MIT
// The lesson's kernel in its smallest interesting case, for ./lab prove: 2 blocks of 2 threads and
// 2 steps, or as many blocks and steps as its arguments say. Each block has one row of the wave,
// and needs the next block's.
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "07_grid_barrier/wave.cuh"
#include "lab/device_buffer.cuh"

int main(int count, char** words) {
  constexpr unsigned threads = 2, width = threads + 2;
  const unsigned blocks = count > 1 ? static_cast<unsigned>(std::atoi(words[1])) : 2;
  const unsigned steps = count > 2 ? static_cast<unsigned>(std::atoi(words[2])) : 2;
  const unsigned height = blocks + 2;
  std::vector<int> start(std::size_t{width} * height);
  for (std::size_t i = 0; i < start.size(); ++i) start[i] = static_cast<int>(i);
  lab::device_buffer<int> now(start), before(start);
  lab::device_buffer<course::grid_barrier_words> barrier(
      std::vector<course::grid_barrier_words>{{.arrived = 0, .generation = 0}});
  course::wave_in_one_launch(now.data(), before.data(), width, height, steps, barrier.data(),
                             blocks, threads);
  long long sum = 0;
  for (const int each : (steps % 2 == 0 ? now : before).to_host()) sum += each;
  std::printf("sum of heights %lld\n", sum);
}

// SPDX-License-Identifier: MIT
// One kernel for every way to hand out items and every kind of work.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "05_work_queue/hand_out.cuh"
#include "lab/check.cuh"
#include "lab/resident_blocks.cuh"
#include "lab/trace.cuh"

namespace course {

// Work is a type with three device functions, each called by all threads that do it:
// - begin(), once a block, before its first item: the prologue;
// - operator()(item, team), once an item;
// - end(), once a block, after its last item: the epilogue.
template <class HandOut, class Work>
__global__ void process_items(HandOut hand_out, Work work) {
  work.begin();
  hand_out.for_each([&](const auto& item, const team& workers) { work(item, workers); });
  work.end();
}

// Launches it in the default stream and does not wait. blocks from 1 to 2^31 - 1, threads from 1 to
// 1024. Errors: lab::cuda_error where the launch is refused.
template <class HandOut, class Work>
void launch_processing(const HandOut& hand_out, const Work& work, unsigned blocks,
                       unsigned threads) {
  process_items<<<blocks, threads>>>(hand_out, work);
  CUDA_CHECK(cudaGetLastError());
}

// The blocks of that kernel that the device runs at the same time. Errors: lab::cuda_error.
template <class HandOut, class Work>
unsigned resident_blocks_for(unsigned threads) {
  return static_cast<unsigned>(lab::resident_blocks(process_items<HandOut, Work>, threads));
}

// Work that also notes when and where each item was done: from before any of the team's threads
// begins until all have ended. The barriers that see to this, and the notes, are in the traced
// kernel only. Work has one function more, number(item): the item's place in the recorder,
// different for each.
template <class Work>
struct traced {
  Work work;
  lab::trace_recorder recorder;

  __device__ void begin() { work.begin(); }
  template <class Item>
  __device__ void operator()(const Item& item, const team& workers) {
    const std::uint64_t begin_ns = workers.rank == 0 ? lab::device_nanoseconds() : 0;
    workers.synchronize();
    work(item, workers);
    workers.synchronize();
    if (workers.rank == 0) recorder.record(work.number(item), begin_ns);
  }
  __device__ void end() { work.end(); }
};

}  // namespace course

// SPDX-License-Identifier: MIT
// The memory of a work queue, on the host's side: made, filled, and made ready for the next launch.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "05_work_queue/work_queue.cuh"
#include "lab/check.cuh"
#include "lab/device_buffer.cuh"

namespace course {

// The memory of a queue. Everything here is called by the host, and throws lab::cuda_error if CUDA
// refuses. What takes a stream works in that stream.
template <class Item>
class work_queue_memory {
 public:
  // Empty, with room for `capacity` items. Ready for launches in any stream.
  explicit work_queue_memory(std::size_t capacity) : items_(capacity), counters_(1) {
    count_items(0);
  }

  // Filled by the host. Ready for launches in any stream.
  explicit work_queue_memory(std::span<const Item> items) : work_queue_memory(items.size()) {
    items_.copy_from(items);
    count_items(items.size());
  }
  explicit work_queue_memory(const std::vector<Item>& items)
      : work_queue_memory(std::span<const Item>(items)) {}

  // For the kernels. It must not outlive this object.
  work_queue<Item> queue() { return {items_.data(), items_.size(), counters_.data()}; }
  const Item* items() const { return items_.data(); }

  // Before each launch in `stream` that fetches, except the first: all items can be fetched again.
  // Does not wait for the device.
  void reset(cudaStream_t stream = nullptr) {
    CUDA_CHECK(cudaMemsetAsync(&counters_.data()->next, 0, sizeof(std::size_t), stream));
  }

  // Before a kernel in `stream` fills it: no items. Does not wait for the device.
  void clear(cudaStream_t stream = nullptr) {
    CUDA_CHECK(cudaMemsetAsync(counters_.data(), 0, sizeof(work_queue_counters), stream));
  }

  // How many items were put in, once all earlier work of `stream` is done. Throws std::length_error
  // if that was more than there is room for: some are lost then.
  std::size_t size(cudaStream_t stream = nullptr) const {
    CUDA_CHECK(cudaStreamSynchronize(stream));
    const std::size_t count = counters_.to_host().front().size;
    if (count > items_.size()) {
      throw std::length_error(std::to_string(count) + " items were appended to a queue with room " +
                              "for " + std::to_string(items_.size()));
    }
    return count;
  }

 private:
  void count_items(std::size_t count) {
    counters_.copy_from(std::vector<work_queue_counters>{{.size = count, .next = 0}});
    // The copies are the default stream's; a launch in another stream might not wait for them.
    CUDA_CHECK(cudaStreamSynchronize(nullptr));
  }

  lab::device_buffer<Item> items_;
  lab::device_buffer<work_queue_counters> counters_;
};

}  // namespace course

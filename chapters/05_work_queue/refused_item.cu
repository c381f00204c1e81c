// SPDX-License-Identifier: MIT
// Must not compile: the item has a constructor, which no thread runs for an object in shared
// memory. work_queue_misuse_test.py looks for the sentence that says so.
#include "05_work_queue/work_queue_memory.cuh"

struct initialised_item {
  int value = 0;

  __host__ __device__ static initialised_item none() { return {}; }
  __host__ __device__ bool operator==(const initialised_item& other) const {
    return value == other.value;
  }
};

__global__ void take_one(course::work_queue<initialised_item> queue) { (void)queue.fetch(); }

int main() {
  course::work_queue_memory<initialised_item> memory(1);
  take_one<<<1, 1>>>(memory.queue());
}

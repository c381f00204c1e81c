// SPDX-License-Identifier: CC-BY-SA-4.0
// Must not compile: the queue as it stands in the text that this chapter starts from,
// "Inter-block communication", by the contributors of Stack Overflow Documentation (CUDA, topic
// 4978), under CC BY-SA 3.0. Changed: the layout, and the second class, which passes an address.
// work_queue_misuse_test.py looks for what the compiler says.
#include <cuda_runtime.h>

#include <cstddef>

struct WorkItem {
  int value;
  __device__ static WorkItem none() { return {-1}; }
};

int main() {}

// atomicAdd has no form for an address of std::size_t either: on Linux that is unsigned long, and
// the overload is for unsigned long long.
class QueueWithAnAddress {
 public:
  __device__ std::size_t take() { return atomicAdd(&current, 1); }

 private:
  std::size_t current;
};

class WorkQueue {
 private:
  WorkItem* gItems;
  size_t totalSize;
  size_t current;

 public:
  __device__ WorkItem& fetch() {
    __shared__ WorkItem item;
    if (threadIdx.x == 0) {
      size_t itemIdx = atomicAdd(current, 1);
      if (itemIdx < totalSize)
        item = gItems[itemIdx];
      else
        item = WorkItem::none();
    }
    __syncthreads();
    return item;
  }
}

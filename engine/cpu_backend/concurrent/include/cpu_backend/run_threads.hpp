// SPDX-License-Identifier: MIT
// Runs the threads of a block one after the other, and rows of them where they can't wait.
#pragma once

#include <cstdint>

#include "cpu_backend/multiprocessor.hpp"
#include "vector_types.h"

namespace cpu_backend {

// The loop that translate.py puts around the body of a kernel whose threads can't wait: over the
// thread that runs now and those behind it in its row of the block.
//
// Made by the thread with which a row begins. Should a thread give its turn away after all, the
// block's other rows overtake this one.
class row_of_threads {
 public:
  struct sentinel {};
  class iterator {
   public:
    iterator() : index_(threadIdx), end_(blockDim.x) {}
    const uint3& operator*() const {
      threadIdx.x = index_.x;
      // Before what the thread does: whoever handles a fault reads there whose it is.
      asm volatile("" ::: "memory");
      return index_;
    }
    void operator++() { ++index_.x; }
    bool operator!=(sentinel) const { return index_.x != end_; }

   private:
    uint3 index_;
    const unsigned end_;
  };

  row_of_threads() { this_multiprocessor->run_whole_row(); }
  iterator begin() const { return {}; }
  sentinel end() const { return {}; }
};

// Runs threads one after the other, of one block and of the next ones. Inlined with the kernel into
// one loop, since most kernels are a few instructions a thread; and a fiber that has run out of
// threads waits in here, where it can begin with the next at once.
//
// The inner loop runs a row of the block, and writes nothing for a thread but threadIdx.x. Whoever
// waits first counts the threads before it as started.
template <class Body>
void run_threads(multiprocessor& on, const void* erased_body) {
  const Body body = *static_cast<const Body*>(erased_body);  // a copy can live in registers
  const std::uint64_t launch = on.launch_number();
  do {
    while (on.start_next()) {
      const unsigned width = blockDim.x;
      for (;;) {
        body();  // of one thread, or of all to the end of the row: see above
        if (on.anything_waited()) [[unlikely]] {
          on.returned(on.thread_rank());
          break;
        }
        const unsigned next = threadIdx.x + 1;
        if (next == width) {
          on.count_started();
          break;
        }
        threadIdx.x = next;
      }
    }
  } while (on.find_threads(launch));
}

}  // namespace cpu_backend

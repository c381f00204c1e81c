// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "cpu_backend/multiprocessor.hpp"
#include "cpu_backend/row_of_threads.hpp"  // which translated kernels use

namespace cpu_backend {

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
        body();  // of one thread, or of all to the end of the row: see row_of_threads.hpp
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

// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "cpu_backend/multiprocessor.hpp"

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
      for (unsigned x = threadIdx.x;;) {
        body();
        if (on.anything_waited()) [[unlikely]] {
          on.returned(on.thread_rank());
          break;
        }
        if (++x == width) {
          on.count_started();
          break;
        }
        threadIdx.x = x;
      }
    }
  } while (on.find_threads(launch));
}

}  // namespace cpu_backend

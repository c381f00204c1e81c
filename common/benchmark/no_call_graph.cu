// SPDX-License-Identifier: MIT
// On the CPU backend, which has no CUDA graphs.
#include "benchmark/call_graph.hpp"
#include "benchmark/peers.hpp"

namespace benchmarks {

void require_graphs() { throw no_such_peer("the CPU backend has no CUDA graphs"); }

std::function<void()> recorded_graph(unsigned, const std::function<void(cudaStream_t)>&) {
  require_graphs();
  return {};
}

}  // namespace benchmarks

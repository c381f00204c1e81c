// SPDX-License-Identifier: MIT
#include "benchmark/call_graph.hpp"

#include <memory>
#include <type_traits>

#include "lab/check.cuh"

namespace benchmarks {

namespace {

// CUDA's handles are pointers to types that it does not define.
struct stream_end {
  void operator()(cudaStream_t stream) const { (void)cudaStreamDestroy(stream); }
};
struct graph_end {
  void operator()(cudaGraph_t graph) const { (void)cudaGraphDestroy(graph); }
};
struct executable_graph_end {
  void operator()(cudaGraphExec_t graph) const { (void)cudaGraphExecDestroy(graph); }
};
using stream_owner = std::unique_ptr<std::remove_pointer_t<cudaStream_t>, stream_end>;
using graph_owner = std::unique_ptr<std::remove_pointer_t<cudaGraph_t>, graph_end>;

// Work in the default stream orders itself with all other streams, but for those that are made so.
stream_owner new_stream() {
  cudaStream_t stream = nullptr;
  CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return stream_owner(stream);
}

}  // namespace

void require_graphs() {}

std::function<void()> recorded_graph(unsigned calls,
                                     const std::function<void(cudaStream_t)>& call) {
  call(nullptr);
  CUDA_CHECK(cudaDeviceSynchronize());

  const stream_owner stream = new_stream();
  CUDA_CHECK(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal));
  for (unsigned number = 0; number < calls; ++number) call(stream.get());
  cudaGraph_t recorded = nullptr;
  CUDA_CHECK(cudaStreamEndCapture(stream.get(), &recorded));
  const graph_owner graph(recorded);

  cudaGraphExec_t instance = nullptr;
  CUDA_CHECK(cudaGraphInstantiate(&instance, graph.get(), 0));
  const std::shared_ptr<std::remove_pointer_t<cudaGraphExec_t>> executable(instance,
                                                                           executable_graph_end{});
  return [executable, call] { CUDA_CHECK(cudaGraphLaunch(executable.get(), nullptr)); };
}

}  // namespace benchmarks

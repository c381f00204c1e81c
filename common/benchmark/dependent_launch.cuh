// SPDX-License-Identifier: MIT
// Programmatic dependent launch: a kernel that may start before the one before it has ended. For
// sources that only nvcc compiles, because the CPU backend has no such launch.
#pragma once

#include <cuda_runtime.h>

#include <utility>

#include "benchmark/peers.hpp"
#include "lab/check.cuh"

namespace benchmarks {

// The kernel after the calling one may start from now on. For all threads.
__device__ inline void let_next_kernel_start() {
#if __CUDA_ARCH__ >= 900  // require_dependent_launch() refuses a kernel that was compiled for less.
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

// Waits until the kernel before has ended and its writes can be seen. It must come before any
// access to memory that another kernel of the row writes, and before a write to what another one
// reads. Each kernel of a row has to wait: "the one before has ended" says something about all
// earlier ones only if that one waited.
__device__ inline void wait_for_kernel_before() {
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}

// Both, as the first thing that all threads of a kernel do.
__device__ inline void begin_dependent_kernel() {
  let_next_kernel_start();
  wait_for_kernel_before();
}

// Throws no_such_peer if what runs of `kernel` here was compiled for less than compute capability
// 9.0, be it on a newer device: there it could start early, and would not wait. lab::cuda_error.
template <class Kernel>
void require_dependent_launch(Kernel* kernel) {
  cudaFuncAttributes attributes{};
  CUDA_CHECK(cudaFuncGetAttributes(&attributes, kernel));
  if (attributes.ptxVersion < 90) {
    throw no_such_peer(
        "programmatic dependent launch needs compute capability 9.0 or newer, and a program that "
        "was compiled for it");
  }
}

// The shape of a launch.
struct launch_shape {
  unsigned blocks;
  unsigned threads;
  unsigned shared_bytes = 0;  // Of dynamic shared memory.
};

// Launches `kernel`, which calls the functions above, in `stream`. While that is recorded as a
// graph, the launch becomes a node with a programmatic edge. Errors: lab::cuda_error.
template <class... Parameters, class... Arguments>
void launch_dependent(void (*kernel)(Parameters...), launch_shape shape, cudaStream_t stream,
                      Arguments&&... arguments) {
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t configuration = {};
  configuration.gridDim = dim3(shape.blocks);
  configuration.blockDim = dim3(shape.threads);
  configuration.dynamicSmemBytes = shape.shared_bytes;
  configuration.stream = stream;
  configuration.attrs = &attribute;
  configuration.numAttrs = 1;
  CUDA_CHECK(cudaLaunchKernelEx(&configuration, kernel, std::forward<Arguments>(arguments)...));
}

}  // namespace benchmarks

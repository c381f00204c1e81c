// SPDX-License-Identifier: MIT
// Programmatic dependent launch: a kernel that may start before the one before it has ended. For
// sources that only nvcc compiles, because the CPU backend has no such launch.
#pragma once

#include <cuda_runtime.h>

#include <utility>

#include "benchmark/peers.hpp"
#include "lab/check.cuh"

namespace benchmarks {

// The first thing that all threads of a dependent kernel do. The kernel after it may start from now
// on, and this one waits until the kernel before it has ended and its writes can be seen. It must
// come before any access to memory that another kernel reads or writes. Each kernel of a row has to
// wait: "the one before has ended" says something about all earlier ones only if that one waited.
__device__ inline void begin_dependent_kernel() {
#if __CUDA_ARCH__ >= 900  // require_dependent_launch() refuses a kernel that was compiled for less.
  cudaTriggerProgrammaticLaunchCompletion();
  cudaGridDependencySynchronize();
#endif
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

// Launches `kernel`, which calls begin_dependent_kernel(), in the default stream. Errors:
// lab::cuda_error.
template <class... Parameters, class... Arguments>
void launch_dependent(void (*kernel)(Parameters...), unsigned blocks, unsigned threads,
                      Arguments&&... arguments) {
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t configuration = {};
  configuration.gridDim = dim3(blocks);
  configuration.blockDim = dim3(threads);
  configuration.attrs = &attribute;
  configuration.numAttrs = 1;
  CUDA_CHECK(cudaLaunchKernelEx(&configuration, kernel, std::forward<Arguments>(arguments)...));
}

}  // namespace benchmarks

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
#if __CUDA_ARCH__ >= 900  // require_dependent_launch() refuses older devices.
  cudaTriggerProgrammaticLaunchCompletion();
  cudaGridDependencySynchronize();
#endif
}

// Throws no_such_peer if the device is older than compute capability 9.0, lab::cuda_error.
inline void require_dependent_launch() {
  int device = 0;
  int major = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  if (major < 9) {
    throw no_such_peer("programmatic dependent launch needs compute capability 9.0 or newer");
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

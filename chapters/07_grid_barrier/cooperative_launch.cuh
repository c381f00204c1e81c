// SPDX-License-Identifier: MIT
// A launch whose blocks are all resident, or that is refused.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <stdexcept>
#include <utility>

#include "lab/check.cuh"

namespace course {

// Throws std::runtime_error, one sentence, unless `supported`, a device's
// cudaDevAttrCooperativeLaunch.
inline void require_cooperative_launch(int supported) {
  if (supported == 0) {
    throw std::runtime_error(
        "this device, or its driver, has no cooperative launch, and a grid barrier needs one");
  }
}

// Launches `kernel` cooperatively in `stream`, and does not wait. lab::resident_blocks() says how
// many blocks fit. Errors: std::runtime_error if the device has no cooperative launch;
// lab::cuda_error, cudaErrorCooperativeLaunchTooLarge if not all blocks would be resident.
template <class... Parameters, class... Arguments>
void launch_cooperatively(void (*kernel)(Parameters...), dim3 blocks, dim3 threads,
                          std::size_t shared_bytes, cudaStream_t stream, Arguments&&... arguments) {
  int device = 0;
  int supported = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&supported, cudaDevAttrCooperativeLaunch, device));
  require_cooperative_launch(supported);
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = 1;
  cudaLaunchConfig_t configuration = {};
  configuration.gridDim = blocks;
  configuration.blockDim = threads;
  configuration.dynamicSmemBytes = shared_bytes;
  configuration.stream = stream;
  configuration.attrs = &attribute;
  configuration.numAttrs = 1;
  CUDA_CHECK(cudaLaunchKernelEx(&configuration, kernel, std::forward<Arguments>(arguments)...));
}

}  // namespace course

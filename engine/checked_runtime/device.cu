// SPDX-License-Identifier: MIT
#include "checked_runtime/device.hpp"

#include <cuda_runtime.h>

#include <string>

#include "checked_runtime/check.cuh"

namespace checked {

namespace {

__global__ void do_nothing() {}

}  // namespace

std::optional<std::string> why_no_device() {
  int count = 0;
  cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaSuccess && count == 0) return "the CUDA runtime finds no device";
  if (status == cudaSuccess) {
    do_nothing<<<1, 1>>>();
    status = cudaGetLastError();
    if (status == cudaSuccess) status = cudaDeviceSynchronize();
  }
  if (status == cudaSuccess) return std::nullopt;
  (void)cudaGetLastError();
  const std::string words =
      std::string(cudaGetErrorString(status)) + " (" + cudaGetErrorName(status) + ")";
  if (status == cudaErrorNoKernelImageForDevice) {
    return "this program was not compiled for the GPU that is here: " + words;
  }
  return "no usable CUDA device: " + words;
}

bool device_is_lost() { return cudaDeviceSynchronize() != cudaSuccess; }

device_description describe_device() {
  int device = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  cudaDeviceProp properties{};
  CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
  return {.name = properties.name,
          .multiprocessors = properties.multiProcessorCount,
          .compute_capability_major = properties.major,
          .compute_capability_minor = properties.minor,
          .shares_host_memory = properties.integrated != 0};
}

bool device_cancels_blocks() {
  cudaFuncAttributes attributes{};
  CUDA_CHECK(cudaFuncGetAttributes(&attributes, do_nothing));
  return attributes.ptxVersion >= 100;  // what is compiled for that runs on no older device
}

}  // namespace checked

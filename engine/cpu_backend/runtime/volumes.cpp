// SPDX-License-Identifier: MIT
// Memory of three dimensions: slices of rows, each row as long as the pitch says. A slice has as
// many rows as the pointer's ysize says.
#include <algorithm>
#include <cstddef>

#include "cpu_backend/runtime/runtime_call.hpp"
#include "cuda_runtime_api.h"

namespace cpu_backend {
namespace {

// The row in which a box begins, in the slice of number `slice` of the box.
std::byte* row_of(const cudaPitchedPtr& memory, const cudaPos& at, std::size_t slice) {
  return static_cast<std::byte*>(memory.ptr) +
         ((at.z + slice) * memory.ysize + at.y) * memory.pitch + at.x;
}

// A box of one slice may leave the rows of a slice unsaid.
bool is_within(const cudaPitchedPtr& memory, const cudaPos& at, const cudaExtent& extent) {
  return memory.ptr && at.x + extent.width <= memory.pitch &&
         (extent.depth == 1 || at.y + extent.height <= memory.ysize);
}

}  // namespace
}  // namespace cpu_backend

using namespace cpu_backend;

cudaError_t cudaMalloc3D(cudaPitchedPtr* pointer, cudaExtent extent) {
  if (!pointer) return call_without_waiting([] { return cudaErrorInvalidValue; });
  *pointer = {nullptr, 0, extent.width, extent.height};
  if (extent.depth != 0 && extent.height > static_cast<std::size_t>(-1) / extent.depth) {
    return call_without_waiting([] { return cudaErrorMemoryAllocation; });
  }
  return cudaMallocPitch(&pointer->ptr, &pointer->pitch, extent.width,
                         extent.height * extent.depth);
}

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* parameters) {
  if (!parameters) return call_without_waiting([] { return cudaErrorInvalidValue; });
  const cudaMemcpy3DParms& copy = *parameters;
  if (copy.extent.width == 0 || copy.extent.height == 0 || copy.extent.depth == 0) {
    return call_that_waits([] { return cudaSuccess; });
  }
  if (!is_within(copy.srcPtr, copy.srcPos, copy.extent) ||
      !is_within(copy.dstPtr, copy.dstPos, copy.extent)) {
    return call_without_waiting([] { return cudaErrorInvalidValue; });
  }
  for (std::size_t slice = 0; slice < copy.extent.depth; ++slice) {
    const cudaError_t error =
        cudaMemcpy2D(row_of(copy.dstPtr, copy.dstPos, slice), copy.dstPtr.pitch,
                     row_of(copy.srcPtr, copy.srcPos, slice), copy.srcPtr.pitch, copy.extent.width,
                     copy.extent.height, copy.kind);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* parameters, cudaStream_t stream) {
  if (!is_stream(stream)) {
    return call_without_waiting([] { return cudaErrorInvalidResourceHandle; });
  }
  catch_up(stream);
  return cudaMemcpy3D(parameters);
}

cudaError_t cudaMemset3D(cudaPitchedPtr pointer, int value, cudaExtent extent) {
  if (extent.width != 0 && extent.height != 0 && extent.depth != 0 &&
      !is_within(pointer, {0, 0, 0}, extent)) {
    return call_without_waiting([] { return cudaErrorInvalidValue; });
  }
  for (std::size_t slice = 0; slice < extent.depth; ++slice) {
    const cudaError_t error = cudaMemset2D(row_of(pointer, {0, 0, 0}, slice), pointer.pitch, value,
                                           extent.width, extent.height);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

cudaError_t cudaMemset3DAsync(cudaPitchedPtr pointer, int value, cudaExtent extent,
                              cudaStream_t stream) {
  if (!is_stream(stream)) {
    return call_without_waiting([] { return cudaErrorInvalidResourceHandle; });
  }
  catch_up(stream);
  return cudaMemset3D(pointer, value, extent);
}

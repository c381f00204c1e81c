// SPDX-License-Identifier: MIT
// The C++ side of the runtime API: typed pointers, variables of the device by name, kernels by
// name.
#pragma once

#include <cstddef>
#include <optional>

#include "cpu_backend/runtime/context.hpp"
#include "cuda_runtime_api.h"

namespace cpu_backend {

// Converting a function's address to that of an object is what CUDA's own interface asks for; every
// platform with a dynamic linker supports it.
template <class Kernel>
const void* kernel_address(Kernel* kernel) {
  return reinterpret_cast<const void*>(kernel);
}

// Lets `allocate` fill in a void* and hands it on as a T*: writing to a T* through a void** would
// break the aliasing rules. A failure leaves null, which CUDA leaves open: a compiler that sees the
// pointer unset on some path would warn of every program that launches without a look at the error.
template <class T, class Allocate>
cudaError_t allocate_typed(T** pointer, Allocate allocate) {
  void* untyped = nullptr;
  const cudaError_t error = allocate(pointer ? &untyped : nullptr);
  if (pointer) *pointer = static_cast<T*>(untyped);
  return error;
}

// The copies behind the *Symbol functions; with a stream, behind those whose names end with Async.
struct part_of_symbol {
  const void* symbol = nullptr;
  std::size_t symbol_bytes = 0;
  std::size_t offset = 0;
  std::size_t bytes = 0;
};
cudaError_t copy_to_symbol(const part_of_symbol& to, const void* source, cudaMemcpyKind kind,
                           std::optional<cudaStream_t> stream = {});
cudaError_t copy_from_symbol(void* destination, const part_of_symbol& from, cudaMemcpyKind kind,
                             std::optional<cudaStream_t> stream = {});
cudaError_t symbol_address(void** pointer, const void* symbol, std::size_t symbol_bytes);

}  // namespace cpu_backend

inline cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned int flags) {
  return cudaEventCreateWithFlags(event, flags);
}

template <class T>
cudaError_t cudaMalloc(T** pointer, std::size_t bytes) {
  return cpu_backend::allocate_typed(pointer,
                                     [&](void** untyped) { return cudaMalloc(untyped, bytes); });
}

template <class T>
cudaError_t cudaMallocPitch(T** pointer, std::size_t* pitch, std::size_t width,
                            std::size_t height) {
  return cpu_backend::allocate_typed(
      pointer, [&](void** untyped) { return cudaMallocPitch(untyped, pitch, width, height); });
}

template <class T>
cudaError_t cudaMallocManaged(T** pointer, std::size_t bytes,
                              unsigned int flags = cudaMemAttachGlobal) {
  return cpu_backend::allocate_typed(
      pointer, [&](void** untyped) { return cudaMallocManaged(untyped, bytes, flags); });
}

template <class T>
cudaError_t cudaMallocAsync(T** pointer, std::size_t bytes, cudaStream_t stream) {
  return cpu_backend::allocate_typed(
      pointer, [&](void** untyped) { return cudaMallocAsync(untyped, bytes, stream); });
}

inline cudaError_t cudaMallocHost(void** pointer, std::size_t bytes, unsigned int flags) {
  return cudaHostAlloc(pointer, bytes, flags);
}

template <class T>
cudaError_t cudaMallocHost(T** pointer, std::size_t bytes, unsigned int flags = 0) {
  return cpu_backend::allocate_typed(
      pointer, [&](void** untyped) { return cudaHostAlloc(untyped, bytes, flags); });
}

template <class T>
cudaError_t cudaHostAlloc(T** pointer, std::size_t bytes, unsigned int flags) {
  return cpu_backend::allocate_typed(
      pointer, [&](void** untyped) { return cudaHostAlloc(untyped, bytes, flags); });
}

template <class T>
cudaError_t cudaHostGetDevicePointer(T** device_pointer, void* host_pointer, unsigned int flags) {
  return cpu_backend::allocate_typed(device_pointer, [&](void** untyped) {
    return cudaHostGetDevicePointer(untyped, host_pointer, flags);
  });
}

template <class T>
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, T* pointer, std::size_t bytes = 0,
                                     unsigned int flags = cudaMemAttachSingle) {
  return cudaStreamAttachMemAsync(stream, static_cast<void*>(pointer), bytes, flags);
}

template <class T>
cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* source, std::size_t bytes,
                               std::size_t offset = 0,
                               cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  return cpu_backend::copy_to_symbol({__builtin_addressof(symbol), sizeof(T), offset, bytes},
                                     source, kind);
}

template <class T>
cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* source, std::size_t bytes,
                                    std::size_t offset = 0,
                                    cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                                    cudaStream_t stream = nullptr) {
  return cpu_backend::copy_to_symbol({__builtin_addressof(symbol), sizeof(T), offset, bytes},
                                     source, kind, stream);
}

template <class T>
cudaError_t cudaMemcpyFromSymbol(void* destination, const T& symbol, std::size_t bytes,
                                 std::size_t offset = 0,
                                 cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  return cpu_backend::copy_from_symbol(
      destination, {__builtin_addressof(symbol), sizeof(T), offset, bytes}, kind);
}

template <class T>
cudaError_t cudaMemcpyFromSymbolAsync(void* destination, const T& symbol, std::size_t bytes,
                                      std::size_t offset = 0,
                                      cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                                      cudaStream_t stream = nullptr) {
  return cpu_backend::copy_from_symbol(
      destination, {__builtin_addressof(symbol), sizeof(T), offset, bytes}, kind, stream);
}

template <class T>
cudaError_t cudaGetSymbolAddress(void** pointer, const T& symbol) {
  return cpu_backend::symbol_address(pointer, __builtin_addressof(symbol), sizeof(T));
}

template <class T>
cudaError_t cudaGetSymbolSize(std::size_t* bytes, const T&) {
  if (!bytes) return cpu_backend::record_error(cudaErrorInvalidValue);
  *bytes = sizeof(T);
  return cudaSuccess;
}

// As they were before CUDA 13, with a device and not a place.
namespace cpu_backend {
inline cudaMemLocation location_of(int device) {
  if (device == cudaCpuDeviceId) return {cudaMemLocationTypeHost, 0};
  return {cudaMemLocationTypeDevice, device};
}
}  // namespace cpu_backend
inline cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, int device,
                                        cudaStream_t stream = nullptr) {
  return cudaMemPrefetchAsync(pointer, bytes, cpu_backend::location_of(device), 0, stream);
}
inline cudaError_t cudaMemAdvise(const void* pointer, std::size_t bytes, cudaMemoryAdvise advice,
                                 int device) {
  return cudaMemAdvise(pointer, bytes, advice, cpu_backend::location_of(device));
}
// As they were called before CUDA 4.
inline cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
inline cudaError_t cudaThreadExit() { return cudaDeviceReset(); }

template <class Kernel>
cudaError_t cudaFuncSetSharedMemConfig(Kernel*, cudaSharedMemConfig) {
  return cudaSuccess;
}

template <class Kernel>
cudaError_t cudaFuncSetAttribute(Kernel* kernel, cudaFuncAttribute attribute, int value) {
  return cudaFuncSetAttribute(cpu_backend::kernel_address(kernel), attribute, value);
}

template <class Kernel>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, Kernel* kernel) {
  return cudaFuncGetAttributes(attributes, cpu_backend::kernel_address(kernel));
}

template <class Kernel>
cudaError_t cudaFuncSetCacheConfig(Kernel* kernel, cudaFuncCache preference) {
  return cudaFuncSetCacheConfig(cpu_backend::kernel_address(kernel), preference);
}

template <class Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Kernel* kernel,
                                                          int block_size,
                                                          std::size_t dynamic_shared_memory) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, cpu_backend::kernel_address(kernel),
                                                       block_size, dynamic_shared_memory);
}

template <class Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, Kernel* kernel, int block_size, std::size_t dynamic_shared_memory,
    unsigned int flags) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
      blocks, cpu_backend::kernel_address(kernel), block_size, dynamic_shared_memory, flags);
}

template <class Kernel>
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, Kernel* kernel,
                                                      int blocks, int block_size) {
  return cudaOccupancyAvailableDynamicSMemPerBlock(bytes, cpu_backend::kernel_address(kernel),
                                                   blocks, block_size);
}

// An SM holds one block here, so the best block is the largest that fits: the search goes down from
// the limit in whole warps, and a full machine is one block for each SM. `dynamic_shared_memory(n)`
// is what a block of n threads needs.
template <class UnaryFunction, class Kernel>
cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(
    int* minimum_grid_size, int* block_size, Kernel* kernel, UnaryFunction dynamic_shared_memory,
    int block_size_limit = 0, unsigned int flags = cudaOccupancyDefault) {
  if (!minimum_grid_size || !block_size || !kernel) {
    return cpu_backend::record_error(cudaErrorInvalidValue);
  }
  const cudaDeviceProp& device = cpu_backend::device_properties();
  const bool is_limited = block_size_limit != 0 && block_size_limit < device.maxThreadsPerBlock;
  const int most = is_limited ? block_size_limit : device.maxThreadsPerBlock;
  int blocks = 0;
  int threads = most;
  while (threads > 0) {
    if (const cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
            &blocks, kernel, threads, static_cast<std::size_t>(dynamic_shared_memory(threads)),
            flags)) {
      return error;
    }
    if (blocks > 0) break;
    threads = (threads - 1) / 32 * 32;
  }
  *minimum_grid_size = blocks * device.multiProcessorCount;
  *block_size = blocks > 0 ? threads : 0;
  return cudaSuccess;
}

template <class UnaryFunction, class Kernel>
cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* minimum_grid_size, int* block_size,
                                                           Kernel* kernel,
                                                           UnaryFunction dynamic_shared_memory,
                                                           int block_size_limit = 0) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(
      minimum_grid_size, block_size, kernel, dynamic_shared_memory, block_size_limit);
}

template <class Kernel>
cudaError_t cudaOccupancyMaxPotentialBlockSizeWithFlags(int* minimum_grid_size, int* block_size,
                                                        Kernel* kernel,
                                                        std::size_t dynamic_shared_memory = 0,
                                                        int block_size_limit = 0,
                                                        unsigned int flags = cudaOccupancyDefault) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(
      minimum_grid_size, block_size, kernel,
      [dynamic_shared_memory](int) { return dynamic_shared_memory; }, block_size_limit, flags);
}

template <class Kernel>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int* minimum_grid_size, int* block_size,
                                               Kernel* kernel,
                                               std::size_t dynamic_shared_memory = 0,
                                               int block_size_limit = 0) {
  return cudaOccupancyMaxPotentialBlockSizeWithFlags(minimum_grid_size, block_size, kernel,
                                                     dynamic_shared_memory, block_size_limit);
}

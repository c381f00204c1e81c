// SPDX-License-Identifier: MIT
// What a kernel may use and how many of its blocks fit on an SM.
#include <atomic>
#include <map>
#include <mutex>

#include "cpu_backend/runtime/context.hpp"
#include "cpu_backend/runtime/runtime_call.hpp"
#include "cuda_runtime_api.h"

namespace cpu_backend {
namespace {

struct attribute_table {
  std::mutex lock;
  std::map<const void*, int> dynamic_shared_memory;
  // Lets the many launches of programs that set no attribute pass without the lock.
  std::atomic<bool> in_use = false;
};

attribute_table& attributes() {
  static attribute_table& table = *new attribute_table;
  return table;
}

std::size_t shared_memory_by_default() { return device_properties().sharedMemPerBlock; }
std::size_t shared_memory_at_most() { return device_properties().sharedMemPerBlockOptin; }

}  // namespace

std::size_t dynamic_shared_memory_limit(const void* kernel) {
  if (!kernel) return shared_memory_at_most();
  attribute_table& table = attributes();
  if (!table.in_use.load(std::memory_order_acquire)) return shared_memory_by_default();
  const std::lock_guard guard(table.lock);
  const auto found = table.dynamic_shared_memory.find(kernel);
  return found == table.dynamic_shared_memory.end() ? shared_memory_by_default()
                                                    : static_cast<std::size_t>(found->second);
}

void forget_function_attributes() {
  attribute_table& table = attributes();
  const std::lock_guard guard(table.lock);
  table.dynamic_shared_memory.clear();
  table.in_use.store(false, std::memory_order_release);
}

}  // namespace cpu_backend

using namespace cpu_backend;

cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value) {
  return call_without_waiting([&] {
    if (!kernel) return cudaErrorInvalidDeviceFunction;
    switch (attribute) {
      case cudaFuncAttributeMaxDynamicSharedMemorySize: {
        if (value < 0 || static_cast<std::size_t>(value) > shared_memory_at_most()) {
          return cudaErrorInvalidValue;
        }
        attribute_table& table = attributes();
        const std::lock_guard guard(table.lock);
        table.dynamic_shared_memory[kernel] = value;
        table.in_use.store(true, std::memory_order_release);
        return cudaSuccess;
      }
      case cudaFuncAttributePreferredSharedMemoryCarveout:
        return value >= -1 && value <= 100 ? cudaSuccess : cudaErrorInvalidValue;
      default:
        return cudaErrorInvalidValue;  // clusters, which this device does not have
    }
  });
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* result, const void* kernel) {
  return call_without_waiting([&] {
    if (!result) return cudaErrorInvalidValue;
    if (!kernel) return cudaErrorInvalidDeviceFunction;
    // Registers, local, constant and static shared memory read 0: they are not counted here.
    *result = {};
    const cudaDeviceProp& device = device_properties();
    result->maxThreadsPerBlock = device.maxThreadsPerBlock;
    result->ptxVersion = device.major * 10 + device.minor;
    result->binaryVersion = result->ptxVersion;
    result->maxDynamicSharedSizeBytes = static_cast<int>(dynamic_shared_memory_limit(kernel));
    result->preferredShmemCarveout = cudaSharedmemCarveoutDefault;
    return cudaSuccess;
  });
}

cudaError_t cudaFuncSetCacheConfig(const void* kernel, cudaFuncCache preference) {
  return call_without_waiting([&] {
    if (!kernel) return cudaErrorInvalidDeviceFunction;
    return preference <= cudaFuncCachePreferEqual ? cudaSuccess : cudaErrorInvalidValue;
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel,
                                                          int block_size,
                                                          std::size_t dynamic_shared_memory) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
      blocks, kernel, block_size, dynamic_shared_memory, cudaOccupancyDefault);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, const void* kernel, int block_size, std::size_t dynamic_shared_memory,
    unsigned int flags) {
  return call_without_waiting([&] {
    if (!blocks || block_size <= 0) return cudaErrorInvalidValue;
    if (flags & ~static_cast<unsigned int>(cudaOccupancyDisableCachingOverride)) {
      return cudaErrorInvalidValue;
    }
    if (!kernel) return cudaErrorInvalidDeviceFunction;
    const bool fits = block_size <= device_properties().maxThreadsPerBlock &&
                      dynamic_shared_memory <= dynamic_shared_memory_limit(kernel);
    *blocks = fits ? 1 : 0;
    return cudaSuccess;
  });
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, const void* kernel,
                                                      int blocks, int block_size) {
  return call_without_waiting([&] {
    if (!bytes || blocks < 1 || block_size <= 0) return cudaErrorInvalidValue;
    if (!kernel) return cudaErrorInvalidDeviceFunction;
    const cudaDeviceProp& device = device_properties();
    if (blocks > device.maxBlocksPerMultiProcessor || block_size > device.maxThreadsPerBlock) {
      return cudaErrorInvalidValue;
    }
    *bytes = shared_memory_at_most();
    return cudaSuccess;
  });
}

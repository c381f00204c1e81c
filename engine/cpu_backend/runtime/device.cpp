// SPDX-License-Identifier: MIT
// The one device: its settings, and its end.
#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>

#include "cpu_backend/runtime/context.hpp"
#include "cpu_backend/runtime/runtime_call.hpp"
#include "cuda_runtime_api.h"

namespace cpu_backend {
namespace {

struct limits {
  // Indexed by cudaLimit; the values a GPU starts with. They limit nothing here.
  std::array<std::atomic<std::size_t>, 7> value{1024, 1 << 20, 8 << 20, 2, 2048, 128, 0};
};
limits device_limits;
std::atomic<cudaFuncCache> cache_preference = cudaFuncCachePreferNone;
std::atomic<unsigned int> device_flags = cudaDeviceScheduleAuto;

bool is_device(int device) { return device == 0; }

}  // namespace

}  // namespace cpu_backend

using namespace cpu_backend;

cudaError_t cudaGetDeviceCount(int* count) {
  return call_without_device([&] {
    if (!count) return cudaErrorInvalidValue;
    *count = 1;
    return cudaSuccess;
  });
}

cudaError_t cudaSetDevice(int device) {
  return call_without_waiting(
      [&] { return is_device(device) ? cudaSuccess : cudaErrorInvalidDevice; });
}

cudaError_t cudaGetDevice(int* device) {
  return call_without_device([&] {
    if (!device) return cudaErrorInvalidValue;
    *device = 0;
    return cudaSuccess;
  });
}

cudaError_t cudaInitDevice(int device, unsigned int, unsigned int) { return cudaSetDevice(device); }

cudaError_t cudaSetDeviceFlags(unsigned int flags) {
  return call_without_device([&] {
    if (flags & ~static_cast<unsigned int>(cudaDeviceMask)) return cudaErrorInvalidValue;
    device_flags = flags;
    return cudaSuccess;
  });
}

cudaError_t cudaGetDeviceFlags(unsigned int* flags) {
  return call_without_device([&] {
    if (!flags) return cudaErrorInvalidValue;
    *flags = device_flags;
    return cudaSuccess;
  });
}

cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* properties) {
  return call_without_device([&] {
    if (!device || !properties) return cudaErrorInvalidValue;
    *device = 0;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSynchronize() {
  form::host_has_waited();
  return call_that_waits([] { return cudaSuccess; });
}

cudaError_t cudaDeviceReset() {
  return call_without_device([] {
    forget_held_work();
    release_all_memory();
    destroy_all_streams();
    destroy_all_events();
    forget_function_attributes();
    clear_fault();
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value) {
  return call_without_waiting([&] {
    if (limit >= device_limits.value.size()) return cudaErrorInvalidValue;
    device_limits.value[limit] = value;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit limit) {
  return call_without_waiting([&] {
    if (!value || limit >= device_limits.value.size()) return cudaErrorInvalidValue;
    *value = device_limits.value[limit];
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache preference) {
  return call_without_waiting([&] {
    if (preference > cudaFuncCachePreferEqual) return cudaErrorInvalidValue;
    cache_preference = preference;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* preference) {
  return call_without_waiting([&] {
    if (!preference) return cudaErrorInvalidValue;
    *preference = cache_preference;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return call_without_waiting([&] {
    if (least) *least = 0;
    if (greatest) *greatest = 0;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceCanAccessPeer(int* can_access, int device, int peer_device) {
  return call_without_device([&] {
    if (!can_access) return cudaErrorInvalidValue;
    if (!is_device(device) || !is_device(peer_device)) return cudaErrorInvalidDevice;
    *can_access = 0;  // a device is not its own peer
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceEnablePeerAccess(int, unsigned int flags) {
  return call_without_waiting(
      [&] { return flags != 0 ? cudaErrorInvalidValue : cudaErrorInvalidDevice; });
}

cudaError_t cudaDeviceDisablePeerAccess(int) {
  return call_without_waiting([] { return cudaErrorInvalidDevice; });
}

cudaError_t cudaDeviceGetPCIBusId(char* bus_id, int bytes, int device) {
  return call_without_device([&] {
    if (!bus_id || bytes < 1) return cudaErrorInvalidValue;
    if (!is_device(device)) return cudaErrorInvalidDevice;
    std::snprintf(bus_id, static_cast<std::size_t>(bytes), "0000:00:00.0");
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* bus_id) {
  return call_without_device([&] {
    if (!device || !bus_id) return cudaErrorInvalidValue;
    if (std::strcmp(bus_id, "0000:00:00.0") != 0) return cudaErrorInvalidDevice;
    *device = 0;
    return cudaSuccess;
  });
}

cudaError_t cudaSetValidDevices(int* devices, int count) {
  return call_without_device([&] {
    if (count < 0 || (count > 0 && !devices)) return cudaErrorInvalidValue;
    for (int i = 0; i < count; ++i) {
      if (!is_device(devices[i])) return cudaErrorInvalidDevice;
    }
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig configuration) {
  return call_without_waiting([&] {
    return configuration > cudaSharedMemBankSizeEightByte ? cudaErrorInvalidValue : cudaSuccess;
  });
}

cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* configuration) {
  return call_without_waiting([&] {
    if (!configuration) return cudaErrorInvalidValue;
    *configuration = cudaSharedMemBankSizeFourByte;
    return cudaSuccess;
  });
}

cudaError_t cudaProfilerStart() {
  return call_without_waiting([] { return cudaSuccess; });
}

cudaError_t cudaProfilerStop() {
  return call_without_waiting([] { return cudaSuccess; });
}

cudaError_t cudaDriverGetVersion(int* version) { return cudaRuntimeGetVersion(version); }

cudaError_t cudaRuntimeGetVersion(int* version) {
  return call_without_device([&] {
    if (!version) return cudaErrorInvalidValue;
    *version = CUDART_VERSION;
    return cudaSuccess;
  });
}

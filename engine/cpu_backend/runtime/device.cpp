// SPDX-License-Identifier: MIT
// The one device: what it says about itself, its settings, and its end.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>

#include "cpu_backend/execution/settings.hpp"
#include "cpu_backend/form.hpp"
#include "cpu_backend/runtime/allocations.hpp"
#include "cpu_backend/runtime/context.hpp"
#include "cpu_backend/runtime/runtime_call.hpp"
#include "cuda_runtime_api.h"

namespace cpu_backend {
namespace {

constexpr int kibibyte = 1024;
constexpr int most_sms = 1024;

int last_level_cache_bytes() {
  for (const int level : {_SC_LEVEL4_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE, _SC_LEVEL2_CACHE_SIZE}) {
    const long bytes = sysconf(level);
    if (bytes > 0) return static_cast<int>(std::min(bytes, 0x7fffffffL));
  }
  return 0;
}

cudaDeviceProp describe_device() {
  cudaDeviceProp device{};
  const int sms = number_of_sms();
  std::snprintf(device.name, sizeof device.name, "CPU backend");
  std::memcpy(device.uuid.bytes, "lab CPU backend", sizeof device.uuid.bytes);

  device.major = 10;  // context.hpp says why
  device.minor = 0;
  device.multiProcessorCount = sms;
  device.warpSize = 32;
  device.maxThreadsPerBlock = 1024;
  device.maxThreadsDim[0] = 1024;
  device.maxThreadsDim[1] = 1024;
  device.maxThreadsDim[2] = 64;
  device.maxGridSize[0] = 0x7fffffff;
  device.maxGridSize[1] = 65535;
  device.maxGridSize[2] = 65535;

  // An SM holds one block at a time, of any size.
  device.maxBlocksPerMultiProcessor = 1;
  device.maxThreadsPerMultiProcessor = 1024;
  device.sharedMemPerBlock = 48 * kibibyte;
  device.sharedMemPerBlockOptin = 227 * kibibyte;
  device.sharedMemPerMultiprocessor = 228 * kibibyte;
  device.clockRate = 1'000'000;  // clock64() counts nanoseconds
  device.memoryClockRate = 1'000'000;
  device.deviceOverlap = 1;
  device.computeMode = cudaComputeModeDefault;
  device.reservedSharedMemPerBlock = kibibyte;
  device.regsPerBlock = 65536;
  device.regsPerMultiprocessor = 65536;

  device.totalGlobalMem = total_memory();
  device.totalConstMem = 64 * kibibyte;
  device.memPitch = 0x7fffffff;
  device.textureAlignment = 512;
  device.texturePitchAlignment = 32;
  device.surfaceAlignment = 512;
  device.l2CacheSize = last_level_cache_bytes();

  // The device's memory is the host's. Still a kernel may not follow a plain host pointer: a
  // program that does would fail on a GPU.
  device.integrated = 1;
  device.pageableMemoryAccess = 0;
  device.canMapHostMemory = 1;
  device.unifiedAddressing = 1;
  device.managedMemory = 1;
  device.concurrentManagedAccess = 1;
  device.directManagedMemAccessFromHost = 1;
  device.hostNativeAtomicSupported = 1;
  device.hostRegisterSupported = 1;
  device.canUseHostPointerForRegisteredMem = 1;
  device.memoryPoolsSupported = 1;
  device.cooperativeLaunch = 1;

  // Streams are synchronous: no two kernels at once, no copy beside a kernel, no priorities.
  device.concurrentKernels = 0;
  device.asyncEngineCount = 0;
  device.streamPrioritiesSupported = 0;
  device.hostNumaId = -1;
  device.deviceNumaId = -1;
  return device;
}

// The value of an attribute, or nothing that cudaDeviceGetAttribute knows.
bool find_attribute(cudaDeviceAttr attribute, int& value) {
  const cudaDeviceProp& device = device_properties();
  const auto as_int = [](std::size_t bytes) {
    return static_cast<int>(std::min<std::size_t>(bytes, 0x7fffffff));
  };
  switch (attribute) {
    // clang-format off
    case cudaDevAttrMaxThreadsPerBlock: value = device.maxThreadsPerBlock; return true;
    case cudaDevAttrMaxBlockDimX: value = device.maxThreadsDim[0]; return true;
    case cudaDevAttrMaxBlockDimY: value = device.maxThreadsDim[1]; return true;
    case cudaDevAttrMaxBlockDimZ: value = device.maxThreadsDim[2]; return true;
    case cudaDevAttrMaxGridDimX: value = device.maxGridSize[0]; return true;
    case cudaDevAttrMaxGridDimY: value = device.maxGridSize[1]; return true;
    case cudaDevAttrMaxGridDimZ: value = device.maxGridSize[2]; return true;
    case cudaDevAttrMaxSharedMemoryPerBlock: value = as_int(device.sharedMemPerBlock); return true;
    case cudaDevAttrTotalConstantMemory: value = as_int(device.totalConstMem); return true;
    case cudaDevAttrWarpSize: value = device.warpSize; return true;
    case cudaDevAttrMaxPitch: value = as_int(device.memPitch); return true;
    case cudaDevAttrMaxRegistersPerBlock: value = device.regsPerBlock; return true;
    case cudaDevAttrTextureAlignment: value = as_int(device.textureAlignment); return true;
    case cudaDevAttrTexturePitchAlignment: value = as_int(device.texturePitchAlignment); return true;
    case cudaDevAttrSurfaceAlignment: value = as_int(device.surfaceAlignment); return true;
    case cudaDevAttrMultiProcessorCount: value = device.multiProcessorCount; return true;
    case cudaDevAttrIntegrated: value = device.integrated; return true;
    case cudaDevAttrCanMapHostMemory: value = device.canMapHostMemory; return true;
    case cudaDevAttrComputeMode: value = cudaComputeModeDefault; return true;
    case cudaDevAttrL2CacheSize: value = device.l2CacheSize; return true;
    case cudaDevAttrMaxThreadsPerMultiProcessor: value = device.maxThreadsPerMultiProcessor; return true;
    case cudaDevAttrUnifiedAddressing: value = device.unifiedAddressing; return true;
    case cudaDevAttrComputeCapabilityMajor: value = device.major; return true;
    case cudaDevAttrComputeCapabilityMinor: value = device.minor; return true;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: value = as_int(device.sharedMemPerMultiprocessor); return true;
    case cudaDevAttrMaxRegistersPerMultiprocessor: value = device.regsPerMultiprocessor; return true;
    case cudaDevAttrManagedMemory: value = device.managedMemory; return true;
    case cudaDevAttrHostNativeAtomicSupported: value = device.hostNativeAtomicSupported; return true;
    case cudaDevAttrPageableMemoryAccess: value = device.pageableMemoryAccess; return true;
    case cudaDevAttrConcurrentManagedAccess: value = device.concurrentManagedAccess; return true;
    case cudaDevAttrCanUseHostPointerForRegisteredMem: value = device.canUseHostPointerForRegisteredMem; return true;
    case cudaDevAttrCooperativeLaunch: value = device.cooperativeLaunch; return true;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: value = as_int(device.sharedMemPerBlockOptin); return true;
    case cudaDevAttrHostRegisterSupported: value = device.hostRegisterSupported; return true;
    case cudaDevAttrDirectManagedMemAccessFromHost: value = device.directManagedMemAccessFromHost; return true;
    case cudaDevAttrMaxBlocksPerMultiprocessor: value = device.maxBlocksPerMultiProcessor; return true;
    case cudaDevAttrReservedSharedMemoryPerBlock: value = as_int(device.reservedSharedMemPerBlock); return true;
    case cudaDevAttrMemoryPoolsSupported: value = device.memoryPoolsSupported; return true;
    case cudaDevAttrHostNumaId: value = device.hostNumaId; return true;
    case cudaDevAttrNumaId: value = device.deviceNumaId; return true;
    // clang-format on
    default:
      // What is left counts or announces something that this device does not have.
      value = 0;
      return attribute >= cudaDevAttrMaxThreadsPerBlock && attribute < cudaDevAttrMax;
  }
}

}  // namespace

int number_of_sms() {
  static const auto number = static_cast<int>(number_setting(
      "LAB_SMS", static_cast<unsigned>(std::min(form::default_number_of_sms(), most_sms)), 1,
      most_sms));
  return number;
}

const cudaDeviceProp& device_properties() {
  static const cudaDeviceProp properties = describe_device();
  return properties;
}

}  // namespace cpu_backend

using namespace cpu_backend;

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return call_without_device([&] {
    if (!properties) return cudaErrorInvalidValue;
    if (device != 0) return cudaErrorInvalidDevice;
    *properties = device_properties();
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return call_without_device([&] {
    if (!value) return cudaErrorInvalidValue;
    if (device != 0) return cudaErrorInvalidDevice;
    return find_attribute(attribute, *value) ? cudaSuccess : cudaErrorInvalidValue;
  });
}

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
  return call_that_waits([] { return cudaSuccess; });
}

cudaError_t cudaDeviceReset() {
  return call_without_device([] {
    work_order::host_waits_for_all();
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

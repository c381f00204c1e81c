// SPDX-License-Identifier: MIT
// What the device says about itself, and that it keeps to it.
#include <cuda_runtime.h>

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "checked_runtime/device_buffer.cuh"
#include "error_names.hpp"

namespace {

__global__ void count_threads(unsigned int* count) { atomicAdd(count, 1u); }

__global__ void fill_dynamic_shared_memory(int words, int* wrong) {
  extern __shared__ int shared_words[];
  for (int i = static_cast<int>(threadIdx.x); i < words; i += static_cast<int>(blockDim.x)) {
    shared_words[i] = 3 * i;
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int i = 0; i < words; ++i) *wrong += shared_words[i] != 3 * i;
}

// A kernel of its own for each test that sets an attribute: attributes outlive the test.
template <int number>
__global__ void do_nothing() {}

// 48 KiB are enough for 491 threads, so for at most 480 in whole warps.
struct hundred_bytes_a_thread {
  __host__ __device__ std::size_t operator()(int threads) const {
    return static_cast<std::size_t>(threads) * 100;
  }
};

cudaDeviceProp properties_of_device() {
  cudaDeviceProp properties;
  REQUIRE(cudaGetDeviceProperties(&properties, 0) == cudaSuccess);
  return properties;
}

int attribute(cudaDeviceAttr which) {
  int value = -1;
  REQUIRE(cudaDeviceGetAttribute(&value, which, 0) == cudaSuccess);
  return value;
}

}  // namespace

TEST_CASE("there is a device, and it can be chosen") {
  int count = 0;
  REQUIRE(cudaGetDeviceCount(&count) == cudaSuccess);
  CHECK(count >= 1);
  REQUIRE(cudaSetDevice(0) == cudaSuccess);
  int device = -1;
  CHECK(cudaGetDevice(&device) == cudaSuccess);
  CHECK(device == 0);
  const cudaDeviceProp wanted = properties_of_device();
  CHECK(cudaChooseDevice(&device, &wanted) == cudaSuccess);
  CHECK(device >= 0);
  CHECK(device < count);
}

TEST_CASE("driver and runtime are of the version that this was compiled for, or newer") {
  int driver = 0;
  int runtime = 0;
  REQUIRE(cudaDriverGetVersion(&driver) == cudaSuccess);
  REQUIRE(cudaRuntimeGetVersion(&runtime) == cudaSuccess);
  CHECK(runtime == CUDART_VERSION);
  CHECK(driver >= runtime / 1000 * 1000);
}

TEST_CASE("the properties are those of a device of today") {
  const cudaDeviceProp device = properties_of_device();
  CHECK(std::strlen(device.name) > 0);
  CHECK(device.major * 10 + device.minor >= 75);
  CHECK(device.warpSize == 32);
  CHECK(device.multiProcessorCount >= 1);
  CHECK(device.maxThreadsPerBlock == 1024);
  CHECK(device.maxThreadsDim[0] == 1024);
  CHECK(device.maxThreadsDim[1] == 1024);
  CHECK(device.maxThreadsDim[2] == 64);
  CHECK(device.maxGridSize[0] == 2147483647);
  CHECK(device.maxGridSize[1] == 65535);
  CHECK(device.maxGridSize[2] == 65535);
  CHECK(device.maxThreadsPerMultiProcessor >= device.maxThreadsPerBlock);
  CHECK(device.maxBlocksPerMultiProcessor >= 1);
  CHECK(device.sharedMemPerBlock == 48 * 1024);
  CHECK(device.sharedMemPerBlockOptin > device.sharedMemPerBlock);
  CHECK(device.sharedMemPerMultiprocessor >= device.sharedMemPerBlockOptin);
  CHECK(device.regsPerBlock == 65536);
  CHECK(device.totalConstMem == 65536);
  CHECK(device.totalGlobalMem > 0);
  CHECK(device.unifiedAddressing == 1);
  CHECK(device.managedMemory == 1);
  CHECK(device.canMapHostMemory == 1);
  CHECK(device.cooperativeLaunch == 1);
}

TEST_CASE("attributes and properties agree") {
  const cudaDeviceProp device = properties_of_device();
  CHECK(attribute(cudaDevAttrMaxThreadsPerBlock) == device.maxThreadsPerBlock);
  CHECK(attribute(cudaDevAttrMaxBlockDimX) == device.maxThreadsDim[0]);
  CHECK(attribute(cudaDevAttrMaxBlockDimY) == device.maxThreadsDim[1]);
  CHECK(attribute(cudaDevAttrMaxBlockDimZ) == device.maxThreadsDim[2]);
  CHECK(attribute(cudaDevAttrMaxGridDimX) == device.maxGridSize[0]);
  CHECK(attribute(cudaDevAttrMaxGridDimY) == device.maxGridSize[1]);
  CHECK(attribute(cudaDevAttrMaxGridDimZ) == device.maxGridSize[2]);
  CHECK(attribute(cudaDevAttrWarpSize) == device.warpSize);
  CHECK(attribute(cudaDevAttrMultiProcessorCount) == device.multiProcessorCount);
  CHECK(attribute(cudaDevAttrComputeCapabilityMajor) == device.major);
  CHECK(attribute(cudaDevAttrComputeCapabilityMinor) == device.minor);
  CHECK(attribute(cudaDevAttrL2CacheSize) == device.l2CacheSize);
  CHECK(attribute(cudaDevAttrIntegrated) == device.integrated);
  CHECK(attribute(cudaDevAttrMaxRegistersPerBlock) == device.regsPerBlock);
  CHECK(attribute(cudaDevAttrMaxThreadsPerMultiProcessor) == device.maxThreadsPerMultiProcessor);
  CHECK(attribute(cudaDevAttrMaxBlocksPerMultiprocessor) == device.maxBlocksPerMultiProcessor);
  CHECK(attribute(cudaDevAttrManagedMemory) == device.managedMemory);
  CHECK(attribute(cudaDevAttrConcurrentManagedAccess) == device.concurrentManagedAccess);
  CHECK(attribute(cudaDevAttrPageableMemoryAccess) == device.pageableMemoryAccess);
  CHECK(attribute(cudaDevAttrCooperativeLaunch) == device.cooperativeLaunch);
  CHECK(attribute(cudaDevAttrUnifiedAddressing) == device.unifiedAddressing);
  CHECK(attribute(cudaDevAttrCanMapHostMemory) == device.canMapHostMemory);
  CHECK(attribute(cudaDevAttrConcurrentKernels) == device.concurrentKernels);
  CHECK(attribute(cudaDevAttrAsyncEngineCount) == device.asyncEngineCount);
  CHECK(attribute(cudaDevAttrTextureAlignment) == static_cast<int>(device.textureAlignment));
  CHECK(attribute(cudaDevAttrTotalConstantMemory) == static_cast<int>(device.totalConstMem));
  CHECK(attribute(cudaDevAttrMaxSharedMemoryPerBlock) ==
        static_cast<int>(device.sharedMemPerBlock));
  CHECK(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) ==
        static_cast<int>(device.sharedMemPerBlockOptin));
  CHECK(attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor) ==
        static_cast<int>(device.sharedMemPerMultiprocessor));
  CHECK(attribute(cudaDevAttrReservedSharedMemoryPerBlock) ==
        static_cast<int>(device.reservedSharedMemPerBlock));
}

TEST_CASE("the largest block runs, in each of its shapes") {
  for (const dim3 block : {dim3(1024), dim3(1, 1024), dim3(4, 4, 64), dim3(32, 32)}) {
    checked::device_buffer<unsigned int> count(1);
    count.fill_bytes(0);
    count_threads<<<2, block>>>(count.data());
    REQUIRE(cudaGetLastError() == cudaSuccess);
    CHECK(count.to_host() == std::vector<unsigned int>{2048});
  }
}

TEST_CASE("a block can use all the dynamic shared memory that was allowed") {
  const auto bytes = static_cast<std::size_t>(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
  REQUIRE(cudaFuncSetAttribute(fill_dynamic_shared_memory,
                               cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(bytes)) == cudaSuccess);
  checked::device_buffer<int> wrong(1);
  wrong.fill_bytes(0);
  fill_dynamic_shared_memory<<<4, 128, bytes>>>(static_cast<int>(bytes / sizeof(int)),
                                                wrong.data());
  REQUIRE(cudaGetLastError() == cudaSuccess);
  CHECK(wrong.to_host() == std::vector<int>{0});
}

TEST_CASE("a kernel's attributes say what was set") {
  cudaFuncAttributes attributes;
  REQUIRE(cudaFuncGetAttributes(&attributes, do_nothing<1>) == cudaSuccess);
  CHECK(attributes.maxThreadsPerBlock == 1024);
  CHECK(attributes.maxDynamicSharedSizeBytes == 48 * 1024);
  CHECK(attributes.sharedSizeBytes == 0);

  REQUIRE(cudaFuncSetAttribute(do_nothing<1>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               56 * 1024) == cudaSuccess);
  REQUIRE(cudaFuncGetAttributes(&attributes, do_nothing<1>) == cudaSuccess);
  CHECK(attributes.maxDynamicSharedSizeBytes == 56 * 1024);

  REQUIRE(cudaFuncGetAttributes(&attributes, do_nothing<2>) == cudaSuccess);
  CHECK(attributes.maxDynamicSharedSizeBytes == 48 * 1024);

  CHECK(cudaFuncSetAttribute(do_nothing<1>, cudaFuncAttributePreferredSharedMemoryCarveout,
                             cudaSharedmemCarveoutMaxShared) == cudaSuccess);
  CHECK(cudaFuncSetCacheConfig(do_nothing<1>, cudaFuncCachePreferL1) == cudaSuccess);
}

TEST_CASE("occupancy: blocks that fit are resident, and no more than the device's threads") {
  const cudaDeviceProp device = properties_of_device();
  for (const int threads : {1, 32, 100, 256, 512, 1024}) {
    int blocks = 0;
    REQUIRE(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, do_nothing<3>, threads, 0) ==
            cudaSuccess);
    CHECK(blocks >= 1);
    CHECK(blocks <= device.maxBlocksPerMultiProcessor);
    CHECK(blocks * threads <= device.maxThreadsPerMultiProcessor);
    int with_flags = 0;
    REQUIRE(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
                &with_flags, do_nothing<3>, threads, 0, cudaOccupancyDefault) == cudaSuccess);
    CHECK(with_flags == blocks);
  }
}

TEST_CASE("occupancy: shared memory of more than half an SM leaves room for one block") {
  const int bytes = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  REQUIRE(cudaFuncSetAttribute(do_nothing<4>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) ==
          cudaSuccess);
  int blocks = 0;
  REQUIRE(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
              &blocks, do_nothing<4>, 64, static_cast<std::size_t>(bytes)) == cudaSuccess);
  CHECK(blocks == 1);
}

TEST_CASE("occupancy: the suggested block size fills the device and can be launched") {
  const cudaDeviceProp device = properties_of_device();
  int grid = 0;
  int block = 0;
  REQUIRE(cudaOccupancyMaxPotentialBlockSize(&grid, &block, count_threads, 0, 0) == cudaSuccess);
  CHECK(block >= 32);
  CHECK(block <= device.maxThreadsPerBlock);
  CHECK(block % 32 == 0);
  CHECK(grid >= device.multiProcessorCount);
  CHECK(grid % device.multiProcessorCount == 0);

  checked::device_buffer<unsigned int> count(1);
  count.fill_bytes(0);
  count_threads<<<static_cast<unsigned int>(grid), static_cast<unsigned int>(block)>>>(
      count.data());
  REQUIRE(cudaGetLastError() == cudaSuccess);
  CHECK(count.to_host() == std::vector<unsigned int>{static_cast<unsigned int>(grid * block)});
}

TEST_CASE("occupancy: the suggested block size keeps to the limit") {
  for (const int limit : {1, 31, 32, 33, 100, 512}) {
    int grid = 0;
    int block = 0;
    REQUIRE(cudaOccupancyMaxPotentialBlockSize(&grid, &block, do_nothing<5>, 0, limit) ==
            cudaSuccess);
    CHECK(block >= 1);
    CHECK(block <= limit);
  }
}

TEST_CASE("occupancy: the suggested block size accounts for shared memory that grows with it") {
  int grid = 0;
  int block = 0;
  REQUIRE(cudaOccupancyMaxPotentialBlockSizeVariableSMem(&grid, &block, do_nothing<6>,
                                                         hundred_bytes_a_thread()) == cudaSuccess);
  CHECK(block >= 32);
  CHECK(block <= 480);
  CHECK(block % 32 == 0);
}

TEST_CASE("limits can be read, and the stack's be set") {
  std::size_t before = 0;
  REQUIRE(cudaDeviceGetLimit(&before, cudaLimitStackSize) == cudaSuccess);
  CHECK(before > 0);
  REQUIRE(cudaDeviceSetLimit(cudaLimitStackSize, 4096) == cudaSuccess);
  std::size_t after = 0;
  REQUIRE(cudaDeviceGetLimit(&after, cudaLimitStackSize) == cudaSuccess);
  CHECK(after >= 4096);
  CHECK(cudaDeviceSetLimit(cudaLimitStackSize, before) == cudaSuccess);

  std::size_t heap = 0;
  REQUIRE(cudaDeviceGetLimit(&heap, cudaLimitMallocHeapSize) == cudaSuccess);
  CHECK(heap > 0);
}

TEST_CASE("a device is not its own peer") {
  int can_access = -1;
  REQUIRE(cudaDeviceCanAccessPeer(&can_access, 0, 0) == cudaSuccess);
  CHECK(can_access == 0);
}

TEST_CASE("errors have the runtime's names and words") {
  struct row {
    cudaError_t error;
    int number;
    const char* name;
    const char* words;
  };
  const row rows[] = {
      {cudaSuccess, 0, "cudaSuccess", "no error"},
      {cudaErrorInvalidValue, 1, "cudaErrorInvalidValue", "invalid argument"},
      {cudaErrorMemoryAllocation, 2, "cudaErrorMemoryAllocation", "out of memory"},
      {cudaErrorInvalidConfiguration, 9, "cudaErrorInvalidConfiguration",
       "invalid configuration argument"},
      {cudaErrorInvalidPitchValue, 12, "cudaErrorInvalidPitchValue", "invalid pitch argument"},
      {cudaErrorInvalidSymbol, 13, "cudaErrorInvalidSymbol", "invalid device symbol"},
      {cudaErrorInvalidMemcpyDirection, 21, "cudaErrorInvalidMemcpyDirection",
       "invalid copy direction for memcpy"},
      {cudaErrorInsufficientDriver, 35, "cudaErrorInsufficientDriver",
       "CUDA driver version is insufficient for CUDA runtime version"},
      {cudaErrorInvalidDeviceFunction, 98, "cudaErrorInvalidDeviceFunction",
       "invalid device function"},
      {cudaErrorNoDevice, 100, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
      {cudaErrorInvalidDevice, 101, "cudaErrorInvalidDevice", "invalid device ordinal"},
      {cudaErrorInvalidResourceHandle, 400, "cudaErrorInvalidResourceHandle",
       "invalid resource handle"},
      {cudaErrorNotReady, 600, "cudaErrorNotReady", "device not ready"},
      {cudaErrorIllegalAddress, 700, "cudaErrorIllegalAddress",
       "an illegal memory access was encountered"},
      {cudaErrorLaunchOutOfResources, 701, "cudaErrorLaunchOutOfResources",
       "too many resources requested for launch"},
      {cudaErrorLaunchTimeout, 702, "cudaErrorLaunchTimeout",
       "the launch timed out and was terminated"},
      {cudaErrorAssert, 710, "cudaErrorAssert", "device-side assert triggered"},
      {cudaErrorHostMemoryAlreadyRegistered, 712, "cudaErrorHostMemoryAlreadyRegistered",
       "part or all of the requested memory range is already mapped"},
      {cudaErrorMisalignedAddress, 716, "cudaErrorMisalignedAddress", "misaligned address"},
      {cudaErrorLaunchFailure, 719, "cudaErrorLaunchFailure", "unspecified launch failure"},
      {cudaErrorCooperativeLaunchTooLarge, 720, "cudaErrorCooperativeLaunchTooLarge",
       "too many blocks in cooperative launch"},
      {cudaErrorNotSupported, 801, "cudaErrorNotSupported", "operation not supported"},
      {cudaErrorUnknown, 999, "cudaErrorUnknown", "unknown error"},
  };
  for (const row& each : rows) {
    CHECK(static_cast<int>(each.error) == each.number);
    CHECK(std::string(cudaGetErrorName(each.error)) == each.name);
    CHECK(std::string(cudaGetErrorString(each.error)) == each.words);
  }
  CHECK(std::string(cudaGetErrorName(static_cast<cudaError_t>(5000))) == "unrecognized error code");
  CHECK(std::string(cudaGetErrorString(static_cast<cudaError_t>(5000))) ==
        "unrecognized error code");
}

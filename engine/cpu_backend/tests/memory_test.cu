// SPDX-License-Identifier: MIT
// Device, managed and pinned memory, copies and fills. How they answer misuse is in
// error_codes_test.
#include <cuda_runtime.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "error_names.hpp"

namespace {

constexpr std::size_t kibibyte = 1024;
constexpr std::size_t mebibyte = 1024 * kibibyte;

__device__ int device_variable = 5;
__device__ int device_array[8];
__constant__ int constant_array[4];
__managed__ int managed_variable = 3;

__global__ void add_one(int* values, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) values[i] += 1;
}

__global__ void read_symbols(int* out) {
  out[0] = device_variable;
  for (int i = 0; i < 8; ++i) out[1 + i] = device_array[i];
  for (int i = 0; i < 4; ++i) out[9 + i] = constant_array[i];
}

__global__ void write_symbols() {
  device_variable = 77;
  for (int i = 0; i < 8; ++i) device_array[i] = 10 * i;
  managed_variable += 1;
}

std::vector<unsigned char> pattern(std::size_t bytes) {
  std::vector<unsigned char> values(bytes);
  for (std::size_t i = 0; i < bytes; ++i) values[i] = static_cast<unsigned char>(i * 7 + i / 251);
  return values;
}

cudaPointerAttributes attributes_of(const void* pointer) {
  cudaPointerAttributes attributes;
  REQUIRE(cudaPointerGetAttributes(&attributes, pointer) == cudaSuccess);
  return attributes;
}

// Lines of the process's memory map: a mapping that is not given back is one line more.
std::size_t mappings() {
  std::ifstream maps("/proc/self/maps");
  std::size_t lines = 0;
  for (std::string line; std::getline(maps, line);) ++lines;
  return lines;
}

}  // namespace

TEST_CASE("what is copied to the device comes back, of every size and in every direction") {
  for (const std::size_t bytes :
       {std::size_t{1}, std::size_t{3}, std::size_t{255}, std::size_t{256}, std::size_t{257},
        std::size_t{4095}, std::size_t{4097}, 64 * kibibyte, 64 * kibibyte + 1, 5 * mebibyte + 3}) {
    INFO("bytes: " << bytes);
    const std::vector<unsigned char> values = pattern(bytes);
    std::vector<unsigned char> back(bytes, 0);
    unsigned char* first = nullptr;
    unsigned char* second = nullptr;
    REQUIRE(cudaMalloc(&first, bytes) == cudaSuccess);
    REQUIRE(cudaMalloc(&second, bytes) == cudaSuccess);
    CHECK(reinterpret_cast<std::uintptr_t>(first) % 256 == 0);
    CHECK(reinterpret_cast<std::uintptr_t>(second) % 256 == 0);
    CHECK(cudaMemcpy(first, values.data(), bytes, cudaMemcpyHostToDevice) == cudaSuccess);
    CHECK(cudaMemcpy(second, first, bytes, cudaMemcpyDeviceToDevice) == cudaSuccess);
    CHECK(cudaMemcpy(back.data(), second, bytes, cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(back == values);

    std::fill(back.begin(), back.end(), static_cast<unsigned char>(0));
    CHECK(cudaMemset(first, 0, bytes) == cudaSuccess);
    CHECK(cudaMemcpy(first, values.data(), bytes, cudaMemcpyDefault) == cudaSuccess);
    CHECK(cudaMemcpyAsync(second, first, bytes, cudaMemcpyDefault, nullptr) == cudaSuccess);
    CHECK(cudaMemcpyAsync(back.data(), second, bytes, cudaMemcpyDefault) == cudaSuccess);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(back == values);

    std::fill(back.begin(), back.end(), static_cast<unsigned char>(0));
    CHECK(cudaMemcpy(back.data(), values.data(), bytes, cudaMemcpyHostToHost) == cudaSuccess);
    CHECK(back == values);
    CHECK(cudaFree(first) == cudaSuccess);
    CHECK(cudaFree(second) == cudaSuccess);
  }
}

TEST_CASE("a copy and a fill change their own bytes and no others") {
  constexpr std::size_t bytes = 1000;
  unsigned char* memory = nullptr;
  REQUIRE(cudaMalloc(&memory, bytes) == cudaSuccess);
  REQUIRE(cudaMemset(memory, 0x11, bytes) == cudaSuccess);
  REQUIRE(cudaMemset(memory + 100, 0x1FF, 50) == cudaSuccess);  // only the low byte counts
  REQUIRE(cudaMemsetAsync(memory + 200, 0x22, 1) == cudaSuccess);
  const std::vector<unsigned char> values = pattern(77);
  REQUIRE(cudaMemcpy(memory + 301, values.data(), values.size(), cudaMemcpyHostToDevice) ==
          cudaSuccess);
  std::vector<unsigned char> back(bytes);
  REQUIRE(cudaMemcpy(back.data(), memory, bytes, cudaMemcpyDeviceToHost) == cudaSuccess);

  std::vector<unsigned char> expected(bytes, 0x11);
  std::fill_n(expected.begin() + 100, 50, static_cast<unsigned char>(0xFF));
  expected[200] = 0x22;
  std::copy(values.begin(), values.end(), expected.begin() + 301);
  CHECK(back == expected);
  CHECK(cudaFree(memory) == cudaSuccess);
}

TEST_CASE("rows of a pitched allocation") {
  constexpr std::size_t width = 100;
  constexpr std::size_t height = 7;
  unsigned char* memory = nullptr;
  std::size_t pitch = 0;
  REQUIRE(cudaMallocPitch(&memory, &pitch, width, height) == cudaSuccess);
  CHECK(pitch >= width);
  CHECK(pitch % 32 == 0);
  REQUIRE(cudaMemset(memory, 0xEE, pitch * height) == cudaSuccess);

  const std::vector<unsigned char> values = pattern(width * height);
  REQUIRE(cudaMemcpy2D(memory, pitch, values.data(), width, width, height,
                       cudaMemcpyHostToDevice) == cudaSuccess);
  REQUIRE(cudaMemset2D(memory + 10, pitch, 0x33, 5, 3) == cudaSuccess);
  REQUIRE(cudaMemset2DAsync(memory + 4 * pitch, pitch, 0x44, 2, 2) == cudaSuccess);

  std::vector<unsigned char> expected = values;
  for (std::size_t row = 0; row < 3; ++row) {
    std::fill_n(expected.data() + row * width + 10, 5, static_cast<unsigned char>(0x33));
  }
  for (std::size_t row = 4; row < 6; ++row) {
    std::fill_n(expected.data() + row * width, 2, static_cast<unsigned char>(0x44));
  }
  std::vector<unsigned char> rows(width * height);
  REQUIRE(cudaMemcpy2DAsync(rows.data(), width, memory, pitch, width, height,
                            cudaMemcpyDeviceToHost) == cudaSuccess);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(rows == expected);

  // The bytes between the rows were not touched.
  std::vector<unsigned char> everything(pitch * height);
  REQUIRE(cudaMemcpy(everything.data(), memory, everything.size(), cudaMemcpyDeviceToHost) ==
          cudaSuccess);
  std::size_t touched = 0;
  for (std::size_t i = 0; i < everything.size(); ++i) {
    touched += i % pitch >= width && everything[i] != 0xEE;
  }
  CHECK(touched == 0);
  CHECK(cudaFree(memory) == cudaSuccess);
}

TEST_CASE("allocations that live at the same time are apart") {
  constexpr std::size_t count = 1000;
  struct block {
    unsigned char* memory = nullptr;
    std::size_t bytes = 0;
  };
  std::vector<block> blocks(count);
  for (std::size_t i = 0; i < count; ++i) {
    blocks[i].bytes = 1 + i * 37 % 10000;
    REQUIRE(cudaMalloc(&blocks[i].memory, blocks[i].bytes) == cudaSuccess);
    REQUIRE(cudaMemset(blocks[i].memory, static_cast<int>(i % 256), blocks[i].bytes) ==
            cudaSuccess);
  }
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<unsigned char> back(blocks[i].bytes);
    REQUIRE(cudaMemcpy(back.data(), blocks[i].memory, back.size(), cudaMemcpyDeviceToHost) ==
            cudaSuccess);
    wrong += static_cast<std::size_t>(std::count_if(
        back.begin(), back.end(), [&](unsigned char byte) { return byte != i % 256; }));
  }
  CHECK(wrong == 0);
  for (const block& each : blocks) REQUIRE(cudaFree(each.memory) == cudaSuccess);
}

TEST_CASE("10,000 allocations that are freed leave nothing behind") {
  const auto allocate_and_free = [](int times) {
    for (int i = 0; i < times; ++i) {
      void* device = nullptr;
      void* managed = nullptr;
      REQUIRE(cudaMalloc(&device, 1 + static_cast<std::size_t>(i) * 977 % (256 * kibibyte)) ==
              cudaSuccess);
      if (i % 100 == 0) {
        REQUIRE(cudaMallocManaged(&managed, 4096) == cudaSuccess);
        REQUIRE(cudaFree(managed) == cudaSuccess);
      }
      REQUIRE(cudaFree(device) == cudaSuccess);
    }
  };
  allocate_and_free(200);  // what a driver keeps for later use, it keeps now
  const std::size_t before = mappings();
  allocate_and_free(10000);
  CHECK(mappings() <= before + 100);
}

TEST_CASE("memory that is not there is refused, and the next request is served") {
  std::size_t free = 0;
  std::size_t total = 0;
  REQUIRE(cudaMemGetInfo(&free, &total) == cudaSuccess);
  CHECK(free > 0);
  CHECK(free <= total);
  cudaDeviceProp properties;
  REQUIRE(cudaGetDeviceProperties(&properties, 0) == cudaSuccess);
  CHECK(properties.totalGlobalMem == total);

  void* memory = nullptr;
  CHECK(cudaMalloc(&memory, total) == cudaErrorMemoryAllocation);
  CHECK(cudaGetLastError() == cudaErrorMemoryAllocation);
  CHECK(cudaMalloc(&memory, SIZE_MAX) == cudaErrorMemoryAllocation);
  CHECK(cudaGetLastError() == cudaErrorMemoryAllocation);
  REQUIRE(cudaMalloc(&memory, mebibyte) == cudaSuccess);
  CHECK(cudaFree(memory) == cudaSuccess);
}

TEST_CASE("half of the free memory can be had, and its far end be used") {
  std::size_t free = 0;
  std::size_t total = 0;
  REQUIRE(cudaMemGetInfo(&free, &total) == cudaSuccess);
  const std::size_t bytes = free / 2;
  unsigned char* memory = nullptr;
  REQUIRE(cudaMalloc(&memory, bytes) == cudaSuccess);

  // It is taken: as much again and a quarter more is not there.
  void* more = nullptr;
  CHECK(cudaMalloc(&more, free / 4 * 3) == cudaErrorMemoryAllocation);
  CHECK(cudaGetLastError() == cudaErrorMemoryAllocation);

  REQUIRE(cudaMemset(memory, 1, 100) == cudaSuccess);
  REQUIRE(cudaMemset(memory + bytes - 100, 2, 100) == cudaSuccess);
  unsigned char first = 0;
  unsigned char last = 0;
  CHECK(cudaMemcpy(&first, memory, 1, cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(cudaMemcpy(&last, memory + bytes - 1, 1, cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(first == 1);
  CHECK(last == 2);
  CHECK(cudaFree(memory) == cudaSuccess);
}

TEST_CASE("managed memory is written by the host, then by a kernel, then read by the host") {
  constexpr int n = 1000;
  int* values = nullptr;
  REQUIRE(cudaMallocManaged(&values, n * sizeof(int)) == cudaSuccess);
  std::iota(values, values + n, 0);
  add_one<<<(n + 255) / 256, 256>>>(values, n);
  REQUIRE(cudaGetLastError() == cudaSuccess);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  std::vector<int> expected(n);
  std::iota(expected.begin(), expected.end(), 1);
  CHECK(std::vector<int>(values, values + n) == expected);
  CHECK(cudaFree(values) == cudaSuccess);
}

TEST_CASE("a kernel takes the address of a managed variable from the host") {
  CHECK(attributes_of(&managed_variable).type == cudaMemoryTypeManaged);
  const int before = managed_variable;
  add_one<<<1, 1>>>(&managed_variable, 1);
  REQUIRE(cudaGetLastError() == cudaSuccess);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(managed_variable == before + 1);
}

TEST_CASE("advice about managed memory is taken") {
  int concurrent = 0;
  REQUIRE(cudaDeviceGetAttribute(&concurrent, cudaDevAttrConcurrentManagedAccess, 0) ==
          cudaSuccess);
  if (!concurrent) SKIP("this device does not move managed memory on demand");
  constexpr int n = 100000;
  constexpr std::size_t bytes = n * sizeof(int);
  const cudaMemLocation device{cudaMemLocationTypeDevice, 0};
  const cudaMemLocation host{cudaMemLocationTypeHost, 0};
  int* values = nullptr;
  REQUIRE(cudaMallocManaged(&values, bytes) == cudaSuccess);
  std::fill(values, values + n, 41);
  CHECK(cudaMemAdvise(values, bytes, cudaMemAdviseSetPreferredLocation, device) == cudaSuccess);
  CHECK(cudaMemPrefetchAsync(values, bytes, device, 0) == cudaSuccess);
  add_one<<<(n + 255) / 256, 256>>>(values, n);
  REQUIRE(cudaGetLastError() == cudaSuccess);
  CHECK(cudaMemPrefetchAsync(values, bytes, host, 0) == cudaSuccess);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(std::count(values, values + n, 42) == n);
  CHECK(cudaFree(values) == cudaSuccess);
}

TEST_CASE("pinned memory is reached by a kernel through its device pointer") {
  constexpr int n = 100;
  int* values = nullptr;
  REQUIRE(cudaHostAlloc(&values, n * sizeof(int), cudaHostAllocMapped) == cudaSuccess);
  std::iota(values, values + n, 0);
  int* on_device = nullptr;
  REQUIRE(cudaHostGetDevicePointer(&on_device, values, 0) == cudaSuccess);
  add_one<<<1, 128>>>(on_device, n);
  REQUIRE(cudaGetLastError() == cudaSuccess);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(values[0] == 1);
  CHECK(values[n - 1] == n);
  CHECK(cudaFreeHost(values) == cudaSuccess);
}

TEST_CASE("the host's own memory can be registered and is then reached by a kernel") {
  // Whole pages of its own, as registration wants them.
  alignas(4096) static int values[4096];
  std::iota(values, values + 4096, 0);
  REQUIRE(cudaHostRegister(values, sizeof values, cudaHostRegisterMapped) == cudaSuccess);
  CHECK(attributes_of(values).type == cudaMemoryTypeHost);
  int* on_device = nullptr;
  REQUIRE(cudaHostGetDevicePointer(&on_device, values, 0) == cudaSuccess);
  add_one<<<16, 256>>>(on_device, 4096);
  REQUIRE(cudaGetLastError() == cudaSuccess);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(values[0] == 1);
  CHECK(values[4095] == 4096);
  REQUIRE(cudaHostUnregister(values) == cudaSuccess);
  REQUIRE(cudaHostRegister(values, sizeof values, cudaHostRegisterDefault) == cudaSuccess);
  CHECK(cudaHostUnregister(values) == cudaSuccess);
}

TEST_CASE("pointers say what memory they are in") {
  int* device = nullptr;
  int* managed = nullptr;
  int* pinned = nullptr;
  std::vector<int> ordinary(100);
  REQUIRE(cudaMalloc(&device, 400) == cudaSuccess);
  REQUIRE(cudaMallocManaged(&managed, 400) == cudaSuccess);
  REQUIRE(cudaMallocHost(&pinned, 400) == cudaSuccess);

  CHECK(attributes_of(device).type == cudaMemoryTypeDevice);
  CHECK(attributes_of(device).device == 0);
  CHECK(attributes_of(device).devicePointer == device);
  CHECK(attributes_of(device + 99).type == cudaMemoryTypeDevice);
  CHECK(attributes_of(device + 99).devicePointer == device + 99);
  CHECK(attributes_of(managed).type == cudaMemoryTypeManaged);
  CHECK(attributes_of(managed).devicePointer == managed);
  CHECK(attributes_of(managed).hostPointer == managed);
  CHECK(attributes_of(pinned).type == cudaMemoryTypeHost);
  CHECK(attributes_of(pinned).hostPointer == pinned);
  CHECK(attributes_of(ordinary.data()).type == cudaMemoryTypeUnregistered);

  CHECK(cudaFree(device) == cudaSuccess);
  CHECK(cudaFree(managed) == cudaSuccess);
  CHECK(cudaFreeHost(pinned) == cudaSuccess);
}

TEST_CASE("variables of the device are read and written by name") {
  std::vector<int> seen(13, -1);
  int* out = nullptr;
  REQUIRE(cudaMalloc(&out, seen.size() * sizeof(int)) == cudaSuccess);

  const int in_array[3] = {7, 8, 9};
  const int in_constant[4] = {1, 2, 3, 4};
  const int zeros[8] = {};
  int value = 0;
  REQUIRE(cudaMemcpyFromSymbol(&value, device_variable, sizeof value) == cudaSuccess);
  CHECK(value == 5);  // its initialiser
  value = 6;
  REQUIRE(cudaMemcpyToSymbol(device_variable, &value, sizeof value) == cudaSuccess);
  REQUIRE(cudaMemcpyToSymbol(device_array, zeros, sizeof zeros) == cudaSuccess);
  REQUIRE(cudaMemcpyToSymbol(device_array, in_array, sizeof in_array, 2 * sizeof(int)) ==
          cudaSuccess);
  REQUIRE(cudaMemcpyToSymbolAsync(constant_array, in_constant, sizeof in_constant) == cudaSuccess);
  read_symbols<<<1, 1>>>(out);
  REQUIRE(cudaGetLastError() == cudaSuccess);
  REQUIRE(cudaMemcpy(seen.data(), out, seen.size() * sizeof(int), cudaMemcpyDeviceToHost) ==
          cudaSuccess);
  CHECK(seen == std::vector<int>{6, 0, 0, 7, 8, 9, 0, 0, 0, 1, 2, 3, 4});

  managed_variable = 3;
  write_symbols<<<1, 1>>>();
  REQUIRE(cudaGetLastError() == cudaSuccess);
  REQUIRE(cudaMemcpyFromSymbol(&value, device_variable, sizeof value) == cudaSuccess);
  CHECK(value == 77);
  std::vector<int> part(2);
  REQUIRE(cudaMemcpyFromSymbolAsync(part.data(), device_array, 2 * sizeof(int), 6 * sizeof(int)) ==
          cudaSuccess);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(part == std::vector<int>{60, 70});
  CHECK(managed_variable == 4);
  CHECK(cudaFree(out) == cudaSuccess);
}

TEST_CASE("the address of a variable of the device can be used as any device pointer") {
  std::size_t bytes = 0;
  REQUIRE(cudaGetSymbolSize(&bytes, device_array) == cudaSuccess);
  CHECK(bytes == 8 * sizeof(int));
  void* address = nullptr;
  REQUIRE(cudaGetSymbolAddress(&address, device_array) == cudaSuccess);
  CHECK(attributes_of(address).type == cudaMemoryTypeDevice);
  REQUIRE(cudaMemset(address, 0, bytes) == cudaSuccess);
  add_one<<<1, 32>>>(static_cast<int*>(address), 8);
  REQUIRE(cudaGetLastError() == cudaSuccess);
  std::vector<int> values(8);
  REQUIRE(cudaMemcpy(values.data(), address, bytes, cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(values == std::vector<int>(8, 1));
}

TEST_CASE("memory that is allocated in a stream is used and freed in it") {
  int supported = 0;
  REQUIRE(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, 0) == cudaSuccess);
  if (!supported) SKIP("this device has no memory pools");
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  constexpr int n = 1000;
  int* values = nullptr;
  std::vector<int> back(n);
  REQUIRE(cudaMallocAsync(&values, n * sizeof(int), stream) == cudaSuccess);
  REQUIRE(cudaMemsetAsync(values, 0, n * sizeof(int), stream) == cudaSuccess);
  add_one<<<(n + 255) / 256, 256, 0, stream>>>(values, n);
  REQUIRE(cudaMemcpyAsync(back.data(), values, n * sizeof(int), cudaMemcpyDeviceToHost, stream) ==
          cudaSuccess);
  REQUIRE(cudaFreeAsync(values, stream) == cudaSuccess);
  REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
  CHECK(back == std::vector<int>(n, 1));

  // cudaFree takes it too.
  REQUIRE(cudaMallocAsync(&values, n * sizeof(int), stream) == cudaSuccess);
  REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
  CHECK(cudaFree(values) == cudaSuccess);
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
}

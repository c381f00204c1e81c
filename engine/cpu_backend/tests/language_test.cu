// SPDX-License-Identifier: MIT
// What a program can ask of the language besides its functions: __CUDA_ARCH__, arguments by value,
// numbers of other kinds.
#include <cuComplex.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <cuda/std/limits>
#include <cuda/std/type_traits>

#include <catch2/catch_test_macros.hpp>
#include <limits>
#include <vector>

#include "checked_runtime/check.cuh"
#include "checked_runtime/device_buffer.cuh"

namespace {

__host__ __device__ int architecture() {
#ifdef __CUDA_ARCH__
  return __CUDA_ARCH__;
#else
  return 0;
#endif
}

__global__ void write_architecture(int* out) {
#if __CUDA_ARCH__ >= 700
  out[0] = __CUDA_ARCH__;
#endif
  out[1] = architecture();
}

struct counts {
  int copies = 0;
  int destroyed = 0;
};

// The kernel must not see the host's counts, and each of its threads has a member of its own.
class counted {
 public:
  explicit counted(counts* of) : counts_(of) {}
  counted(const counted& other) : counts_(other.counts_) { ++counts_->copies; }
  counted& operator=(const counted&) = delete;
  ~counted() { ++counts_->destroyed; }

  __device__ int next() { return ++number_; }

 private:
  counts* counts_;
  int number_ = 0;
};

__global__ void count_by_value(counted by_value, int* out) {
  if (by_value.next() == 1) atomicAdd(out, 1);
}

template <class T>
__global__ void count_by_value_of(counted by_value, T* out) {
  if (by_value.next() == 1) atomicAdd(out, T{1});
}

// Owns its memory, as the buffers of many programs do.
class owning_buffer {
 public:
  explicit owning_buffer(int* freed) : freed_(freed) {
    CUDA_CHECK(cudaMallocManaged(&values_, 32 * sizeof(int)));
  }
  owning_buffer(const owning_buffer&) = delete;
  owning_buffer& operator=(const owning_buffer&) = delete;
  ~owning_buffer() {
    ++*freed_;
    cudaFree(values_);
  }

  operator int*() { return values_; }

 private:
  int* values_ = nullptr;
  int* freed_;
};

template <class T>
__global__ void store_any(int* out, T value) {
  out[threadIdx.x] = value;
}

__global__ void store_seven(int* out, int value = 7) { out[threadIdx.x] = value; }

struct numbers {
  static const int twenty_five = 25;  // has no address
  int three : 3;
};

[[nodiscard]] __device__ int one_more(int value) {
  __builtin_assume(value > 0);
  return value + 1;
}

template <class T>
[[nodiscard]] __host__ __device__ T twice(T value) {
  return 2 * value;
}

[[maybe_unused]] __global__ void store_computed(int* out) {
  out[threadIdx.x] = twice(one_more(static_cast<int>(threadIdx.x) + 1));
}

__global__ void round_to_half(const float* in, float* out, unsigned short* bits, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    const __half value = __float2half(in[i]);
    out[i] = __half2float(value);
    bits[i] = __half_as_ushort(value);
  }
}

__global__ void multiply(cuFloatComplex a, cuFloatComplex b, cuFloatComplex* out) {
  out[0] = cuCmulf(a, b);
  out[1] = cuCdivf(out[0], b);
  out[2] = make_cuFloatComplex(cuCabsf(make_cuFloatComplex(3, 4)), 0);
}

// What the host's own <limits> would refuse here: its functions are the host's.
__global__ void write_limits(float* floats, int* integers) {
  floats[0] = cuda::std::numeric_limits<float>::max();
  floats[1] = -cuda::std::numeric_limits<float>::infinity();
  integers[0] = cuda::std::numeric_limits<int>::lowest();
  integers[1] = cuda::std::is_trivially_copyable_v<counted> ? 1 : 0;
  integers[2] = cuda::std::is_same_v<cuda::std::remove_cvref_t<const int&>, int> ? 1 : 0;
}

}  // namespace

TEST_CASE("__CUDA_ARCH__ is the device's capability in kernels and undefined on the host") {
  checked::device_buffer<int> out(2);
  out.fill_bytes(0);
  write_architecture<<<1, 1>>>(out.data());
  CUDA_CHECK(cudaDeviceSynchronize());
  cudaDeviceProp device;
  CUDA_CHECK(cudaGetDeviceProperties(&device, 0));
  const int capability = 100 * device.major + 10 * device.minor;
  const auto seen = out.to_host();
  REQUIRE(seen[0] <= capability);  // nvcc may have compiled for an older one
  REQUIRE(seen[0] >= 100 * device.major);
  REQUIRE(seen[1] == seen[0]);
  REQUIRE(architecture() == 0);
}

TEST_CASE("a kernel argument by value is copied once for a launch") {
  checked::device_buffer<int> out(1);
  out.fill_bytes(0);
  counts seen;
  {
    const counted original(&seen);
    count_by_value<<<3, 64>>>(original, out.data());
    CUDA_CHECK(cudaDeviceSynchronize());
    REQUIRE(seen.copies == 1);
    REQUIRE(seen.destroyed == 1);
    count_by_value_of<<<3, 64>>>(original, out.data());
    CUDA_CHECK(cudaDeviceSynchronize());
    REQUIRE(seen.copies == 2);
    REQUIRE(seen.destroyed == 2);
  }
  REQUIRE(seen.destroyed == 3);
  REQUIRE(out.to_host()[0] == 2 * 3 * 64);
}

TEST_CASE("an object that is converted to a kernel's parameter is neither copied nor destroyed") {
  int freed = 0;
  {
    owning_buffer buffer(&freed);
    int* const values = buffer;
    store_any<<<1, 32>>>(buffer, 8);
    CUDA_CHECK(cudaDeviceSynchronize());
    REQUIRE(values[31] == 8);
    store_seven<<<1, 32>>>(buffer);
    CUDA_CHECK(cudaDeviceSynchronize());
    REQUIRE(values[31] == 7);
    store_seven<<<1, 32>>>(buffer, 9);
    CUDA_CHECK(cudaDeviceSynchronize());
    REQUIRE(values[31] == 9);
    REQUIRE(freed == 0);
  }
  REQUIRE(freed == 1);
}

TEST_CASE("a kernel argument may have no address") {
  checked::device_buffer<int> out(1);
  numbers small{};
  small.three = 3;
  store_any<<<1, 1>>>(out.data(), numbers::twenty_five);
  CHECK(out.to_host()[0] == 25);
  store_any<<<1, 1>>>(out.data(), small.three);
  CHECK(out.to_host()[0] == 3);
}

TEST_CASE("attributes may stand before CUDA's words") {
  checked::device_buffer<int> out(2);
  store_computed<<<1, 2>>>(out.data());
  CHECK(out.to_host() == std::vector<int>{4, 6});
}

TEST_CASE("a float becomes the nearest half, of two the even one") {
  // IEEE 754, binary16: 10 bits of fraction, exponents from -14 to 15, subnormal numbers.
  const std::vector<float> in = {
      0.0f,     1.0f,        -2.0f,      65504.0f,        65519.0f,          65520.0f,
      0x1p-24f, 0x1p-25f,    0x1.8p-25f, 1.0f + 0x1p-11f, 1.0f + 0x1.8p-10f, 1.0f + 0x1.002p-11f,
      0x1p-14f, 0x1.ffcp-15f};
  const std::vector<unsigned short> expected = {0x0000, 0x3c00, 0xc000, 0x7bff, 0x7bff,
                                                0x7c00, 0x0001, 0x0000, 0x0001, 0x3c00,
                                                0x3c02, 0x3c01, 0x0400, 0x0400};
  const int n = static_cast<int>(in.size());
  checked::device_buffer<float> source(in), back(in.size());
  checked::device_buffer<unsigned short> bits(in.size());
  round_to_half<<<1, 32>>>(source.data(), back.data(), bits.data(), n);
  CUDA_CHECK(cudaDeviceSynchronize());
  REQUIRE(bits.to_host() == expected);
  REQUIRE(back.to_host()[3] == 65504.0f);
  REQUIRE(back.to_host()[6] == 0x1p-24f);
}

TEST_CASE("complex numbers") {
  checked::device_buffer<cuFloatComplex> out(3);
  multiply<<<1, 1>>>(make_cuFloatComplex(1, 2), make_cuFloatComplex(1, 1), out.data());
  CUDA_CHECK(cudaDeviceSynchronize());
  const auto seen = out.to_host();
  REQUIRE(seen[0].x == -1.0f);
  REQUIRE(seen[0].y == 3.0f);
  REQUIRE(seen[1].x == 1.0f);
  REQUIRE(seen[1].y == 2.0f);
  REQUIRE(seen[2].x == 5.0f);
}

TEST_CASE("kernels use cuda::std's limits and traits") {
  checked::device_buffer<float> floats(2);
  checked::device_buffer<int> integers(3);
  write_limits<<<1, 1>>>(floats.data(), integers.data());
  CUDA_CHECK(cudaDeviceSynchronize());
  REQUIRE(floats.to_host() == std::vector<float>{std::numeric_limits<float>::max(),
                                                 -std::numeric_limits<float>::infinity()});
  REQUIRE(integers.to_host() == std::vector<int>{std::numeric_limits<int>::lowest(), 0, 1});
}

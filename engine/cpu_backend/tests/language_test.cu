// SPDX-License-Identifier: MIT
// What a program can ask of the language besides its functions: __CUDA_ARCH__, arguments by value,
// numbers of other kinds.
#include <cuComplex.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cuda/std/array>
#include <cuda/std/bit>
#include <cuda/std/cstdint>
#include <cuda/std/functional>
#include <cuda/std/limits>
#include <cuda/std/optional>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <cuda/std/type_traits>
#include <cuda/std/utility>
#include <limits>
#include <type_traits>
#include <vector>

#include "checked_runtime/check.cuh"
#include "checked_runtime/device_buffer.cuh"
#include "error_names.hpp"

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
  auto [three, four] = cuda::std::make_pair(cuda::std::int32_t{3}, 4);
  cuda::std::swap(three, four);
  integers[3] = cuda::std::exchange(three, cuda::std::move(four));
}

struct two_numbers {
  int first, second;
};
__global__ void add_pair(two_numbers of, int* sum) { *sum = of.first + of.second; }

__device__ cuda::std::optional<int> even(int value) {
  if (value % 2 != 0) return cuda::std::nullopt;
  return value;
}

__global__ void add_kept(int* sums) {
  const cuda::std::array<int, 3> values = {4, 3, 2};
  int sum = 0;
  for (const int value : cuda::std::span<const int>(values)) {
    if (const auto kept = even(value)) sum = cuda::std::plus<int>{}(sum, *kept);
  }
  const auto [bits, added] = cuda::std::make_tuple(cuda::std::popcount(7u), sum);
  sums[0] = bits + added;
  sums[1] = even(1).has_value() ? 1 : 0;
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

TEST_CASE("kernels use cuda::std's arrays, tuples and function objects") {
  checked::device_buffer<int> sums(2);
  add_kept<<<1, 1>>>(sums.data());
  CUDA_CHECK(cudaDeviceSynchronize());
  REQUIRE(sums.to_host() == std::vector<int>{9, 0});
}

TEST_CASE("a list in braces has the type of the kernel's parameter") {
  checked::device_buffer<int> sums(1);
  add_pair<<<1, 1>>>({3, 4}, sums.data());
  CUDA_CHECK(cudaDeviceSynchronize());
  REQUIRE(sums.to_host() == std::vector<int>{7});
}

TEST_CASE("kernels use cuda::std's limits and traits") {
  checked::device_buffer<float> floats(2);
  checked::device_buffer<int> integers(4);
  write_limits<<<1, 1>>>(floats.data(), integers.data());
  CUDA_CHECK(cudaDeviceSynchronize());
  REQUIRE(floats.to_host() == std::vector<float>{std::numeric_limits<float>::max(),
                                                 -std::numeric_limits<float>::infinity()});
  REQUIRE(integers.to_host() == std::vector<int>{std::numeric_limits<int>::lowest(), 0, 1, 4});
}

// ---- The vector types have CUDA's layout, on the host and in a kernel.

namespace {

template <class Vector, class Component, std::size_t components, std::size_t alignment>
constexpr bool has_layout =
    sizeof(Vector) == components * sizeof(Component) &&
    alignof(Vector) == alignment&& std::is_aggregate_v<Vector>&& std::is_trivially_copyable_v<
                           Vector>&& std::is_same_v<decltype(Vector::x), Component>;

// CUDA C++ Programming Guide, "Built-in Vector Types", has the table of alignments.
static_assert(has_layout<char1, signed char, 1, 1> && has_layout<uchar1, unsigned char, 1, 1>);
static_assert(has_layout<char2, signed char, 2, 2> && has_layout<uchar2, unsigned char, 2, 2>);
static_assert(has_layout<char3, signed char, 3, 1> && has_layout<uchar3, unsigned char, 3, 1>);
static_assert(has_layout<char4, signed char, 4, 4> && has_layout<uchar4, unsigned char, 4, 4>);
static_assert(has_layout<short1, short, 1, 2> && has_layout<ushort1, unsigned short, 1, 2>);
static_assert(has_layout<short2, short, 2, 4> && has_layout<ushort2, unsigned short, 2, 4>);
static_assert(has_layout<short3, short, 3, 2> && has_layout<ushort3, unsigned short, 3, 2>);
static_assert(has_layout<short4, short, 4, 8> && has_layout<ushort4, unsigned short, 4, 8>);
static_assert(has_layout<int1, int, 1, 4> && has_layout<uint1, unsigned int, 1, 4>);
static_assert(has_layout<int2, int, 2, 8> && has_layout<uint2, unsigned int, 2, 8>);
static_assert(has_layout<int3, int, 3, 4> && has_layout<uint3, unsigned int, 3, 4>);
static_assert(has_layout<int4, int, 4, 16> && has_layout<uint4, unsigned int, 4, 16>);
static_assert(has_layout<long1, long, 1, 8> && has_layout<ulong1, unsigned long, 1, 8>);
static_assert(has_layout<long2, long, 2, 16> && has_layout<ulong2, unsigned long, 2, 16>);
static_assert(has_layout<long3, long, 3, 8> && has_layout<ulong3, unsigned long, 3, 8>);
static_assert(has_layout<long4_16a, long, 4, 16> && has_layout<long4_32a, long, 4, 32>);
static_assert(has_layout<ulong4_16a, unsigned long, 4, 16> &&
              has_layout<ulong4_32a, unsigned long, 4, 32>);
static_assert(has_layout<longlong1, long long, 1, 8> &&
              has_layout<ulonglong1, unsigned long long, 1, 8>);
static_assert(has_layout<longlong2, long long, 2, 16> &&
              has_layout<ulonglong2, unsigned long long, 2, 16>);
static_assert(has_layout<longlong3, long long, 3, 8> &&
              has_layout<ulonglong3, unsigned long long, 3, 8>);
static_assert(has_layout<longlong4_16a, long long, 4, 16> &&
              has_layout<longlong4_32a, long long, 4, 32>);
static_assert(has_layout<ulonglong4_16a, unsigned long long, 4, 16> &&
              has_layout<ulonglong4_32a, unsigned long long, 4, 32>);
static_assert(has_layout<float1, float, 1, 4> && has_layout<float2, float, 2, 8>);
static_assert(has_layout<float3, float, 3, 4> && has_layout<float4, float, 4, 16>);
static_assert(has_layout<double1, double, 1, 8> && has_layout<double2, double, 2, 16>);
static_assert(has_layout<double3, double, 3, 8> && has_layout<double4_16a, double, 4, 16>);
static_assert(has_layout<double4_32a, double, 4, 32>);

static_assert(dim3().x == 1 && dim3().y == 1 && dim3().z == 1);
static_assert(dim3(5).x == 5 && dim3(5).y == 1 && dim3(5, 6).y == 6 && dim3(5, 6, 7).z == 7);
static_assert(static_cast<uint3>(dim3(5, 6, 7)).y == 6 && dim3(uint3{5, 6, 7}).z == 7);
static_assert(sizeof(dim3) == 12 && alignof(dim3) == 4);

// Sizes and alignments as the compiler of device code sees them, one after the other.
__global__ void store_layouts(std::size_t* out) {
  *out++ = sizeof(char3);
  *out++ = alignof(char3);
  *out++ = sizeof(short4);
  *out++ = alignof(short4);
  *out++ = sizeof(float3);
  *out++ = alignof(float3);
  *out++ = sizeof(float4);
  *out++ = alignof(float4);
  *out++ = sizeof(longlong2);
  *out++ = alignof(longlong2);
  *out++ = sizeof(double4_32a);
  *out++ = alignof(double4_32a);
}

// Adds up the components of every type's make_ function, and of its vector through a struct.
__global__ void sum_made_vectors(long long* sums) {
  const auto sum2 = [](auto v) { return static_cast<long long>(v.x) + 10 * v.y; };
  const auto sum3 = [](auto v) { return static_cast<long long>(v.x) + 10 * v.y + 100 * v.z; };
  const auto sum4 = [](auto v) {
    return static_cast<long long>(v.x + 10 * v.y + 100 * v.z + 1000 * v.w);
  };
  *sums++ = make_int1(1).x + make_float1(1).x + make_char1(1).x;
  *sums++ = sum2(make_char2(1, 2)) + sum2(make_uchar2(1, 2));
  *sums++ = sum2(make_short2(1, 2)) + sum2(make_ushort2(1, 2));
  *sums++ = sum2(make_int2(1, 2)) + sum2(make_uint2(1, 2));
  *sums++ = sum2(make_longlong2(1, 2)) + sum2(make_double2(1, 2));
  *sums++ = sum3(make_int3(1, 2, 3)) + sum3(make_uint3(1, 2, 3));
  *sums++ = sum3(make_float3(1, 2, 3)) + sum3(make_double3(1, 2, 3));
  *sums++ = sum4(make_char4(1, 2, 3, 4)) + sum4(make_uchar4(1, 2, 3, 4));
  *sums++ = sum4(make_int4(1, 2, 3, 4)) + sum4(make_uint4(1, 2, 3, 4));
  *sums++ = sum4(make_float4(1, 2, 3, 4)) + sum4(make_short4(1, 2, 3, 4));
  *sums++ = sum4(make_double4_16a(1, 2, 3, 4)) + sum4(make_double4_32a(1, 2, 3, 4));
  *sums++ = sum4(make_longlong4_16a(1, 2, 3, 4)) + sum4(make_ulonglong4_32a(1, 2, 3, 4));
}

__global__ void reverse(const float4* in, float4* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  const float4 v = in[i];
  out[i] = make_float4(v.w, v.z, v.y, v.x);
}

}  // namespace

TEST_CASE("vector types have the same layout in a kernel as on the host") {
  checked::device_buffer<std::size_t> layouts(12);
  store_layouts<<<1, 1>>>(layouts.data());
  REQUIRE(cudaGetLastError() == cudaSuccess);
  CHECK(layouts.to_host() == std::vector<std::size_t>{3, 1, 8, 8, 12, 4, 16, 16, 16, 16, 32, 32});
}

TEST_CASE("make_ functions put each argument in its component") {
  checked::device_buffer<long long> sums(12);
  sum_made_vectors<<<1, 1>>>(sums.data());
  REQUIRE(cudaGetLastError() == cudaSuccess);
  CHECK(sums.to_host() ==
        std::vector<long long>{3, 42, 42, 42, 42, 642, 642, 8642, 8642, 8642, 8642, 8642});
}

TEST_CASE("a kernel reads and writes whole vectors") {
  constexpr int n = 1000;
  std::vector<float> values(4 * n);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const checked::device_buffer<float> in(values);
  checked::device_buffer<float> out(values.size());
  reverse<<<(n + 255) / 256, 256>>>(reinterpret_cast<const float4*>(in.data()),
                                    reinterpret_cast<float4*>(out.data()), n);
  REQUIRE(cudaGetLastError() == cudaSuccess);
  const std::vector<float> got = out.to_host();
  std::vector<float> expected(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) expected[i] = values[i / 4 * 4 + 3 - i % 4];
  CHECK(got == expected);
}

TEST_CASE("dim3 fills in ones and converts from and to uint3") {
  const dim3 from_number = 7;
  CHECK(from_number.x == 7);
  CHECK(from_number.y == 1);
  CHECK(from_number.z == 1);
  const uint3 extent = dim3(2, 3);
  CHECK(extent.x == 2);
  CHECK(extent.y == 3);
  CHECK(extent.z == 1);
}

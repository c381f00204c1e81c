// SPDX-License-Identifier: MIT
// The vector types have CUDA's layout, on the host and in a kernel.
#include <cuda_runtime.h>

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "checked_runtime/device_buffer.cuh"
#include "error_names.hpp"

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

// SPDX-License-Identifier: MIT
// The compiler hands every access over: each width, unaligned ones, whole structures, memcpy and
// its kin, bit-fields, vector types, volatile and the compiler's own atomics. A kernel in which two
// blocks write the same bytes must race, whatever the form of the access; the same with one block
// must not.
#include <cuda_runtime.h>

#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cstdint>
#include <cstring>

#include "racecheck/races/checker.hpp"

namespace {

constexpr std::size_t bytes_of_memory = 64 * 1024;

struct structure {
  int words[7];
  char tail;
};
struct fields {
  unsigned first : 5;
  unsigned second : 11;
};

template <class T>
__global__ void store(std::byte* memory, std::size_t offset) {
  T value{};
  *reinterpret_cast<T*>(memory + offset) = value;
}
template <class T>
__global__ void load(std::byte* memory, std::size_t offset, T* copies) {
  if (blockIdx.x == 0) {
    memory[offset + sizeof(T) - 1] = std::byte{1};
  } else {
    copies[blockIdx.x] = *reinterpret_cast<T*>(memory + offset);
  }
}
__global__ void store_volatile(std::byte* memory, std::size_t offset) {
  *reinterpret_cast<volatile int*>(memory + offset) = 1;
}
__global__ void store_unaligned(std::byte* memory, std::size_t offset) {
  struct [[gnu::packed]] packed {
    std::uint64_t value;
  };
  reinterpret_cast<packed*>(memory + offset + 3)->value = 1;
}
__global__ void store_bit_field(std::byte* memory, std::size_t offset) {
  reinterpret_cast<fields*>(memory + offset)->second = blockIdx.x;
}
__global__ void copy(std::byte* memory, std::size_t offset) {
  std::memcpy(memory + offset, memory + offset + 256, 100);
}
__global__ void copy_constant_size(std::byte* memory, std::size_t offset) {
  const int value = 1;
  std::memcpy(memory + offset, &value, sizeof value);
}
__global__ void move(std::byte* memory, std::size_t offset) {
  std::memmove(memory + offset, memory + offset + 256, 100);
}
__global__ void fill(std::byte* memory, std::size_t offset) {
  std::memset(memory + offset, 1, 100);
}
// Functions of the mathematical library that no compiler has instrumented.
template <class T>
__global__ void store_whole_part(std::byte* memory, std::size_t offset) {
  modf(static_cast<T>(blockIdx.x) + T{1.5}, reinterpret_cast<T*>(memory + offset));
}
template <class T>
__global__ void store_power(std::byte* memory, std::size_t offset) {
  frexp(static_cast<T>(blockIdx.x) + T{1.5}, reinterpret_cast<int*>(memory + offset));
}
template <class T>
__global__ void store_quotient(std::byte* memory, std::size_t offset) {
  remquo(static_cast<T>(blockIdx.x) + T{1.5}, T{1}, reinterpret_cast<int*>(memory + offset));
}
__global__ void store_sine(std::byte* memory, std::size_t offset) {
  float cosine = 0;
  sincosf(static_cast<float>(blockIdx.x), reinterpret_cast<float*>(memory + offset), &cosine);
}
__global__ void store_cosine(std::byte* memory, std::size_t offset) {
  double sine = 0;
  sincos(blockIdx.x, &sine, reinterpret_cast<double*>(memory + offset));
}
// Functions of the C library that look at memory and store nothing: one block does, another writes.
using function = int (*)(const char* text, const char* other);
template <function look>
__global__ void look_at(std::byte* memory, std::size_t offset) {
  if (blockIdx.x == 0) {
    memory[offset] = std::byte{0};
  } else {
    const auto* text = reinterpret_cast<const char*>(memory + offset);
    const auto* other = reinterpret_cast<const char*>(memory + offset + 256);
    memory[offset + 512] = static_cast<std::byte>(look(text, other));
  }
}
__device__ int compare_bytes(const char* text, const char* other) {
  return std::memcmp(other, text, 1) == 0;
}
__device__ int find_byte(const char* text, const char*) {
  return std::memchr(text, 7, 4) != nullptr;
}
__device__ int measure(const char* text, const char*) {
  return static_cast<int>(std::strlen(text));
}
__device__ int compare_texts(const char* text, const char* other) {
  return std::strcmp(other, text);
}
__device__ int compare_letters(const char* text, const char* other) {
  return std::strncmp(other, text, 4);
}
__device__ int find_letter(const char* text, const char*) {
  return std::strchr(text, 'a') != nullptr;
}

// Called in two places and too long for -O1 to inline by itself.
__device__ float2 result_of(unsigned rounds) {
  float2 result = make_float2(1, 2);
  for (unsigned round = 0; round <= rounds; ++round) {
    result.x = result.x * result.y + static_cast<float>(round);
    result.y = result.y / (result.x * result.x + 1);
  }
  return result;
}
__global__ void store_result(std::byte* memory, std::size_t offset) {
  auto* results = reinterpret_cast<float2*>(memory + offset);
  results[0] = result_of(blockIdx.x);
}
__global__ void store_another_result(std::byte* memory, std::size_t offset) {
  auto* results = reinterpret_cast<float2*>(memory + offset);
  results[0] = result_of(blockIdx.x + 1);
}
__global__ void plain_beside_atomic(std::byte* memory, std::size_t offset) {
  auto* word = reinterpret_cast<std::atomic<int>*>(memory + offset);
  if (blockIdx.x == 0) {
    word->fetch_add(1, std::memory_order_relaxed);
  } else {
    std::memset(memory + offset, 1, 4);
  }
}

using plain_kernel = void (*)(std::byte*, std::size_t);

std::size_t findings_of(plain_kernel kernel, unsigned blocks) {
  std::byte* memory = nullptr;
  REQUIRE(cudaMalloc(&memory, bytes_of_memory) == cudaSuccess);
  REQUIRE(cudaMemset(memory, 0, bytes_of_memory) == cudaSuccess);
  racecheck::checker& checker = racecheck::checker::instance();
  checker.forget_findings();
  kernel<<<blocks, 1>>>(memory, 64);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  const std::size_t found = checker.findings().size();
  checker.forget_findings();
  REQUIRE(cudaFree(memory) == cudaSuccess);
  return found;
}

template <class T>
std::size_t findings_of_loads(unsigned blocks, std::size_t offset = 64) {
  std::byte* memory = nullptr;
  T* copies = nullptr;
  REQUIRE(cudaMalloc(&memory, bytes_of_memory) == cudaSuccess);
  REQUIRE(cudaMemset(memory, 0, bytes_of_memory) == cudaSuccess);
  REQUIRE(cudaMalloc(&copies, 4 * sizeof(T)) == cudaSuccess);
  racecheck::checker& checker = racecheck::checker::instance();
  checker.forget_findings();
  load<T><<<blocks, 1>>>(memory, offset, copies);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  const std::size_t found = checker.findings().size();
  checker.forget_findings();
  REQUIRE(cudaFree(memory) == cudaSuccess);
  REQUIRE(cudaFree(copies) == cudaSuccess);
  return found;
}

}  // namespace

TEST_CASE("writes of every form are seen") {
  const plain_kernel kernel = GENERATE(
      store<std::uint8_t>, store<std::uint16_t>, store<std::uint32_t>, store<std::uint64_t>,
      store<float>, store<double>, store<structure>, store<int2>, store<float4>, store<double2>,
      store<uchar4>, store_volatile, store_unaligned, store_bit_field, copy, copy_constant_size,
      move, fill, store_result, store_another_result, plain_beside_atomic, store_whole_part<float>,
      store_whole_part<double>, store_power<float>, store_power<double>, store_quotient<float>,
      store_quotient<double>, store_sine, store_cosine);
  CHECK(findings_of(kernel, 2) > 0);
  CHECK(findings_of(kernel, 1) == 0);
}

TEST_CASE("reads of every form are seen, to their last byte") {
  CHECK(findings_of_loads<std::uint8_t>(2) == 1);
  CHECK(findings_of_loads<std::uint16_t>(2) == 1);
  CHECK(findings_of_loads<std::uint32_t>(2) == 1);
  CHECK(findings_of_loads<std::uint64_t>(2) == 1);
  CHECK(findings_of_loads<float4>(2) == 1);
  CHECK(findings_of_loads<double2>(2) == 1);
  CHECK(findings_of_loads<structure>(2) == 1);
  CHECK(findings_of_loads<std::uint64_t>(1) == 0);
  CHECK(findings_of_loads<structure>(1) == 0);
}

TEST_CASE("what functions of the C library look at is seen") {
  const plain_kernel kernel =
      GENERATE(look_at<compare_bytes>, look_at<find_byte>, look_at<measure>, look_at<compare_texts>,
               look_at<compare_letters>, look_at<find_letter>);
  CHECK(findings_of(kernel, 2) > 0);
  CHECK(findings_of(kernel, 1) == 0);
}

// A kilobyte's cells stand in one row; those of the next one stand elsewhere.
TEST_CASE("reads from one kilobyte into the next are seen, to their last byte") {
  CHECK(findings_of_loads<structure>(2, 1024 - 16) == 1);
  CHECK(findings_of_loads<structure>(2, 32 * 1024 - 16) == 1);
  CHECK(findings_of_loads<structure>(1, 32 * 1024 - 16) == 0);
}

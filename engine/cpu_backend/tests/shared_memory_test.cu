// SPDX-License-Identifier: MIT
// __shared__: static, dynamic, both; of every size; one copy for each block.
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "checked_runtime/check.cuh"
#include "checked_runtime/device_buffer.cuh"
#include "testing/poisoned_output.cuh"

namespace {

constexpr unsigned threads = 96;

// A pattern that differs from block to block and from element to element.
__host__ __device__ unsigned pattern(unsigned block, unsigned element, unsigned kernel = 0) {
  return (block * 7919 + element * 31 + kernel * 104729) ^ 0x5a5a5a5au;
}

// Keeps a block busy for a while, so that others run meanwhile.
__device__ void linger() {
  for (int i = 0; i < 20; ++i) __syncthreads();
}

// Adds 1 to `wrong` for each element that does not hold the block's pattern.
__device__ void expect_pattern(const unsigned* elements, unsigned count, unsigned kernel,
                               unsigned* wrong) {
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x) {
    if (elements[i] != pattern(blockIdx.x, i, kernel)) atomicAdd(wrong, 1);
  }
}
__device__ void write_pattern(unsigned* elements, unsigned count, unsigned kernel) {
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x) {
    elements[i] = pattern(blockIdx.x, i, kernel);
  }
}

template <unsigned count>
__global__ void fill_static(unsigned* wrong) {
  __shared__ unsigned elements[count];
  write_pattern(elements, count, 1);
  linger();
  expect_pattern(elements, count, 1, wrong);
}

__global__ void fill_dynamic(unsigned* wrong, unsigned count) {
  extern __shared__ unsigned elements[];
  write_pattern(elements, count, 2);
  linger();
  expect_pattern(elements, count, 2, wrong);
}

// 1 KiB static, twice, and as much dynamic as the launch says.
__global__ void fill_both(unsigned* wrong, unsigned count) {
  extern __shared__ unsigned dynamic[];
  __shared__ unsigned first[256];
  __shared__ unsigned second[256];
  write_pattern(dynamic, count, 3);
  write_pattern(first, 256, 4);
  write_pattern(second, 256, 5);
  linger();
  expect_pattern(dynamic, count, 3, wrong);
  expect_pattern(first, 256, 4, wrong);
  expect_pattern(second, 256, 5, wrong);
}

// A kernel of its own for the attribute that raises its limit, which stays for the whole process.
__global__ void fill_large(unsigned* wrong, unsigned count) {
  extern __shared__ unsigned elements[];
  write_pattern(elements, count, 6);
  linger();
  expect_pattern(elements, count, 6, wrong);
}
__global__ void fill_refused(unsigned* wrong, unsigned count) {
  extern __shared__ unsigned elements[];
  write_pattern(elements, count, 7);
  __syncthreads();
  expect_pattern(elements, count, 7, wrong);
}

// Runs `launch` with a counter of wrong elements and expects 0.
template <class Launch>
void expect_nothing_wrong(Launch launch) {
  checked::device_buffer<unsigned> wrong(std::vector<unsigned>{0});
  launch(wrong.data());
  CUDA_CHECK(cudaGetLastError());
  REQUIRE(wrong.to_host() == std::vector<unsigned>{0});
}

// All threads see the variables at the same places, and the places do not overlap.
struct layout {
  std::uintptr_t scalar, array, structure, dynamic;
};
struct record {
  double weight;
  char name[11];
};
__global__ void note_layout(layout* of_each_thread) {
  extern __shared__ __align__(16) unsigned char bytes[];
  __shared__ char scalar;
  __shared__ short array[33];
  __shared__ record structure;
  if (threadIdx.x == 0) scalar = 1, array[0] = 2, structure.weight = 3, bytes[0] = 4;
  of_each_thread[threadIdx.x] = {
      reinterpret_cast<std::uintptr_t>(&scalar), reinterpret_cast<std::uintptr_t>(array),
      reinterpret_cast<std::uintptr_t>(&structure), reinterpret_cast<std::uintptr_t>(bytes)};
}

// In two dimensions, in a structure, and of 16 bytes an element.
__global__ void transpose(const int* in, int* out) {
  __shared__ int tile[16][17];
  __shared__ struct { int4 columns[4]; } first_row;
  const unsigned x = threadIdx.x, y = threadIdx.y;
  tile[y][x] = in[y * 16 + x];
  __syncthreads();
  if (y == 0 && x < 4) {
    first_row.columns[x] =
        make_int4(tile[4 * x][0], tile[4 * x + 1][0], tile[4 * x + 2][0], tile[4 * x + 3][0]);
  }
  __syncthreads();
  const int4 four = first_row.columns[x / 4];
  const int of_first_row[4] = {four.x, four.y, four.z, four.w};
  out[y * 16 + x] = y == 0 ? of_first_row[x % 4] : tile[x][y];
}

// Shared memory of a device function: one variable for all who call it in a block.
__device__ unsigned& of_function() {
  __shared__ unsigned value;
  return value;
}
template <int which>
__device__ unsigned& of_instantiation() {
  __shared__ unsigned value;
  return value;
}

__global__ void use_functions(unsigned* results) {
  if (threadIdx.x == 0) {
    of_function() = 10 + blockIdx.x;
    of_instantiation<1>() = 1000 + blockIdx.x;
    of_instantiation<2>() = 2000 + blockIdx.x;
  }
  linger();
  if (threadIdx.x == blockDim.x - 1) {
    results[3 * blockIdx.x] = of_function();
    results[3 * blockIdx.x + 1] = of_instantiation<1>();
    results[3 * blockIdx.x + 2] = of_instantiation<2>();
  }
}

// All `extern __shared__` arrays of a kernel begin at the same address.
__global__ void split_by_hand(double* doubles_out, int* ints_out) {
  extern __shared__ double doubles[];
  extern __shared__ int ints[];
  doubles[threadIdx.x] = threadIdx.x * 0.5;
  int* const behind = ints + 2 * blockDim.x;
  behind[threadIdx.x] = static_cast<int>(threadIdx.x) * 3;
  __syncthreads();
  const unsigned other = blockDim.x - 1 - threadIdx.x;
  doubles_out[threadIdx.x] = doubles[other];
  ints_out[threadIdx.x] = behind[other];
}

template <class T>
__global__ void reverse(T* values) {
  extern __shared__ __align__(16) unsigned char bytes[];
  T* const copy = reinterpret_cast<T*>(bytes);
  copy[threadIdx.x] = values[threadIdx.x];
  __syncthreads();
  values[threadIdx.x] = copy[blockDim.x - 1 - threadIdx.x];
}

template <class T>
void check_reversing() {
  std::vector<T> values, expected;
  for (unsigned i = 0; i < threads; ++i) {
    values.push_back(static_cast<T>(i));
    expected.push_back(static_cast<T>(threads - 1 - i));
  }
  checked::device_buffer<T> memory(values);
  reverse<<<1, threads, threads * sizeof(T)>>>(memory.data());
  CUDA_CHECK(cudaGetLastError());
  REQUIRE(memory.to_host() == expected);
}

cudaDeviceProp properties() {
  cudaDeviceProp result;
  CUDA_CHECK(cudaGetDeviceProperties(&result, 0));
  return result;
}

}  // namespace

TEST_CASE("static shared memory belongs to one block") {
  for (int run = 0; run < 2; ++run) {
    expect_nothing_wrong([](unsigned* wrong) { fill_static<1><<<200, threads>>>(wrong); });
    expect_nothing_wrong([](unsigned* wrong) { fill_static<1000><<<200, threads>>>(wrong); });
    expect_nothing_wrong([](unsigned* wrong) { fill_static<12 * 1024><<<40, threads>>>(wrong); });
  }
}

TEST_CASE("dynamic shared memory of 0 to 48 KiB belongs to one block") {
  for (const unsigned count : {0u, 1u, 3u, 100u, 1024u, 8191u, 12u * 1024}) {
    CAPTURE(count);
    expect_nothing_wrong([=](unsigned* wrong) {
      fill_dynamic<<<60, threads, count * sizeof(unsigned)>>>(wrong, count);
    });
  }
}

TEST_CASE("static and dynamic shared memory of one kernel do not overlap") {
  for (const unsigned count : {1u, 255u, 4096u, 46u * 1024 / 4}) {
    CAPTURE(count);
    expect_nothing_wrong([=](unsigned* wrong) {
      fill_both<<<60, threads, count * sizeof(unsigned)>>>(wrong, count);
    });
  }
}

TEST_CASE("kernels that take turns keep their shared memory apart") {
  expect_nothing_wrong([](unsigned* wrong) {
    for (unsigned turn = 0; turn < 20; ++turn) {
      fill_static<1000><<<20, threads>>>(wrong);
      fill_dynamic<<<20, threads, 512 * (turn + 1)>>>(wrong, 128 * (turn + 1));
      fill_both<<<20, threads, 4096>>>(wrong, 1024);
      fill_static<1><<<20, threads>>>(wrong);
    }
  });
}

TEST_CASE("more than 48 KiB of dynamic shared memory needs the attribute") {
  const unsigned bytes = 48 * 1024 + 16;
  checked::device_buffer<unsigned> wrong(std::vector<unsigned>{77});
  fill_refused<<<1, threads, bytes>>>(wrong.data(), bytes / 4);
  REQUIRE(cudaGetLastError() == cudaErrorInvalidValue);
  REQUIRE(cudaGetLastError() == cudaSuccess);
  REQUIRE(wrong.to_host() == std::vector<unsigned>{77});
}

TEST_CASE("with the attribute, all shared memory of the device is usable") {
  const auto bytes = static_cast<unsigned>(properties().sharedMemPerBlockOptin);
  REQUIRE(bytes > 48 * 1024);
  CUDA_CHECK(cudaFuncSetAttribute(fill_large, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(bytes)));
  for (const unsigned used : {bytes, 48u * 1024 + 16, bytes / 2}) {
    CAPTURE(used);
    expect_nothing_wrong(
        [=](unsigned* wrong) { fill_large<<<20, threads, used>>>(wrong, used / 4); });
  }
  // One byte more than the attribute allows.
  unsigned* const none = nullptr;
  fill_large<<<1, 1, bytes + 1>>>(none, 0);
  REQUIRE(cudaGetLastError() == cudaErrorInvalidValue);
}

TEST_CASE("all threads of a block see a shared variable at one place, aligned and apart") {
  testing::poisoned_output<layout> of_each_thread(threads);
  note_layout<<<1, threads, 64>>>(of_each_thread.data());
  CUDA_CHECK(cudaGetLastError());
  const std::vector<layout> got = of_each_thread.to_host();
  struct extent {
    std::uintptr_t begin;
    std::size_t bytes, alignment;
  };
  const extent extents[] = {{got[0].scalar, 1, 1},
                            {got[0].array, 33 * sizeof(short), alignof(short)},
                            {got[0].structure, sizeof(record), alignof(record)},
                            {got[0].dynamic, 64, 16}};
  for (const extent& one : extents) {
    REQUIRE(one.begin % one.alignment == 0);
    for (const extent& other : extents) {
      if (&one == &other) continue;
      REQUIRE((one.begin + one.bytes <= other.begin || other.begin + other.bytes <= one.begin));
    }
  }
  for (const layout& of : got) {
    REQUIRE(of.scalar == got[0].scalar);
    REQUIRE(of.array == got[0].array);
    REQUIRE(of.structure == got[0].structure);
    REQUIRE(of.dynamic == got[0].dynamic);
  }
}

TEST_CASE("shared arrays of two dimensions and shared structures") {
  std::vector<int> matrix, transposed;
  for (int i = 0; i < 256; ++i) {
    matrix.push_back(i * i);
    transposed.push_back((i % 16 * 16 + i / 16) * (i % 16 * 16 + i / 16));
  }
  const checked::device_buffer<int> in(matrix);
  testing::poisoned_output<int> out(256);
  transpose<<<1, dim3(16, 16)>>>(in.data(), out.data());
  CUDA_CHECK(cudaGetLastError());
  REQUIRE(out.to_host() == transposed);
}

TEST_CASE("shared variables of device functions and of templates") {
  constexpr unsigned blocks = 50;
  testing::poisoned_output<unsigned> results(3 * blocks);
  use_functions<<<blocks, threads>>>(results.data());
  CUDA_CHECK(cudaGetLastError());
  std::vector<unsigned> expected;
  for (unsigned block = 0; block < blocks; ++block) {
    for (const unsigned start : {10u, 1000u, 2000u}) expected.push_back(start + block);
  }
  REQUIRE(results.to_host() == expected);
}

TEST_CASE("all extern __shared__ arrays begin at the same address") {
  testing::poisoned_output<double> doubles(threads);
  testing::poisoned_output<int> ints(threads);
  split_by_hand<<<1, threads, threads*(sizeof(double) + sizeof(int))>>>(doubles.data(),
                                                                        ints.data());
  CUDA_CHECK(cudaGetLastError());
  std::vector<double> expected_doubles;
  std::vector<int> expected_ints;
  for (unsigned i = 0; i < threads; ++i) {
    expected_doubles.push_back((threads - 1 - i) * 0.5);
    expected_ints.push_back(static_cast<int>(threads - 1 - i) * 3);
  }
  REQUIRE(doubles.to_host() == expected_doubles);
  REQUIRE(ints.to_host() == expected_ints);
}

TEST_CASE("dynamic shared memory of a template holds any type") {
  check_reversing<unsigned char>();
  check_reversing<short>();
  check_reversing<float>();
  check_reversing<double>();
  check_reversing<long long>();
}

// ---- __shared__ variables outside of every function. In a file of its own, because all of a
// program's dynamic shared memory has one address under the race checker if there is such an array.

namespace {

__shared__ unsigned of_file;

__device__ void write_of_file() { of_file = 3000 + blockIdx.x; }

__global__ void use_of_file(unsigned* results) {
  if (threadIdx.x == 0) write_of_file();
  // Others run meanwhile.
  for (int i = 0; i < 20; ++i) __syncthreads();
  if (threadIdx.x == blockDim.x - 1) results[blockIdx.x] = of_file;
}

// Dynamic ones, by two names.
extern __shared__ unsigned char bytes_of_launch[];
namespace inner {
extern __shared__ unsigned rows_of_launch[][2];
}

__device__ unsigned in_next_row() {
  return inner::rows_of_launch[(threadIdx.x + 1) % blockDim.x][1];
}

__global__ void use_extern_of_file(unsigned* results) {
  inner::rows_of_launch[threadIdx.x][0] = 7;
  inner::rows_of_launch[threadIdx.x][1] = 1000 * blockIdx.x + threadIdx.x;
  // Others run meanwhile.
  for (int i = 0; i < 20; ++i) __syncthreads();
  unsigned mine = 0;
  for (int i = 0; i < 4; ++i) mine |= unsigned{bytes_of_launch[8 * threadIdx.x + i]} << (8 * i);
  results[blockIdx.x * blockDim.x + threadIdx.x] = mine * 1000000 + in_next_row();
}

}  // namespace

TEST_CASE("an extern shared array of the file is the running block's") {
  constexpr unsigned blocks = 50, threads = 96;
  testing::poisoned_output<unsigned> results(blocks * threads);
  for (int launch = 0; launch < 2; ++launch) {
    use_extern_of_file<<<blocks, threads, threads * 2 * sizeof(unsigned)>>>(results.data());
    CUDA_CHECK(cudaGetLastError());
    std::vector<unsigned> expected;
    for (unsigned block = 0; block < blocks; ++block) {
      for (unsigned i = 0; i < threads; ++i) {
        expected.push_back(7000000 + 1000 * block + (i + 1) % threads);
      }
    }
    REQUIRE(results.to_host() == expected);
  }
}

TEST_CASE("a shared variable of the file is one for each block") {
  constexpr unsigned blocks = 50, threads = 96;
  testing::poisoned_output<unsigned> results(blocks);
  use_of_file<<<blocks, threads>>>(results.data());
  CUDA_CHECK(cudaGetLastError());
  std::vector<unsigned> expected;
  for (unsigned block = 0; block < blocks; ++block) expected.push_back(3000 + block);
  REQUIRE(results.to_host() == expected);
}

// SPDX-License-Identifier: MIT
// The compiler hands every access over: each width, unaligned ones, whole structures, memcpy and
// its kin, bit-fields, vector types, volatile and the compiler's own atomics. A kernel in which two
// blocks write the same bytes must race, whatever the form of the access; the same with one block
// must not.
#include <cuda_runtime.h>

#include <array>
#include <atomic>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <complex>
#include <cstdint>
#include <cstring>
#include <optional>
#include <tuple>
#include <utility>
#include <variant>

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
// Functions of the C library that read memory and store nothing: one block does, another writes.
using function = int (*)(const char* text, const char* other);
template <function reads>
__global__ void read_by(std::byte* memory, std::size_t offset) {
  if (blockIdx.x == 0) {
    memory[offset] = std::byte{0};
  } else {
    const auto* text = reinterpret_cast<const char*>(memory + offset);
    const auto* other = reinterpret_cast<const char*>(memory + offset + 256);
    memory[offset + 512] = static_cast<std::byte>(reads(text, other));
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

// What is passed and returned by value, in every way to call a function that is not inlined.
template <std::size_t size>
struct bytes {
  std::byte at[size];
};
template <std::size_t size>
struct alignas(16) aligned_doubles {
  double at[size];
};
struct [[gnu::packed]] packed_structure {
  char head;
  double value;
  int tail[2];
};
union either {
  long long whole;
  float parts[6];
};
struct with_base : int4 {
  double more[3];
};
struct with_copy {
  int words[6] = {};
  with_copy() = default;
  __device__ with_copy(const with_copy& other) {
    for (int i = 0; i < 6; ++i) words[i] = other.words[i];
  }
  __device__ with_copy& operator=(const with_copy& other) {
    for (int i = 0; i < 6; ++i) words[i] = other.words[i];
    return *this;
  }
};
template <class T>
struct calls {
  [[gnu::noinline]] __device__ static int take(T value) {
    return *reinterpret_cast<const unsigned char*>(&value);
  }
  [[gnu::noinline]] __device__ static T give(unsigned seed) {
    T value{};
    *reinterpret_cast<unsigned char*>(&value) = static_cast<unsigned char>(seed);
    return value;
  }
  [[gnu::noinline]] __device__ virtual int take_virtually(T value) const { return take(value); }
  [[gnu::noinline]] __device__ virtual T give_virtually(unsigned seed) const { return give(seed); }
};
template <class T>
__device__ const calls<T>& a_call(std::byte* memory) {
  static constexpr calls<T> one;
  const calls<T>* volatile which = memory ? &one : nullptr;
  return *which;
}
enum class way { by_name, by_pointer, by_virtual_function, by_pointer_to_member, by_lambda };

template <class T, way called>
__device__ int taken_from(const T& at, std::byte* memory) {
  if constexpr (called == way::by_name) {
    return calls<T>::take(at);
  } else if constexpr (called == way::by_pointer) {
    int (*volatile take)(T) = calls<T>::take;
    return take(at);
  } else if constexpr (called == way::by_virtual_function) {
    return a_call<T>(memory).take_virtually(at);
  } else if constexpr (called == way::by_pointer_to_member) {
    int (calls<T>::*volatile take)(T) const = &calls<T>::take_virtually;
    return (a_call<T>(memory).*take)(at);
  } else {
    const auto closure = [copy = at] { return calls<T>::take(copy); };
    return closure();
  }
}
template <class T, way called>
__device__ void give_to(T& at, std::byte* memory, unsigned seed) {
  if constexpr (called == way::by_name) {
    at = calls<T>::give(seed);
  } else if constexpr (called == way::by_pointer) {
    T (*volatile give)(unsigned) = calls<T>::give;
    at = give(seed);
  } else if constexpr (called == way::by_virtual_function) {
    at = a_call<T>(memory).give_virtually(seed);
  } else if constexpr (called == way::by_pointer_to_member) {
    T (calls<T>::*volatile give)(unsigned) const = &calls<T>::give_virtually;
    at = (a_call<T>(memory).*give)(seed);
  } else {
    const auto closure = [=] { return calls<T>::give(seed); };
    at = closure();
  }
}
template <class T, way called>
__global__ void load_by_value(std::byte* memory, std::size_t offset) {
  // (What the last byte is for is not always known.)
  constexpr std::size_t last = std::has_unique_object_representations_v<T> ? sizeof(T) - 1 : 0;
  if (blockIdx.x == 0) {
    memory[offset + last] = std::byte{1};
  } else {
    const T& at = *reinterpret_cast<const T*>(memory + offset);
    memory[offset + 1024] = static_cast<std::byte>(taken_from<T, called>(at, memory));
  }
}
template <class T, way called>
__global__ void store_by_value(std::byte* memory, std::size_t offset) {
  give_to<T, called>(*reinterpret_cast<T*>(memory + offset), memory, blockIdx.x);
}

// Every other form that a store may have, and a load. One block stores, or both; one block loads.
using form = void (*)(std::byte* at, std::byte* other);
template <form access>
__global__ void store_by(std::byte* memory, std::size_t offset) {
  access(memory + offset, memory + 1024);
}
template <form access>
__global__ void load_by(std::byte* memory, std::size_t offset) {
  if (blockIdx.x == 0) {
    memory[offset] = std::byte{0};
  } else {
    access(memory + offset, memory + 1024);
  }
}
template <std::size_t size>
__device__ void copy_by_builtin(std::byte* at, std::byte* other) {
  __builtin_memcpy(at, other, size);
}
template <std::size_t size>
__device__ void move_by_builtin(std::byte* at, std::byte* other) {
  __builtin_memmove(at, other, size);
}
template <std::size_t size>
__device__ void fill_by_builtin(std::byte* at, std::byte*) {
  __builtin_memset(at, 0, size);
}
template <form copy>
__device__ void copy_back(std::byte* at, std::byte* other) {
  copy(other, at);
}
__device__ void compare_by_builtin(std::byte* at, std::byte* other) {
  *other = static_cast<std::byte>(__builtin_memcmp(at, other + 16, 3));
}
__device__ void measure_by_builtin(std::byte* at, std::byte* other) {
  *other = static_cast<std::byte>(__builtin_strlen(reinterpret_cast<const char*>(at)));
}
template <class T>
__device__ void store_nothing_but_zeros(std::byte* at, std::byte*) {
  *reinterpret_cast<T*>(at) = {};
}
template <class T>
__device__ void construct_in_place(std::byte* at, std::byte*) {
  new (at) T{};
}
template <class T>
__device__ void construct_array_in_place(std::byte* at, std::byte*) {
  new (at) T[3]{};
}
template <class T>
__device__ void construct_copy_in_place(std::byte* at, std::byte* other) {
  new (at) T(*reinterpret_cast<const T*>(other));
}
template <class T>
__device__ void bind(std::byte* at, std::byte* other) {
  const auto [first, second] = *reinterpret_cast<const T*>(at);
  *other = static_cast<std::byte>(static_cast<int>(first) + static_cast<int>(second));
}
template <class T>
__device__ void choose(std::byte* at, std::byte* other) {
  const T* const values = reinterpret_cast<const T*>(other);
  *reinterpret_cast<T*>(at) = blockIdx.x < 2 ? values[0] : values[1];
}
template <class T>
__device__ void assign_by_operator(std::byte* at, std::byte*) {
  reinterpret_cast<T*>(at)->operator=(T{});
}
template <class T>
__device__ void store_member_by_pointer(std::byte* at, std::byte*) {
  int T::*volatile which = &T::x;
  reinterpret_cast<T*>(at)->*which = 1;
}
template <class T>
__device__ void add_to(std::byte* at, std::byte*) {
  *reinterpret_cast<T*>(at) += 1;
}
__device__ void load_bit_field(std::byte* at, std::byte* other) {
  *other = static_cast<std::byte>(reinterpret_cast<const fields*>(at)->second);
}
template <class T>
[[gnu::noinline]] __device__ int sum_of(std::initializer_list<T> all) {
  int sum = 0;
  for (const T& each : all) sum += each.words[0];
  return sum;
}
template <class T>
__device__ void list(std::byte* at, std::byte* other) {
  *other = static_cast<std::byte>(sum_of<T>({T{}, *reinterpret_cast<const T*>(at)}));
}
__device__ void add_by_builtin(std::byte* at, std::byte* other) {
  if (blockIdx.x == 0) {
    __atomic_fetch_add(reinterpret_cast<int*>(at), 1, __ATOMIC_RELAXED);
  } else {
    copy_by_builtin<4>(at, other);
  }
}
__extension__ using wide_integer = __int128;
using vector_of_four [[gnu::vector_size(16)]] = float;
using vector_of_eight [[gnu::vector_size(32)]] = float;

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

template <class T, way... called>
void check_by_value() {
  const auto check = [](plain_kernel kernel, const char* what) {
    INFO(what << " of " << sizeof(T) << " bytes: " << __PRETTY_FUNCTION__);
    CHECK(findings_of(kernel, 2) > 0);
    CHECK(findings_of(kernel, 1) == 0);
  };
  (check(load_by_value<T, called>, "load"), ...);
  (check(store_by_value<T, called>, "store"), ...);
}
template <class T>
void check_by_value_in_each_way() {
  check_by_value<T, way::by_name, way::by_pointer, way::by_virtual_function,
                 way::by_pointer_to_member, way::by_lambda>();
}
template <std::size_t... sizes>
void check_bytes_by_value(std::index_sequence<sizes...>) {
  (check_by_value<bytes<sizes + 1>, way::by_name>(), ...);
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
      GENERATE(read_by<compare_bytes>, read_by<find_byte>, read_by<measure>, read_by<compare_texts>,
               read_by<compare_letters>, read_by<find_letter>);
  CHECK(findings_of(kernel, 2) > 0);
  CHECK(findings_of(kernel, 1) == 0);
}

// A kilobyte's cells stand in one row; those of the next one stand elsewhere.
TEST_CASE("reads from one kilobyte into the next are seen, to their last byte") {
  CHECK(findings_of_loads<structure>(2, 1024 - 16) == 1);
  CHECK(findings_of_loads<structure>(2, 32 * 1024 - 16) == 1);
  CHECK(findings_of_loads<structure>(1, 32 * 1024 - 16) == 0);
}

TEST_CASE("structures that calls take and return are seen, to their last byte") {
  check_bytes_by_value(std::make_index_sequence<64>());
}

TEMPLATE_TEST_CASE("whatever is taken and returned by value is seen, however it is called", "",
                   structure, fields, bytes<3>, bytes<16>, bytes<17>, bytes<100>,
                   aligned_doubles<2>, aligned_doubles<8>, packed_structure, either, with_base,
                   with_copy, int2, float4, double2, std::complex<float>, std::complex<double>,
                   (std::array<int, 5>), (std::array<double, 8>), (std::pair<int, double>),
                   (std::tuple<int, double>), std::optional<int>, std::optional<double4_16a>,
                   (std::variant<int, double4_16a>)) {
  check_by_value_in_each_way<TestType>();
}

TEST_CASE("stores of every other form are seen") {
  const plain_kernel kernel = GENERATE(
      store_by<copy_by_builtin<3>>, store_by<copy_by_builtin<12>>, store_by<copy_by_builtin<24>>,
      store_by<copy_by_builtin<100>>, store_by<move_by_builtin<3>>, store_by<move_by_builtin<24>>,
      store_by<fill_by_builtin<3>>, store_by<fill_by_builtin<24>>, store_by<fill_by_builtin<100>>,
      store_by<store_nothing_but_zeros<bytes<100>>>, store_by<store_nothing_but_zeros<either>>,
      store_by<store_nothing_but_zeros<packed_structure>>, store_by<construct_in_place<structure>>,
      store_by<construct_in_place<with_copy>>, store_by<construct_array_in_place<int>>,
      store_by<construct_array_in_place<structure>>, store_by<construct_copy_in_place<structure>>,
      store_by<construct_copy_in_place<bytes<3>>>, store_by<choose<structure>>,
      store_by<choose<bytes<5>>>, store_by<assign_by_operator<structure>>,
      store_by<store_member_by_pointer<int2>>, store_by<add_to<wide_integer>>,
      store_by<add_to<vector_of_four>>, store_by<add_by_builtin>, store<wide_integer>,
      store<std::complex<double>>);
  CHECK(findings_of(kernel, 2) > 0);
  CHECK(findings_of(kernel, 1) == 0);
}

TEST_CASE("loads of every other form are seen") {
  const plain_kernel kernel =
      GENERATE(load_by<copy_back<copy_by_builtin<3>>>, load_by<copy_back<copy_by_builtin<24>>>,
               load_by<copy_back<copy_by_builtin<100>>>, load_by<copy_back<move_by_builtin<24>>>,
               load_by<compare_by_builtin>, load_by<measure_by_builtin>, load_by<bind<int2>>,
               load_by<bind<std::pair<int, double>>>, load_by<copy_back<choose<structure>>>,
               load_by<copy_back<construct_copy_in_place<structure>>>, load_by<load_bit_field>,
               load_by<list<structure>>);
  CHECK(findings_of(kernel, 2) > 0);
  CHECK(findings_of(kernel, 1) == 0);
}

// clang does not hand over accesses to 10 or to 32 bytes at once. (No GPU has any.)
#ifndef __clang__
TEST_CASE("accesses of other widths are seen") {
  check_by_value_in_each_way<long double>();
  const plain_kernel kernel = GENERATE(store_by<add_to<vector_of_eight>>, store<vector_of_eight>);
  CHECK(findings_of(kernel, 2) > 0);
  CHECK(findings_of(kernel, 1) == 0);
}
#endif

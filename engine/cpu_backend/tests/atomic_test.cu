// SPDX-License-Identifier: MIT
// atomicAdd() and its kin, in all three scopes and for every type that CUDA has them for; the locks
// that are built on them; the fences.
#include <algorithm>
#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <type_traits>
#include <vector>

#include "checked_runtime/check.cuh"
#include "checked_runtime/device.hpp"
#include "checked_runtime/device_buffer.cuh"
#include "testing/poisoned_output.cuh"

namespace {

enum class scope { block, device, system };

// Arithmetic of the reference: integers wrap around, as atomics do.
template <class T>
T sum(T left, T right) {
  if constexpr (std::is_integral_v<T>) {
    using unsigned_type = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<unsigned_type>(left) + static_cast<unsigned_type>(right));
  } else {
    return left + right;
  }
}
template <class T>
T difference(T left, T right) {
  using unsigned_type = std::make_unsigned_t<T>;
  return static_cast<T>(static_cast<unsigned_type>(left) - static_cast<unsigned_type>(right));
}

// `function` in each of its scopes, what it stores where it finds `old`, and its arguments.
#define ATOMIC_FUNCTION(name, function, stored, ...)                                \
  struct name {                                                                     \
    template <scope in, class T>                                                    \
    static __device__ T apply(T* address, T value, [[maybe_unused]] T other) {      \
      if constexpr (in == scope::block) {                                           \
        return function##_block(address, __VA_ARGS__);                              \
      } else if constexpr (in == scope::device) {                                   \
        return function(address, __VA_ARGS__);                                      \
      } else {                                                                      \
        return function##_system(address, __VA_ARGS__);                             \
      }                                                                             \
    }                                                                               \
    template <class T>                                                              \
    static T reference([[maybe_unused]] T old, T value, [[maybe_unused]] T other) { \
      return stored;                                                                \
    }                                                                               \
  };
ATOMIC_FUNCTION(add, atomicAdd, sum(old, value), value)
ATOMIC_FUNCTION(subtract, atomicSub, difference(old, value), value)
ATOMIC_FUNCTION(exchange, atomicExch, value, value)
ATOMIC_FUNCTION(compare_and_swap, atomicCAS, old == value ? other : old, value, other)
ATOMIC_FUNCTION(minimum, atomicMin, std::min(old, value), value)
ATOMIC_FUNCTION(maximum, atomicMax, std::max(old, value), value)
ATOMIC_FUNCTION(increment, atomicInc, old >= value ? 0 : old + 1, value)
ATOMIC_FUNCTION(decrement, atomicDec, old == 0 || old > value ? value : old - 1, value)
ATOMIC_FUNCTION(bit_and, atomicAnd, old& value, value)
ATOMIC_FUNCTION(bit_or, atomicOr, old | value, value)
ATOMIC_FUNCTION(bit_xor, atomicXor, old ^ value, value)
#undef ATOMIC_FUNCTION

template <class T>
std::vector<T> edge_values() {
  if constexpr (std::is_floating_point_v<T>) {
    return {0, 1, T(-1.5), T(0.1), T(1e10), T(-1e10), T(1e-10), std::numeric_limits<T>::max()};
  } else {
    using limits = std::numeric_limits<T>;
    const T one_bit_of_each_half = static_cast<T>(T{1} << limits::digits / 2 | 1);
    return {0,
            1,
            2,
            5,
            100,
            limits::max(),
            limits::max() - 1,
            limits::min(),
            limits::min() + 1,
            static_cast<T>(-1),
            one_bit_of_each_half};
  }
}

// Every pair of edge values: what is there, and what the function gets. atomicCAS gets one more.
template <class T>
struct pairs {
  std::vector<T> first, second, other;
  pairs() {
    for (const T left : edge_values<T>()) {
      for (const T right : edge_values<T>()) {
        first.push_back(left);
        second.push_back(right);
        other.push_back(static_cast<T>(1000 + other.size()));
      }
    }
  }
};

// Equal bit by bit: -0.0 is not 0.0.
template <class T>
bool identical(const std::vector<T>& left, const std::vector<T>& right) {
  return left.size() == right.size() &&
         std::memcmp(left.data(), right.data(), left.size() * sizeof(T)) == 0;
}

constexpr unsigned most_pairs = 128;

// One thread a pair, on global memory or on a copy of it in shared memory.
template <class Function, scope in, bool in_shared_memory, class T>
__global__ void apply_to_pairs(T* memory, const T* values, const T* others, T* returned) {
  __shared__ T shared[most_pairs];
  const unsigned i = threadIdx.x;
  if constexpr (in_shared_memory) {
    shared[i] = memory[i];
    returned[i] = Function::template apply<in>(shared + i, values[i], others[i]);
    memory[i] = shared[i];
  } else {
    returned[i] = Function::template apply<in>(memory + i, values[i], others[i]);
  }
}

template <class Function, scope in, bool in_shared_memory, class T>
void check_pairs() {
  const pairs<T> of;
  const std::size_t count = of.first.size();
  REQUIRE(count <= most_pairs);
  checked::device_buffer<T> memory(of.first);
  const checked::device_buffer<T> values(of.second), others(of.other);
  testing::poisoned_output<T> returned(count);
  apply_to_pairs<Function, in, in_shared_memory><<<1, static_cast<unsigned>(count)>>>(
      memory.data(), values.data(), others.data(), returned.data());
  CUDA_CHECK(cudaGetLastError());
  std::vector<T> expected;
  for (std::size_t i = 0; i < count; ++i) {
    expected.push_back(Function::reference(of.first[i], of.second[i], of.other[i]));
  }
  CAPTURE(static_cast<int>(in), in_shared_memory, sizeof(T));
  REQUIRE(identical(returned.to_host(), of.first));
  REQUIRE(identical(memory.to_host(), expected));
}

template <class Function, class... Types>
void check_semantics() {
  (check_pairs<Function, scope::block, false, Types>(), ...);
  (check_pairs<Function, scope::device, false, Types>(), ...);
  (check_pairs<Function, scope::system, false, Types>(), ...);
  (check_pairs<Function, scope::block, true, Types>(), ...);
  (check_pairs<Function, scope::device, true, Types>(), ...);
}

// ---- many threads on one address

constexpr unsigned blocks = 24, threads = 96;

// The value of a thread, from its rank in the grid. Small enough that any sum of floats is exact.
template <class T>
__host__ __device__ T contribution(unsigned thread) {
  return static_cast<T>(thread * 37 % 1021 + 1);
}

// In block scope, each block has an address of its own; else all use the first.
template <class Function, scope in, class T>
__global__ void contend(T* memory) {
  T* const address = in == scope::block ? memory + blockIdx.x : memory;
  Function::template apply<in>(address, contribution<T>(blockIdx.x * blockDim.x + threadIdx.x),
                               T{});
}

template <class Function, scope in, class T>
void check_contention_in(T start) {
  std::vector<T> expected(blocks, start);
  checked::device_buffer<T> memory(expected);
  contend<Function, in><<<blocks, threads>>>(memory.data());
  CUDA_CHECK(cudaGetLastError());
  for (unsigned block = 0; block < blocks; ++block) {
    for (unsigned thread = 0; thread < threads; ++thread) {
      T& stored = expected[in == scope::block ? block : 0];
      stored = Function::reference(stored, contribution<T>(block * threads + thread), T{});
    }
  }
  CAPTURE(static_cast<int>(in), sizeof(T));
  REQUIRE(memory.to_host() == expected);
}

// For functions whose result does not depend on the threads' order.
template <class Function, class... Types>
void check_contention(int start) {
  (check_contention_in<Function, scope::block>(static_cast<Types>(start)), ...);
  (check_contention_in<Function, scope::device>(static_cast<Types>(start)), ...);
  (check_contention_in<Function, scope::system>(static_cast<Types>(start)), ...);
}

// Every thread takes a ticket; what it got goes where the ticket says.
__global__ void take_tickets(unsigned* counter, unsigned* owners) {
  const unsigned ticket = atomicAdd(counter, 1);
  owners[ticket] = blockIdx.x * blockDim.x + threadIdx.x;
}

template <class Function>
__global__ void count_around(unsigned* counter, unsigned limit, unsigned* visits) {
  atomicAdd(visits + Function::template apply<scope::device>(counter, limit, 0u), 1);
}

// Each thread leaves its number and takes the one that was there.
template <class T>
__global__ void pass_on(T* slot, T* taken) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  taken[thread] = atomicExch(slot, static_cast<T>(thread + 1));
}

template <class T>
void check_passing_on() {
  checked::device_buffer<T> slot(std::vector<T>{0});
  testing::poisoned_output<T> taken(blocks * threads);
  pass_on<<<blocks, threads>>>(slot.data(), taken.data());
  CUDA_CHECK(cudaGetLastError());
  // Each number is somewhere exactly once: taken by one thread, or still in the slot.
  std::vector<T> got = taken.to_host();
  got.push_back(slot.to_host()[0]);
  std::sort(got.begin(), got.end());
  std::vector<T> expected(blocks * threads + 1);
  std::iota(expected.begin(), expected.end(), T{0});
  REQUIRE(got == expected);
}

// An addition made of compare-and-swap, as the CUDA programming guide shows it.
template <class T>
__global__ void add_by_compare_and_swap(T* counter) {
  T old = *static_cast<volatile T*>(counter);
  T assumed;
  do {
    assumed = old;
    old = atomicCAS(counter, assumed, static_cast<T>(assumed + 3));
  } while (old != assumed);
}

template <class T>
void check_adding_by_compare_and_swap() {
  checked::device_buffer<T> counter(std::vector<T>{5});
  add_by_compare_and_swap<<<blocks, threads>>>(counter.data());
  CUDA_CHECK(cudaGetLastError());
  REQUIRE(counter.to_host() == std::vector<T>{static_cast<T>(5 + 3 * blocks * threads)});
}

// ---- locks

// Precondition of both: memory behind `lock` is 0 before anyone takes it.
__device__ void take(int* lock) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();
}
__device__ void release(int* lock) {
  __threadfence();
  atomicExch(lock, 0);
}

// Two counters that only a lock keeps in step.
struct guarded {
  int lock;
  int count;
  unsigned history;
};

constexpr unsigned rounds_of_locking = 4;

__global__ void count_under_lock(guarded* all, bool lock_of_each_block, int* out_of_step) {
  guarded& mine = lock_of_each_block ? all[blockIdx.x] : all[0];
  for (unsigned round = 0; round < rounds_of_locking; ++round) {
    take(&mine.lock);
    if (mine.history != static_cast<unsigned>(mine.count) * 7) atomicAdd(out_of_step, 1);
    ++mine.count;
    mine.history += 7;
    release(&mine.lock);
  }
}

void check_lock(unsigned block_count, unsigned thread_count, bool lock_of_each_block) {
  CAPTURE(block_count, thread_count, lock_of_each_block);
  checked::device_buffer<guarded> all(std::vector<guarded>(block_count, guarded{0, 0, 0}));
  checked::device_buffer<int> out_of_step(std::vector<int>{0});
  count_under_lock<<<block_count, thread_count>>>(all.data(), lock_of_each_block,
                                                  out_of_step.data());
  CUDA_CHECK(cudaGetLastError());
  const std::vector<guarded> got = all.to_host();
  const unsigned users = lock_of_each_block ? thread_count : block_count * thread_count;
  for (unsigned i = 0; i < (lock_of_each_block ? block_count : 1); ++i) {
    REQUIRE(got[i].count == static_cast<int>(users * rounds_of_locking));
    REQUIRE(got[i].history == users * rounds_of_locking * 7);
    REQUIRE(got[i].lock == 0);
  }
  REQUIRE(out_of_step.to_host() == std::vector<int>{0});
}

// The same with a lock in shared memory.
__global__ void count_under_shared_lock(int* counts) {
  __shared__ int lock;
  if (threadIdx.x == 0) lock = 0;
  __syncthreads();
  for (unsigned round = 0; round < rounds_of_locking; ++round) {
    take(&lock);
    ++counts[blockIdx.x];
    release(&lock);
  }
}

// ---- fences

enum class fence { block, device, system };

__device__ void pass(fence which) {
  switch (which) {
    case fence::block:
      __threadfence_block();
      break;
    case fence::device:
      __threadfence();
      break;
    case fence::system:
      __threadfence_system();
      break;
  }
}

constexpr int messages = 300, words = 4;

// The writer fills a message and raises its flag; the reader waits for the flag and copies the
// message. They are two blocks, or two warps of one block.
__global__ void send_messages(int* mail, int* flags, int* received, fence which,
                              bool within_block) {
  const bool is_writer = within_block ? threadIdx.x == 0 : blockIdx.x == 0 && threadIdx.x == 0;
  const bool is_reader = within_block ? threadIdx.x == 32 : blockIdx.x == 1 && threadIdx.x == 0;
  for (int message = 0; message < messages; ++message) {
    int* const content = mail + message * words;
    if (is_writer) {
      for (int word = 0; word < words; ++word) content[word] = message * 10 + word;
      pass(which);
      atomicExch(flags + message, 1);
    }
    if (is_reader) {
      while (atomicAdd(flags + message, 0) == 0) {
      }
      pass(which);
      for (int word = 0; word < words; ++word) received[message * words + word] = content[word];
    }
  }
}

void check_messages(fence which, bool within_block) {
  CAPTURE(static_cast<int>(which), within_block);
  testing::poisoned_output<int> mail(messages * words);
  checked::device_buffer<int> flags(std::vector<int>(messages, 0));
  testing::poisoned_output<int> received(messages * words);
  if (within_block) {
    send_messages<<<1, 64>>>(mail.data(), flags.data(), received.data(), which, true);
  } else {
    send_messages<<<2, 32>>>(mail.data(), flags.data(), received.data(), which, false);
  }
  CUDA_CHECK(cudaGetLastError());
  std::vector<int> expected;
  for (int message = 0; message < messages; ++message) {
    for (int word = 0; word < words; ++word) expected.push_back(message * 10 + word);
  }
  REQUIRE(received.to_host() == expected);
}

}  // namespace

TEST_CASE("atomicAdd and atomicSub: returned and stored values") {
  check_semantics<add, int, unsigned, unsigned long long, float, double>();
  check_semantics<subtract, int, unsigned>();
}

TEST_CASE("atomicExch: returned and stored values") {
  check_semantics<exchange, int, unsigned, unsigned long long, float>();
}

TEST_CASE("atomicMin and atomicMax: returned and stored values") {
  check_semantics<minimum, int, unsigned, long long, unsigned long long>();
  check_semantics<maximum, int, unsigned, long long, unsigned long long>();
}

TEST_CASE("atomicInc and atomicDec wrap around at the limit") {
  check_semantics<increment, unsigned>();
  check_semantics<decrement, unsigned>();
}

TEST_CASE("atomicAnd, atomicOr and atomicXor: returned and stored values") {
  check_semantics<bit_and, int, unsigned, long long, unsigned long long>();
  check_semantics<bit_or, int, unsigned, long long, unsigned long long>();
  check_semantics<bit_xor, int, unsigned, long long, unsigned long long>();
}

TEST_CASE("atomicCAS stores only where it finds what it expects") {
  check_semantics<compare_and_swap, int, unsigned, unsigned long long>();
  check_pairs<compare_and_swap, scope::device, false, unsigned short>();
}

TEST_CASE("atomics of many blocks on one address lose nothing") {
  check_contention<add, int, unsigned, unsigned long long, float, double>(3);
  check_contention<subtract, int, unsigned>(1 << 20);
  check_contention<minimum, int, unsigned, long long, unsigned long long>(1 << 20);
  check_contention<maximum, int, unsigned, long long, unsigned long long>(0);
  check_contention<bit_and, int, unsigned, long long, unsigned long long>(-1);
  check_contention<bit_or, int, unsigned, long long, unsigned long long>(0);
  check_contention<bit_xor, int, unsigned, long long, unsigned long long>(0x5555);
}

TEST_CASE("atomicAdd hands out each ticket exactly once") {
  checked::device_buffer<unsigned> counter(std::vector<unsigned>{0});
  testing::poisoned_output<unsigned> owners(blocks * threads);
  take_tickets<<<blocks, threads>>>(counter.data(), owners.data());
  CUDA_CHECK(cudaGetLastError());
  std::vector<unsigned> got = owners.to_host();
  std::sort(got.begin(), got.end());
  std::vector<unsigned> expected(blocks * threads);
  std::iota(expected.begin(), expected.end(), 0u);
  REQUIRE(got == expected);
  REQUIRE(counter.to_host() == std::vector<unsigned>{blocks * threads});
}

TEST_CASE("atomicInc and atomicDec of many blocks go round evenly") {
  // 2304 steps around circles of 9 and of 7 values.
  for (const unsigned limit : {8u, 6u}) {
    const unsigned steps = blocks * threads;
    for (const bool up : {true, false}) {
      CAPTURE(limit, up);
      const auto step = [&](unsigned old) {
        return up ? increment::reference(old, limit, 0u) : decrement::reference(old, limit, 0u);
      };
      checked::device_buffer<unsigned> counter(std::vector<unsigned>{0});
      checked::device_buffer<unsigned> visits(std::vector<unsigned>(limit + 1, 0));
      if (up) {
        count_around<increment><<<blocks, threads>>>(counter.data(), limit, visits.data());
      } else {
        count_around<decrement><<<blocks, threads>>>(counter.data(), limit, visits.data());
      }
      CUDA_CHECK(cudaGetLastError());
      std::vector<unsigned> expected(limit + 1, 0);
      unsigned value = 0;
      for (unsigned i = 0; i < steps; ++i) {
        ++expected[value];
        value = step(value);
      }
      REQUIRE(visits.to_host() == expected);
      REQUIRE(counter.to_host() == std::vector<unsigned>{value});
    }
  }
}

TEST_CASE("atomicExch of many blocks loses no value") {
  check_passing_on<int>();
  check_passing_on<unsigned>();
  check_passing_on<unsigned long long>();
  check_passing_on<float>();
}

TEST_CASE("additions made of atomicCAS lose nothing") {
  check_adding_by_compare_and_swap<int>();
  check_adding_by_compare_and_swap<unsigned>();
  check_adding_by_compare_and_swap<unsigned long long>();
  check_adding_by_compare_and_swap<unsigned short>();
}

TEST_CASE("a spin lock keeps the threads of a block apart") {
  check_lock(1, 128, false);
  check_lock(6, 64, true);
}

TEST_CASE("a spin lock keeps the threads of all blocks apart") {
  check_lock(8, 1, false);
  check_lock(8, 40, false);
}

TEST_CASE("a spin lock in shared memory") {
  checked::device_buffer<int> counts(std::vector<int>(5, 0));
  count_under_shared_lock<<<5, 100>>>(counts.data());
  CUDA_CHECK(cudaGetLastError());
  REQUIRE(counts.to_host() == std::vector<int>(5, 100 * rounds_of_locking));
}

TEST_CASE("a fence keeps a message in front of its flag, within a block") {
  for (const fence which : {fence::block, fence::device, fence::system}) {
    check_messages(which, true);
  }
}

TEST_CASE("a fence keeps a message in front of its flag, between blocks") {
  if (checked::describe_device().multiprocessors < 2) {
    SKIP("two blocks that wait for each other need two multiprocessors");
  }
  for (const fence which : {fence::device, fence::system}) check_messages(which, false);
}

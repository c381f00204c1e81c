// SPDX-License-Identifier: MIT
// cuda::atomic and cuda::atomic_ref of libcu++: every operation, with every order, in every scope.
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <cuda/atomic>
#include <new>
#include <type_traits>
#include <vector>

#include "checked_runtime/check.cuh"
#include "checked_runtime/device.hpp"
#include "checked_runtime/device_buffer.cuh"
#include "testing/poisoned_output.cuh"

namespace {

// What an atomic does if no other thread interferes, in plain code: the reference of the scripts
// below.
template <class T>
struct sequential {
  using order = cuda::memory_order;
  static constexpr order strongest = cuda::memory_order_seq_cst;

  T value;

  __host__ __device__ T load(order = strongest) const { return value; }
  __host__ __device__ void store(T desired, order = strongest) { value = desired; }
  __host__ __device__ T exchange(T desired, order = strongest) {
    const T old = value;
    value = desired;
    return old;
  }
  __host__ __device__ operator T() const { return value; }
  __host__ __device__ T operator=(T desired) { return value = desired; }
  __host__ __device__ bool compare_exchange_strong(T& expected, T desired, order = strongest,
                                                   order = strongest) {
    const bool equal = value == expected;
    (equal ? value : expected) = equal ? desired : value;
    return equal;
  }
  __host__ __device__ bool compare_exchange_weak(T& expected, T desired, order = strongest,
                                                 order = strongest) {
    return compare_exchange_strong(expected, desired);
  }

  __host__ __device__ T fetch_add(T operand, order = strongest) {
    return exchange(sum(value, operand));
  }
  __host__ __device__ T fetch_sub(T operand, order = strongest) {
    return exchange(difference(value, operand));
  }
  __host__ __device__ T fetch_min(T operand, order = strongest) {
    return exchange(operand < value ? operand : value);
  }
  __host__ __device__ T fetch_max(T operand, order = strongest) {
    return exchange(value < operand ? operand : value);
  }
  __host__ __device__ T fetch_and(T operand, order = strongest) {
    return exchange(value & operand);
  }
  __host__ __device__ T fetch_or(T operand, order = strongest) { return exchange(value | operand); }
  __host__ __device__ T fetch_xor(T operand, order = strongest) {
    return exchange(value ^ operand);
  }
  __host__ __device__ T operator+=(T operand) { return value = sum(value, operand); }
  __host__ __device__ T operator-=(T operand) { return value = difference(value, operand); }
  __host__ __device__ T operator&=(T operand) { return value = value & operand; }
  __host__ __device__ T operator|=(T operand) { return value = value | operand; }
  __host__ __device__ T operator^=(T operand) { return value = value ^ operand; }
  __host__ __device__ T operator++() { return *this += T{1}; }
  __host__ __device__ T operator--() { return *this -= T{1}; }
  __host__ __device__ T operator++(int) { return fetch_add(1); }
  __host__ __device__ T operator--(int) { return fetch_sub(1); }

 private:
  // Integers wrap around, as atomics do.
  template <class Number>
  struct as_unsigned {
    using type = Number;
  };
  template <class Number>
  requires std::is_integral_v<Number>
  struct as_unsigned<Number> : std::make_unsigned<Number> {
  };
  using bits = typename as_unsigned<T>::type;
  static __host__ __device__ T sum(T left, T right) {
    return static_cast<T>(static_cast<bits>(left) + static_cast<bits>(right));
  }
  static __host__ __device__ T difference(T left, T right) {
    return static_cast<T>(static_cast<bits>(left) - static_cast<bits>(right));
  }
};

// 8 bytes without arithmetic.
struct place {
  int row, column;
  friend bool operator==(const place&, const place&) = default;
};

// Different for each step, and of every size that T has.
template <class T>
__host__ __device__ T operand(int step) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(step * 3 - 7) / 4;
  } else if constexpr (std::is_integral_v<T>) {
    const unsigned long long scattered = (step + 3ull) * 0x9e3779b97f4a7c15ull;
    return static_cast<T>(scattered >> (step % 3 ? 64 - 8 * sizeof(T) : 60));
  } else {
    return T{step, -3 * step};
  }
}

constexpr int longest_script = 200;

// Notes down what an operation returned or left behind, and yields the operand of the next one.
template <class T>
struct notebook {
  T* out;
  int count = 0;
  int step = 0;
  __host__ __device__ void add(T value) { out[count++] = value; }
  __host__ __device__ T next() { return operand<T>(++step); }
};

struct memory_orders {
  cuda::memory_order every[5] = {cuda::memory_order_relaxed, cuda::memory_order_acquire,
                                 cuda::memory_order_release, cuda::memory_order_acq_rel,
                                 cuda::memory_order_seq_cst};
  cuda::memory_order of_loads[3] = {cuda::memory_order_relaxed, cuda::memory_order_acquire,
                                    cuda::memory_order_seq_cst};
  cuda::memory_order of_stores[3] = {cuda::memory_order_relaxed, cuda::memory_order_release,
                                     cuda::memory_order_seq_cst};
};

// A script does one operation after the other. Scripts run on an atomic on the device and on a
// `sequential` on the host. They are not inlined into each other, for the compilers' sake.
#define SCRIPT __attribute__((noinline)) __host__ __device__

template <class T, class Atomic>
SCRIPT void load_store_and_exchange(Atomic& object, notebook<T>& note) {
  const memory_orders orders;
  note.add(object.load());
  object.store(note.next());
  note.add(object.load());
  note.add(object.exchange(note.next()));
  note.add(static_cast<T>(object));
  note.add(object = note.next());
  for (const cuda::memory_order order : orders.of_stores) {
    object.store(note.next(), order);
    for (const cuda::memory_order of_load : orders.of_loads) note.add(object.load(of_load));
  }
  for (const cuda::memory_order order : orders.every) {
    note.add(object.exchange(note.next(), order));
  }
}

template <class T, class Atomic>
SCRIPT void compare_and_exchange(Atomic& object, notebook<T>& note) {
  const memory_orders orders;
  T expected = operand<T>(0);
  const auto compared = [&](bool stored) {
    note.add(operand<T>(stored ? 1 : 2));
    note.add(expected);
    note.add(object.load());
  };
  compared(object.compare_exchange_strong(expected, note.next()));  // finds something else
  compared(object.compare_exchange_strong(expected, note.next()));  // finds what it just learned
  for (const cuda::memory_order order : orders.every) {
    expected = object.load();
    compared(object.compare_exchange_strong(expected, note.next(), order));
    compared(object.compare_exchange_strong(expected, note.next(), order));
    for (const cuda::memory_order failure : orders.of_loads) {
      expected = operand<T>(0);
      compared(object.compare_exchange_strong(expected, note.next(), order, failure));
    }
    // A weak one may fail without a reason, so it is tried until it stores.
    const T desired = note.next();
    while (!object.compare_exchange_weak(expected, desired, order)) {
    }
    note.add(object.load());
    const T last = note.next();
    while (!object.compare_exchange_weak(expected, last, order, cuda::memory_order_relaxed)) {
    }
    note.add(object.load());
  }
}

template <class T, class Atomic>
SCRIPT void add_and_subtract(Atomic& object, notebook<T>& note) {
  const memory_orders orders;
  note.add(object.fetch_add(note.next()));
  note.add(object.fetch_sub(note.next()));
  for (const cuda::memory_order order : orders.every) {
    note.add(object.fetch_add(note.next(), order));
    note.add(object.fetch_sub(note.next(), order));
  }
  note.add(object += note.next());
  note.add(object -= note.next());
  note.add(object.load());
}

template <class T, class Atomic>
SCRIPT void compute_with_integers(Atomic& object, notebook<T>& note) {
  const memory_orders orders;
  note.add(object.fetch_min(note.next()));
  note.add(object.fetch_max(note.next()));
  note.add(object.fetch_or(note.next()));
  note.add(object.fetch_and(note.next()));
  note.add(object.fetch_xor(note.next()));
  for (const cuda::memory_order order : orders.every) {
    note.add(object.fetch_min(note.next(), order));
    note.add(object.fetch_max(note.next(), order));
    note.add(object.fetch_or(note.next(), order));
    note.add(object.fetch_and(note.next(), order));
    note.add(object.fetch_xor(note.next(), order));
  }
  note.add(object |= note.next());
  note.add(object &= note.next());
  note.add(object ^= note.next());
  note.add(++object);
  note.add(--object);
  note.add(object++);
  note.add(object--);
  note.add(object.load());
}

// All scripts that T has the operations for. Returns how much they noted.
template <class T, class Atomic>
__host__ __device__ int run_scripts(Atomic& object, T* out) {
  notebook<T> note{out};
  load_store_and_exchange(object, note);
  compare_and_exchange(object, note);
  if constexpr (std::is_arithmetic_v<T>) add_and_subtract(object, note);
  if constexpr (std::is_integral_v<T>) compute_with_integers(object, note);
  return note.count;
}
#undef SCRIPT

constexpr int start_step = 9;

template <class T, cuda::thread_scope scope>
__global__ void run_scripts_on_atomic(T* out, int* count) {
  __shared__ alignas(16) unsigned char storage[16];
  static_assert(sizeof(cuda::atomic<T, scope>) <= sizeof storage);
  auto& object = *new (storage) cuda::atomic<T, scope>(operand<T>(start_step));
  *count = run_scripts<T>(object, out);
}

template <class T, cuda::thread_scope scope>
__global__ void run_scripts_on_reference(T* out, int* count, T* memory) {
  *memory = operand<T>(start_step);
  cuda::atomic_ref<T, scope> object(*memory);
  *count = run_scripts<T>(object, out);
  out[(*count)++] = *memory;
}

template <class T>
std::vector<T> expected_notes() {
  sequential<T> object{operand<T>(start_step)};
  std::vector<T> notes(longest_script);
  notes.resize(static_cast<std::size_t>(run_scripts<T>(object, notes.data())));
  return notes;
}

template <class T>
std::vector<T> noted(const testing::poisoned_output<T>& out,
                     const checked::device_buffer<int>& count) {
  return out.to_host(0, static_cast<std::size_t>(count.to_host()[0]));
}

template <class T, cuda::thread_scope scope>
void check_scripts() {
  CAPTURE(static_cast<int>(scope), sizeof(T), std::is_floating_point_v<T>, std::is_signed_v<T>);
  std::vector<T> expected = expected_notes<T>();
  REQUIRE(expected.size() < longest_script);
  testing::poisoned_output<T> out(longest_script);
  checked::device_buffer<int> count(std::vector<int>{0});
  run_scripts_on_atomic<T, scope><<<1, 1>>>(out.data(), count.data());
  CUDA_CHECK(cudaGetLastError());
  REQUIRE(noted(out, count) == expected);

  checked::device_buffer<T> memory(1);
  out.poison();
  run_scripts_on_reference<T, scope><<<1, 1>>>(out.data(), count.data(), memory.data());
  CUDA_CHECK(cudaGetLastError());
  expected.push_back(expected.back());  // the reference worked on the memory itself
  REQUIRE(noted(out, count) == expected);
}

// ---- many threads

constexpr unsigned blocks = 24, threads = 96;

template <cuda::thread_scope scope>
__global__ void count_in(unsigned long long* counters, bool one_of_each_block) {
  unsigned long long& mine = counters[one_of_each_block ? blockIdx.x : 0];
  cuda::atomic_ref<unsigned long long, scope>(mine).fetch_add(threadIdx.x + 1,
                                                              cuda::memory_order_relaxed);
}

template <cuda::thread_scope scope>
void check_counting(bool one_of_each_block) {
  checked::device_buffer<unsigned long long> counters(std::vector<unsigned long long>(blocks, 0));
  count_in<scope><<<blocks, threads>>>(counters.data(), one_of_each_block);
  CUDA_CHECK(cudaGetLastError());
  std::vector<unsigned long long> expected(blocks, 0);
  for (unsigned block = 0; block < blocks; ++block) {
    expected[one_of_each_block ? block : 0] += threads * (threads + 1) / 2;
  }
  REQUIRE(counters.to_host() == expected);
}

// Every block's threads count in shared memory; block 0's result also passes through a __device__
// variable.
__device__ cuda::atomic<int, cuda::thread_scope_device> of_the_device{100};

__global__ void count_in_shared_memory(int* results) {
  __shared__ cuda::atomic<int, cuda::thread_scope_block> counter;
  if (threadIdx.x == 0) counter.store(5, cuda::memory_order_relaxed);
  __syncthreads();
  counter.fetch_add(static_cast<int>(threadIdx.x), cuda::memory_order_relaxed);
  __syncthreads();
  if (threadIdx.x == 0) results[blockIdx.x] = counter.load(cuda::memory_order_relaxed);
  of_the_device.fetch_add(1);
}
__global__ void read_of_the_device(int* result) { *result = of_the_device.exchange(100); }

// Moves both halves of a pair at once: they never part.
__global__ void move_pairs(place* shared_place, int* torn) {
  cuda::atomic_ref<place, cuda::thread_scope_device> at(*shared_place);
  place seen = at.load(cuda::memory_order_relaxed);
  place next{};
  do {
    if (seen.column != -3 * seen.row) {
      cuda::atomic_ref<int, cuda::thread_scope_device>(*torn).fetch_add(1);
    }
    next = place{seen.row + 1, seen.column - 3};
  } while (!at.compare_exchange_weak(seen, next, cuda::memory_order_relaxed));
}

// Two blocks hand a plain variable to and fro, `rounds` times, in one of three ways.
enum class way { release_acquire, fences, waiting };
constexpr int rounds = 300;

template <way how>
__global__ void hand_over(int* data, int* turn, int* wrong) {
  cuda::atomic_ref<int, cuda::thread_scope_device> flag(*turn);
  const int me = static_cast<int>(blockIdx.x);
  for (int round = 0; round < rounds; ++round) {
    const int mine = 2 * round + me;
    if constexpr (how == way::release_acquire) {
      while (flag.load(cuda::memory_order_acquire) != mine) {
      }
    } else if constexpr (how == way::fences) {
      while (flag.load(cuda::memory_order_relaxed) != mine) {
      }
      cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_device);
    } else {
      for (int seen = flag.load(cuda::memory_order_acquire); seen != mine;
           seen = flag.load(cuda::memory_order_acquire)) {
        flag.wait(seen, cuda::memory_order_acquire);
      }
    }
    if (*data != mine * 5) ++*wrong;
    *data = (mine + 1) * 5;
    if constexpr (how == way::fences) {
      cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_device);
      flag.store(mine + 1, cuda::memory_order_relaxed);
    } else {
      flag.store(mine + 1, cuda::memory_order_release);
      if constexpr (how == way::waiting) flag.notify_all();
    }
  }
}

template <way how>
void check_handing_over() {
  checked::device_buffer<int> data(std::vector<int>{0});
  checked::device_buffer<int> turn(std::vector<int>{0});
  checked::device_buffer<int> wrong(std::vector<int>{0});
  hand_over<how><<<2, 1>>>(data.data(), turn.data(), wrong.data());
  CUDA_CHECK(cudaGetLastError());
  REQUIRE(turn.to_host() == std::vector<int>{2 * rounds});
  REQUIRE(data.to_host() == std::vector<int>{2 * rounds * 5});
  REQUIRE(wrong.to_host() == std::vector<int>{0});
}

__global__ void double_on_device(cuda::atomic<int>* object) { object->store(object->load() * 2); }

}  // namespace

TEST_CASE("every operation of cuda::atomic and cuda::atomic_ref, in every order and scope") {
  check_scripts<int, cuda::thread_scope_thread>();
  check_scripts<int, cuda::thread_scope_block>();
  check_scripts<int, cuda::thread_scope_device>();
  check_scripts<int, cuda::thread_scope_system>();
}

TEST_CASE("every operation of cuda::atomic and cuda::atomic_ref, for every type") {
  check_scripts<unsigned, cuda::thread_scope_device>();
  check_scripts<unsigned long, cuda::thread_scope_device>();
  check_scripts<long long, cuda::thread_scope_device>();
  check_scripts<unsigned long long, cuda::thread_scope_device>();
  check_scripts<float, cuda::thread_scope_device>();
  check_scripts<double, cuda::thread_scope_device>();
  check_scripts<place, cuda::thread_scope_device>();
}

TEST_CASE("cuda::atomic_ref of many blocks loses nothing") {
  check_counting<cuda::thread_scope_block>(true);
  check_counting<cuda::thread_scope_device>(false);
  check_counting<cuda::thread_scope_system>(false);
}

TEST_CASE("cuda::atomic in shared memory and as a __device__ variable") {
  for (int run = 0; run < 2; ++run) {
    testing::poisoned_output<int> results(blocks);
    count_in_shared_memory<<<blocks, threads>>>(results.data());
    CUDA_CHECK(cudaGetLastError());
    REQUIRE(results.to_host() == std::vector<int>(blocks, 5 + threads * (threads - 1) / 2));
    testing::poisoned_output<int> total(1);
    read_of_the_device<<<1, 1>>>(total.data());
    CUDA_CHECK(cudaGetLastError());
    REQUIRE(total.to_host() == std::vector<int>{100 + static_cast<int>(blocks * threads)});
  }
}

TEST_CASE("cuda::atomic_ref of a structure changes all of it at once") {
  checked::device_buffer<place> at(std::vector<place>{{0, 0}});
  checked::device_buffer<int> torn(std::vector<int>{0});
  move_pairs<<<blocks, threads>>>(at.data(), torn.data());
  CUDA_CHECK(cudaGetLastError());
  const place end = at.to_host()[0];
  REQUIRE(end.row == static_cast<int>(blocks * threads));
  REQUIRE(end.column == -3 * static_cast<int>(blocks * threads));
  REQUIRE(torn.to_host() == std::vector<int>{0});
}

TEST_CASE("two blocks hand over a plain variable by release and acquire") {
  if (checked::describe_device().multiprocessors < 2) {
    SKIP("two blocks that wait for each other need two multiprocessors");
  }
  check_handing_over<way::release_acquire>();
  check_handing_over<way::fences>();
  check_handing_over<way::waiting>();
}

TEST_CASE("cuda::atomic is used by the host as well") {
  checked::managed_buffer<std::uint64_t> memory(2);
  auto& object = *new (memory.data()) cuda::atomic<int>(20);
  REQUIRE(object.fetch_add(1) == 20);
  double_on_device<<<1, 1>>>(&object);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  REQUIRE(object.load() == 42);
  REQUIRE(object.exchange(7) == 42);
  int expected = 7;
  REQUIRE(object.compare_exchange_strong(expected, 8));
  REQUIRE(object-- == 8);
  REQUIRE(static_cast<int>(object) == 7);
}

// SPDX-License-Identifier: MIT
// Streams keep the order of their work, events mark it. How they answer misuse is in
// error_codes_test.
#include <cuda_runtime.h>

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cuda/atomic>
#include <set>
#include <thread>
#include <vector>

#include "checked_runtime/device_buffer.cuh"
#include "error_names.hpp"

namespace {

__global__ void append_digit(long long* number, int digit) { *number = *number * 10 + digit; }

class stream {
 public:
  explicit stream(unsigned int flags = cudaStreamDefault) {
    REQUIRE(cudaStreamCreateWithFlags(&handle_, flags) == cudaSuccess);
  }
  ~stream() { (void)cudaStreamDestroy(handle_); }
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;
  operator cudaStream_t() const { return handle_; }

 private:
  cudaStream_t handle_ = nullptr;
};

class event {
 public:
  explicit event(unsigned int flags = cudaEventDefault) {
    REQUIRE(cudaEventCreate(&handle_, flags) == cudaSuccess);
  }
  ~event() { (void)cudaEventDestroy(handle_); }
  event(const event&) = delete;
  event& operator=(const event&) = delete;
  operator cudaEvent_t() const { return handle_; }

 private:
  cudaEvent_t handle_ = nullptr;
};

using flag = cuda::atomic_ref<int, cuda::thread_scope_system>;

__global__ void wait_and_add(int* awaited, int wanted, int* number) {
  while (flag(*awaited).load(cuda::memory_order_acquire) != wanted) {
  }
  *number += 1;
}
__global__ void raise(int* raised) { flag(*raised).store(1, cuda::memory_order_release); }
// Two of these take turns. (A GPU need not have updates of pinned memory that are atomic.)
__global__ void pass_on(int* turn, int mine, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    int now = mine - 1;
    while (now % 2 != mine) now = flag(*turn).load(cuda::memory_order_acquire);
    flag(*turn).store(now + 1, cuda::memory_order_release);
  }
}
__global__ void answer(int* asked, int* answered) {
  while (flag(*asked).load(cuda::memory_order_acquire) == 0) {
  }
  flag(*answered).store(42, cuda::memory_order_release);
}

// Numbers that host and device reach while the other one does. CUDA loads a kernel at its first
// launch, and waits for the device to do so: one that another kernel waits for is to be there
// before.
class pinned_numbers {
 public:
  pinned_numbers() {
    cudaFuncAttributes loaded{};
    REQUIRE(cudaFuncGetAttributes(&loaded, wait_and_add) == cudaSuccess);
    REQUIRE(cudaFuncGetAttributes(&loaded, raise) == cudaSuccess);
    REQUIRE(cudaFuncGetAttributes(&loaded, pass_on) == cudaSuccess);
    REQUIRE(cudaFuncGetAttributes(&loaded, answer) == cudaSuccess);
    REQUIRE(cudaMallocHost(&all_, 4 * sizeof(int)) == cudaSuccess);
    for (int i = 0; i < 4; ++i) all_[i] = 0;
  }
  ~pinned_numbers() { (void)cudaFreeHost(all_); }
  pinned_numbers(const pinned_numbers&) = delete;
  pinned_numbers& operator=(const pinned_numbers&) = delete;
  int& operator[](int i) const { return all_[i]; }
  int* operator+(int i) const { return all_ + i; }

 private:
  int* all_ = nullptr;
};

void sleep_30_milliseconds(void*) { std::this_thread::sleep_for(std::chrono::milliseconds(30)); }

}  // namespace

TEST_CASE("a stream runs its work in order") {
  const stream in;
  checked::device_buffer<long long> number(1);
  std::vector<long long> results(2, -1);
  REQUIRE(cudaMemsetAsync(number.data(), 0, sizeof(long long), in) == cudaSuccess);
  for (int digit = 1; digit <= 5; ++digit) append_digit<<<1, 1, 0, in>>>(number.data(), digit);
  REQUIRE(cudaMemcpyAsync(&results[0], number.data(), sizeof(long long), cudaMemcpyDeviceToHost,
                          in) == cudaSuccess);
  for (int digit = 6; digit <= 9; ++digit) append_digit<<<1, 1, 0, in>>>(number.data(), digit);
  REQUIRE(cudaMemcpyAsync(&results[1], number.data(), sizeof(long long), cudaMemcpyDeviceToHost,
                          in) == cudaSuccess);
  REQUIRE(cudaGetLastError() == cudaSuccess);
  REQUIRE(cudaStreamSynchronize(in) == cudaSuccess);
  CHECK(results == std::vector<long long>{12345, 123456789});
  CHECK(cudaStreamQuery(in) == cudaSuccess);
}

TEST_CASE("a stream waits for an event of another stream") {
  const stream first(cudaStreamNonBlocking);
  const stream second(cudaStreamNonBlocking);
  const event halfway(cudaEventDisableTiming);
  checked::device_buffer<long long> number(1);
  number.fill_bytes(0);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);

  REQUIRE(cudaLaunchHostFunc(first, sleep_30_milliseconds, nullptr) == cudaSuccess);
  append_digit<<<1, 1, 0, first>>>(number.data(), 1);
  REQUIRE(cudaEventRecord(halfway, first) == cudaSuccess);
  REQUIRE(cudaStreamWaitEvent(second, halfway, 0) == cudaSuccess);
  append_digit<<<1, 1, 0, second>>>(number.data(), 2);
  REQUIRE(cudaGetLastError() == cudaSuccess);
  REQUIRE(cudaStreamSynchronize(second) == cudaSuccess);
  CHECK(number.to_host() == std::vector<long long>{12});
}

TEST_CASE("the default streams can be named") {
  checked::device_buffer<long long> number(1);
  number.fill_bytes(0);
  append_digit<<<1, 1, 0, cudaStreamLegacy>>>(number.data(), 1);
  REQUIRE(cudaStreamSynchronize(cudaStreamLegacy) == cudaSuccess);
  append_digit<<<1, 1, 0, cudaStreamPerThread>>>(number.data(), 2);
  REQUIRE(cudaStreamSynchronize(cudaStreamPerThread) == cudaSuccess);
  append_digit<<<1, 1, 0, nullptr>>>(number.data(), 3);
  REQUIRE(cudaStreamSynchronize(nullptr) == cudaSuccess);
  CHECK(number.to_host() == std::vector<long long>{123});
}

TEST_CASE("a stream remembers how it was created") {
  const stream blocking;
  const stream non_blocking(cudaStreamNonBlocking);
  unsigned int flags = 99;
  CHECK(cudaStreamGetFlags(blocking, &flags) == cudaSuccess);
  CHECK(flags == cudaStreamDefault);
  CHECK(cudaStreamGetFlags(non_blocking, &flags) == cudaSuccess);
  CHECK(flags == cudaStreamNonBlocking);

  int device = -1;
  CHECK(cudaStreamGetDevice(blocking, &device) == cudaSuccess);
  CHECK(device == 0);

  std::set<unsigned long long> ids;
  for (const cudaStream_t each : {cudaStream_t(blocking), cudaStream_t(non_blocking),
                                  cudaStream_t(nullptr), cudaStreamPerThread}) {
    unsigned long long id = 0;
    CHECK(cudaStreamGetId(each, &id) == cudaSuccess);
    ids.insert(id);
  }
  CHECK(ids.size() == 4);
}

TEST_CASE("a stream's priority is clamped to what the device has") {
  int least = -99;
  int greatest = 99;
  REQUIRE(cudaDeviceGetStreamPriorityRange(&least, &greatest) == cudaSuccess);
  CHECK(greatest <= least);  // smaller numbers come first
  for (const int asked : {-1000, greatest, least, 1000}) {
    cudaStream_t created = nullptr;
    REQUIRE(cudaStreamCreateWithPriority(&created, cudaStreamDefault, asked) == cudaSuccess);
    int priority = 99;
    CHECK(cudaStreamGetPriority(created, &priority) == cudaSuccess);
    CHECK(priority == (asked < greatest ? greatest : asked > least ? least : asked));
    CHECK(cudaStreamDestroy(created) == cudaSuccess);
  }
}

TEST_CASE("a host function runs once, after the work before it") {
  struct observation {
    const long long* number;
    std::vector<long long> seen;
  };
  const stream in;
  long long* pinned = nullptr;
  REQUIRE(cudaMallocHost(&pinned, sizeof *pinned) == cudaSuccess);
  *pinned = 0;
  observation watched{pinned, {}};
  const cudaHostFn_t note = [](void* data) {
    auto* const it = static_cast<observation*>(data);
    it->seen.push_back(*it->number);
  };
  append_digit<<<1, 1, 0, in>>>(pinned, 4);
  REQUIRE(cudaLaunchHostFunc(in, note, &watched) == cudaSuccess);
  append_digit<<<1, 1, 0, in>>>(pinned, 2);
  REQUIRE(cudaLaunchHostFunc(in, note, &watched) == cudaSuccess);
  REQUIRE(cudaStreamSynchronize(in) == cudaSuccess);
  CHECK(watched.seen == std::vector<long long>{4, 42});
  CHECK(cudaFreeHost(pinned) == cudaSuccess);
}

TEST_CASE("a stream callback is told how the work before it went") {
  struct notice {
    cudaStream_t stream = nullptr;
    cudaError_t status = cudaErrorUnknown;
    int calls = 0;
  };
  const stream in;
  notice got;
  const cudaStreamCallback_t note = [](cudaStream_t stream, cudaError_t status, void* data) {
    auto* const it = static_cast<notice*>(data);
    it->stream = stream;
    it->status = status;
    ++it->calls;
  };
  REQUIRE(cudaStreamAddCallback(in, note, &got, 0) == cudaSuccess);
  REQUIRE(cudaStreamSynchronize(in) == cudaSuccess);
  CHECK(got.stream == static_cast<cudaStream_t>(in));
  CHECK(got.status == cudaSuccess);
  CHECK(got.calls == 1);
}

TEST_CASE("the time between two events contains the work between them") {
  const stream in;
  const event start;
  const event end;
  REQUIRE(cudaEventRecord(start, in) == cudaSuccess);
  REQUIRE(cudaLaunchHostFunc(in, sleep_30_milliseconds, nullptr) == cudaSuccess);
  REQUIRE(cudaEventRecord(end, in) == cudaSuccess);
  REQUIRE(cudaEventSynchronize(end) == cudaSuccess);
  float milliseconds = -1;
  REQUIRE(cudaEventElapsedTime(&milliseconds, start, end) == cudaSuccess);
  // The GPU's clock and the host's need not agree to the last per cent.
  CHECK(milliseconds > 29.0f);
  CHECK(cudaEventQuery(start) == cudaSuccess);
  CHECK(cudaEventQuery(end) == cudaSuccess);
}

TEST_CASE("an event has happened when the device was waited for") {
  const stream in;
  const event recorded;
  REQUIRE(cudaLaunchHostFunc(in, sleep_30_milliseconds, nullptr) == cudaSuccess);
  REQUIRE(cudaEventRecord(recorded, in) == cudaSuccess);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(cudaEventQuery(recorded) == cudaSuccess);
}

TEST_CASE("an event that is recorded again marks the later place") {
  const stream in;
  const event start;
  const event end;
  float first = -1;
  float second = -1;
  REQUIRE(cudaEventRecord(start, in) == cudaSuccess);
  REQUIRE(cudaEventRecord(end, in) == cudaSuccess);
  REQUIRE(cudaEventSynchronize(end) == cudaSuccess);
  REQUIRE(cudaEventElapsedTime(&first, start, end) == cudaSuccess);
  REQUIRE(cudaLaunchHostFunc(in, sleep_30_milliseconds, nullptr) == cudaSuccess);
  REQUIRE(cudaEventRecord(end, in) == cudaSuccess);
  REQUIRE(cudaEventSynchronize(end) == cudaSuccess);
  REQUIRE(cudaEventElapsedTime(&second, start, end) == cudaSuccess);
  CHECK(first >= 0.0f);
  CHECK(second > first + 29.0f);
}

TEST_CASE("an event that was never recorded holds nobody up") {
  const event unrecorded;
  CHECK(cudaEventQuery(unrecorded) == cudaSuccess);
  CHECK(cudaEventSynchronize(unrecorded) == cudaSuccess);
  CHECK(cudaStreamWaitEvent(nullptr, unrecorded, 0) == cudaSuccess);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
}

TEST_CASE("an event without time, or with a blocking wait, still orders work") {
  for (const unsigned int flags : {cudaEventDisableTiming + 0u, cudaEventBlockingSync + 0u}) {
    const stream in;
    const event done(flags);
    checked::device_buffer<long long> number(1);
    number.fill_bytes(0);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    append_digit<<<1, 1, 0, in>>>(number.data(), 7);
    REQUIRE(cudaEventRecord(done, in) == cudaSuccess);
    REQUIRE(cudaEventSynchronize(done) == cudaSuccess);
    CHECK(number.to_host() == std::vector<long long>{7});
  }
}

TEST_CASE("1,000 streams and events come and go") {
  for (int i = 0; i < 1000; ++i) {
    cudaStream_t in = nullptr;
    cudaEvent_t done = nullptr;
    REQUIRE(cudaStreamCreate(&in) == cudaSuccess);
    REQUIRE(cudaEventCreate(&done) == cudaSuccess);
    REQUIRE(cudaEventRecord(done, in) == cudaSuccess);
    REQUIRE(cudaEventDestroy(done) == cudaSuccess);
    REQUIRE(cudaStreamDestroy(in) == cudaSuccess);
  }
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
}

TEST_CASE("a kernel may wait for what the host does after its launch") {
  const pinned_numbers numbers;
  const stream in(cudaStreamNonBlocking);
  wait_and_add<<<1, 1, 0, in>>>(numbers + 0, 1, numbers + 1);
  CHECK(cudaStreamQuery(in) == cudaErrorNotReady);
  flag(numbers[0]).store(1, cuda::memory_order_release);
  CHECK(cudaStreamSynchronize(in) == cudaSuccess);
  CHECK(numbers[1] == 1);
}

TEST_CASE("a kernel may wait for a later launch in another stream") {
  const pinned_numbers numbers;
  const stream first(cudaStreamNonBlocking), second(cudaStreamNonBlocking);
  wait_and_add<<<1, 1, 0, first>>>(numbers + 0, 1, numbers + 1);
  raise<<<1, 1, 0, second>>>(numbers + 0);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(numbers[1] == 1);
}

TEST_CASE("what comes after a kernel that waits waits, too") {
  const pinned_numbers numbers;
  const stream first(cudaStreamNonBlocking), second(cudaStreamNonBlocking);
  checked::device_buffer<int> copied(1);
  const event in_between(cudaEventDisableTiming);
  wait_and_add<<<1, 1, 0, first>>>(numbers + 0, 1, numbers + 1);
  wait_and_add<<<1, 1, 0, first>>>(numbers + 0, 1, numbers + 1);
  REQUIRE(cudaEventRecord(in_between, first) == cudaSuccess);
  REQUIRE(cudaStreamWaitEvent(second, in_between, 0) == cudaSuccess);
  REQUIRE(cudaMemcpyAsync(copied.data(), numbers + 1, sizeof(int), cudaMemcpyDefault, second) ==
          cudaSuccess);
  const auto negate = [](void* number) { *static_cast<int*>(number) *= -1; };
  REQUIRE(cudaLaunchHostFunc(second, negate, numbers + 1) == cudaSuccess);
  CHECK(cudaEventQuery(in_between) == cudaErrorNotReady);
  flag(numbers[0]).store(1, cuda::memory_order_release);
  CHECK(cudaStreamSynchronize(second) == cudaSuccess);
  CHECK(numbers[1] == -2);
  CHECK(cudaMemcpy(numbers + 2, copied.data(), sizeof(int), cudaMemcpyDefault) == cudaSuccess);
  CHECK(numbers[2] == 2);
}

TEST_CASE("a host thread may wait for a kernel by looking at memory") {
  const pinned_numbers numbers;
  answer<<<1, 1>>>(numbers + 0, numbers + 1);
  flag(numbers[0]).store(1, cuda::memory_order_release);
  while (flag(numbers[1]).load(cuda::memory_order_acquire) != 42) {
  }
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
}

TEST_CASE("two kernels of two streams may take turns") {
  const pinned_numbers numbers;
  const stream first(cudaStreamNonBlocking), second(cudaStreamNonBlocking);
  pass_on<<<1, 1, 0, first>>>(numbers + 0, 1, 20);
  pass_on<<<1, 1, 0, second>>>(numbers + 0, 0, 20);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(numbers[0] == 40);
}

TEST_CASE("a kernel may wait for another host thread") {
  const pinned_numbers numbers;
  wait_and_add<<<1, 1>>>(numbers + 0, 1, numbers + 1);
  std::thread other([&] {
    sleep_30_milliseconds(nullptr);
    flag(numbers[0]).store(1, cuda::memory_order_release);
  });
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(numbers[1] == 1);
  other.join();
}

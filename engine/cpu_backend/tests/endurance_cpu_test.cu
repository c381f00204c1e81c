// SPDX-License-Identifier: MIT
// Thousands of launches, among them some that fail, leave nothing behind: no memory, no OS thread,
// no mapping.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "checked_runtime/check.cuh"
#include "checked_runtime/device.hpp"
#include "checked_runtime/device_buffer.cuh"

// AddressSanitizer keeps memory that was freed, 256 MiB of it. A build without it doesn't call
// this.
extern "C" const char* __asan_default_options() {
  return "quarantine_size_mb=1:thread_local_quarantine_size_kb=16";
}

namespace {

// The number behind `key` in /proc/self/status: KiB for memory, a count for threads.
long from_status(const std::string& key) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(key + ":")) return std::stol(line.substr(key.size() + 1));
  }
  FAIL("there is no " << key << " in /proc/self/status");
  return 0;
}

struct footprint {
  long threads = 0;
  long mappings = 0;
  long resident_kib = 0;
};

footprint measure() {
  footprint now;
  now.threads = from_status("Threads");
  now.resident_kib = from_status("VmRSS");
  std::ifstream file("/proc/self/maps");
  for (std::string line; std::getline(file, line);) ++now.mappings;
  return now;
}

// Threads and mappings may not grow at all. A leak of one stack (64 KiB) every hundred launches, or
// of 1 KiB every launch, is more than 5 MiB over the run. The addresses of what was freed lately
// stay reserved, and how many mappings that takes depends on where they lie.
constexpr long most_freed_lately = 256;
void expect_no_growth(const footprint& before, const footprint& after, long more_mappings = 0) {
  CAPTURE(before.threads, before.mappings, before.resident_kib);
  CAPTURE(after.threads, after.mappings, after.resident_kib);
  CHECK(after.threads <= before.threads);
  CHECK(after.mappings <= before.mappings + more_mappings);
  CHECK(after.resident_kib <= before.resident_kib + 5 * 1024);
}

__global__ void count(unsigned* counter) {
  if (threadIdx.x == 0) atomicAdd(counter, 1);
}

// Needs a fiber for each thread.
__global__ void count_with_barriers(unsigned* counter) {
  extern __shared__ unsigned shared[];
  shared[threadIdx.x] = 1;
  __syncthreads();
  const unsigned next = shared[(threadIdx.x + 1) % blockDim.x];
  const unsigned of_warp = __shfl_sync(0xffffffffu, next, 0);
  if (threadIdx.x % 2 == 1) return;
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(counter, of_warp);
}

// Every block waits until all have come, so that each multiprocessor holds one, and makes a fiber
// for each of its threads.
__global__ void occupy_all(unsigned* arrived) {
  if (threadIdx.x == 0) {
    atomicAdd(arrived, 1);
    while (atomicAdd(arrived, 0) < gridDim.x) {
    }
  }
  __syncthreads();
}

// Starts the OS threads and makes the stacks that stay as long as the process.
void warm_up() {
  checked::device_buffer<unsigned> arrived(std::vector<unsigned>{0});
  const auto multiprocessors = static_cast<unsigned>(checked::describe_device().multiprocessors);
  occupy_all<<<multiprocessors, 160>>>(arrived.data());
  REQUIRE(arrived.to_host() == std::vector<unsigned>{multiprocessors});
}

// Whether the kernel dies while its threads wait, and so leaves their stacks as they are.
enum class death { alone, among_waiting_threads, of_illegal_address };

// The null pointer is deliberate, and not for UndefinedBehaviorSanitizer to report.
template <death how>
__attribute__((no_sanitize("undefined"))) __global__ void die(int* nowhere) {
  if constexpr (how == death::alone) {
    if (threadIdx.x == 5) __trap();
  } else if constexpr (how == death::among_waiting_threads) {
    if (threadIdx.x == blockDim.x - 1) __trap();
    __syncthreads();
  } else {
    if (threadIdx.x >= 32) *nowhere = 1;
    __syncwarp();
  }
}

void launch_some(unsigned launches, unsigned* counter) {
  for (unsigned i = 0; i < launches; ++i) {
    if (i % 2 == 0) {
      count<<<5, 64>>>(counter);
    } else {
      const unsigned threads = 32 * (1 + i % 5);
      count_with_barriers<<<5, threads, threads * sizeof(unsigned)>>>(counter);
    }
  }
  CUDA_CHECK(cudaGetLastError());
}

// As many launches that fail. Each needs the device to be reset, which frees all memory and
// streams.
template <death how>
void fail_some(unsigned launches, cudaError_t expected) {
  for (unsigned i = 0; i < launches; ++i) {
    die<how><<<5, 96>>>(nullptr);
    REQUIRE(cudaDeviceSynchronize() == expected);
    REQUIRE(cudaDeviceReset() == cudaSuccess);
    (void)cudaGetLastError();  // the reset does not take it from the host thread that saw it
  }
}

// The reports of the kernels that are meant to die would fill pages.
class silent_stderr {
 public:
  silent_stderr() {
    std::fflush(stderr);
    if (!std::freopen("/dev/null", "w", stderr)) FAIL("cannot silence stderr");
  }
  ~silent_stderr() { (void)!std::freopen("/dev/stderr", "w", stderr); }
};

}  // namespace

TEST_CASE("10,000 launches leave nothing behind") {
  constexpr unsigned launches = 10000, before_measuring = 200;
  warm_up();
  checked::device_buffer<unsigned> counter(std::vector<unsigned>{0});
  launch_some(before_measuring, counter.data());
  const footprint before = measure();
  launch_some(launches, counter.data());
  expect_no_growth(before, measure());
  REQUIRE(counter.to_host() == std::vector<unsigned>{5 * (launches + before_measuring)});
}

TEST_CASE("launches that fail leave nothing behind") {
  warm_up();
  const silent_stderr silence;
  const auto fail_in_every_way = [](unsigned launches) {
    fail_some<death::alone>(launches, cudaErrorLaunchFailure);
    fail_some<death::among_waiting_threads>(launches, cudaErrorLaunchFailure);
    fail_some<death::of_illegal_address>(launches, cudaErrorIllegalAddress);
  };
  fail_in_every_way(20);
  const footprint before = measure();
  fail_in_every_way(200);
  expect_no_growth(before, measure());

  checked::device_buffer<unsigned> counter(std::vector<unsigned>{0});
  launch_some(100, counter.data());
  REQUIRE(counter.to_host() == std::vector<unsigned>{500});
}

TEST_CASE("allocations, streams and events that are given back leave nothing behind") {
  const auto use_some = [](int rounds) {
    for (int i = 0; i < rounds; ++i) {
      checked::device_buffer<char> memory(std::size_t{1000} << i % 8);
      memory.fill_bytes(1);
      checked::managed_buffer<char> managed(5000);
      managed.data()[0] = 1;
      cudaStream_t stream{};
      cudaEvent_t event{};
      CUDA_CHECK(cudaStreamCreate(&stream));
      CUDA_CHECK(cudaEventCreate(&event));
      CUDA_CHECK(cudaEventRecord(event, stream));
      CUDA_CHECK(cudaEventDestroy(event));
      CUDA_CHECK(cudaStreamDestroy(stream));
    }
  };
  use_some(100);
  const footprint before = measure();
  use_some(5000);
  expect_no_growth(before, measure(), most_freed_lately);
}

namespace {

// Where each thread has a variable of its own, all at the same time.
__global__ void note_stacks(unsigned long long* places) {
  volatile int mine = 0;
  places[threadIdx.x] = reinterpret_cast<unsigned long long>(&mine);
  __syncthreads();
}

}  // namespace

// Racecheck asks of nearly every access of a kernel's own variables whether it is to an allocation,
// and remembers the answer for the addresses up to the next one.
TEST_CASE("no allocation lies between the stacks of a kernel's threads") {
  std::vector<checked::device_buffer<unsigned long long>> between;
  for (unsigned threads = 16; threads <= 1024; threads += 16) {
    between.emplace_back(1024);
    note_stacks<<<1, threads>>>(between.back().data());
    CUDA_CHECK(cudaDeviceSynchronize());
  }
  const std::vector<unsigned long long> stacks = between.back().to_host();
  const auto [first, last] = std::minmax_element(stacks.begin(), stacks.end());
  REQUIRE(*first < *last);
  for (const auto& each : between) {
    const auto place = reinterpret_cast<unsigned long long>(each.data());
    CHECK((place < *first || place > *last));
  }
}

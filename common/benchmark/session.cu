// SPDX-License-Identifier: MIT
#include "benchmark/session.hpp"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "benchmark/exact_vectors.cuh"
#include "lab/check.cuh"
#include "lab/device.hpp"
#include "lab/device_buffer.cuh"

namespace benchmarks {

namespace {

// In a quick run: what launching costs, where one launch or two matters, and bandwidth.
constexpr int quick_exponents[] = {10, 16, 20, 24, 29};

__global__ void do_nothing() {}

void launch_nothing() {
  do_nothing<<<1, 1>>>();
  CUDA_CHECK(cudaGetLastError());
}

benchmark_case empty_kernel() {
  return {.name = "empty_kernel",
          .part = role::floor,
          .bytes = 0,
          .run = [](std::size_t) { launch_nothing(); },
          .wrong = []() -> std::optional<std::string> {
            launch_nothing();
            CUDA_CHECK(cudaDeviceSynchronize());
            return std::nullopt;
          }};
}

int attribute(cudaDeviceAttr which) {
  int device = 0;
  int value = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&value, which, device));
  return value;
}

// 13000 as "13.0".
std::string cuda_version(int number) {
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

// Memory that is kept free for partial sums, results and scratch memory.
constexpr std::uint64_t reserve_bytes = std::uint64_t{256} << 20;

std::vector<const chapter_benchmark*>& registered() {
  static std::vector<const chapter_benchmark*> all;
  return all;
}

}  // namespace

device_facts current_device(const benchmark_options& options) {
  const lab::device_description device = lab::describe_device();
  std::size_t free = 0;
  std::size_t total = 0;
  int runtime = 0;
  int driver = 0;
  CUDA_CHECK(cudaMemGetInfo(&free, &total));
  CUDA_CHECK(cudaRuntimeGetVersion(&runtime));
  CUDA_CHECK(cudaDriverGetVersion(&driver));
  // The clock in kHz, at which double data rate moves two words, and the bus in bits.
  const double transfers_a_second = 2e3 * attribute(cudaDevAttrMemoryClockRate);
  const double bytes_a_transfer = attribute(cudaDevAttrGlobalMemoryBusWidth) / 8.0;
  return {.name = device.name,
          .multiprocessors = device.multiprocessors,
          .compute_capability = std::to_string(device.compute_capability_major) + "." +
                                std::to_string(device.compute_capability_minor),
          .memory_bytes = total,
          .cache_bytes = options.cache_bytes.value_or(
              static_cast<std::uint64_t>(attribute(cudaDevAttrL2CacheSize))),
          .theoretical_gigabytes_per_second = transfers_a_second * bytes_a_transfer / 1e9,
          .cuda_runtime = cuda_version(runtime),
          .cuda_driver = cuda_version(driver)};
}

session::session(const benchmark_options& options, const device_facts& device, results& found)
    : options_(options), device_(device), results_(found) {}

std::vector<placement> session::placements(const std::string& chapter, const std::string& task,
                                           std::uint64_t bytes_an_element,
                                           std::uint64_t device_bytes_an_element) {
  const lab::free_memory free = lab::available_memory();
  const bool shared = lab::describe_device().shares_host_memory;
  const std::uint64_t available = shared ? std::min(free.device, free.host) : free.device;
  std::vector<placement> result;
  for (const std::size_t size : chosen_sizes(options_)) {
    const std::uint64_t bytes = bytes_an_element * size;
    const std::uint64_t rotated =
        std::max<std::uint64_t>(1, (2 * device_.cache_bytes + bytes - 1) / bytes);
    const placement from_memory = {.elements = size, .data = "memory", .inputs = rotated};
    const std::uint64_t needed = from_memory.length() * device_bytes_an_element + reserve_bytes;
    if (needed > available) {
      char reason[128];
      std::snprintf(reason, sizeof reason, "it needs %.1f GiB of device memory, and %.1f are free",
                    static_cast<double>(needed) / (1 << 30),
                    static_cast<double>(available) / (1 << 30));
      results_.add_not_run(chapter, task, std::to_string(size) + " elements", reason);
      continue;
    }
    result.push_back(from_memory);
    if (2 * bytes <= device_.cache_bytes) {
      result.push_back({.elements = size, .data = "cache", .inputs = 1});
    }
  }
  return result;
}

void session::measure(const comparison_description& of, std::vector<benchmark_case> cases) {
  cases.push_back(empty_kernel());
  results_.add(of, compare(cases, of.inputs, options_.rounds));
}

void session::add_peer(std::vector<benchmark_case>& cases, const comparison_description& of,
                       const std::string& name, const std::function<benchmark_case()>& make) {
  try {
    cases.push_back(make());
  } catch (const no_such_peer& missing) {
    results_.add_not_run(of.chapter, of.task + " of " + of.type, name, missing.what());
  }
}

void session::add_not_run(const std::string& chapter, const std::string& task,
                          const std::string& name, const std::string& reason) {
  results_.add_not_run(chapter, task, name, reason);
}

void session::measure_copy() {
  constexpr std::size_t most = std::size_t{1} << 29;
  const std::uint64_t free = lab::available_memory().device;
  std::size_t count = std::min<std::size_t>(most, options_.largest);
  while (count > grain && 2 * sizeof(float) * count + reserve_bytes > free) count /= 2;
  const std::size_t bytes = sizeof(float) * count;
  lab::device_buffer<unsigned char> from(bytes);
  lab::device_buffer<unsigned char> to(bytes);
  from.fill_bytes(0x5a);
  const comparison_result result =
      compare({device_to_device_copy(from.data(), to.data(), bytes, bytes, 1)}, 1, options_.rounds);
  if (!result.wrong.empty()) {
    throw std::runtime_error("a copy from device to device is wrong: " + result.wrong.front().what);
  }
  results_.set_copy(count, result.rows.front());
}

std::size_t longest(const std::vector<placement>& placements) {
  std::size_t result = 0;
  for (const placement& each : placements) result = std::max(result, each.length());
  return result;
}

comparison_description describe(const std::string& chapter, const std::string& task,
                                const std::string& type, const placement& where) {
  return {.chapter = chapter,
          .task = task,
          .type = type,
          .elements = where.elements,
          .data = where.data,
          .inputs = where.inputs};
}

namespace {

__global__ void count_different_bytes(const unsigned char* x, const unsigned char* y, std::size_t n,
                                      unsigned long long* different) {
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += threads) {
    if (x[i] != y[i]) atomicAdd(different, 1ULL);
  }
}

}  // namespace

benchmark_case device_to_device_copy(const void* from, void* to, std::size_t bytes,
                                     std::size_t stride_bytes, std::size_t inputs) {
  const auto* const source = static_cast<const unsigned char*>(from);
  auto* const target = static_cast<unsigned char*>(to);
  const auto run = [=](std::size_t input) {
    CUDA_CHECK(cudaMemcpyAsync(target + input * stride_bytes, source + input * stride_bytes, bytes,
                               cudaMemcpyDeviceToDevice));
  };
  return {.name = "device_to_device_copy",
          .part = role::ceiling,
          .bytes = 2 * bytes,
          .run = run,
          .wrong = [=]() -> std::optional<std::string> {
            lab::device_buffer<unsigned long long> different(1);
            different.fill_bytes(0);
            CUDA_CHECK(cudaMemset(target, 0xff, (inputs - 1) * stride_bytes + bytes));
            for (std::size_t input = 0; input < inputs; ++input) {
              run(input);
              const std::size_t first = input * stride_bytes;
              count_different_bytes<<<1024, 256>>>(source + first, target + first, bytes,
                                                   different.data());
              CUDA_CHECK(cudaGetLastError());
            }
            const unsigned long long count = different.to_host().front();
            if (count == 0) return std::nullopt;
            return std::to_string(count) + " bytes differ";
          }};
}

chapter_benchmark::chapter_benchmark(std::string of_chapter, std::string about,
                                     void (*function)(session&))
    : chapter(std::move(of_chapter)), subject(std::move(about)), run(function) {
  auto& all = registered();
  all.push_back(this);
  std::sort(all.begin(), all.end(), [](const chapter_benchmark* x, const chapter_benchmark* y) {
    return std::tie(x->chapter, x->subject) < std::tie(y->chapter, y->subject);
  });
}

const std::vector<const chapter_benchmark*>& all_benchmarks() { return registered(); }

std::vector<std::size_t> chosen_sizes(const benchmark_options& options) {
  std::vector<std::size_t> sizes;
  for (int exponent = 10; exponent <= 32; ++exponent) {
    const std::size_t size = std::size_t{1} << exponent;
    const bool wanted =
        !options.quick || std::find(std::begin(quick_exponents), std::end(quick_exponents),
                                    exponent) != std::end(quick_exponents);
    if (wanted && size >= options.smallest && size <= options.largest) sizes.push_back(size);
  }
  return sizes;
}

}  // namespace benchmarks

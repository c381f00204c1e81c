// SPDX-License-Identifier: MIT
#include "lab/device.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <string>

#include "lab/check.cuh"

namespace lab {

namespace {

// Bytes that the host can give to new programs without swapping (Linux's MemAvailable); the largest
// number where the system does not say, so that the check never refuses without a reason.
std::uint64_t available_host_memory() {
  std::ifstream information("/proc/meminfo");
  std::string key;
  std::uint64_t kibibytes = 0;
  std::string unit;
  while (information >> key >> kibibytes) {
    std::getline(information, unit);
    if (key == "MemAvailable:") return kibibytes * 1024;
  }
  return std::numeric_limits<std::uint64_t>::max();
}

std::string gibibytes(std::uint64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f GiB", static_cast<double>(bytes) / (1 << 30));
  return text;
}

void require(std::uint64_t needed, std::uint64_t free, const char* kind) {
  if (needed <= free) return;
  throw std::runtime_error("so many elements need " + gibibytes(needed) + " of " + kind +
                           " memory, and only " + gibibytes(free) + " are free");
}

}  // namespace

free_memory available_memory() {
  std::size_t device_free = 0;
  std::size_t device_total = 0;
  CUDA_CHECK(cudaMemGetInfo(&device_free, &device_total));
  return {.device = device_free, .host = available_host_memory()};
}

void require_memory(std::uint64_t device_bytes, std::uint64_t host_bytes) {
  const free_memory free = available_memory();
  if (describe_device().shares_host_memory) {
    require(device_bytes + host_bytes, std::min(free.device, free.host), "host and device");
    return;
  }
  require(device_bytes, free.device, "device");
  require(host_bytes, free.host, "host");
}

}  // namespace lab

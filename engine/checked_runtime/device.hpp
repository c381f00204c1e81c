// SPDX-License-Identifier: MIT
// Questions about the current device, for code that is compiled without CUDA's headers.
#pragma once

#include <optional>
#include <string>

namespace checked {

struct device_description {
  std::string name;
  int multiprocessors = 0;
  int compute_capability_major = 0;
  int compute_capability_minor = 0;
  // The device has no memory of its own: what it uses, the host lacks.
  bool shares_host_memory = false;
};

// One sentence on why no kernel of this program can run here, or nothing if one can. It really
// launches an empty kernel: a driver that is too old and a program that was compiled for other GPUs
// show only then.
std::optional<std::string> why_no_device();

// Whether a kernel has died in this process, after which nothing else can run on the device. Waits
// for the device.
bool device_is_lost();

// The current device. Throws std::runtime_error (cuda_error) where there is none.
device_description describe_device();

// Whether cuda::for_each_canceled_block cancels blocks here: both the current device and the
// architecture that this program was compiled for need compute capability 10.0. Errors as above.
bool device_cancels_blocks();

}  // namespace checked

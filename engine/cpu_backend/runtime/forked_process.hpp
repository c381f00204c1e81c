// SPDX-License-Identifier: MIT
// A process made by fork() has the memory of its parent, and none of the threads that play its
// device. So CUDA's own rule holds here too: whoever has used the device before a fork has no
// device in the child. A child whose parent never did has one of its own.
#pragma once

#include <sys/types.h>

#include "driver_types.h"

namespace cpu_backend {

// What each call of the runtime and each launch has to return first: cudaErrorInitializationError
// in a child that may not use the device, where the first such call also says so on stderr; else
// cudaSuccess. From then on this process counts as one that uses the device.
cudaError_t refused_after_fork();

// fork(), whose child may use the device. Only for a process in which no thread plays it yet.
pid_t fork_with_device();

}  // namespace cpu_backend

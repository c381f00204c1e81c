// SPDX-License-Identifier: MIT
// Device memory with an owner: lab::device_buffer, lab::managed_buffer.
#pragma once

#include "checked_runtime/device_buffer.cuh"

namespace lab {

using namespace checked;

}  // namespace lab

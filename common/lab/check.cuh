// SPDX-License-Identifier: MIT
// Error checks for calls of the CUDA runtime: CUDA_CHECK, lab::cuda_error.
#pragma once

#include "checked_runtime/check.cuh"

namespace lab {

using namespace checked;

}  // namespace lab

// SPDX-License-Identifier: MIT
// The CUDA runtime for C++ of the host, in C++17 as well, which the project's own compiler
// compiles. A .cu has all of CUDA C++ by another header of this name.
#pragma once

#define __CUDA_RUNTIME_H__

#include "cuda_runtime_api.h"
#include "driver_functions.h"
#include "host_defines.h"
#include "vector_functions.h"

// SPDX-License-Identifier: MIT
// CUDA C++ on a CPU. translate.py includes this in front of every .cu file, as nvcc does with its
// own.
#pragma once

#include "host_defines.h"
// Above the rest: what follows is host code of ours and of the standard library.
#include "cpu_backend/atomic_functions.hpp"
#include "cpu_backend/launch.hpp"
#include "cpu_backend/synchronization.hpp"
#include "cuda_runtime_api.h"
#include "device_functions.h"
#include "driver_types.h"
#include "vector_functions.h"
#include "vector_types.h"

// SPDX-License-Identifier: MIT
// CUDA C++ on a CPU. translate.py includes this in front of every .cu file, as nvcc does with its
// own.
#pragma once

#define __CUDA_RUNTIME_H__

// nvcc compiles as C++17, in which programs have a lerp() of their own: without this, C++20's would
// be another one in the global namespace. A .cu file, in front of which this header stands, has no
// std::lerp() either, as with nvcc. A .cpp file may have included <cmath> before, which declares
// it.
#ifndef __CUDACC__
#include <cmath>
namespace std {
void __cpu_backend_std_lerp();  // for <math.h>, which makes it a global name
}
#endif
#define lerp __cpu_backend_std_lerp
#include <math.h>

#include <cmath>
#undef lerp

#include "host_defines.h"
// Above the rest: what follows is host code of ours and of the standard library.
#include "cpu_backend/device_functions/atomic_functions.hpp"
#include "cpu_backend/device_functions/synchronization.hpp"
#include "cpu_backend/execution/launch.hpp"
#include "cuda_runtime_api.h"
#include "device_functions.h"
#include "driver_functions.h"
#include "driver_types.h"
#include "vector_functions.h"
#include "vector_types.h"

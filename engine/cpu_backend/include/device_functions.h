// SPDX-License-Identifier: MIT
// The functions of a single thread that CUDA C++ has without an include.
#pragma once

#include <math.h>
#include <stdlib.h>

#include "cpu_backend/device_functions/cache_hints.hpp"
#include "cpu_backend/device_functions/conversions.hpp"
#include "cpu_backend/device_functions/integer_functions.hpp"
#include "cpu_backend/device_functions/math_functions.hpp"
#include "cpu_backend/device_functions/special_registers.hpp"
